//! A branch of a git repository: fetched one commit deep, each commit in a folder of its own.
//!
//! The git binary does the work: it knows the user's keys, proxies and credential helpers. It never asks, runs no
//! hooks, follows no links, and reaches only what these schemes reach.

use super::Revision;
use fleet_words::fail::{Answer, Failure, Place};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// Schemes that may be fetched from: no helper programs.
const SCHEMES: &str = "https:http:ssh:git:file";
/// A server that does not answer for so long is asked again later.
const PATIENCE: Duration = Duration::from_secs(120);

/// A branch that specs come from.
#[derive(Debug)]
pub struct Branch {
    /// Where the repository is.
    pub url: String,
    /// The branch.
    pub branch: String,
    /// The folder in it; empty for the whole of it.
    pub path: PathBuf,
    /// How often it is fetched.
    pub every: Duration,
}

/// A branch, and where its commits are kept.
#[derive(Debug)]
pub struct Repository {
    branch: Branch,
    cache: PathBuf,
}

impl Repository {
    /// Keeps commits in a folder that no other process uses.
    pub fn new(branch: Branch, cache: PathBuf) -> Self {
        // A process that was killed leaves git's locks behind. Fetching one commit anew costs little; the
        // commits that were taken out before are whole, and stay.
        let _ = std::fs::remove_dir_all(cache.join("repository"));
        Repository { branch, cache }
    }

    pub(super) fn every(&self) -> Duration {
        self.branch.every
    }

    pub(super) fn name(&self) -> String {
        let Branch { url, branch, path, .. } = &self.branch;
        let name = format!("{} ({branch}) {}", fleet_run::shown(url), path.display());
        name.trim_end().to_owned()
    }

    pub(super) async fn latest(&self) -> Answer<Revision> {
        let head = format!("+refs/heads/{}:refs/fleet/head", self.branch.branch);
        self.fetch(&head).await?;
        let commit = self.git(&["rev-parse", "--verify", "refs/fleet/head^{commit}"]).await?;
        self.checked_out(commit.trim()).await
    }

    pub(super) async fn at(&self, commit: &str) -> Answer<Revision> {
        if !self.tree(commit).exists() {
            self.fetch(&format!("+{commit}:refs/fleet/good")).await?;
        }
        self.checked_out(commit).await
    }

    fn tree(&self, commit: &str) -> PathBuf {
        self.cache.join("trees").join(commit)
    }

    async fn fetch(&self, what: &str) -> Answer<String> {
        let repository = self.cache.join("repository");
        if !repository.join("HEAD").exists() {
            std::fs::create_dir_all(&repository)
                .or_fail("cannot make a folder for the repository", repository.display())?;
            self.git(&["init", "--quiet", "--bare", "."]).await?;
        }
        self.git(&[
            "fetch",
            "--quiet",
            "--depth=1",
            "--no-tags",
            "--no-recurse-submodules",
            "--",
            &self.branch.url,
            what,
        ])
        .await
    }

    /// The files of a commit. A folder with the commit's name is whole: it got its name last.
    async fn checked_out(&self, commit: &str) -> Answer<Revision> {
        let tree = self.tree(commit);
        if !tree.exists() {
            let unfinished =
                self.cache.join("trees").join(format!("{commit}.{}", std::process::id()));
            std::fs::create_dir_all(&unfinished)
                .or_fail("cannot make a folder for specs", unfinished.display())?;
            let work_tree = format!("--work-tree={}", absolute(&unfinished)?.display());
            self.git(&[&work_tree, "checkout", "--quiet", "--force", commit, "--", "."]).await?;
            // Discovery of policies ends at the root of a repository, and this is one.
            let root = unfinished.join(".git");
            std::fs::create_dir_all(&root).or_fail("cannot make", root.display())?;
            if let Err(cause) = std::fs::rename(&unfinished, &tree) {
                // Another replica on this machine was faster, or nothing works.
                let _ = std::fs::remove_dir_all(&unfinished);
                if !tree.exists() {
                    return Err(cause).or_fail("cannot keep the specs", tree.display());
                }
            }
        }
        let folder = tree.join(&self.branch.path);
        if !folder.exists() {
            return Err(Failure::new(format!(
                "there is no `{}` in that commit",
                self.branch.path.display()
            ))
            .at(format!("{}@{}", fleet_run::shown(&self.branch.url), short(commit)))
            .hint("check --path"));
        }
        Ok(Revision { folder, root: Some(tree), commit: Some(commit.to_owned()) })
    }

    async fn git(&self, arguments: &[&str]) -> Answer<String> {
        let repository = absolute(&self.cache.join("repository"))?;
        let mut git = Command::new("git");
        git.args([
            "-c",
            "core.symlinks=false",
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "gc.auto=0",
        ])
        .args(["-c", "core.fsmonitor=false", "-c", "advice.detachedHead=false"])
        .args(arguments)
        .current_dir(&repository)
        .env("GIT_DIR", &repository)
        .env("GIT_ALLOW_PROTOCOL", SCHEMES)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .stdin(Stdio::null())
        .kill_on_drop(true);
        let answer = tokio::time::timeout(PATIENCE, git.output()).await;
        let place = fleet_run::shown(&self.branch.url);
        let answer = answer
            .map_err(|_| Failure::new("git did not answer in two minutes").at(&place))?
            .or_fail("cannot run git", "PATH")?;
        if answer.status.success() {
            return Ok(String::from_utf8_lossy(&answer.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&answer.stderr);
        // Git repeats the address, perhaps with a password in it.
        let said = said.trim().replace(&self.branch.url, &place);
        Err(Failure::new(format!("git says: {said}")).at(place).hint(
            "check the address, --branch, and that git can reach it from here without a question",
        ))
    }

    /// Forgets commits that nobody needs any more.
    pub(crate) fn forget_all_but(&self, kept: &[&str]) {
        let Ok(trees) = std::fs::read_dir(self.cache.join("trees")) else { return };
        for tree in trees.flatten() {
            let name = tree.file_name();
            let name = name.to_string_lossy();
            if !kept.iter().any(|commit| name.starts_with(commit)) {
                let _ = std::fs::remove_dir_all(tree.path());
            }
        }
    }
}

/// As much of a commit's name as people read.
pub(crate) fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

fn absolute(path: &Path) -> Answer<PathBuf> {
    std::path::absolute(path).or_fail("cannot find", path.display())
}
