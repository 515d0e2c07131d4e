//! What is kept in files between commands: plans and inputs.

use crate::exit::Exit;
use crate::fail::{Answer, Failure, Place};
use crate::sign;
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
    /// Over the whole file but itself: who made the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
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
    /// Inputs that may be handed around: of secrets only the digest is saved.
    pub(crate) fn new(fleets: Vec<Inputs>) -> Self {
        SavedInputs { format_version: INPUTS_FORMAT, kind: InputsKind::FleetInputs, fleets }
    }

    /// Reads inputs back.
    pub(crate) fn read(file: &Path) -> Answer<Self> {
        let saved: SavedInputs = read(file, "saved inputs", "fleet plan SPEC --save-inputs FILE")?;
        same_format("saved inputs", saved.format_version, INPUTS_FORMAT)
            .map_err(|failure| failure.at(file.display()))?;
        Ok(saved)
    }
}

impl SavedPlan {
    /// Reads a plan back.
    pub(crate) fn read(file: &Path) -> Answer<Self> {
        let text = fs::read(file).or_fail("cannot read a saved plan", file.display())?;
        SavedPlan::parse(&text).map_err(|failure| failure.at(file.display()))
    }

    /// A plan from a file's bytes: exactly those that were written, or none.
    fn parse(text: &[u8]) -> Answer<Self> {
        let new = "make a new plan: `fleet plan SPEC --out FILE`";
        let saved: SavedPlan = serde_json::from_slice(text).map_err(|cause| {
            Failure::new(format!("the plan cannot be read: {cause}"))
                .hint(new)
                .exit(Exit::PlanStale)
        })?;
        same_format("a saved plan", saved.format_version, PLAN_FORMAT)?;
        let untouched = saved.digest.is_some()
            && saved.digest == saved.fingerprint()
            && serde_json::to_vec(&saved).is_ok_and(|written| written == text);
        if untouched {
            return Ok(saved);
        }
        Err(Failure::new("the plan is stale: the file was altered after it was saved")
            .hint(new)
            .exit(Exit::PlanStale))
    }

    /// Signs it with a private key.
    pub(crate) fn signed(mut self, key: &Path) -> Answer<Self> {
        self.signature = Some(sign::sign(key, &self.unsigned()?)?);
        Ok(self)
    }

    /// Refuses it unless one of these keys has signed it.
    pub(crate) fn require(&self, keys: &[PathBuf]) -> Answer<()> {
        if keys.is_empty() {
            return Ok(());
        }
        sign::verify(keys, &self.unsigned()?, self.signature.as_deref())
    }

    /// What a signature is over.
    fn unsigned(&self) -> Answer<Vec<u8>> {
        let SavedPlan { format_version, kind, simulated, specs, policies, fleets, digest, .. } =
            self;
        let body = (format_version, kind, simulated, specs, policies, fleets, digest);
        serde_json::to_vec(&body)
            .map_err(|cause| Failure::new(format!("cannot write JSON: {cause}")))
    }

    /// The same plan with its digest.
    pub(crate) fn sealed(mut self) -> Self {
        self.digest = self.fingerprint();
        self
    }

    fn fingerprint(&self) -> Option<Digest> {
        let SavedPlan { format_version, simulated, specs, policies, fleets, .. } = self;
        let body = (format_version, simulated, specs, policies, fleets);
        Some(digest("saved-plan/1", [serde_json::to_vec(&body).ok()?.as_slice()]))
    }

    /// Whether a file is a saved plan rather than a spec. Specs may be JSON too, so the kind
    /// decides, not the first character; or the first words, for a plan that was damaged.
    pub(crate) fn is_one(file: &Path) -> bool {
        let Ok(text) = fs::read(file) else { return false };
        #[derive(Deserialize)]
        struct Head {
            #[serde(rename = "kind")]
            _kind: PlanKind,
        }
        text.starts_with(b"{\"formatVersion\":")
            || (text.trim_ascii_start().starts_with(b"{")
                && serde_json::from_slice::<Head>(&text).is_ok())
    }
}

/// Whether a file is what `fleet plan -o json` printed: it reads like a plan, and cannot be applied.
pub(crate) fn is_printed_plan(file: &Path) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Head {
        kind: String,
        #[serde(rename = "formatVersion")]
        _format_version: u32,
    }
    let Ok(text) = fs::read(file) else { return false };
    serde_json::from_slice::<Head>(&text).is_ok_and(|head| head.kind == "plan")
}

fn read<T: DeserializeOwned>(file: &Path, what: &str, how: &str) -> Answer<T> {
    let text = fs::read(file).or_fail(&format!("cannot read {what}"), file.display())?;
    serde_json::from_slice(&text).map_err(|cause| {
        Failure::new(format!("this is not {what}: {cause}"))
            .at(file.display())
            .hint(format!("make one with `{how}`"))
    })
}

fn same_format(what: &str, found: u32, known: u32) -> Answer<()> {
    if found == known {
        return Ok(());
    }
    Err(Failure::new(format!("{what} of format {found}, and this fleet reads format {known}"))
        .hint("make it again with this version")
        .exit(Exit::PlanStale))
}

/// Writes a file whole or not at all; only its owner may read it.
pub(crate) fn write(file: &Path, document: &impl Serialize) -> Answer<()> {
    let text = serde_json::to_vec(document).or_fail("cannot write JSON", file.display())?;
    // A rename is atomic: a reader sees the old file or the new one, never half of it.
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let written = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))
        .and_then(|mut beside| beside.write_all(&text).map(|()| beside))
        .and_then(|beside| beside.persist(file).map_err(|error| error.error));
    written.map(|_| ()).or_fail("cannot write the file", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> SavedPlan {
        SavedPlan {
            format_version: PLAN_FORMAT,
            kind: PlanKind::FleetPlan,
            simulated: true,
            specs: vec!["fleet.yaml".into()],
            policies: Vec::new(),
            fleets: Vec::new(),
            digest: None,
            signature: None,
        }
        .sealed()
    }

    /// A key pair in the files that `openssl genpkey` makes.
    fn keys(folder: &Path, name: &str, seed: u8) -> (PathBuf, PathBuf) {
        use ed25519_dalek::SigningKey;
        use ed25519_dalek::pkcs8::{EncodePrivateKey, EncodePublicKey, spki::der::pem::LineEnding};
        let key = SigningKey::from_bytes(&[seed; 32]);
        let (private, public) = (folder.join(name), folder.join(format!("{name}.pub")));
        let pem = key.to_pkcs8_pem(LineEnding::LF).expect("a key");
        fs::write(&private, pem.as_bytes()).expect("written");
        let pem = key.verifying_key().to_public_key_pem(LineEnding::LF).expect("a key");
        fs::write(&public, pem).expect("written");
        (private, public)
    }

    #[test]
    fn every_byte_of_a_plan_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let (key, public) = keys(folder.path(), "key", 1);
        let text = serde_json::to_vec(&plan().signed(&key).expect("signed")).expect("JSON");
        let accepted = |text: &[u8]| {
            SavedPlan::parse(text).and_then(|saved| saved.require(std::slice::from_ref(&public)))
        };
        accepted(&text).expect("as it was written");
        for at in 0..text.len() {
            for flip in [0x01, 0x20, 0x80] {
                let mut altered = text.clone();
                altered[at] ^= flip;
                let refused = accepted(&altered).expect_err("altered");
                assert_eq!(refused.exit, Exit::PlanStale, "byte {at}: {}", refused.what);
            }
            let refused = accepted(&text[..at]).expect_err("cut off");
            assert_eq!(refused.exit, Exit::PlanStale, "cut at {at}");
        }
        let longer = [text.as_slice(), b"\n"].concat();
        assert_eq!(accepted(&longer).expect_err("longer").exit, Exit::PlanStale);
    }

    #[test]
    fn only_the_right_key_will_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let (key, public) = keys(folder.path(), "key", 1);
        let (_, other) = keys(folder.path(), "other", 2);
        let signed = plan().signed(&key).expect("signed");
        signed.require(std::slice::from_ref(&public)).expect("ours");
        signed.require(&[other.clone(), public.clone()]).expect("one of them");
        for (saved, keys) in [(&signed, vec![other]), (&plan(), vec![public.clone()])] {
            assert_eq!(saved.require(&keys).expect_err("refused").exit, Exit::PlanStale);
        }
        // A signature of another plan, by the right key.
        let moved = SavedPlan { simulated: false, ..plan() }.sealed();
        let moved = SavedPlan { signature: signed.signature.clone(), ..moved };
        assert_eq!(moved.require(&[public]).expect_err("another plan").exit, Exit::PlanStale);
        assert!(plan().signed(Path::new("/dev/null")).is_err(), "no key");
    }

    fn saved() -> Vec<Vec<u8>> {
        fleet_fuzz::corpus("plan").into_iter().map(|(_, bytes)| bytes).collect()
    }

    #[test]
    fn fuzz_plan() {
        let seeds = saved();
        fleet_fuzz::fuzz("plan", &seeds, |input| {
            let read = SavedPlan::parse(input);
            if seeds.iter().any(|seed| seed == input) {
                let saved = read.unwrap_or_else(|failure| panic!("{failure}"));
                assert_eq!(serde_json::to_vec(&saved).expect("JSON"), input, "read, then written");
            } else {
                let refused = read.expect_err("a plan that nobody saved is refused");
                assert_eq!(refused.exit, Exit::PlanStale, "{}", refused.what);
            }
        });
    }

    /// Of a plan with steps, too: a key of a field that may be missing is the harder case.
    #[test]
    fn every_byte_of_a_real_plan_counts() {
        for plan in saved() {
            for at in 0..plan.len() {
                let mut altered = plan.clone();
                altered[at] ^= 1;
                assert!(SavedPlan::parse(&altered).is_err(), "byte {at}");
            }
        }
    }
}
