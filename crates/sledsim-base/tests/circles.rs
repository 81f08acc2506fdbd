//! No files of a crate use each other in a circle.
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

/// The files that each file of a crate uses, each with one of the paths to it.
type Uses<'a> = BTreeMap<&'a Path, BTreeMap<&'a Path, &'a Name>>;

fn uses(modules: &Modules) -> Uses<'_> {
    let mut files = Uses::new();
    for (name, module) in modules {
        let used = files.entry(&module.file).or_default();
        for path in &module.paths {
            if let Some(definer) = definer(modules, name, path, 50)
                && !name.starts_with(&definer)
            {
                used.insert(&modules[&definer].file, path);
            }
        }
        used.remove(&*module.file);
    }
    files
}

/// The shortest way from `from` back to it.
fn circle<'a>(files: &Uses<'a>, from: &'a Path) -> Vec<&'a Path> {
    let mut ways = vec![vec![from]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for &next in files[way[way.len() - 1]].keys() {
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

#[test]
fn files_form_no_circle() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for entry in fs::read_dir(&crates).unwrap() {
        let root = entry.unwrap().path().join("src");
        let mut modules = Modules::new();
        read_file(Name::new(), &root, &mut modules);
        let files = uses(&modules);
        let edges: usize = files.values().map(BTreeMap::len).sum();
        println!("{}: {} files, {} uses", root.display(), files.len(), edges);
        for &file in files.keys() {
            let way = circle(&files, file);
            if !way.is_empty() && way.iter().min() == Some(&file) {
                let next = way.iter().cycle().skip(1);
                let uses = way.iter().zip(next).map(|(file, next)| {
                    let path = files[file][next].join("::");
                    format!("{} uses {path}", file.strip_prefix(&root).unwrap().display())
                });
                found.push(uses.collect::<Vec<_>>().join(", "));
            }
        }
    }
    found.sort();
    assert!(found.is_empty(), "{} circles:\n{}", found.len(), found.join("\n"));
}
