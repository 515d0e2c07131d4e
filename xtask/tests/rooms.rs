//! Folders are rooms, and imports run one way between them.
//!
//! Draws which room of a crate uses which, and fails where one uses a room below it, or where files of
//! one room use each other in a circle. `cargo xtask lint` runs this and shows the drawing. Seeded bugs
//! enter through files called `seams.rs` alone.

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};

/// A crate, and its rooms from top to bottom: each may use those above it. A file beside `lib.rs` is a
/// room of its own.
struct House {
    folder: &'static str,
    rooms: &'static [&'static str],
}

const HOUSES: [House; 2] = [
    House {
        folder: "engine/core/src",
        rooms: &[
            "seams",
            "clock",
            "offers",
            "holdings",
            "budget",
            "place",
            "market",
            "record",
            "fallback",
            "rebalance",
            "decide",
            "plan",
            "report",
        ],
    },
    House {
        folder: "engine/run/src",
        rooms: &[
            "calls",
            "state",
            "hooks",
            "error",
            "progress",
            "engine",
            "observe",
            "apply",
            "reconcile",
        ],
    },
];

/// A file, as its room and its name in it (`mod` for the room's own).
type Spot = (String, String);

/// What a crate's files use of each other: room, and file where one is named.
type Uses = BTreeMap<Spot, BTreeSet<(String, Option<String>)>>;

/// Collects the paths that start at `crate`, or at `super` in a file of a room.
struct Paths<'a> {
    /// The room, if `super` is it: not in a room's own file, nor in a folder inside a room.
    room: Option<&'a str>,
    found: BTreeSet<(String, Option<String>)>,
}

impl Paths<'_> {
    fn take(&mut self, path: &[String]) {
        let [start, rest @ ..] = path else { return };
        let (room, file) = match (start.as_str(), rest, self.room) {
            ("crate", [room, rest @ ..], _) => (room.as_str(), rest.first()),
            ("super", [file, ..], Some(room)) => (room, Some(file)),
            _ => return,
        };
        self.found.insert((room.to_owned(), file.cloned()));
    }

    fn tree(&mut self, before: &mut Vec<String>, tree: &syn::UseTree) {
        let depth = before.len();
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.tree(before, &path.tree);
            }
            syn::UseTree::Name(name) => {
                before.push(name.ident.to_string());
                self.take(before);
            }
            syn::UseTree::Rename(name) => {
                before.push(name.ident.to_string());
                self.take(before);
            }
            syn::UseTree::Glob(_) => self.take(before),
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.tree(before, tree));
            }
        }
        before.truncate(depth);
    }
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree(&mut Vec::new(), &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        self.take(&names);
        visit::visit_path(self, path);
    }

    // Tests may look into every room.
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let is_test = item.attrs.iter().any(|attribute| attribute.path().is_ident("cfg"));
        if !is_test {
            visit::visit_item_mod(self, item);
        }
    }
}

fn used(room: Option<&str>, source: &str) -> BTreeSet<(String, Option<String>)> {
    let file = syn::parse_file(source).expect("Rust");
    let mut paths = Paths { room, found: BTreeSet::new() };
    paths.visit_file(&file);
    paths.found
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut left) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = left.pop() {
        for path in std::fs::read_dir(&next).expect("a folder").flatten().map(|it| it.path()) {
            if path.is_dir() { left.push(path) } else { found.push(path) }
        }
    }
    found
}

fn uses_of(folder: &Path) -> Uses {
    let mut uses = Uses::new();
    for path in files(folder) {
        let inside = path.strip_prefix(folder).expect("inside").with_extension("");
        let names: Vec<&str> = inside.iter().filter_map(|name| name.to_str()).collect();
        let (room, file, is_deeper) = match names[..] {
            ["lib"] | [] => continue,
            [root] => (root, "mod", false),
            [room, file] => (room, file, false),
            [room, file, ..] => (room, file, true),
        };
        let source = std::fs::read_to_string(&path).expect("a file");
        let parent = (!is_deeper && file != "mod").then_some(room);
        let spot = (room.to_owned(), file.to_owned());
        uses.entry(spot).or_default().extend(used(parent, &source));
    }
    uses
}

/// The drawing, and what is wrong with it.
fn draw(rooms: &[&str], uses: &Uses) -> (String, Vec<String>) {
    let height = |room: &str| rooms.iter().position(|known| *known == room);
    let (mut drawing, mut wrong) = (String::new(), Vec::new());
    for (spot, used) in uses {
        if height(&spot.0).is_none() {
            wrong.push(format!("{} is no room that the list names", spot.0));
        }
        for (room, _) in used.iter().filter(|(room, _)| height(room) > height(&spot.0)) {
            wrong.push(format!("{}/{} uses {room}, which is below it", spot.0, spot.1));
        }
    }
    for room in rooms {
        let inside: Vec<&Spot> = uses.keys().filter(|(of, _)| of == room).collect();
        let above: BTreeSet<&str> = inside
            .iter()
            .flat_map(|spot| &uses[*spot])
            .map(|(used, _)| used.as_str())
            .filter(|used| used != room && height(used).is_some())
            .collect();
        let mut above: Vec<&str> = above.into_iter().collect();
        above.sort_by_key(|room| height(room));
        let arrow = if above.is_empty() { "" } else { "→ " };
        let files = if inside.len() == 1 { "file" } else { "files" };
        let _ = writeln!(
            drawing,
            "  {room:<9} {:>2} {files:<5} {arrow}{}",
            inside.len(),
            above.join(" ")
        );
        let mut graph: DiGraphMap<&str, ()> = DiGraphMap::new();
        for spot in inside.iter().filter(|spot| spot.1 != "mod") {
            for (of, file) in &uses[*spot] {
                if let Some(file) = file.as_deref().filter(|file| of == room && *file != spot.1) {
                    graph.add_edge(&spot.1, file, ());
                }
            }
        }
        for mut circle in tarjan_scc(&graph).into_iter().filter(|circle| circle.len() > 1) {
            circle.sort_unstable();
            wrong.push(format!("{room}: a circle of {}", circle.join(", ")));
        }
    }
    (drawing, wrong)
}

#[test]
fn imports_run_one_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for House { folder, rooms } in HOUSES {
        let (drawing, wrong) = draw(rooms, &uses_of(&root.join(folder)));
        let _ = writeln!(std::io::stdout(), "{folder}\n{drawing}");
        assert_eq!(wrong, Vec::<String>::new(), "in {folder}");
    }
}

/// Where production code lives. What lies in a folder `tests` is none.
const PRODUCTION: [&str; 6] = ["cli", "controller", "engine", "examples", "providers", "words"];

/// Lines that name seeded bugs, from 1. Comments do not count.
fn names_bugs(source: &str) -> Vec<usize> {
    let code = source.lines().map(|line| line.split("//").next().unwrap_or_default());
    let named = |code: &str| code.contains("bugs::") || code.contains("::bugs");
    (1..).zip(code).filter(|(_, code)| named(code)).map(|(line, _)| line).collect()
}

/// Whether a file may name seeded bugs: where they are listed, where they enter, and tests.
fn may_name_bugs(file: &Path) -> bool {
    file.ends_with("seams.rs")
        || file == Path::new("engine/model/src/bugs.rs")
        || file.iter().any(|folder| folder == "tests")
}

#[test]
fn bugs_enter_through_seams_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut wrong = Vec::new();
    for path in PRODUCTION.iter().flat_map(|folder| files(&root.join(folder))) {
        let file = path.strip_prefix(&root).expect("inside");
        if file.extension().is_none_or(|end| end != "rs") || may_name_bugs(file) {
            continue;
        }
        let source = std::fs::read_to_string(&path).expect("a file");
        let lines = names_bugs(&source).into_iter();
        wrong.extend(lines.map(|line| format!("{}:{line} names a seeded bug", file.display())));
    }
    wrong.sort();
    assert_eq!(wrong, Vec::<String>::new(), "only files called seams.rs may");
}

#[test]
fn bugs_outside_seams_are_found() {
    let source = "// bugs::on\nuse fleet_model::bugs::{self, Bug};\nif bugs::on(Bug::X) {}\n";
    assert_eq!(names_bugs(source), [2, 3]);
    assert_eq!(names_bugs("pub mod bugs;\nuse crate::seams;\n"), Vec::<usize>::new());
    assert!(may_name_bugs(Path::new("engine/core/src/holdings/seams.rs")));
    assert!(may_name_bugs(Path::new("providers/sim/tests/suite/proof.rs")));
    assert!(!may_name_bugs(Path::new("engine/core/src/holdings/standing.rs")));
}

#[test]
fn what_runs_upwards_or_in_a_circle_is_found() {
    let file = |room: &str, name: &str, source: &str| {
        let spot = (room.to_owned(), name.to_owned());
        (spot, used(Some(room), source))
    };
    let uses = Uses::from([
        file("low", "a", "use crate::high::X; use crate::low::b::Y;"),
        file("low", "b", "fn f() {}"),
    ]);
    let (_, wrong) = draw(&["high", "low"], &uses);
    assert_eq!(wrong, Vec::<String>::new());
    let uses = Uses::from([
        file("high", "a", "use crate::{high::b, low::c::X};"),
        file("high", "b", "fn f() -> u8 { super::a::f() }"),
        file("attic", "x", "#[cfg(test)] mod tests { use crate::low; }"),
    ]);
    let (_, wrong) = draw(&["high", "low"], &uses);
    let expected = [
        "attic is no room that the list names",
        "high/a uses low, which is below it",
        "high: a circle of a, b",
    ];
    assert_eq!(wrong, expected);
}
