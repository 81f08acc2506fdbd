//! No files of a crate use each other in a circle, nor do its rooms: the folders and files
//! in its root.
//!
//! A file uses another if a path in its code, resolved through imports and re-exports, ends
//! at an item that the other defines. A module may use items of the modules around it; so
//! that is left out, as are re-exports, tests, and methods, whose files a path does not tell.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemUse, UseTree, Visibility};

/// A path from the root of the crate.
type Name = Vec<String>;

/// Where a name of a module leads.
#[derive(Clone, Debug)]
enum Leads {
    /// It is defined in this file.
    Here,
    /// It is another name of what this path leads to, as written in the module.
    To(Name),
}

/// A module of a crate.
#[derive(Debug, Default)]
struct Module {
    file: PathBuf,
    names: BTreeMap<String, Leads>,
    /// The modules of which it imports all names.
    globs: Vec<Name>,
    /// The paths in its code, as written.
    paths: BTreeSet<Name>,
}

/// Imports of imports are followed so far.
const MOST_STEPS: u32 = 50;

/// The modules of a crate, by their paths.
type Modules = BTreeMap<Name, Module>;

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let list = attribute.meta.require_list();
        attribute.path().is_ident("cfg")
            && list.is_ok_and(|list| list.tokens.to_string().contains("test"))
    })
}

/// Collects the paths of a module's own code.
struct Paths<'a>(&'a mut BTreeSet<Name>);

impl Paths<'_> {
    /// Adds the paths among the tokens of a macro.
    fn tokens(&mut self, tokens: TokenStream) {
        let (mut path, mut colons) = (Name::new(), 0);
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.0.insert(std::mem::take(&mut path));
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    colons = 3;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.0.insert(path);
    }
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    /// An import, which may be of a trait for its methods alone.
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let mut imported = Module::default();
        import(&item.tree, Name::new(), &mut imported);
        let names = imported.names.into_values();
        self.0.extend(names.filter_map(|leads| match leads {
            Leads::To(path) => Some(path),
            Leads::Here => None,
        }));
    }

    fn visit_macro(&mut self, invoked: &'ast syn::Macro) {
        self.tokens(invoked.tokens.clone());
        visit::visit_macro(self, invoked);
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        self.visit_macro(&item.mac);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if attribute.path().is_ident("doc") {
            return;
        }
        if let Ok(list) = attribute.meta.require_list() {
            self.tokens(list.tokens.clone());
        }
    }
}

/// Adds the names that a use brings in.
fn import(tree: &UseTree, mut from: Name, module: &mut Module) {
    match tree {
        UseTree::Path(path) => {
            from.push(path.ident.to_string());
            import(&path.tree, from, module);
        }
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| import(tree, from.clone(), module));
        }
        UseTree::Glob(_) => module.globs.push(from),
        UseTree::Name(name) if name.ident == "self" => {
            let last = from.last().expect("self is within a path").clone();
            module.names.insert(last, Leads::To(from));
        }
        UseTree::Name(name) => {
            from.push(name.ident.to_string());
            module.names.insert(name.ident.to_string(), Leads::To(from));
        }
        UseTree::Rename(rename) => {
            from.push(rename.ident.to_string());
            module.names.insert(rename.rename.to_string(), Leads::To(from));
        }
    }
}

/// Reads the items of a module in `file`, whose own modules lie in `folder`.
fn read(items: &[Item], name: Name, file: &Path, folder: &Path, modules: &mut Modules) {
    let mut module = Module { file: file.to_owned(), ..Module::default() };
    for item in items {
        let (defined, attributes) = match item {
            Item::Const(item) => (Some(&item.ident), &item.attrs),
            Item::Enum(item) => (Some(&item.ident), &item.attrs),
            Item::Fn(item) => (Some(&item.sig.ident), &item.attrs),
            Item::Static(item) => (Some(&item.ident), &item.attrs),
            Item::Struct(item) => (Some(&item.ident), &item.attrs),
            Item::Trait(item) => (Some(&item.ident), &item.attrs),
            Item::Type(item) => (Some(&item.ident), &item.attrs),
            Item::Macro(item) => (item.ident.as_ref(), &item.attrs),
            Item::Impl(item) => (None, &item.attrs),
            Item::Use(item) => (None, &item.attrs),
            Item::Mod(item) => (None, &item.attrs),
            _ => continue,
        };
        if is_test(attributes) {
            continue;
        }
        if let Some(ident) = defined {
            module.names.insert(ident.to_string(), Leads::Here);
        }
        match item {
            Item::Use(item) => {
                import(&item.tree, Name::new(), &mut module);
                if matches!(item.vis, Visibility::Inherited) {
                    Paths(&mut module.paths).visit_item_use(item);
                }
            }
            Item::Mod(child) => {
                let ident = child.ident.to_string();
                let folder = folder.join(&ident);
                let name = [name.clone(), vec![ident]].concat();
                match &child.content {
                    Some((_, items)) => read(items, name, file, &folder, modules),
                    None => read_file(name, &folder, modules),
                }
            }
            item => Paths(&mut module.paths).visit_item(item),
        }
    }
    modules.insert(name, module);
}

/// Reads the module whose folder is or would be `folder`.
fn read_file(name: Name, folder: &Path, modules: &mut Modules) {
    let file = [folder.with_extension("rs"), folder.join("mod.rs"), folder.join("lib.rs")]
        .into_iter()
        .find(|file| file.is_file())
        .unwrap_or_else(|| panic!("{}: no file", folder.display()));
    let text = fs::read_to_string(&file).unwrap();
    let parsed =
        syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    read(&parsed.items, name, &file, folder, modules);
}

/// The module that defines what `path`, written in module `from`, leads to.
fn definer(modules: &Modules, from: &[String], path: &[String], steps: u32) -> Option<Name> {
    let (first, rest) = path.split_first()?;
    if steps == 0 {
        return None;
    }
    let mut at = from.to_vec();
    match first.as_str() {
        "crate" => at.clear(),
        "self" => {}
        "super" => drop(at.pop()?),
        name => {
            let module = modules.get(&at)?;
            let child = [&at[..], &[name.to_owned()]].concat();
            match module.names.get(name) {
                Some(Leads::Here) => return Some(at),
                Some(Leads::To(path)) if path[0] != name || path.len() > 1 => {
                    let path = [&path[..], rest].concat();
                    return definer(modules, &at, &path, steps - 1);
                }
                _ if modules.contains_key(&child) => at = child,
                _ => {
                    let within = |glob: &Name| [&glob[..], path].concat();
                    let mut globs = module.globs.iter().map(within);
                    return globs.find_map(|path| definer(modules, &at, &path, steps - 1));
                }
            }
        }
    }
    definer(modules, &at, rest, steps - 1)
}

/// What each file or room uses, and for each the file and one of its paths to it.
type Uses = BTreeMap<String, BTreeMap<String, String>>;

/// The files of the crate in `root` and what they use; of `rooms`, the files and folders
/// directly in `root`.
fn uses(root: &Path, rooms: bool) -> Uses {
    let mut modules = Modules::new();
    read_file(Name::new(), root, &mut modules);
    let inside = |module: &Module| module.file.strip_prefix(root).unwrap().display().to_string();
    let place = |name: &Name, file: &str| match name.first() {
        Some(room) if rooms => room.clone(),
        _ => file.to_owned(),
    };
    let mut uses = Uses::new();
    for (name, module) in &modules {
        let file = inside(module);
        let from = place(name, &file);
        let used = uses.entry(from.clone()).or_default();
        for path in &module.paths {
            if let Some(definer) = definer(&modules, name, path, MOST_STEPS)
                && !name.starts_with(&definer)
            {
                let to = place(&definer, &inside(&modules[&definer]));
                if to != from {
                    used.insert(to, format!("{file} uses {}", path.join("::")));
                }
            }
        }
    }
    uses
}

/// The shortest way from `from` back to it.
fn circle<'a>(uses: &'a Uses, from: &'a str) -> Vec<&'a str> {
    let mut ways = vec![vec![from]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for next in uses[way[way.len() - 1]].keys() {
                if next == from {
                    return way;
                }
                if seen.insert(next) {
                    longer.push([&way[..], &[next]].concat());
                }
            }
        }
        ways = longer;
    }
    Vec::new()
}

/// The circles, each found from its least member, in words.
fn circles(uses: &Uses) -> Vec<String> {
    let ways = uses.keys().map(|from| circle(uses, from));
    let least = ways.filter(|way| !way.is_empty() && way.iter().min() == way.first());
    let in_words = |way: Vec<&str>| {
        let next = way.iter().cycle().skip(1);
        let steps = way.iter().zip(next).map(|(from, to)| uses[*from][*to].clone());
        steps.collect::<Vec<_>>().join(", ")
    };
    least.map(in_words).collect()
}

fn crates() -> impl Iterator<Item = PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path().join("src"))
}

#[test]
fn neither_files_nor_rooms_form_a_circle() {
    let uses = crates().flat_map(|root| [uses(&root, false), uses(&root, true)]);
    let found: Vec<String> = uses.flat_map(|uses| circles(&uses)).collect();
    assert!(found.is_empty(), "{} circles:\n{}", found.len(), found.join("\n"));
}

#[test]
fn folders_of_the_core_use_those_above_them_in_the_table_of_the_architecture() {
    let root = crates().find(|root| root.parent().unwrap().ends_with("sledsim-core")).unwrap();
    let text = fs::read_to_string(root.join("../../../docs/architecture.md")).unwrap();
    let table = text.split("The folders of `crates/sledsim-core/src`").nth(1).unwrap();
    let rows = table.lines().skip(2).take_while(|line| !line.is_empty());
    let order: Vec<&str> =
        rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
    let mut uses = uses(&root, true);
    uses.remove("lib.rs");
    let rooms: BTreeSet<&str> = uses.keys().map(String::as_str).collect();
    assert_eq!(rooms, order.iter().copied().collect());
    for (place, room) in order.iter().enumerate() {
        for (used, how) in &uses[*room] {
            assert!(order[..place].contains(&used.as_str()), "{how}");
        }
    }
}

#[test]
fn uses_are_found_through_imports_re_exports_and_macros() {
    let root = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| fs::write(root.path().join(file), text).unwrap();
    fs::create_dir(root.path().join("d")).unwrap();
    write("lib.rs", "mod a; mod b; mod c; mod d; pub use b::X; pub const ROOT: u8 = 0;");
    write(
        "a.rs",
        "use crate::X as Y; use crate::ROOT; fn f(y: Y) {} #[cfg(test)] mod t { use crate::c::Z; }",
    );
    write("b.rs", "pub struct X; fn g() { say!(\"\", super::c::Z); }");
    write("c.rs", "pub struct Z; // crate::a::f");
    write("d/mod.rs", "mod e; pub struct D; fn h() { e::i() }");
    write("d/e.rs", "use super::*; pub fn i() { let d: D; }");
    let found = uses(root.path(), false);
    let of = |file: &str| found[file].keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!([of("a.rs"), of("b.rs"), of("c.rs"), of("lib.rs")], ["b.rs", "c.rs", "", ""]);
    assert_eq!([of("d/mod.rs"), of("d/e.rs")], ["d/e.rs", ""], "modules around are free");
    assert!(circles(&found).is_empty());
    write("c.rs", "pub struct Z; fn h() { crate::a::f(); }");
    let found = circles(&uses(root.path(), false));
    assert_eq!(found, ["a.rs uses crate::X, b.rs uses super::c::Z, c.rs uses crate::a::f"]);
}
