//! Keeps journals of simulated fleets and of real ones apart.
//!
//! A journal that records simulated machines is poison for a run on real clouds: every machine in
//! it would seem to have vanished. So a fleet that was first applied on simulated clouds carries a
//! mark in its folder, and runs of the other kind are refused. A remote store carries no mark: who
//! simulates against a shared bucket should give it a prefix of its own.

use crate::context::Context;
use crate::fail::{Answer, Failure, Place};
use fleet_model::FleetName;
use std::path::PathBuf;

/// The mark, in the folder of a fleet.
const MARK: &str = "simulated";

impl Context {
    fn journal_root(&self) -> Option<PathBuf> {
        let local = !self.global.state.contains("://");
        local.then(|| PathBuf::from(&self.global.state).join("fleets"))
    }

    /// Marks a new fleet, or refuses one of the other kind.
    pub(crate) fn same_kind(&self, fleet: &FleetName) -> Answer<()> {
        let Some(folder) = self.journal_root().map(|root| root.join(fleet.as_str())) else {
            return Ok(());
        };
        let mark = folder.join(MARK);
        match (folder.join("journal").exists(), mark.exists(), self.global.sim) {
            (true, true, false) => {
                Err(Failure::new(format!("fleet `{fleet}` stands on simulated clouds"))
                    .at(folder.display())
                    .hint("add --sim, or use another --state for real clouds"))
            }
            (true, false, true) => {
                Err(Failure::new(format!("fleet `{fleet}` does not stand on simulated clouds"))
                    .at(folder.display())
                    .hint("leave --sim out, or use another --state to simulate"))
            }
            (false, false, true) => std::fs::create_dir_all(&folder)
                .and_then(|()| std::fs::write(&mark, ""))
                .or_fail("cannot write the state", folder.display()),
            (false, true, false) => {
                std::fs::remove_file(&mark).or_fail("cannot write the state", mark.display())
            }
            (true, true, true)
            | (true, false, false)
            | (false, true, true)
            | (false, false, false) => Ok(()),
        }
    }

    /// Forgets the journals of simulated fleets: their machines end with their world. Says which.
    pub(crate) fn forget_simulated(&self) -> Answer<Vec<String>> {
        let Some(root) = self.journal_root().filter(|root| root.exists()) else {
            return Ok(Vec::new());
        };
        let mut gone = Vec::new();
        let fleets = std::fs::read_dir(&root).or_fail("cannot read the state", root.display())?;
        for fleet in fleets {
            let fleet = fleet.or_fail("cannot read the state", root.display())?;
            let folder = fleet.path();
            if folder.join(MARK).exists() {
                std::fs::remove_dir_all(&folder)
                    .or_fail("cannot remove the journal", folder.display())?;
                gone.push(fleet.file_name().to_string_lossy().into_owned());
            }
        }
        gone.sort();
        Ok(gone)
    }
}
