//! What goes wrong in a world: every kind of fault has a name, is switched on or off by the seed,
//! and is counted.

use crate::chance::Chance;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A kind of fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $($(#[$doc])* $name,)* }
        impl Kind {
            /// Every kind.
            pub const ALL: &'static [Kind] = &[$(Kind::$name,)*];
            /// Its name in reports.
            pub fn as_str(self) -> &'static str { match self { $(Kind::$name => $text,)* } }
        }
    };
}

kinds! {
    /// The process dies before it writes an intent down.
    CrashBeforeAppend = "crashBeforeAppend",
    /// It dies when the intent is written, before anything is sent.
    CrashAfterAppend = "crashAfterAppend",
    /// It dies while the request is on its way.
    CrashAfterSend = "crashAfterSend",
    /// It dies with the answer in hand, before that is written down.
    CrashAfterResponse = "crashAfterResponse",
    /// It dies right after the outcome is written.
    CrashAfterCommit = "crashAfterCommit",
    /// A request is carried out, or not, and no answer comes.
    LostAnswer = "lostAnswer",
    /// The same, with the words of a full pool on a 503.
    CapacityWords = "capacityWordsIn503",
    /// A request arrives twice.
    Duplicated = "duplicatedRequest",
    /// Requests and answers take long, and overtake each other.
    Delayed = "delayedAnswer",
    /// A list loses a page, or says `unreachables`.
    PartialPage = "partialPage",
    /// A region lets nothing in.
    Outage = "outage",
    /// A region answers 503 and does half of what it is asked.
    LossyOutage = "lossyOutage",
    /// A region answers 403.
    Forbidden = "forbidden",
    /// A cloud throttles everything.
    Throttled = "throttled",
    /// No pool has room.
    Exhausted = "exhausted",
    /// Pools have room for a few: n − k.
    Short = "shortFulfilment",
    /// n + 1.
    Surplus = "surplusFulfilment",
    /// The quota is nought.
    QuotaZero = "quotaZero",
    /// New machines are listed minutes later.
    Visibility = "delayedVisibility",
    /// The clock of a process is wrong.
    Clock = "clockJump",
    /// The store answers 503 and does nothing.
    StoreDown = "store503",
    /// The store writes, and the answer is lost.
    StoreLost = "storeLostAnswer",
    /// The store writes, and its own retry is told that somebody was first.
    StoreConflict = "store412",
    /// The store takes long.
    StoreSlow = "storeSlow",
    /// Nothing can be written for a while.
    DiskFull = "diskFull",
    /// A journal record is cut off or altered.
    Torn = "tornRecord",
    /// A journal record is gone.
    Missing = "missingRecord",
    /// The whole journal is gone.
    JournalLost = "journalLost",
    /// A process stands still for up to half an hour.
    Pause = "pause",
    /// A process stands still between the last look at its lease and the send.
    PauseBeforeSend = "pauseBeforeSend",
    /// Several people apply at once.
    Rivals = "rivalApplier",
    /// Somebody takes the tags off a machine.
    TagsStripped = "tagsStripped",
    /// Somebody writes other tags on a machine.
    TagsEdited = "tagsEdited",
    /// Somebody launches a machine with our tags.
    LookAlike = "lookAlike",
    /// The id of a machine that ended is given to another.
    IdReused = "idReused",
    /// The clouds take spot machines back by the dozen.
    SpotStorm = "spotStorm",
    /// Machines end by themselves right after they were launched.
    DeadAtBoot = "deadAtBoot",
    /// Machines never come up.
    NeverReady = "neverReady",
    /// A saved plan is applied after the world moved on, or was altered.
    StalePlan = "stalePlan",
    /// A machine goes, and its disk stays; clearing it away is accepted, and then fails.
    ChildLeft = "childLeft",
    /// A change never arrives; and of a launch that is sent again for it the answer is lost, and what
    /// it makes is listed late.
    LostRequest = "lostRequest",
    /// A launch makes one machine too many, they are listed one by one, and its answer is lost.
    Blurred = "blurredLaunch",
    /// Somebody sets the clock of a process that runs, by minutes or hours.
    ClockLeap = "clockLeap",
    /// The store does nothing, because somebody else's try seems to be under way.
    StoreBusy = "store409",
    /// A machine is shut down from inside, and stays.
    Stopped = "machineStopped",
    /// Machines are called failed by their cloud, and go on running.
    Failed = "machineFailed",
    /// Lists that call themselves complete lack machines that are there.
    ShortList = "shortList",
    /// Machines on demand go, several at once, and nobody says why.
    ManyVanish = "manyVanish",
    /// A process has credentials for another account.
    OtherAccount = "otherAccount",
}

/// Kinds that came later. Chance of their own decides about them, so that worlds without them are
/// what they were: a seed that broke a promise once stays the seed of that story.
const LATER: [Kind; 4] = [Kind::ChildLeft, Kind::LostRequest, Kind::Blurred, Kind::ClockLeap];

/// And those that came last, for the same reason.
pub(crate) const LAST: [Kind; 1] = [Kind::StoreBusy];

/// The true habits of clouds, for the same reason.
pub(crate) const HABITS: [Kind; 5] =
    [Kind::Stopped, Kind::Failed, Kind::ShortList, Kind::ManyVanish, Kind::OtherAccount];

/// How often each kind happened.
pub type Counts = BTreeMap<Kind, u64>;

/// Which kinds may happen in a world, and how bad it can get.
#[derive(Debug, Clone)]
pub(crate) struct Weather {
    on: BTreeSet<Kind>,
    /// Of a hundred occasions for a fault on the wire or at the store.
    pub(crate) rate: u64,
    /// What may pass from the last look at the lease to the arrival at a cloud, and from there to
    /// the lists, and how far two clocks may differ: five minutes in all, or absence would prove
    /// nothing. See docs/safety.md.
    pub(crate) send_pause: Duration,
    pub(crate) wire: Duration,
    pub(crate) visibility: Duration,
    /// How wrong a clock may be, either way.
    pub(crate) skew: Duration,
}

impl Weather {
    pub(crate) fn draw(
        chance: &mut Chance,
        later: &mut Chance,
        last: &mut Chance,
        habits: &mut Chance,
    ) -> Self {
        let share = [0, 12, 12, 25, 25, 50][chance.below(6) as usize];
        let since =
            |kind: &Kind| [&LATER[..], &LAST, &HABITS].iter().any(|kinds| kinds.contains(kind));
        let first = Kind::ALL.iter().copied().filter(|kind| !since(kind));
        let mut on: BTreeSet<Kind> = first.filter(|_| chance.percent(share)).collect();
        if later.percent(60) {
            on.extend(LATER.into_iter().filter(|_| later.percent(60)));
        }
        on.extend(LAST.into_iter().filter(|_| last.percent(25)));
        if habits.percent(50) {
            on.extend(HABITS.into_iter().filter(|_| habits.percent(40)));
        }
        let skew = chance.between(1, 25);
        let most = 300 - 2 * skew;
        let total = if chance.percent(50) { most } else { chance.between(20, most) };
        let wire = if chance.percent(30) { 1 } else { chance.between(1, total.min(100)) };
        let left = total - wire;
        let send_pause = if chance.percent(50) { 0 } else { chance.between(0, left) };
        let visibility = total - wire - send_pause;
        let seconds = Duration::from_secs;
        Weather {
            on,
            rate: chance.between(2, 25),
            send_pause: seconds(send_pause),
            wire: seconds(wire),
            visibility: seconds(visibility),
            skew: seconds(skew),
        }
    }

    /// Some kinds, at a rate, with little delay.
    pub(crate) fn of(kinds: impl Iterator<Item = Kind>, rate: u64) -> Self {
        let seconds = Duration::from_secs;
        Weather {
            on: kinds.collect(),
            rate,
            send_pause: seconds(0),
            wire: seconds(20),
            visibility: seconds(60),
            skew: seconds(1),
        }
    }

    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.on.contains(&kind)
    }

    /// Nothing goes wrong any more.
    pub(crate) fn clear(&mut self) {
        self.on.clear();
    }

    pub(crate) fn names(&self) -> String {
        self.on.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(",")
    }
}
