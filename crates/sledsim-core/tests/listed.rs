//! Is every file of tests run? With `autotests = false`, a file that no binary
//! names is not compiled, and its tests do not fail.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, Item};

/// All Rust files below `folder`.
fn files(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.insert(path);
        }
    }
}

/// `file` and the files of its modules, which lie in `folder`. Modules are
/// declared as rustfmt writes them, one in a line.
fn reached(file: &Path, folder: &Path, found: &mut BTreeSet<PathBuf>) {
    let text = fs::read_to_string(file).expect("a source file");
    let mut folder = folder.to_owned();
    // How far the modules that are open are indented.
    let mut open = Vec::new();
    let mut has_path = false;
    for line in text.lines() {
        let declared = line.trim_start();
        let indent = line.len() - declared.len();
        let declared = declared.strip_prefix("pub ").unwrap_or(declared);
        if open.last() == Some(&indent) && declared == "}" {
            open.pop();
            folder.pop();
        } else if let Some(name) = declared.strip_prefix("mod ") {
            if let Some(name) = name.strip_suffix(" {") {
                open.push(indent);
                folder.push(name);
            } else if let Some(name) = name.strip_suffix(';').filter(|_| !has_path) {
                let [flat, deep] = [format!("{name}.rs"), format!("{name}/mod.rs")];
                let paths = [flat, deep].map(|path| folder.join(path));
                let path = paths.iter().find(|path| path.is_file());
                let path = path.unwrap_or_else(|| panic!("{}: no mod {name}", file.display()));
                if found.insert(path.clone()) {
                    reached(path, &folder.join(name), found);
                }
            }
        }
        has_path = declared.starts_with("#[path") || has_path && declared.starts_with("#[");
    }
}

#[test]
fn every_file_of_tests_is_a_module_of_a_test_binary() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut seen = 0;
    for entry in fs::read_dir(crates).expect("a folder") {
        let manifest = entry.expect("an entry").path().join("Cargo.toml");
        let folder = manifest.with_file_name("tests");
        if !folder.is_dir() {
            continue;
        }
        let text = fs::read_to_string(&manifest).expect("a manifest");
        let keys: DocumentMut = text.parse().expect("TOML");
        let at = manifest.display();
        assert_eq!(
            keys["package"].get("autotests").and_then(Item::as_bool),
            Some(false),
            "{at}: autotests must be false, so that each file is linked once"
        );
        let mut found = BTreeSet::new();
        let tests = keys.get("test").and_then(Item::as_array_of_tables);
        for test in tests.unwrap_or_else(|| panic!("{at}: no [[test]]")) {
            let name = test["name"].as_str().expect("a name");
            let path = test.get("path").and_then(Item::as_str);
            let path = path.map_or_else(|| format!("tests/{name}.rs"), str::to_owned);
            let root = manifest.with_file_name(path);
            reached(&root, &folder, &mut found);
            found.insert(root);
        }
        let mut all = BTreeSet::new();
        files(&folder, &mut all);
        let forgotten: Vec<_> = all.difference(&found).collect();
        assert!(
            forgotten.is_empty(),
            "{at}: no test binary has a `mod` for {forgotten:?}: list them in tests/main.rs"
        );
        seen += 1;
    }
    assert!(seen >= 3, "{seen} crates with tests");
}
