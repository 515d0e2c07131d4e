//! What the journal keeps of changes of template, and which template holds.

use crate::record::seams;
use fleet_model::{
    Cloud, Desired, Digest, Recorded, Rollout, RolloutNews, RolloutState, Template, TemplateSet,
    Timestamp, Undone,
};
use std::collections::{BTreeMap, BTreeSet};

/// Folds one piece of news.
pub(super) fn fold(recorded: &mut Recorded, news: &RolloutNews, at: Timestamp) {
    match news {
        RolloutNews::Began { from, to } => {
            recorded.rollout = Some(begun(from.clone(), to.clone(), at));
            return;
        }
        RolloutNews::Resumed => recorded.undone = None,
        RolloutNews::Undone => {
            recorded.undone = recorded.rollout.as_ref().map(|rollout| {
                let (bad, good) = (rollout.to.clone(), seams::returned_to(rollout).clone());
                Undone { bad, good, since: at }
            });
        }
        RolloutNews::WaveBegan { .. }
        | RolloutNews::WaveDone
        | RolloutNews::Halted { .. }
        | RolloutNews::Done
        | RolloutNews::Paused => {}
    }
    if let Some(rollout) = &mut recorded.rollout {
        step(rollout, news, at);
    }
}

/// A rollout that begins.
pub(crate) fn begun(from: TemplateSet, to: TemplateSet, since: Timestamp) -> Rollout {
    Rollout {
        from,
        to,
        since,
        waves: 0,
        wave: BTreeSet::new(),
        level: BTreeMap::new(),
        wave_done: None,
        state: RolloutState::Going,
    }
}

/// What a piece of news makes of a rollout: for who decides, and for who folds the journal.
pub(crate) fn step(rollout: &mut Rollout, news: &RolloutNews, at: Timestamp) {
    match news {
        RolloutNews::Began { from, to } => *rollout = begun(from.clone(), to.clone(), at),
        RolloutNews::WaveBegan { slots, level } => {
            (rollout.wave, rollout.level) = (slots.clone(), level.clone());
        }
        RolloutNews::WaveDone => {
            rollout.wave.clear();
            rollout.waves += 1;
            rollout.wave_done = Some(at);
        }
        RolloutNews::Halted { why } => {
            // Its old machines stay after all.
            rollout.wave.clear();
            rollout.state = RolloutState::Halted { why: why.clone() };
        }
        RolloutNews::Done | RolloutNews::Undone => {
            rollout.wave.clear();
            rollout.state = RolloutState::Done;
        }
        RolloutNews::Paused => rollout.state = RolloutState::Paused,
        RolloutNews::Resumed if rollout.state != RolloutState::Done => {
            // What failed before is forgiven.
            rollout.state = RolloutState::Going;
            rollout.since = at;
        }
        RolloutNews::Resumed => {}
    }
}

/// A fleet with the templates that hold: the spec's, or those before them where a person undid the
/// spec's.
pub fn with_templates(mut desired: Desired, recorded: &Recorded) -> Desired {
    let Some(undone) = &recorded.undone else { return desired };
    for (cloud, good) in &undone.good {
        let said = desired.templates.get(cloud).cloned().unwrap_or_default();
        if undone.bad.get(cloud) == Some(&said.digest())
            && let Some(template) = kept_template(recorded, *good, &said)
        {
            desired.templates.insert(*cloud, template);
        }
    }
    desired
}

/// Since when the spec's templates do not hold, if they do not.
pub(crate) fn undone_since(desired: &Desired, recorded: &Recorded) -> Option<Timestamp> {
    let undone = recorded.undone.as_ref()?;
    let holds = |(cloud, good): (&Cloud, &Digest)| {
        desired.templates.get(cloud).cloned().unwrap_or_default().digest() == *good
    };
    undone.good.iter().all(holds).then_some(undone.since)
}

/// A template as the journal keeps it. Its user data is not there: they are the spec's, if those are the
/// same.
pub fn kept_template(recorded: &Recorded, digest: Digest, said: &Template) -> Option<Template> {
    let mut template = recorded.kept_templates.get(&digest)?.clone();
    template.user_data = said.user_data.clone();
    // What machines do not notice is as the spec says.
    template.tags = said.tags.clone();
    template.ssh_user = said.ssh_user.clone();
    let had_none = template.digest() != digest;
    if had_none {
        template.user_data = None;
    }
    (template.digest() == digest).then_some(template)
}

/// Whether an undo can return to what it should: the journal keeps all of it but user data.
pub fn can_undo(recorded: &Recorded) -> Result<(), CannotUndo> {
    let Some(rollout) = &recorded.rollout else { return Err(CannotUndo::Nothing) };
    if recorded.undone.as_ref().is_some_and(|undone| undone.bad == rollout.to) {
        return Err(CannotUndo::Already);
    }
    if rollout.from == rollout.to || rollout.from.is_empty() {
        return Err(CannotUndo::Nothing);
    }
    for (cloud, good) in &rollout.from {
        let Some(bad) = rollout.to.get(cloud) else { continue };
        let data = |digest: &Digest| {
            recorded.templates.get(digest).map(|fields| fields.get("userData").cloned())
        };
        let whole = recorded.kept_templates.contains_key(good);
        let (Some(before), Some(now)) = (data(good), data(bad).or_else(|| data(good))) else {
            return Err(CannotUndo::NotKept { cloud: *cloud });
        };
        if !whole {
            return Err(CannotUndo::NotKept { cloud: *cloud });
        }
        if before.is_some() && before != now {
            return Err(CannotUndo::UserData { cloud: *cloud });
        }
    }
    Ok(())
}

/// Why there is no way back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CannotUndo {
    /// There was no change of template.
    Nothing,
    /// It was undone before.
    Already,
    /// The journal does not have the template before it.
    NotKept {
        /// Of which cloud.
        cloud: Cloud,
    },
    /// The user data changed, and the journal does not keep them.
    UserData {
        /// Of which cloud.
        cloud: Cloud,
    },
}
