//! Every block of output in the docs comes from the binary. Blocks that begin with "```console" are run,
//! from top to bottom, each page in a fresh folder on simulated clouds; `cargo xtask docs` writes what
//! differs. A block that names a file ("```yaml web.yaml") is written to that file first; one that names a
//! file of examples/ is that file.

mod support;

use std::path::Path;
use std::process::Command;
use support::judge::schema;
use support::root;

/// Set by `cargo xtask docs`: write what differs instead of failing.
const WRITE: &str = "FLEET_WRITE_DOCS";

/// Stands for lines that a page leaves out.
const ELLIPSIS: &str = "…";

/// `cargo run … -- ARGS` runs the binary that is built already.
const CARGO: &str = "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec fleet \"$@\"\n";

/// Blocks with commands that are not run, by their first line, and why.
const BY_HAND: [(&str, &str); 1] = [("$ cargo xtask test", "it is what runs this test")];

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
        for folder in ["fleet-specs", "examples"] {
            symlink(root().join(folder), here.join(folder)).expect("a link");
        }
        Reader(folder)
    }

    /// Writes a file that a page shows.
    fn write(&self, name: &str, lines: &[&str]) {
        let file = self.0.path().join("here").join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, lines.join("\n") + "\n").expect("a file");
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
            // A commit is the same on every day.
            .envs(
                ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"]
                    .map(|name| (name, "2026-01-01T00:00:00Z")),
            )
            .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "ada")))
            .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "ada@example.com")))
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
    let mut specs = Vec::new();
    while let Some((&line, after)) = rest.split_first() {
        now.push(line.to_owned());
        rest = after;
        let Some(opening) = line.trim_start().strip_prefix("```") else {
            continue;
        };
        let end = rest.iter().position(|line| line.trim_start() == "```").expect("an end");
        let block = &rest[..end];
        match opening.split_once(' ') {
            Some((_, name)) if name.starts_with("examples/") => {
                now.extend(lines_of(&root().join(name)));
            }
            Some((_, name)) => {
                reader.write(name, block);
                now.extend(block.iter().map(|&line| line.to_owned()));
                if block.iter().any(|line| line.starts_with("apiVersion: fleet/")) {
                    specs.push(name);
                }
            }
            None if opening == "console" => now.extend(run(&reader, block)),
            None => {
                runs_or_says_why(block);
                now.extend(block.iter().map(|&line| line.to_owned()));
            }
        }
        now.push(rest[end].to_owned());
        rest = &rest[end + 1..];
    }
    for spec in specs {
        let said = reader.run(&format!("fleet validate {spec} && echo is valid"));
        assert!(said.ends_with("is valid\n"), "{spec}: {said}");
    }
    now.join("\n") + "\n"
}

/// A block with every output as it is now.
fn run(reader: &Reader, block: &[&str]) -> Vec<String> {
    let mut now = Vec::new();
    for step in steps(block) {
        let command = step.command.join("\n");
        let command = command.strip_prefix("$ ").expect("a block begins with a command");
        let output = reader.run(command);
        now.extend(step.command.iter().map(|&line| line.to_owned()));
        now.extend(shortened(&output, &step.shown));
    }
    now
}

fn lines_of(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|_| panic!("{}", file.display()));
    text.lines().map(str::to_owned).collect()
}

/// Nothing that looks like a command or a spec is only printed.
fn runs_or_says_why(block: &[&str]) {
    let first = block.first().copied().unwrap_or_default();
    if BY_HAND.iter().any(|(line, _)| *line == first) {
        return;
    }
    let command = |line: &&&str| line.starts_with("$ ") || line.starts_with("fleet ");
    let found = block.iter().find(command);
    assert!(found.is_none(), "this command is not run: {found:?}; begin its block with ```console");
    let spec = block.iter().any(|line| line.starts_with("apiVersion: fleet/"));
    assert!(!spec, "this spec has no file: {block:?}; begin its block with ```yaml NAME.yaml");
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

/// The names that `fleet schema` knows, from its own refusal of another.
fn kinds() -> Vec<String> {
    let mut fleet = Command::new(env!("CARGO_BIN_EXE_fleet"));
    let output = fleet.args(["schema", "nonsense"]).output().expect("fleet runs");
    let said = support::text(&output.stderr);
    let list = said.split("possible values: ").nth(1).and_then(|rest| rest.split(']').next());
    list.expect("a list").split(", ").map(|name| name.trim().to_owned()).collect()
}

#[test]
fn schemas_are_published() {
    let folder = root().join("docs/schemas");
    let kinds = kinds();
    assert!(kinds.len() >= 20, "{kinds:?}");
    for kind in &kinds {
        let schema = schema(kind);
        jsonschema::draft202012::meta::validate(&schema)
            .unwrap_or_else(|fault| panic!("{kind}: {fault}"));
        let text = format!("{schema:#}\n");
        let file = folder.join(format!("{kind}.json"));
        if std::env::var_os(WRITE).is_some() {
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(&file, text).expect("written");
            continue;
        }
        let then = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(then == text, "{} is out of date; run `cargo xtask docs`", file.display());
    }
    let published = std::fs::read_dir(folder).expect("schemas").count();
    assert_eq!(published, kinds.len(), "docs/schemas has a file of no document");
}

/// Pages for one task each: whatever lies there is run.
#[test]
fn tasks() {
    let folder = root().join("docs/tasks");
    let mut pages: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    pages.sort();
    let index = std::fs::read_to_string(root().join("docs/guide.md")).expect("the guide");
    for page in &pages {
        check(&format!("docs/tasks/{page}"));
        assert!(index.contains(&format!("(tasks/{page})")), "docs/guide.md does not link {page}");
    }
    assert!(pages.len() >= 8, "{pages:?}");
}

#[test]
fn reaching_machines() {
    check("docs/reach.md");
}

#[test]
fn best_buy() {
    check("docs/compare.md");
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
