//! Files and folders, as a GitOps repository has them.

use crate::fleet;
use fleet_model::{Unit, Units};
use fleet_spec::{Diagnostics, LoadOptions, Loaded, load};
use std::path::{Path, PathBuf};

/// A folder of files; it is gone when dropped.
pub(crate) struct Tree(tempfile::TempDir);

impl Tree {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        Tree(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn load(&self, names: &[&str]) -> Result<Loaded, Diagnostics> {
        self.load_with(names, &LoadOptions::default())
    }

    pub(crate) fn load_with(
        &self,
        names: &[&str],
        options: &LoadOptions,
    ) -> Result<Loaded, Diagnostics> {
        let paths: Vec<PathBuf> = names.iter().map(|name| self.path(name)).collect();
        load(&paths, options)
    }

    /// What is said, without the folder's own name.
    pub(crate) fn errors(&self, names: &[&str]) -> String {
        let errors = self.load(names).expect_err("errors").render(false);
        errors.replace(&format!("{}/", self.0.path().display()), "")
    }
}

pub(crate) fn names(loaded: &Loaded) -> Vec<&str> {
    loaded.fleets.iter().map(|fleet| fleet.desired.fleet.as_str()).collect()
}

pub(crate) fn named(name: &str) -> String {
    fleet("capacity: { target: 1 }").replace("train", name)
}

#[test]
fn folders_bring_their_specs_in_order_and_pass_over_the_rest() {
    let tree = Tree::new(&[
        ("b/two.yml", &named("two")),
        ("a/one.yaml", &format!("{}---\n{}", named("one"), named("one-b"))),
        ("a/readme.md", "apiVersion: fleet/v1"),
        (".github/workflows/ci.yaml", &named("hidden")),
        ("ci.yaml", "on: push\njobs: { a: { steps: [{ run: \"echo ${{ x }}\" }] } }"),
        ("helm.yaml", "a: {{ .Values.b }}\n  c: ["),
        (
            "deploy.yaml",
            "apiVersion: apps/v1\nkind: Deployment\n---\nkind: Policy\napiVersion: kyverno.io/v1",
        ),
        ("empty.yaml", ""),
        ("binary.yaml", "\0\0"),
        ("large.yaml", &"# nothing\n".repeat(200_000)),
    ]);
    let loaded = tree.load(&[""]).expect("valid");
    assert_eq!(names(&loaded), ["one", "one-b", "two"]);
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    let name = |file: &PathBuf| file.file_name().map(|name| name.to_string_lossy().into_owned());
    let doubtful: Vec<_> = loaded.doubtful.iter().filter_map(name).collect();
    assert_eq!(doubtful, ["binary.yaml", "empty.yaml", "large.yaml"]);
    assert!(!loaded.is_complete());
    // The same file by two ways is one file.
    let loaded = tree.load(&["a/one.yaml", "", "a"]).expect("valid");
    assert_eq!(names(&loaded), ["one", "one-b", "two"]);
}

#[test]
fn a_file_by_name_must_be_a_spec() {
    let tree = Tree::new(&[
        ("ci.yaml", "on: push\n"),
        ("empty.yaml", ""),
        ("folder/readme.md", "hello"),
        ("large.yaml", &"# nothing\n".repeat(200_000)),
    ]);
    assert!(tree.errors(&["ci.yaml"]).contains("`apiVersion` is missing"));
    assert!(tree.errors(&["empty.yaml"]).contains("holds no document"));
    assert!(tree.errors(&["nowhere.yaml"]).contains("no such file"));
    assert!(tree.errors(&["large.yaml"]).contains("has 2000000 bytes"));
    assert!(tree.errors(&["folder"]).contains("no fleet found"));
    assert!(load(&[PathBuf::from("/dev/null")], &LoadOptions::default()).is_err());
}

#[test]
fn a_broken_or_misspelt_spec_in_a_folder_is_not_passed_over() {
    let broken = "apiVersion: fleet/v1\nkind: Fleet\nspec: [\n";
    assert!(Tree::new(&[("a.yaml", broken)]).errors(&[""]).contains("not valid YAML"));
    let misspelt = named("one").replace("fleet/v1", "flet/v1");
    assert!(Tree::new(&[("a.yaml", &misspelt)]).errors(&[""]).contains("did you mean `fleet/v1`?"));
    let missing = named("one").replace("apiVersion: fleet/v1\n", "");
    assert!(Tree::new(&[("a.yaml", &missing)]).errors(&[""]).contains("`apiVersion` is missing"));
    let wide: String = named("one").chars().flat_map(|c| [c, '\0']).collect();
    assert!(Tree::new(&[("a.yaml", &wide)]).errors(&[""]).contains("not in UTF-16"));
    let large = format!("{}{}", named("one"), "# nothing\n".repeat(200_000));
    assert!(Tree::new(&[("a.yaml", &large)]).errors(&[""]).contains("bytes"));
}

#[test]
fn two_fleets_of_one_name_are_told_with_both_places() {
    let tree = Tree::new(&[("a.yaml", &named("one")), ("b.yaml", &named("one"))]);
    let errors = tree.errors(&["a.yaml", "b.yaml"]);
    assert!(errors.contains("fleet `one` is described twice\n  --> b.yaml:3:19"), "{errors}");
    assert!(errors.contains("the first is at a.yaml:3:19"), "{errors}");
}

#[test]
fn all_files_are_told_at_once() {
    let bad = |name: &str| named(name).replace("target", "targt");
    let tree = Tree::new(&[("a.yaml", &bad("a")), ("b.yaml", &bad("b")), ("c.yaml", &named("c"))]);
    let errors = tree.load(&[""]).expect_err("errors");
    assert_eq!(errors.errors().count(), 2);
}

#[test]
fn fleets_are_selected_by_name() {
    let tree = Tree::new(&[("a.yaml", &format!("{}---\n{}", named("train"), named("serve")))]);
    let select = |names: &[&str]| LoadOptions {
        select: names.iter().map(|name| name.to_string()).collect(),
        ..LoadOptions::default()
    };
    let loaded = tree.load_with(&["a.yaml"], &select(&["serve"])).expect("valid");
    assert_eq!(names(&loaded), ["serve"]);
    let errors = tree.load_with(&["a.yaml"], &select(&["trian", "web"])).expect_err("unknown");
    let said = "error: there is no fleet `trian`\nhint: did you mean `train`?\n\n\
                error: there is no fleet `web`\nhint: fleets here: train, serve\n";
    assert_eq!(errors.render(false), said);
}

fn with_file(path: &str) -> String {
    fleet(&format!("capacity: {{ target: 1 }}\ntemplate: {{ userDataFile: {path} }}"))
}

#[test]
fn user_data_comes_from_files_below_the_spec() {
    let tree = Tree::new(&[
        ("specs/a.yaml", &with_file("boot/boot.sh")),
        ("specs/boot/boot.sh", "#!/bin/sh\n"),
        ("specs/up.yaml", &with_file("../secret")),
        ("specs/absolute.yaml", &with_file("/etc/passwd")),
        ("specs/missing.yaml", &with_file("nowhere.sh")),
        ("specs/folder.yaml", &with_file("boot")),
        ("specs/both.yaml", &with_file("boot/boot.sh, userData: CANARY")),
        ("specs/large.yaml", &with_file("{ aws: large.sh }")),
        ("specs/large.sh", &"#".repeat(20_000)),
        ("secret", "CANARY"),
    ]);
    let loaded = tree.load(&["specs/a.yaml"]).expect("valid");
    let template = loaded.fleets[0].desired.templates.values().next().expect("a template");
    assert_eq!(template.user_data, Some("#!/bin/sh\n".into()));
    for (file, says) in [
        ("up", "leads out of the spec's folder"),
        ("absolute", "leads out of the spec's folder"),
        ("missing", "cannot be read: no such file"),
        ("folder", "is not a regular file"),
        ("both", "both given for aws"),
        ("large", "user data has 20000 bytes"),
    ] {
        let errors = tree.errors(&[&format!("specs/{file}.yaml")]);
        assert!(errors.contains(says), "{errors}");
        assert!(!errors.contains("CANARY"), "{errors}");
    }
}

fn counted_by(file: &str) -> String {
    fleet(&format!("capacity: {{ unit: work, workFile: {file}, target: 1000.5 }}"))
}

#[test]
fn work_is_counted_by_a_table_beside_the_spec() {
    let tree = Tree::new(&[
        ("specs/a.yaml", &counted_by("perf/own.csv")),
        ("specs/perf/own.csv", "name,tokens\nH100,395\np5.48xlarge,3100.25\n"),
        ("specs/bad.yaml", &counted_by("bad.csv")),
        ("specs/bad.csv", "H100,395\nA100,quick\n"),
        ("specs/up.yaml", &counted_by("../own.csv")),
        ("specs/none.yaml", &fleet("capacity: { unit: work, target: 1 }")),
        ("specs/other.yaml", &fleet("capacity: { unit: gpus, workFile: bad.csv, target: 1 }")),
    ]);
    let loaded = tree.load(&["specs/a.yaml"]).expect("valid");
    let desired = &loaded.fleets[0].desired;
    assert_eq!((desired.capacity.unit, desired.capacity.target), (Unit::Work, Units(1_000_500)));
    let rows: Vec<_> =
        desired.placement.weights.iter().map(|w| (w.types.as_str(), w.units.0)).collect();
    assert_eq!(rows, [("p5.48xlarge", 3_100_250), ("H100", 395_000)]);
    for (file, says) in [
        ("bad", "`bad.csv`, line 2: `quick` is not a number"),
        ("up", "leads out of the spec's folder"),
        ("none", "`workFile` is missing"),
        ("other", "workFile is for unit: work, and the unit is gpus"),
    ] {
        let errors = tree.errors(&[&format!("specs/{file}.yaml")]);
        assert!(errors.contains(says), "{errors}");
    }
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_or_in_circles() {
    let tree = Tree::new(&[("specs/a.yaml", &with_file("link")), ("secret", "CANARY")]);
    let link = |to: &Path, name: &str| {
        std::os::unix::fs::symlink(to, tree.path(name)).expect("a link");
    };
    link(&tree.path("secret"), "specs/link");
    link(&tree.path("specs"), "specs/circle");
    let errors = tree.errors(&["specs"]);
    assert!(errors.contains("leads out of the spec's folder"), "{errors}");
}
