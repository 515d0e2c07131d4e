//! Notifications: conditions become messages, messages are written down, and then they are sent until they are
//! taken.

mod conditions;
mod message;
#[cfg(any(feature = "webhooks", test))]
mod request;
#[cfg(feature = "webhooks")]
mod send;
#[cfg(not(feature = "webhooks"))]
mod unsent;

use crate::Controller;
use crate::board::News;
use conditions::{Condition, of_fleet, of_specs};
use fleet_model::{FleetName, Timestamp};
use fleet_run::Posted;
use fleet_spec::NotifyRule;
use message::{Message, again, key};
#[cfg(feature = "webhooks")]
use send::Sender;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;
#[cfg(not(feature = "webhooks"))]
use unsent::Sender;

/// How often messages that wait are looked at.
const TICK: Duration = Duration::from_secs(1);
/// How often messages are looked for that others left behind.
const SEARCH: Duration = Duration::from_secs(30);
/// A message of another replica that lies there for so long was left behind.
const LEFT_BEHIND: i64 = 60;
/// The first pause after a failure, and the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);
/// A message that nobody took for so long is given up, in seconds.
const GIVEN_UP: i64 = 86_400;
/// Messages on their way at the same time.
const AT_ONCE: usize = 16;

/// A rule in force, with the fleets that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The policy that it is of.
    pub policy: String,
    /// The rule.
    pub rule: Arc<NotifyRule>,
    /// The fleets.
    pub fleets: BTreeSet<FleetName>,
}

/// A message that is not taken yet.
struct Waiting {
    posted: Posted,
    due: Instant,
    pause: Duration,
}

#[derive(Default)]
struct Desk {
    waiting: BTreeMap<(String, u64), Waiting>,
    /// What was told, and when that is no longer news. Saves questions to the store; the store is the truth.
    told: BTreeMap<String, Instant>,
}

impl Desk {
    fn add(&mut self, posted: Posted) {
        let at = (posted.key.clone(), posted.number);
        let new = Waiting { posted, due: Instant::now(), pause: FIRST_PAUSE };
        self.waiting.entry(at).or_insert(new);
    }
}

impl Controller {
    /// Tells those who want to know, for as long as this is polled.
    pub(crate) async fn notify(&self) {
        if !self.acts {
            return std::future::pending().await;
        }
        let (mut news, sender) = (self.board.listen(), Sender::new());
        let (mut desk, mut searched) = (Desk::default(), None::<Instant>);
        let mut looked: BTreeSet<FleetName> = self.board.fleets().into_keys().collect();
        loop {
            let until = Instant::now() + TICK;
            while let Ok(heard) = tokio::time::timeout_at(until, news.recv()).await {
                match heard {
                    Ok(News::Looked(fleet)) => drop(looked.insert(fleet)),
                    Ok(News::Specs | News::Replicas) | Err(RecvError::Lagged(_)) => {
                        looked.extend(self.board.fleets().into_keys());
                    }
                    Err(RecvError::Closed) => return,
                }
            }
            let rules = self.board.specs().notify.clone();
            if !rules.is_empty() {
                self.post_news(&rules, &std::mem::take(&mut looked), &mut desk).await;
            }
            looked.clear();
            if searched.is_none_or(|at| at.elapsed() > SEARCH) {
                self.search(&mut desk, searched.is_none()).await;
                searched = Some(Instant::now());
            }
            self.deliver(&rules, &sender, &mut desk).await;
        }
    }

    /// Writes down what is new.
    async fn post_news(&self, rules: &[Rule], looked: &BTreeSet<FleetName>, desk: &mut Desk) {
        let known = self.board.fleets();
        let mine = looked.iter().filter(|fleet| self.is_mine(fleet));
        let mut found: Vec<Condition> = mine
            .filter_map(|fleet| known.get(fleet).map(|known| of_fleet(fleet, known)))
            .flatten()
            .collect();
        found.extend(self.board.refused().map(|refused| of_specs(&refused)));
        desk.told.retain(|_, until| *until > Instant::now());
        for Rule { policy, rule, fleets } in rules {
            let meant = |condition: &&Condition| {
                rule.events.contains(&condition.event)
                    && condition.fleet.as_ref().is_none_or(|fleet| fleets.contains(fleet))
            };
            for condition in found.iter().filter(meant) {
                self.post(policy, rule, condition, desk).await;
            }
        }
    }

    async fn post(&self, policy: &str, rule: &NotifyRule, condition: &Condition, desk: &mut Desk) {
        let key = key(policy, rule, condition);
        if desk.told.contains_key(&key) {
            return;
        }
        let now = Timestamp::now();
        let message = Message {
            policy: policy.to_owned(),
            rule: rule.name.clone(),
            event: condition.event.as_str().to_owned(),
            fleet: condition.fleet.as_ref().map(ToString::to_string),
            at: now,
            title: condition.title.clone(),
            text: condition.text.clone(),
            next: condition.next.clone(),
            replica: self.replica.clone(),
        };
        let Ok(body) = serde_json::to_vec(&message) else { return };
        let wanted = |last: Option<&[u8]>| again(last, now, rule.repeat_seconds);
        match self.engine.store().post(&key, body, wanted).await {
            Ok(posted) => {
                // Told by us or by another one: asked again soon, and not every second.
                let quiet = Duration::from_secs(rule.repeat_seconds.min(60).into());
                desk.told.insert(key, Instant::now() + quiet);
                posted.into_iter().for_each(|posted| desk.add(posted));
            }
            Err(error) => tracing::warn!(%error, "a notification cannot be written down"),
        }
    }

    /// Messages that a process left that is no more. At the start all of them: who died may have been us.
    async fn search(&self, desk: &mut Desk, first: bool) {
        match self.engine.store().posted().await {
            Ok(found) => {
                let now = Timestamp::now();
                let old = |posted: &Posted| {
                    read(posted).is_none_or(|message| {
                        first || now.duration_since(message.at).as_secs() > LEFT_BEHIND
                    })
                };
                found.into_iter().filter(old).for_each(|posted| desk.add(posted));
            }
            Err(error) => tracing::debug!(%error, "the outbox cannot be read"),
        }
    }

    async fn deliver(&self, rules: &[Rule], sender: &Sender, desk: &mut Desk) {
        if self.board.specs().since.is_none() {
            // Rules may come with the specs.
            return;
        }
        let now = Instant::now();
        let due = desk.waiting.values().filter(|waiting| waiting.due <= now).take(AT_ONCE);
        let sent = due.map(|waiting| async {
            let posted = waiting.posted.clone();
            let taken = self.send(rules, sender, &posted).await;
            (posted, taken)
        });
        for (posted, taken) in futures::future::join_all(sent).await {
            let at = (posted.key.clone(), posted.number);
            let done = match taken {
                Ok(()) => true,
                Err(Some(why)) => {
                    self.metrics.notified("failed");
                    tracing::warn!(notification = posted.key, why, "a notification was not taken");
                    false
                }
                // Nobody is to be told any more.
                Err(None) => {
                    self.metrics.notified("given-up");
                    true
                }
            };
            if !done {
                if let Some(waiting) = desk.waiting.get_mut(&at) {
                    waiting.due = Instant::now() + waiting.pause;
                    waiting.pause = (waiting.pause * 2).min(LONGEST_PAUSE);
                }
                continue;
            }
            // One that cannot be marked is sent once more, which its receiver can tell by the id.
            match self.engine.store().mark_taken(&posted).await {
                Ok(()) => drop(desk.waiting.remove(&at)),
                Err(error) => tracing::warn!(%error, "a notification that was taken is not marked"),
            }
        }
    }

    /// `Err(None)`: it is given up.
    async fn send(
        &self,
        rules: &[Rule],
        sender: &Sender,
        posted: &Posted,
    ) -> Result<(), Option<String>> {
        let message = read(posted).ok_or(None)?;
        let of = |rule: &&Rule| rule.policy == message.policy && rule.rule.name == message.rule;
        let age = Timestamp::now().duration_since(message.at).as_secs();
        if age > GIVEN_UP {
            tracing::error!(rule = message.rule, "nobody took a notification for a day");
            return Err(None);
        }
        // A rule that is gone is not obeyed.
        let rule = rules.iter().find(of).ok_or(None)?;
        let id = format!("{}-{}", posted.key, posted.number);
        sender.send(&rule.rule, &id, &message).await.map_err(Some)?;
        self.metrics.notified("delivered");
        Ok(())
    }
}

fn read(posted: &Posted) -> Option<Message> {
    serde_json::from_slice(&posted.body).ok()
}
