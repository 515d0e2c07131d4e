//! Tokens of people and programs. The file has their digests, never the tokens.
//!
//! A line is `NAME ROLE SHA-256 DATE`; `#` begins a comment. A token is 256 bits of chance, so that a digest without salt
//! cannot be turned back. The file is read again when it changes; one that cannot be read lets nobody in.

use super::{Caller, Role};
use fleet_words::exit::Exit;
use fleet_words::fail::{Answer, Failure, Place};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;

/// What every token begins with, so that scanners for leaked secrets know one when they see it.
const PREFIX: &str = "fleet_";
/// How often the file is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    name: String,
    role: Role,
    digest: [u8; 32],
}

/// A file of tokens.
#[derive(Debug)]
pub struct Tokens {
    file: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    entries: Vec<Entry>,
    stamp: Option<Stamp>,
    looked: Instant,
}

/// When a file was changed, how long it is, and which one it is.
type Stamp = (i64, i64, u64, u64);

fn stamp(file: &Path) -> Option<Stamp> {
    let data = std::fs::metadata(file).ok()?;
    Some((data.mtime(), data.mtime_nsec(), data.len(), data.ino()))
}

impl Tokens {
    /// Reads a file.
    pub fn open(file: &Path) -> Answer<Self> {
        let stamp = stamp(file);
        let entries = read(file)?;
        let state = State { entries, stamp, looked: Instant::now() };
        Ok(Tokens { file: file.to_owned(), state: Mutex::new(state) })
    }

    /// Whose token this is. Takes as long for a wrong one as for a right one.
    pub fn whose(&self, token: &str) -> Option<Caller> {
        let digest = digest(token);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.look_again(&mut state);
        let mut found = None;
        for entry in &state.entries {
            if bool::from(entry.digest.ct_eq(&digest)) {
                found = Some(Caller { name: format!("token {}", entry.name), role: entry.role });
            }
        }
        found
    }

    fn look_again(&self, state: &mut State) {
        if state.looked.elapsed() < LOOK_EVERY {
            return;
        }
        state.looked = Instant::now();
        let stamp = stamp(&self.file);
        if stamp == state.stamp && stamp.is_some() {
            return;
        }
        state.entries = match read(&self.file) {
            Ok(entries) => {
                tracing::info!(tokens = entries.len(), "the file of tokens was read again");
                state.stamp = stamp;
                entries
            }
            Err(failure) => {
                if state.stamp.is_some() {
                    let (what, place, _) = failure.told();
                    tracing::error!(place, "nobody is let in by a token: {what}");
                }
                state.stamp = None;
                Vec::new()
            }
        };
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn read(file: &Path) -> Answer<Vec<Entry>> {
    let text = std::fs::read_to_string(file).map_err(|cause| {
        Failure::new(format!("cannot read the file of tokens: {cause}")).at(file.display()).hint(
            format!("`fleet token new NAME --role viewer --tokens {}` makes one", file.display()),
        )
    })?;
    let mode = std::fs::metadata(file).or_fail("cannot read", file.display())?.permissions().mode();
    if mode & 0o022 != 0 {
        return Err(Failure::new("others can write to the file of tokens")
            .at(file.display())
            .hint(format!("chmod 600 {}", file.display())));
    }
    entries(&text).map_err(|(line, what)| {
        Failure::new(what)
            .at(format!("{}:{line}", file.display()))
            .hint("a line is NAME ROLE SHA-256 DATE, as `fleet token new` writes it")
    })
}

fn entries(text: &str) -> Result<Vec<Entry>, (usize, String)> {
    let mut entries: Vec<Entry> = Vec::new();
    for (nth, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        let bad = |what: &str| Err((nth + 1, what.to_owned()));
        let (name, role, digest) = match words[..] {
            [] => continue,
            [name, role, digest] | [name, role, digest, _] => (name, role, digest),
            _ => return bad("this is no token"),
        };
        let Some(role) = Role::named(role) else {
            return bad("the role is viewer, operator or agent");
        };
        let Some(digest) = bytes(digest) else { return bad("a SHA-256 has 64 hexadecimal digits") };
        if !is_name(name) {
            return bad("a name has letters, digits and .-_@, at most 63");
        }
        if entries.iter().any(|entry| entry.name == name) {
            return bad("there is another token of this name above");
        }
        entries.push(Entry { name: name.to_owned(), role, digest });
    }
    Ok(entries)
}

fn bytes(hex: &str) -> Option<[u8; 32]> {
    if hex.len() != 64 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; 32];
    for (nth, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(nth * 2..nth * 2 + 2)?, 16).ok()?;
    }
    Some(bytes)
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-_@".contains(c);
    (1..=63).contains(&name.len()) && name.chars().all(plain)
}

/// Makes a token, writes its digest to a file, and tells the token, this once. The file is replaced as a whole, so that
/// nobody reads half of it.
pub fn new_token(file: &Path, name: &str, role: Role, date: &str) -> Answer<String> {
    if !is_name(name) {
        return Err(Failure::new(format!("`{name}` cannot be the name of a token"))
            .at("NAME")
            .hint("letters, digits and .-_@, at most 63")
            .exit(Exit::Usage));
    }
    let mut text = match std::fs::exists(file) {
        Ok(true) => {
            if read(file)?.iter().any(|entry| entry.name == name) {
                return Err(Failure::new(format!("there is a token `{name}` already"))
                    .at(file.display())
                    .hint("choose another name, or delete its line first")
                    .exit(Exit::Usage));
            }
            std::fs::read_to_string(file).or_fail("cannot read", file.display())?
        }
        _ => "# NAME ROLE SHA-256 DATE. Delete a line to revoke its token.\n".to_owned(),
    };
    let mut chance = [0; 32];
    getrandom::fill(&mut chance)
        .map_err(|cause| Failure::new(format!("the system gives no random numbers: {cause}")))?;
    let token = format!("{PREFIX}{}", hex(&chance));
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let _ = writeln!(text, "{name} {} {} {date}", role.as_str(), hex(&digest(&token)));
    let new = file.with_extension(format!("new-{}", std::process::id()));
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)
        .and_then(|mut open| open.write_all(text.as_bytes()).and_then(|()| open.sync_all()))
        .and_then(|()| std::fs::rename(&new, file));
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written.or_fail("cannot write the file of tokens", file.display())?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("fleet-tokens-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    #[test]
    fn a_token_lets_in_until_its_line_is_gone() {
        let folder = folder("in");
        let file = folder.join("tokens");
        let ada = new_token(&file, "ada", Role::Operator, "2026-01-01").expect("a token");
        let bob = new_token(&file, "bob", Role::Viewer, "2026-01-01").expect("a token");
        let mode = std::fs::metadata(&file).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(&file).expect("a file");
        assert!(!text.contains(&ada) && !text.contains(&ada[PREFIX.len()..]), "{text}");
        let tokens = Tokens::open(&file).expect("tokens");
        let caller = tokens.whose(&ada).expect("ada");
        assert_eq!((caller.name.as_str(), caller.role), ("token ada", Role::Operator));
        assert_eq!(tokens.whose(&bob).expect("bob").role, Role::Viewer);
        assert!(tokens.whose("fleet_0").is_none() && tokens.whose("").is_none());
        let again = new_token(&file, "ada", Role::Viewer, "2026-01-01").expect_err("taken");
        assert!(again.what.contains("already"));
        let kept: String =
            text.lines().filter(|line| !line.starts_with("ada")).collect::<Vec<_>>().join("\n");
        std::fs::write(&file, kept).expect("a file");
        std::thread::sleep(LOOK_EVERY + Duration::from_millis(50));
        assert!(tokens.whose(&ada).is_none() && tokens.whose(&bob).is_some());
        std::fs::write(&file, "what is this").expect("a file");
        std::thread::sleep(LOOK_EVERY + Duration::from_millis(50));
        assert!(tokens.whose(&bob).is_none());
        let _ = std::fs::remove_dir_all(folder);
    }

    #[test]
    fn lines_that_make_no_sense_are_named() {
        let digest = "a".repeat(64);
        let check = |text: &str, line: usize, what: &str| {
            let (at, said) = entries(text).expect_err(text);
            assert!(at == line && said.contains(what), "{at} {said}");
        };
        check("ada", 1, "no token");
        check(&format!("\nada admin {digest} 2026-01-01"), 2, "viewer, operator or agent");
        check("ada viewer abc 2026-01-01", 1, "64");
        check(&format!("a/b viewer {digest}"), 1, "letters");
        check(&format!("a viewer {digest}\na viewer {digest}"), 2, "another");
        assert_eq!(entries(&format!("# x\n\nada viewer {digest} # y\n")).expect("one").len(), 1);
    }

    #[test]
    fn others_may_not_write_to_the_file() {
        let folder = folder("mode");
        let file = folder.join("tokens");
        new_token(&file, "ada", Role::Viewer, "2026-01-01").expect("a token");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o666)).expect("rights");
        let failure = Tokens::open(&file).expect_err("open to all");
        assert!(failure.what.contains("others can write"), "{failure}");
        let _ = std::fs::remove_dir_all(folder);
    }
}
