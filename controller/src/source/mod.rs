//! Where specs come from: a folder, or a branch of a git repository.

mod folder;
mod git;

pub use folder::Folder;
pub(crate) use git::short;
pub use git::{Branch, Repository};

use fleet_words::fail::Answer;
use std::path::PathBuf;

/// Where specs come from.
pub enum Source {
    /// A folder or a file, watched.
    Folder(Folder),
    /// A branch, fetched now and then.
    Git(Repository),
}

/// Specs as they were at some moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// The files.
    pub folder: PathBuf,
    /// From where on people name them: the root of a repository, whose place here is nobody's business.
    pub root: Option<PathBuf>,
    /// The commit that they are of.
    pub commit: Option<String>,
}

impl Source {
    /// What there is now.
    pub async fn latest(&mut self) -> Answer<Revision> {
        match self {
            Source::Folder(folder) => Ok(folder.latest()),
            Source::Git(repository) => repository.latest().await,
        }
    }

    /// A commit that was good once, if there are commits here.
    pub async fn at(&mut self, commit: &str) -> Option<Answer<Revision>> {
        match self {
            Source::Folder(_) => None,
            Source::Git(repository) => Some(repository.at(commit).await),
        }
    }

    /// Waits until there may be something new.
    pub async fn changed(&mut self) {
        match self {
            Source::Folder(folder) => folder.changed().await,
            Source::Git(repository) => tokio::time::sleep(repository.every()).await,
        }
    }

    /// Lets go of commits that nobody needs any more.
    pub fn forget_all_but(&self, kept: &[&str]) {
        if let Source::Git(repository) = self {
            repository.forget_all_but(kept);
        }
    }

    /// What it is called: a path or an address, without passwords.
    pub fn name(&self) -> String {
        match self {
            Source::Folder(folder) => folder.latest().folder.display().to_string(),
            Source::Git(repository) => repository.name(),
        }
    }
}
