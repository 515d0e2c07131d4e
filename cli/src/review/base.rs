//! The specs at another commit: files of a git tree in a folder of their own.

use crate::exit::Exit;
use crate::fail::{Answer, Failure, Place};
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A commit's specs, for as long as this lives.
pub(crate) struct Base {
    folder: TempDir,
    /// The root of the repository.
    root: PathBuf,
    /// As the user names it.
    pub reference: String,
    /// The commit that it stands for.
    pub commit: String,
    /// Whether it has commits that the branch at hand does not have. Their changes count as undone.
    pub is_ahead: bool,
}

impl Base {
    /// Takes the specs out of the commit: everything in the folders of these paths, and every YAML file of
    /// the repository, because policies and Defaults hold from above. The repository itself is not touched:
    /// no worktree, no index, no branch.
    pub(crate) fn open(reference: &str, paths: &[PathBuf]) -> Answer<Self> {
        let beside = paths.first().map_or(Path::new("."), |path| folder_of(path));
        let root = root(beside)?;
        let commit = commit(&root, reference)?;
        let is_ahead = git(&root).args(["merge-base", "--is-ancestor", &commit, "HEAD"]).output();
        let is_ahead = is_ahead.is_ok_and(|answer| answer.status.code() == Some(1));
        let folder = tempfile::Builder::new().prefix("fleet-compare-").tempdir();
        let folder = folder.or_fail("cannot make a folder for the specs", "--compare")?;
        let short = commit.get(..9).unwrap_or(&commit).to_owned();
        let base = Base { folder, root, reference: reference.into(), commit: short, is_ahead };
        base.fill(&commit, paths)?;
        Ok(base)
    }

    /// The same path at the commit: `None` if it is not there. What lies outside of the repository is the
    /// same at every commit.
    pub(crate) fn path(&self, path: &Path) -> Option<PathBuf> {
        let Some(inside) = self.inside(path) else {
            return Some(path.to_owned());
        };
        let there = self.tree().join(inside);
        there.exists().then_some(there)
    }

    /// A file of the commit as git writes it: `origin/main:fleet-specs/web.yaml`.
    pub(crate) fn shown(&self, file: &Path) -> Option<PathBuf> {
        // Both forms: a folder for temporary files may be a link.
        let real = self.tree().canonicalize().ok();
        let tree = self.tree();
        let inside = [Some(tree), real]
            .into_iter()
            .flatten()
            .find_map(|tree| file.strip_prefix(tree).ok().map(Path::to_owned))?;
        Some(format!("{}:{}", self.reference, inside.display()).into())
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    fn inside(&self, path: &Path) -> Option<PathBuf> {
        absolute(path)?.strip_prefix(&self.root).ok().map(Path::to_owned)
    }

    fn fill(&self, commit: &str, paths: &[PathBuf]) -> Answer<()> {
        let tree = self.tree();
        // Discovery of policies ends at the root of a repository, and this is one.
        std::fs::create_dir_all(tree.join(".git")).or_fail("cannot make", tree.display())?;
        let index = self.folder.path().join("index");
        let git = || {
            let mut git = git(&self.root);
            git.env("GIT_INDEX_FILE", &index);
            git
        };
        let what = "git cannot read the commit";
        run(git().args(["read-tree", commit]), what)?;
        let listed = run(git().args(["ls-files", "-z"]), what)?.stdout;
        let folders: Vec<PathBuf> =
            paths.iter().filter_map(|path| self.inside(folder_of(path))).collect();
        let mut wanted = Vec::new();
        for name in listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            let file = path_of(name);
            let yaml = file.extension().is_some_and(|end| end == "yaml" || end == "yml");
            if yaml || folders.iter().any(|folder| file.starts_with(folder)) {
                wanted.extend_from_slice(name);
                wanted.push(0);
            }
        }
        let mut prefix = OsString::from("--prefix=");
        prefix.push(&tree);
        prefix.push("/");
        let mut checkout = git();
        checkout.args(["checkout-index", "-f", "-q", "-z", "--stdin"]).arg(prefix);
        feed(&mut checkout, &wanted, what)
    }
}

/// The folder that a path stands for, or stands in.
fn folder_of(path: &Path) -> &Path {
    if path.is_dir() {
        return path;
    }
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A path without links in its folders, whether it exists or not.
fn absolute(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    let plain = path.components().all(|part| part != Component::ParentDir);
    let folder = folder_of(path).canonicalize().ok().filter(|_| plain)?;
    Some(folder.join(path.file_name()?))
}

#[cfg(unix)]
fn path_of(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(OsStr::from_bytes(name))
}

#[cfg(not(unix))]
fn path_of(name: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::new(&*String::from_utf8_lossy(name)))
}

fn git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).env("LC_ALL", "C").stdin(Stdio::null());
    git
}

fn root(beside: &Path) -> Answer<PathBuf> {
    let output = git(beside).args(["rev-parse", "--show-toplevel"]).output();
    let output = output.map_err(|cause| {
        Failure::new(format!("--compare needs git, and it cannot be run: {cause}"))
            .at("--compare")
            .hint("install git")
    })?;
    if output.status.success() {
        let root = String::from_utf8_lossy(&output.stdout);
        let root = Path::new(root.trim_end_matches(['\n', '\r']));
        return root.canonicalize().or_fail("cannot find the repository", root.display());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let hint = if said.contains("safe.directory") {
        "tell git that the folder is yours: `git config --global --add safe.directory DIR`"
    } else {
        "compare in a clone; to see the plan alone, leave --compare out"
    };
    Err(Failure::new(format!("the specs are not in a git repository ({said})"))
        .at(format!("--compare, {}", beside.display()))
        .hint(hint)
        .exit(Exit::Usage))
}

fn commit(root: &Path, reference: &str) -> Answer<String> {
    let wrong = |what: String, hint: &str| {
        Failure::new(what).at(format!("--compare {reference}")).hint(hint).exit(Exit::Usage)
    };
    if reference.is_empty() || reference.starts_with('-') {
        return Err(wrong(
            format!("`{reference}` is not the name of a commit"),
            "name a branch, tag or commit, such as origin/main",
        ));
    }
    let asked = format!("{reference}^{{commit}}");
    let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &asked];
    let output = run_quietly(git(root).args(words))?;
    let commit = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() && !commit.is_empty() {
        return Ok(commit);
    }
    Err(wrong(
        format!("git knows no commit `{reference}` here"),
        "`git fetch` it first; in CI, clone with the whole history (GitHub: fetch-depth: 0, GitLab: \
         GIT_DEPTH: 0)",
    ))
}

fn run_quietly(git: &mut Command) -> Answer<Output> {
    git.output().or_fail("cannot run git", "--compare")
}

fn run(git: &mut Command, what: &str) -> Answer<Output> {
    let output = run_quietly(git)?;
    checked(output, what)
}

fn checked(output: Output, what: &str) -> Answer<Output> {
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Failure::new(format!("{what}: {said}")).at("--compare"))
}

/// Runs git with a list on its standard input.
fn feed(git: &mut Command, list: &[u8], what: &str) -> Answer<()> {
    let git = git.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = git.spawn().or_fail("cannot run git", "--compare")?;
    if let Some(mut stdin) = child.stdin.take() {
        // If git went away, its exit status and its words tell more than a broken pipe.
        let _ = stdin.write_all(list);
    }
    checked(child.wait_with_output().or_fail("cannot run git", "--compare")?, what).map(|_| ())
}
