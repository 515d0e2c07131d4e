//! Safety bugs that can be switched on, one at a time, to prove that the checks find them.
//!
//! Without the feature `bugs`, which nothing but `cargo xtask sensitivity` enables, [`on`] is
//! always false and the compiler removes what it guards.

macro_rules! bugs {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A way in which the engine could be unsafe.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Bug { $($(#[$doc])* $name,)* }
        impl Bug {
            /// Every bug.
            pub const ALL: &'static [Bug] = &[$(Bug::$name,)*];
            /// Its name.
            pub fn as_str(self) -> &'static str { match self { $(Bug::$name => stringify!($name),)* } }
        }
    };
}

bugs! {
    /// Machines are ended without a last look at what they are.
    SkipRereadBeforeKill,
    /// The last look does not compare slots.
    RereadIgnoresSlot,
    /// The last look does not compare launch times.
    RereadIgnoresLaunchTime,
    /// Every sending carries a token of its own.
    TokenPerSending,
    /// A new try of a slot carries the token of the old one.
    TokenWithoutAttempt,
    /// A new filling of a slot carries the token of the old one.
    TokenWithoutGeneration,
    /// No answer is taken for a no.
    SilenceIsRefusal,
    /// Words of a full pool are believed even with a 502, 503 or 504, which say nothing.
    GatewayWordsBelieved,
    /// A no with a number that sounds like trouble is taken for silence.
    RefusalIsSilence,
    /// Old and new machines stand side by side without bound.
    SurgeUnbounded,
    /// What a complete list lacks is taken for gone.
    ListBelieved,
    /// Spot that is gone counts as a loss that nobody can explain.
    VanishedSpotFrozen,
    /// Machines that fail do not keep their group from launching more.
    FailedNotCounted,
    /// Every launch in doubt is sent again, whatever the spec wants now.
    UnwantedSentAgain,
    /// Nobody compares the account behind the credentials with the fleet's.
    OtherAccountIgnored,
    /// A launch whose outcome is not known frees its slots.
    DoubtFreesSlots,
    /// A no to the second sending is taken for a no to the first.
    RefusalOfResendBelieved,
    /// A launch is sent before it is written down.
    SendBeforeAppend,
    /// Sending again is not written down.
    ResendNotRecorded,
    /// A list that lost a page is taken for whole.
    PartialListTakenForWhole,
    /// A cloud that does not answer is taken for an empty one.
    SilenceIsEmpty,
    /// The lease is not looked at before a send.
    LeaseNotChecked,
    /// A lease that has run out is brought back by a late beat.
    LeaseRevived,
    /// A lease is taken without waiting for its holder to be dead.
    LeaseTakenAtOnce,
    /// A new holder does not write its epoch.
    NoEpochRecord,
    /// Objects are replaced.
    RecordsOverwritten,
    /// A record of somebody else in our place does not stop us.
    FenceIgnored,
    /// Absence proves at once that a launch made nothing.
    NoSettleWindow,
    /// The window counts from the first sending.
    SettleWindowFromIntent,
    /// Machines are counted where slots should be, when a doubt is settled.
    MachinesCountedForSlots,
    /// Ages are read off the clock on the wall, whoever sets it.
    WallClockTrusted,
    /// A machine in a silent scope is taken for gone.
    GapsForgotten,
    /// A machine that is being ended is taken for gone.
    StoppingMachinesForgotten,
    /// A machine is forgotten while a disk of it is still there.
    ChildrenForgotten,
    /// Labels are written down as changed, and no request changes them.
    LabelsNeverSent,
    /// What machines left behind is never cleared away.
    ChildrenNeverCleared,
    /// What a launch in doubt has made so far is cleared away under it.
    DoubtfulChildrenCleared,
    /// A launch is written off while a disk of it is still there.
    DoubtWrittenOffBeforeChildren,
    /// Machines that nobody asked for are not written down.
    SurplusDropped,
    /// There is no limit on destroys.
    DestroyLimitIgnored,
    /// Ends without an answer do not count toward the limit.
    SilentEndsNotCounted,
    /// Many losses at once freeze nothing.
    FreezeIgnored,
    /// Machines of the fleet's name without a journal freeze nothing.
    LostJournalIgnored,
    /// Launches in doubt do not count as capacity.
    DoubtNotCounted,
    /// Launches in doubt cost nothing.
    DoubtCostsNothing,
    /// What said no is not remembered.
    BlocksForgotten,
    /// Steps that wait while their pool says no ask it all the same.
    BlocksOfRoundIgnored,
    /// Retries have no limit.
    RetriesUnlimited,
    /// Requests are sent as fast as they come.
    RatesIgnored,
    /// Launches whose records were written together leave all at once.
    LaunchesLeaveTogether,
    /// After a long sleep everything that waited for its turn is sent at once.
    TurnsKeptOverSleep,
    /// Checksums are not compared.
    ChecksumNotCompared,
    /// A record that cannot be read at the end of the journal is passed over.
    TornTailPassedOver,
    /// A missing record is passed over.
    MissingRecordPassedOver,
    /// A saved plan is taken whatever happened since.
    StalePlanTaken,
    /// A saved plan is taken whatever it says.
    ForgedPlanTaken,
    /// What checks of the user's own say is not heard.
    ChecksIgnored,
    /// Unhealthy machines are replaced, however many there are.
    UnhealthyReplacedWithoutBound,
    /// Old machines go before their successors are ready.
    HealthGateIgnored,
    /// A rollout goes on over machines that failed.
    FailedWaveIgnored,
    /// Every old machine is replaced in the first wave.
    WaveUnbounded,
    /// Waves begin outside of their windows.
    WindowIgnored,
    /// An undo keeps the template that it was to undo.
    UndoToWrongTemplate,
    /// Machines go back to spot as soon as there is some.
    FallbackFlaps,
    /// A person's word that nothing be changed is not heard.
    FreezeByHandIgnored,
    /// The target that a schedule had before is kept.
    ScheduleKeepsPrevious,
    /// A fleet goes on after its end.
    ExpiryIgnored,
    /// Fleets without a spec are destroyed though nobody asked for it.
    PruneUnasked,
    /// There is no limit on destroys where nothing is wanted.
    PruneUnlimited,
    /// A machine is launched if its price fits, whatever it will cost until somebody looks again.
    BudgetHoldsForgotten,
    /// Launches in doubt cost nothing.
    BudgetDoubtFree,
    /// What disks, addresses and traffic have cost is not counted.
    BudgetExtrasForgotten,
    /// A month's money is counted from its second day on.
    BudgetMonthLate,
    /// Months begin at midnight in UTC, whatever the spec says.
    BudgetZoneIgnored,
}

#[cfg(feature = "bugs")]
thread_local! {
    static SWITCHED_ON: std::cell::Cell<Option<Bug>> = const { std::cell::Cell::new(None) };
}

/// Whether a bug is switched on, on this thread.
#[cfg(feature = "bugs")]
pub fn on(bug: Bug) -> bool {
    SWITCHED_ON.get() == Some(bug)
}

/// Whether a bug is switched on: never, in this build.
#[cfg(not(feature = "bugs"))]
#[inline(always)]
pub const fn on(_: Bug) -> bool {
    false
}

/// Something that is different each time, for bugs that need chance.
pub fn nonce() -> u64 {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// Switches a bug on for this thread, and every other one off.
#[cfg(feature = "bugs")]
pub fn switch_on(bug: Option<Bug>) {
    SWITCHED_ON.set(bug);
}
