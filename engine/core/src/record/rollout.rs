//! What the journal keeps of changes of template, and which template holds.

use crate::record::seams;
use fleet_model::{
    Cloud, Desired, Digest, Recorded, Rollout, RolloutNews, RolloutState, Template, Timestamp,
    Undone,
};
use std::collections::{BTreeMap, BTreeSet};

/// Folds one piece of news.
pub(super) fn fold(recorded: &mut Recorded, news: &RolloutNews, at: Timestamp) {
    if let RolloutNews::Began { from, to } = news {
        recorded.rollout = Some(Rollout {
            from: from.clone(),
            to: to.clone(),
            since: at,
            waves: 0,
            wave: BTreeSet::new(),
            level: BTreeMap::new(),
            wave_done: None,
            state: RolloutState::Going,
        });
        return;
    }
    let Some(rollout) = &mut recorded.rollout else { return };
    match news {
        RolloutNews::Began { .. } => {}
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
        RolloutNews::Done => {
            rollout.wave.clear();
            rollout.state = RolloutState::Done;
        }
        RolloutNews::Paused => rollout.state = RolloutState::Paused,
        RolloutNews::Resumed => {
            if rollout.state != RolloutState::Done {
                // What failed before is forgiven.
                rollout.state = RolloutState::Going;
                rollout.since = at;
            }
            recorded.undone = None;
        }
        RolloutNews::Undone => {
            rollout.wave.clear();
            rollout.state = RolloutState::Done;
            let (bad, good) = (rollout.to.clone(), seams::returned_to(rollout).clone());
            recorded.undone = Some(Undone { bad, good, since: at });
        }
    }
}

/// A fleet with the templates that hold: the spec's, or those before them where a person undid the
/// spec's.
pub fn with_templates(mut desired: Desired, recorded: &Recorded) -> Desired {
    let Some(undone) = &recorded.undone else { return desired };
    for (cloud, good) in &undone.good {
        let said = desired.templates.get(cloud).cloned().unwrap_or_default();
        if undone.bad.get(cloud) == Some(&said.digest())
            && let Some(template) = kept(recorded, *good, &said)
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

/// The template with a fingerprint: the spec's own, or one that the journal keeps.
pub fn template_of(
    desired: &Desired,
    recorded: &Recorded,
    cloud: Cloud,
    digest: Digest,
) -> Option<Template> {
    let said = desired.templates.get(&cloud).cloned().unwrap_or_default();
    if said.digest() == digest {
        return Some(said);
    }
    kept(recorded, digest, &said)
}

/// A template as the journal keeps it. Its user data is not there: they are the spec's, if those are the
/// same.
fn kept(recorded: &Recorded, digest: Digest, said: &Template) -> Option<Template> {
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
