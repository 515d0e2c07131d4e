//! The repository that the controllers watch: good commits, and bad ones.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A git repository with one spec per fleet.
pub(crate) struct Specs {
    pub(crate) folder: PathBuf,
    machines: u32,
    /// How often something was changed for good.
    changes: u32,
}

impl Specs {
    pub(crate) fn new(folder: PathBuf, fleets: u32, machines: u32) -> Self {
        std::fs::create_dir_all(folder.join("specs")).expect("a folder");
        let specs = Specs { folder, machines, changes: 0 };
        specs.git(&["init", "--quiet", "--initial-branch=main", "."]);
        // A replica that starts on a bad commit fetches the last good one by its name, as from GitHub.
        specs.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
        for fleet in 0..fleets {
            specs.write(fleet, machines);
        }
        specs.commit("all fleets");
        specs
    }

    /// A commit that nobody can use.
    pub(crate) fn break_one(&self, fleet: u32) {
        let broken = "apiVersion: fleet/v1\nkind: Fleet\nmetadata: { name: broken }\nspec: { capacity: 7 }\n";
        std::fs::write(self.path(fleet), broken).expect("a file");
        self.commit("a slip of the pen");
    }

    /// Mends it, and changes another fleet by one machine.
    pub(crate) fn mend(&mut self, broken: u32, other: u32) {
        self.changes += 1;
        self.write(broken, self.machines);
        self.write(other, self.machines + self.changes % 2);
        self.commit("mended, and one fleet is another size");
    }

    fn path(&self, fleet: u32) -> PathBuf {
        self.folder.join("specs").join(format!("fleet-{fleet:03}.yaml"))
    }

    fn write(&self, fleet: u32, machines: u32) {
        std::fs::write(self.path(fleet), spec(fleet, machines)).expect("a file");
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    fn git(&self, arguments: &[&str]) {
        let status = git(&self.folder).args(arguments).status().expect("git");
        assert!(status.success(), "git {arguments:?}");
    }
}

fn git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.current_dir(folder);
    for (name, value) in [("NAME", "soak"), ("EMAIL", "soak@example.org")] {
        git.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    git
}

/// A fifth on demand, the rest spot, over two clouds: as the first fleet of a user, and wider.
fn spec(fleet: u32, machines: u32) -> String {
    let regions =
        [["us-east-1", "us-west-2"], ["us-east-2", "eu-west-1"], ["eu-central-1", "us-east-1"]];
    let [one, other] = regions[fleet as usize % regions.len()];
    format!(
        "apiVersion: fleet/v1\nkind: Fleet\nmetadata: {{ name: soak-{fleet:03}, labels: {{ team: t{} }} }}\nspec:\n  \
         capacity: {{ unit: instances, target: {machines}, base: {{ onDemand: 20% }}, burst: {{ spot: 100% }} }}\n  \
         instances:\n    families: [m5, m6i, m6a, m7i, m7a, c6i, c7i, r6i, n2-standard, n2d-standard]\n    \
         vcpus: {{ min: 4, max: 16 }}\n    architectures: [x86_64]\n    exclude: [\"*.metal\"]\n  \
         placement:\n    strategy: price-capacity-optimized\n    clouds:\n      \
         - {{ provider: aws, regions: [{one}, {other}] }}\n      - {{ provider: gcp, regions: [us-central1, us-east1] }}\n    \
         spread: {{ maxSharePerPool: 40%, minZones: 3 }}\n  \
         template: {{ image: {{ aws: ami-0123456789abcdef0, gcp: projects/debian-cloud/global/images/family/debian-12 }} }}\n",
        fleet % 10
    )
}
