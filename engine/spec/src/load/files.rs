//! Finding and reading the documents.

use super::defaults::{self, Document};
use crate::diagnostic::Diagnostic;
use crate::fleet::Draft;
use crate::input::{self, Refusal};
use crate::policy::{self, Policy};
use crate::reader::{Field, Reader, near};
use crate::source::{Part, Source, quote};
use crate::variables::Values;
use crate::words::API_VERSION;
use crate::yaml::{self, Node};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Folders below a folder; a link that leads in a circle ends here as well.
const MAX_FOLDERS: usize = 32;
/// Files that one folder may bring.
const MAX_FILES: usize = 10_000;
/// Names under which a policy is found from below.
const POLICY_FILES: [&str; 2] = ["policy.yaml", "policy.yml"];
/// Names of files that hold Defaults.
pub(super) const DEFAULTS_FILES: [&str; 2] = ["defaults.yaml", "defaults.yml"];

/// How a file came to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// By name: it must be ours.
    Named,
    /// In a folder: it may be somebody else's.
    Folder,
    /// As the policy or the Defaults of a folder above: its fleets do not count.
    Above,
    /// As a policy by name: only its policies count, and there must be one.
    Policy,
}

/// For which fleets a policy holds.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Scope {
    All,
    Folder(PathBuf),
}

impl Scope {
    pub(super) fn covers(&self, origin: Option<&Origin>) -> bool {
        match (self, origin) {
            (Scope::All, _) => true,
            (Scope::Folder(_), None) => false,
            (Scope::Folder(folder), Some(Origin { real, folder: seen })) => {
                real.starts_with(folder) || seen.starts_with(folder)
            }
        }
    }
}

/// Where a file lies. With a link in place of a file the two differ, and policies of both hold:
/// a link must not be a way around them.
#[derive(Clone)]
pub(super) struct Origin {
    /// The file itself.
    real: PathBuf,
    /// The folder it is seen in.
    pub(super) folder: PathBuf,
}

impl Origin {
    fn of(path: &Path) -> Option<Self> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(Origin { real: path.canonicalize().ok()?, folder })
    }
}

/// What was found so far.
#[derive(Default)]
pub(super) struct Files {
    seen: BTreeSet<PathBuf>,
    /// Documents of kind `Fleet`; `resolve` makes drafts of them.
    pub(super) fleets: Vec<Document>,
    pub(super) defaults: Vec<Document>,
    /// Fleets, each with the place of its file, if it has one.
    pub(super) drafts: Vec<(Draft, Option<Origin>)>,
    pub(super) policies: Vec<(Policy, Scope)>,
    pub(super) problems: Vec<Diagnostic>,
    /// Files that nobody can say are not specs: empty, or no text.
    pub(super) doubtful: Vec<PathBuf>,
    /// Whether something is wrong that concerns every fleet: a policy that cannot be read is not in
    /// force, and nobody may act as if it were.
    pub(super) concerns_all: bool,
}

impl Files {
    /// Whether nothing of ours was found, and nothing was wrong.
    pub(super) fn is_empty(&self) -> bool {
        let documents = self.fleets.is_empty() && self.defaults.is_empty();
        documents && self.policies.is_empty() && self.problems.is_empty()
    }

    /// A path that the user named: a file, or a folder with all below it.
    pub(super) fn add(&mut self, path: &Path) {
        if !path.is_dir() {
            return self.read(path, Found::Named);
        }
        let mut files = Vec::new();
        if walk(path, MAX_FOLDERS, &mut files).is_err() {
            let message = format!("more than {MAX_FILES} files, or {MAX_FOLDERS} folders deep");
            let hint = "name a folder that holds specs".to_owned();
            self.problems.push(Diagnostic::about_file(path, message, hint));
            self.concerns_all = true;
        }
        for file in files {
            self.read(&file, Found::Folder);
        }
    }

    /// A policy that the user named.
    pub(super) fn add_policy(&mut self, path: &Path) {
        let before = (self.policies.len(), self.problems.len());
        self.read(path, Found::Policy);
        if before == (self.policies.len(), self.problems.len()) {
            let hint = "a policy begins with `apiVersion: fleet/v1` and `kind: Policy`".to_owned();
            let message = "this file holds no policy";
            self.problems.push(Diagnostic::about_file(path, message, hint));
            self.concerns_all = true;
        }
    }

    /// Looks for policies and Defaults from a path upward to the root of its repository, so that
    /// naming one file does not slip past the organisation's limits, nor miss a part of the fleet.
    pub(super) fn discover(&mut self, path: &Path) {
        let Some(Origin { real, folder }) = Origin::of(path) else {
            return;
        };
        let inside = if real.is_dir() { real.as_path() } else { real.parent().unwrap_or(&real) };
        self.upward(inside);
        if inside != folder {
            self.upward(&folder);
        }
    }

    fn upward(&mut self, from: &Path) {
        let here = std::env::current_dir().and_then(|here| here.canonicalize());
        for folder in from.ancestors() {
            for name in POLICY_FILES.into_iter().chain(DEFAULTS_FILES) {
                let file = folder.join(name);
                if file.is_file() {
                    // Shown as the user would write it.
                    let shown = here.as_ref().ok().and_then(|here| file.strip_prefix(here).ok());
                    self.read(shown.unwrap_or(&file), Found::Above);
                }
            }
            if folder.join(".git").exists() {
                break;
            }
        }
    }

    fn read(&mut self, path: &Path, found: Found) {
        let origin = Origin::of(path);
        // The same file by two ways is one file, except that a policy by name reaches further.
        if let Some(Origin { real, .. }) = &origin
            && found != Found::Policy
            && !self.seen.insert(real.clone())
        {
            return;
        }
        match input::read(path, input::MAX_FILE) {
            Ok(text) => self.text(path, origin, &text, found),
            Err(refusal) => {
                let others = matches!(found, Found::Folder | Found::Above)
                    && !matches!(refusal, Refusal::Io(_))
                    && !input::looks_ours(path);
                if others {
                    self.doubtful.push(path.to_path_buf());
                } else {
                    self.refuse(path, &refusal);
                    // Nobody can say what is in it.
                    self.concerns_all |= found != Found::Folder || holds_for_others(path);
                }
            }
        }
    }

    pub(super) fn refuse(&mut self, path: &Path, refusal: &Refusal) {
        let message = format!("this file {}", refusal.what());
        let mut diagnostic = Diagnostic::about_file(path, message, refusal.hint());
        if let Refusal::NotUtf8 { line, column } | Refusal::Binary { line, column } = refusal {
            diagnostic.line = u32::try_from(*line).unwrap_or(u32::MAX);
            diagnostic.column = u32::try_from(*column).unwrap_or(u32::MAX);
        }
        self.problems.push(diagnostic);
    }

    /// The text of a file.
    pub(super) fn text(&mut self, path: &Path, origin: Option<Origin>, text: &str, found: Found) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let parsed = yaml::parse(Source::new(path, text));
        let ours = parsed.documents.iter().any(is_ours)
            || (!parsed.problems.is_empty() && input::mentions_us(text));
        let named = matches!(found, Found::Named | Found::Policy);
        if !ours && !named {
            // A file that is being written is empty for a moment.
            if parsed.documents.is_empty() && parsed.problems.is_empty() {
                self.doubtful.push(path.to_path_buf());
            }
            return;
        }
        if parsed.documents.is_empty() && parsed.problems.is_empty() {
            let hint = "a spec begins with `apiVersion: fleet/v1`".to_owned();
            let message = "this file holds no document";
            self.problems.push(Diagnostic::about_file(path, message, hint));
        }
        if !parsed.problems.is_empty() {
            let policies = holds_for_others(path) || text.contains("Policy");
            self.concerns_all |= policies || matches!(found, Found::Above | Found::Policy);
        }
        self.problems.extend(parsed.problems);
        for document in &parsed.documents {
            self.document(&parsed.source, document, origin.as_ref(), found);
        }
    }

    fn document(
        &mut self,
        source: &Source,
        document: &Node,
        origin: Option<&Origin>,
        found: Found,
    ) {
        let parts = [Part::alone(source, String::new())];
        let mut reader = Reader::new(&parts, document);
        let kind = kind(&mut reader, document);
        self.problems.extend(reader.problems);
        let ours =
            || Document { source: source.clone(), node: document.clone(), origin: origin.cloned() };
        let folder = origin.map(|origin| origin.folder.as_path());
        match kind {
            Some(DocumentKind::Fleet) if matches!(found, Found::Named | Found::Folder) => {
                self.fleets.push(ours());
            }
            Some(DocumentKind::Defaults) if found != Found::Policy => self.defaults.push(ours()),
            Some(DocumentKind::Policy) => {
                let (policy, problems) = policy::read(source, document);
                self.concerns_all |= problems.iter().any(Diagnostic::is_error);
                self.problems.extend(problems);
                let scope = match (found, folder) {
                    (Found::Policy, _) | (_, None) => Scope::All,
                    (_, Some(folder)) => Scope::Folder(folder.to_path_buf()),
                };
                self.policy(policy, scope, source, found);
            }
            Some(DocumentKind::Fleet | DocumentKind::Defaults) | None => {}
        }
    }

    /// Makes drafts of the fleets, each laid over its Defaults, with its variables replaced. Gives
    /// the names of all variables that are declared.
    pub(super) fn resolve(&mut self, values: &Values) -> BTreeSet<String> {
        let (fleets, all) = (std::mem::take(&mut self.fleets), std::mem::take(&mut self.defaults));
        let checked = defaults::check(&all, values);
        self.concerns_all |= checked.problems.iter().any(Diagnostic::is_error);
        let mut declared = checked.declared;
        for fleet in fleets {
            let (mut draft, names) = defaults::fleet(&fleet, &all, values);
            // What is wrong with Defaults is told once, not by every fleet.
            draft.problems.retain(|one| !checked.problems.iter().any(|told| same_place(told, one)));
            declared.extend(names);
            self.drafts.push((draft, fleet.origin));
        }
        self.problems.extend(checked.problems);
        declared
    }

    fn policy(&mut self, policy: Policy, scope: Scope, source: &Source, found: Found) {
        let name = source.file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if found == Found::Folder && !POLICY_FILES.contains(&name) {
            let what = format!(
                "policy `{}` is not found when a single file is named",
                quote(&policy.name)
            );
            let hint = "keep policies in a file named policy.yaml".to_owned();
            self.problems.push(Diagnostic::about_file(&source.file, what, hint).into_warning());
        }
        // By name it holds everywhere; the same one of the folder then adds nothing.
        self.policies.retain(|(old, _)| scope != Scope::All || *old != policy);
        self.policies.push((policy, scope));
    }
}

/// Whether a file is one whose name says that it holds for others.
fn holds_for_others(path: &Path) -> bool {
    let names = POLICY_FILES.iter().chain(&DEFAULTS_FILES);
    path.file_name().is_some_and(|file| names.into_iter().any(|name| file == *name))
}

fn same_place(one: &Diagnostic, other: &Diagnostic) -> bool {
    (&one.file, one.line, one.column) == (&other.file, other.line, other.column)
}

/// The YAML files of a folder and below, sorted; hidden folders and links to folders left out.
fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), ()> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(());
    };
    // A folder that cannot be listed has nothing for us; a named file would be an error.
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Ok(());
    };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let yaml = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
        if is_folder && !hidden {
            walk(&path, depth, files)?;
        } else if yaml && path.is_file() {
            files.push(path);
            if files.len() > MAX_FILES {
                return Err(());
            }
        }
    }
    Ok(())
}

/// Whether a document is meant for us. A misspelt version is: passing over it in silence would
/// look as if the fleet had been removed.
fn is_ours(document: &Node) -> bool {
    match document.text_of("apiVersion") {
        Some(version) => version.starts_with("fleet/") || near(version, &[API_VERSION]).is_some(),
        None => document.text_of("kind") == Some("Fleet"),
    }
}

#[derive(Clone, Copy)]
enum DocumentKind {
    Fleet,
    Defaults,
    Policy,
}

const KINDS: crate::words::Words<DocumentKind> = &[
    ("Fleet", DocumentKind::Fleet),
    ("Defaults", DocumentKind::Defaults),
    ("Policy", DocumentKind::Policy),
];

/// Version and kind of a document. With a wrong version, the rest is still read: its other errors
/// are worth telling.
fn kind(reader: &mut Reader<'_>, document: &Node) -> Option<DocumentKind> {
    let top = Field::document(document);
    if !top.is_map() {
        let message = format!("a document must be a mapping, found {}", document.describe());
        let hint = "a spec begins with `apiVersion: fleet/v1`";
        reader.error(&top, message, Some(hint.into()));
        return None;
    }
    let field = |name: &str| top.entries().find(|(key, _)| *key == name).map(|(_, inner)| inner);
    match field("apiVersion") {
        None => {
            let message = "`apiVersion` is missing".into();
            let hint = format!("begin the document with `apiVersion: {API_VERSION}`");
            reader.error(&top, message, Some(hint));
        }
        Some(field) => {
            let version = reader.text(&field);
            if let Some(version) = version.filter(|version| version != API_VERSION) {
                let message = format!("unknown apiVersion `{}`", quote(&version));
                let hint = match near(&version, &[API_VERSION]) {
                    Some(_) if !version.starts_with("fleet/") => "did you mean `fleet/v1`?".into(),
                    _ => format!("this version of fleet reads {API_VERSION}"),
                };
                reader.error(&field, message, Some(hint));
            }
        }
    }
    match field("kind") {
        None => {
            let message = "`kind` is missing".into();
            reader.error(
                &top,
                message,
                Some("add `kind: Fleet`, `kind: Defaults` or `kind: Policy`".into()),
            );
            None
        }
        Some(field) => reader.word(&field, "kind", KINDS),
    }
}
