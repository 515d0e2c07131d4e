//! Servers that stand for clouds, each in a folder of its own below the target folder.

use crate::shell::{at, cargo, note, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// EC2 and S3 as somebody else understood them. Pinned: its gaps are known and covered.
const MOTO: &str = "moto[server]==5.2.5";

/// What holds requests and answers against official descriptions.
const PRISM: &str = "@stoplight/prism-cli@5.16.0";

/// Microsoft's own client.
const AZURE: &str = "azure-mgmt-compute==39.0.0";

/// Where builds go.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| at("target"), PathBuf::from)
}

/// The Python environment with moto in it, made on first use. `None` if it cannot be made.
pub(crate) fn moto() -> Option<PathBuf> {
    let folder = target().join("emulators").join("moto-5.2.5");
    if folder.join("ready").exists() {
        return Some(folder);
    }
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(&folder);
    let mut pip = Command::new(folder.join("bin").join("pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", MOTO, "boto3"]);
    let ready = run(venv) && run(pip) && std::fs::write(folder.join("ready"), "").is_ok();
    if !ready {
        note("error: moto cannot be installed; python3 with venv and a package index are needed");
    }
    ready.then_some(folder)
}

/// Prism, installed on first use. `None` if it cannot be.
pub(crate) fn prism() -> Option<PathBuf> {
    let folder = target().join("emulators").join("prism-5.16.0");
    if folder.join("ready").exists() {
        return Some(folder);
    }
    let mut npm = Command::new("npm");
    npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
        .arg(&folder)
        .arg(PRISM);
    let ready = std::fs::create_dir_all(&folder).is_ok()
        && run(npm)
        && std::fs::write(folder.join("ready"), "").is_ok();
    if !ready {
        note("error: Prism cannot be installed; npm and a package index are needed");
    }
    ready.then_some(folder)
}

/// A Python environment with Microsoft's client in it, made on first use. `None` if it cannot be.
pub(crate) fn azure_python() -> Option<PathBuf> {
    let folder = target().join("emulators").join("azure-39.0.0");
    if folder.join("ready").exists() {
        return Some(folder);
    }
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(&folder);
    let mut pip = Command::new(folder.join("bin").join("pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check", AZURE]);
    let ready = run(venv) && run(pip) && std::fs::write(folder.join("ready"), "").is_ok();
    if !ready {
        note("error: azure-mgmt-compute cannot be installed; python3 with venv is needed");
    }
    ready.then_some(folder)
}

/// The tests of the fakes that need witnesses, or the binary.
pub(crate) fn cloud_tests(prism: &Path, python: &Path, selection: &[&str]) -> Command {
    let mut args = vec!["test", "--no-fail-fast"];
    args.extend(selection);
    args.extend(["--test", "conformance", "--test", "witness", "--test", "rounds"]);
    args.extend(["--", "--ignored", "--nocapture"]);
    let mut tests = cargo(&args);
    tests.env("FLEET_PRISM", prism).env("FLEET_PYTHON", python);
    tests
}

/// The tests of AWS that need moto, out of the same packages as a run before: another selection
/// would mean other features, and the SDK built once more. That run has also built the binary.
pub(crate) fn aws_tests(moto: &Path, selection: &[&str]) -> Command {
    let mut args = vec!["test"];
    args.extend(selection);
    args.extend(["--test", "aws", "--", "--ignored", "--nocapture"]);
    let mut tests = cargo(&args);
    tests
        .env("FLEET_MOTO", moto)
        // No credentials of anybody's must reach an emulator, or the other way round.
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .env_remove("AWS_PROFILE")
        .env_remove("AWS_SESSION_TOKEN");
    tests
}

/// Google's Python client, and the package that carries Google's description of its API.
const GOOGLE: [&str; 2] = ["google-cloud-compute==1.56.0", "google-api-python-client==2.202.0"];

/// What turns that description into OpenAPI, and what checks requests and answers against it.
const DESCRIBERS: [&str; 2] = ["@stoplight/prism-cli@5.16.0", "google-discovery-to-swagger@2.1.0"];

/// The folder with the witnesses of Compute Engine, made on first use. `None` if it cannot be made.
pub(crate) fn gcp_witness() -> Option<PathBuf> {
    let folder = target().join("emulators").join("gcp-1");
    if folder.join("ready").exists() {
        return Some(folder);
    }
    let python = folder.join("py");
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(&python);
    let mut pip = Command::new(python.join("bin").join("pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(GOOGLE);
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--silent", "--prefix"]).arg(&folder);
    npm.args(DESCRIBERS);
    let mut find = Command::new(python.join("bin").join("python"));
    let where_it_is = "import googleapiclient, os; \
                       print(os.path.join(os.path.dirname(googleapiclient.__file__), \
                       'discovery_cache', 'documents', 'compute.v1.json'))";
    find.args(["-c", where_it_is]);
    let installed = run(venv) && run(pip) && run(npm);
    let mut description = String::new();
    let found = installed && crate::shell::watch(find, |line| description = line.to_owned());
    let mut describe = Command::new("node");
    describe.arg(at("providers/gcp/tests/gcp/describe.js")).arg(description);
    describe.arg(folder.join("openapi.json")).arg(folder.join("node_modules"));
    let ready = found && run(describe) && std::fs::write(folder.join("ready"), "").is_ok();
    if !ready {
        note(
            "error: the witnesses of Google Cloud cannot be installed; python3 with venv, node, \
             npm and their package indexes are needed",
        );
    }
    ready.then_some(folder)
}

/// The tests of Google Cloud that need witnesses, out of the same packages as a run before.
pub(crate) fn gcp_tests(witness: &Path, selection: &[&str]) -> Command {
    let mut args = vec!["test"];
    args.extend(selection);
    args.extend(["--test", "gcp", "--", "--ignored", "--nocapture"]);
    let mut tests = cargo(&args);
    tests
        .env("FLEET_GCP_WITNESS", witness)
        // No credentials of anybody's must reach a fake, or the other way round.
        .env_remove("GOOGLE_APPLICATION_CREDENTIALS")
        .env_remove("GOOGLE_CLOUD_PROJECT");
    tests
}
