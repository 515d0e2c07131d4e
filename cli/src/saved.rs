//! What is kept in files between commands: plans and inputs.

use crate::exit::Exit;
use crate::fail::{Answer, Failure, Place};
use fleet_model::{Digest, INPUTS_FORMAT, Inputs, Limits, PLAN_FORMAT, Plan, Report, digest};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A saved plan. It names the specs and holds no copy of them: what is in user data stays where
/// it is, and a spec that moved on is noticed by its digest.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SavedPlan {
    pub format_version: u32,
    pub kind: PlanKind,
    /// Whether it was made on simulated clouds.
    pub simulated: bool,
    /// The specs it was made from, as they were named.
    pub specs: Vec<PathBuf>,
    /// The policies besides.
    pub policies: Vec<PathBuf>,
    /// One plan per fleet.
    pub fleets: Vec<SavedFleet>,
    /// Over all of the above: a file that was edited is not the plan that was looked at.
    pub digest: Option<Digest>,
}

/// The plan of one fleet.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SavedFleet {
    pub plan: Plan,
    pub report: Report,
    /// The limits it was made within.
    pub limits: Limits,
}

/// Marks a file as a saved plan.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum PlanKind {
    #[serde(rename = "FleetPlan")]
    FleetPlan,
}

/// Everything that decisions were made from.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SavedInputs {
    pub format_version: u32,
    pub kind: InputsKind,
    pub fleets: Vec<Inputs>,
}

/// Marks a file as saved inputs.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum InputsKind {
    #[serde(rename = "FleetInputs")]
    FleetInputs,
}

impl SavedInputs {
    /// Inputs that may be handed around: user data may hold secrets, so only its digest is kept.
    pub(crate) fn new(mut fleets: Vec<Inputs>) -> Self {
        for inputs in &mut fleets {
            for template in inputs.desired.templates.values_mut() {
                if let Some(data) = &mut template.user_data {
                    *data = format!("digest:{}", digest("user-data/1", [data.as_bytes()]));
                }
            }
        }
        SavedInputs { format_version: INPUTS_FORMAT, kind: InputsKind::FleetInputs, fleets }
    }

    /// Reads inputs back.
    pub(crate) fn read(file: &Path) -> Answer<Self> {
        let saved: SavedInputs = read(file, "saved inputs", "fleet plan SPEC --save-inputs FILE")?;
        same_format(file, "saved inputs", saved.format_version, INPUTS_FORMAT)?;
        Ok(saved)
    }
}

impl SavedPlan {
    /// Reads a plan back.
    pub(crate) fn read(file: &Path) -> Answer<Self> {
        let saved: SavedPlan = read(file, "a saved plan", "fleet plan SPEC --out FILE")?;
        same_format(file, "a saved plan", saved.format_version, PLAN_FORMAT)?;
        if saved.digest.is_none() || saved.digest != saved.fingerprint() {
            return Err(Failure::new("the plan is stale: the file was altered after it was saved")
                .at(file.display())
                .hint("make a new plan: `fleet plan SPEC --out FILE`")
                .exit(Exit::PlanStale));
        }
        Ok(saved)
    }

    /// The same plan with its digest.
    pub(crate) fn sealed(mut self) -> Self {
        self.digest = self.fingerprint();
        self
    }

    fn fingerprint(&self) -> Option<Digest> {
        let SavedPlan { format_version, kind: _, simulated, specs, policies, fleets, digest: _ } =
            self;
        let body = (format_version, simulated, specs, policies, fleets);
        Some(digest("saved-plan/1", [serde_json::to_vec(&body).ok()?.as_slice()]))
    }

    /// Whether a file is a saved plan rather than a spec. Specs may be JSON too, so the kind
    /// decides, not the first character.
    pub(crate) fn is_one(file: &Path) -> bool {
        let Ok(text) = fs::read(file) else { return false };
        #[derive(Deserialize)]
        struct Head {
            #[serde(rename = "kind")]
            _kind: PlanKind,
        }
        text.trim_ascii_start().starts_with(b"{") && serde_json::from_slice::<Head>(&text).is_ok()
    }
}

fn read<T: DeserializeOwned>(file: &Path, what: &str, how: &str) -> Answer<T> {
    let text = fs::read(file).or_fail(&format!("cannot read {what}"), file.display())?;
    serde_json::from_slice(&text).map_err(|cause| {
        Failure::new(format!("this is not {what}: {cause}"))
            .at(file.display())
            .hint(format!("make one with `{how}`"))
    })
}

fn same_format(file: &Path, what: &str, found: u32, known: u32) -> Answer<()> {
    if found == known {
        return Ok(());
    }
    Err(Failure::new(format!("{what} of format {found}, and this fleet reads format {known}"))
        .at(file.display())
        .hint("make it again with this version")
        .exit(Exit::PlanStale))
}

/// Writes a file whole or not at all; only its owner may read it.
pub(crate) fn write(file: &Path, document: &impl Serialize) -> Answer<()> {
    let text = serde_json::to_vec(document).or_fail("cannot write JSON", file.display())?;
    let mut beside = file.as_os_str().to_owned();
    beside.push(".tmp");
    let beside = PathBuf::from(beside);
    let written = private(&beside).and_then(|mut open| open.write_all(&text)).and_then(|()| {
        // A rename is atomic: a reader sees the old file or the new one, never half of it.
        fs::rename(&beside, file)
    });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.or_fail("cannot write the file", file.display())
}

fn private(file: &Path) -> std::io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}
