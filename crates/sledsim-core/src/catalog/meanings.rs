//! Meanings of keys: what each is, its default or a usual value, its source.
//!
//! The sentences are in `keys/*.toml`, and nowhere else. Types and ranges are in the code
//! that reads the keys.

use std::sync::LazyLock;
use toml_edit::{DocumentMut, Item, Table, Value};

/// The keys of one thing, or those that several have.
#[derive(Clone, Debug)]
pub struct Group {
    /// `workloads`, `traces`, `devices`, `schedulers`, `layouts` or `caches`.
    pub family: &'static str,
    /// The name of the thing in its registry, or of the group.
    pub name: String,
    /// What the thing is; empty for a group that several have.
    pub about: String,
    /// The things that have the keys of a group; empty for all.
    pub of: Vec<String>,
    /// Its page in the reference.
    pub page: String,
    /// Settings, as TOML, without which a reader does not ask for all of the keys.
    pub example: String,
    /// The keys, in the order of the page.
    pub keys: Vec<Meaning>,
}

/// The meaning of one key.
#[derive(Clone, Debug)]
pub struct Meaning {
    /// Its name, with those of the tables that it is in: `power.startup_ms`.
    pub key: String,
    /// What it is, a phrase.
    pub is: String,
    /// Its default, a value or words.
    pub default: Option<String>,
    /// The value of a usual device, of a key that must be given.
    pub usual: Option<Value>,
    /// Where its meaning is from.
    pub source: Option<String>,
}

const FILES: [(&str, &str); 6] = [
    ("workloads", include_str!("keys/workloads.toml")),
    ("traces", include_str!("keys/traces.toml")),
    ("devices", include_str!("keys/devices.toml")),
    ("schedulers", include_str!("keys/schedulers.toml")),
    ("layouts", include_str!("keys/layouts.toml")),
    ("caches", include_str!("keys/caches.toml")),
];

/// All groups, by family.
pub static GROUPS: LazyLock<Vec<Group>> =
    LazyLock::new(|| FILES.iter().flat_map(|(family, text)| groups(family, text)).collect());

/// The groups of the keys of the thing `name`: its own, then those that several things have.
pub fn groups_of(family: &str, name: &str) -> impl Iterator<Item = &'static Group> {
    let in_family = move |group: &&Group| group.family == family;
    let own = GROUPS.iter().filter(in_family).filter(move |group| group.name == name);
    let shared = GROUPS.iter().filter(move |group| match &group.of[..] {
        [] => in_family(group) && group.about.is_empty() && group.name != name,
        things => things.iter().any(|thing| thing == name),
    });
    own.chain(shared)
}

/// Finds the meaning of a key of `name`, a thing of the family, with its group.
pub fn meaning(family: &str, name: &str, key: &str) -> Option<(&'static Group, &'static Meaning)> {
    let mut all =
        groups_of(family, name).flat_map(|group| group.keys.iter().map(move |key| (group, key)));
    all.find(|(_, meaning)| meaning.key == key)
}

fn groups(family: &'static str, text: &str) -> Vec<Group> {
    // A test reads the files.
    let document = text.parse::<DocumentMut>().unwrap_or_default();
    let tables = document.iter().filter_map(|(name, item)| Some((name, item.as_table()?)));
    let group = |(name, table): (&str, &Table)| Group {
        family,
        name: name.to_owned(),
        about: text_of(table.get("about")),
        page: text_of(table.get("page")),
        of: texts_of(table.get("of")),
        example: text_of(table.get("example")),
        keys: (table.get("keys").and_then(Item::as_table).into_iter().flat_map(Table::iter))
            .map(|(key, item)| meaning_of(key, item))
            .collect(),
    };
    tables.map(group).collect()
}

fn meaning_of(key: &str, item: &Item) -> Meaning {
    let said = |name: &str| item.get(name).filter(|item| !item.is_none());
    let words = said("default_is").map(|item| text_of(Some(item)));
    let value =
        |name: &str| said(name).and_then(Item::as_value).map(|v| v.clone().decorated("", ""));
    Meaning {
        key: key.to_owned(),
        is: text_of(said("is")),
        default: words.or_else(|| value("default").map(|value| value.to_string())),
        usual: value("usual"),
        source: said("source").map(|item| text_of(Some(item))),
    }
}

fn text_of(item: Option<&Item>) -> String {
    item.and_then(Item::as_str).unwrap_or_default().to_owned()
}

fn texts_of(item: Option<&Item>) -> Vec<String> {
    let items = item.and_then(Item::as_array).into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}
