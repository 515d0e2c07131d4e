//! Every block of output in the docs comes from the binary. Blocks that begin with "```console" are run,
//! from top to bottom, each page in a fresh folder on simulated clouds; `cargo xtask docs` writes what
//! differs.

mod support;

use std::process::Command;
use support::root;

/// Set by `cargo xtask docs`: write what differs instead of failing.
const WRITE: &str = "FLEET_WRITE_DOCS";

/// Stands for lines that a page leaves out.
const ELLIPSIS: &str = "…";

/// `cargo run … -- ARGS` runs the binary that is built already.
const CARGO: &str = "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec fleet \"$@\"\n";

/// A folder for the commands of one page.
struct Reader(tempfile::TempDir);

impl Reader {
    fn new() -> Self {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).expect("a folder");
        symlink(env!("CARGO_BIN_EXE_fleet"), bin.join("fleet")).expect("a link");
        let cargo = bin.join("cargo");
        std::fs::write(&cargo, CARGO).expect("a script");
        std::fs::set_permissions(cargo, PermissionsExt::from_mode(0o755)).expect("its rights");
        let here = folder.path().join("here");
        std::fs::create_dir(&here).expect("a folder");
        symlink(root().join("fleet-specs"), here.join("fleet-specs")).expect("a link");
        Reader(folder)
    }

    /// Runs a command as a shell does; both streams in order.
    fn run(&self, command: &str) -> String {
        let system = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .current_dir(self.0.path().join("here"))
            .env_clear()
            .env("PATH", format!("{}:{system}", self.0.path().join("bin").display()))
            .env("HOME", self.0.path())
            .output()
            .expect("a shell");
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}

/// A command of a block, with its prompt and every line that continues it, and the output after it.
struct Step<'a> {
    command: Vec<&'a str>,
    shown: Vec<&'a str>,
}

fn steps<'a>(block: &[&'a str]) -> Vec<Step<'a>> {
    let mut steps: Vec<Step<'a>> = Vec::new();
    let mut continues = false;
    for &line in block {
        match steps.last_mut() {
            Some(step) if continues => step.command.push(line),
            Some(step) if !line.starts_with("$ ") => step.shown.push(line),
            _ => steps.push(Step { command: vec![line], shown: Vec::new() }),
        }
        let last = steps.last().expect("just pushed");
        continues = last.shown.is_empty() && line.ends_with('\\');
    }
    steps
}

/// The output as a page shows it: all of it, or as many of its last lines as the page has shown.
fn shortened(output: &str, shown: &[&str]) -> Vec<String> {
    let lines: Vec<String> = output.lines().map(|line| line.trim_end().to_owned()).collect();
    if shown.first() != Some(&ELLIPSIS) {
        return lines;
    }
    let first = lines.len().saturating_sub(shown.len() - 1);
    std::iter::once(ELLIPSIS.to_owned()).chain(lines[first..].iter().cloned()).collect()
}

/// The page with every output as it is now.
fn regenerated(page: &str) -> String {
    let reader = Reader::new();
    let lines: Vec<&str> = page.lines().collect();
    let mut now: Vec<String> = Vec::new();
    let mut rest = &lines[..];
    while let Some((&line, after)) = rest.split_first() {
        now.push(line.to_owned());
        rest = after;
        if line.trim_start() != "```console" {
            continue;
        }
        let end = rest.iter().position(|line| line.trim_start() == "```").expect("an end");
        for step in steps(&rest[..end]) {
            let command = step.command.join("\n");
            let command = command.strip_prefix("$ ").expect("a block begins with a command");
            let output = reader.run(command);
            now.extend(step.command.iter().map(|&line| line.to_owned()));
            now.extend(shortened(&output, &step.shown));
        }
        rest = &rest[end..];
    }
    now.join("\n") + "\n"
}

fn check(name: &str) {
    let file = root().join(name);
    let page = std::fs::read_to_string(&file).expect("a page");
    assert!(page.contains("```console"), "{name} shows nothing");
    let now = regenerated(&page);
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&file, now).expect("the page can be written");
        return;
    }
    let differs = page.lines().zip(now.lines()).position(|(then, now)| then != now);
    if let Some(line) = differs {
        let of = |text: &str| text.lines().nth(line).unwrap_or_default().to_owned();
        panic!(
            "{name}:{} is out of date; run `cargo xtask docs`\n  page:   {}\n  output: {}",
            line + 1,
            of(&page),
            of(&now)
        );
    }
    assert_eq!(page.lines().count(), now.lines().count(), "{name} has lines too many or too few");
}

#[test]
fn readme() {
    check("README.md");
}

#[test]
fn guide() {
    check("docs/guide.md");
}

#[test]
fn command_line() {
    check("docs/cli.md");
}

#[test]
fn reaching_machines() {
    check("docs/reach.md");
}

#[test]
fn blocks_are_read() {
    let block = ["$ one \\", "    more", "…", "out", "$ two"];
    let found = steps(&block);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].command, ["$ one \\", "    more"]);
    assert_eq!(found[0].shown, ["…", "out"]);
    assert!(found[1].shown.is_empty());
    assert_eq!(shortened("a\nb\nc\n", &["…", "x", "y"]), ["…", "b", "c"]);
    assert_eq!(shortened("a\nb\n", &["x"]), ["a", "b"]);
}
