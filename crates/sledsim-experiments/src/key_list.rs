//! Lists of the keys of workloads, traces, devices, schedulers, layouts and policies.
//!
//! Names, types and ranges are those that the readers ask for: each thing is read with its
//! questions kept. Meanings are those of [`sledsim_core::catalog::GROUPS`].

use crate::load::Load;
use crate::replay::TraceFiles;
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Question, Type, unit_of};
use sledsim_core::catalog::{Device, GROUPS, fill_missing, groups_of, meaning};
use sledsim_core::compose::caches::POLICIES;
use sledsim_core::layouts::{LAYOUTS, ResolvedLayout};
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_core::workloads::Workload;
use std::path::Path;
use toml_edit::{InlineTable, Value};

/// A thing that has keys.
#[derive(Clone, Debug, Serialize)]
pub struct Thing {
    /// `workloads`, `traces`, `devices`, `schedulers`, `layouts` or `caches`.
    pub family: &'static str,
    /// Its name in its registry.
    pub name: String,
    /// What it is.
    pub about: String,
    /// Its page in the reference.
    pub page: String,
    /// Its keys: its own first, then those that others have too.
    pub keys: Vec<Key>,
}

/// A key.
#[derive(Clone, Debug, Serialize)]
pub struct Key {
    /// Its name, its type and range, and whether it must be given.
    #[serde(flatten)]
    pub question: Question,
    /// Its unit, from its name.
    pub unit: Option<&'static str>,
    /// What it is; empty where nothing is said.
    pub meaning: String,
    /// Its default, a value or words.
    pub default: Option<String>,
    /// The value of a usual device, of a key that must be given.
    pub usual: Option<String>,
    /// Where its meaning is from.
    pub source: Option<String>,
    /// The group of keys in whose table it stands.
    pub group: String,
}

/// How the things of a family are read.
type Reader = fn(&str, Keys) -> Result<()>;

/// The families, each with the names of its registry and a reader.
fn families() -> [(&'static str, Vec<String>, Reader); 6] {
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    [
        ("workloads", owned(Workload::names()), read_workload),
        ("traces", vec!["trace".to_owned()], read_trace),
        ("devices", owned(Device::kinds().collect()), read_device),
        ("schedulers", owned(SchedulerSpec::names().collect()), read_scheduler),
        ("layouts", owned(LAYOUTS.names().collect()), read_layout),
        ("caches", owned(POLICIES.names().collect()), read_policy),
    ]
}

/// Things with their keys, in the order of the registries: all, or those of a name.
pub fn things(named: Option<&str>) -> Vec<Thing> {
    let things = families().into_iter().flat_map(|(family, names, read)| {
        let wanted = names.into_iter().filter(|name| named.is_none_or(|wanted| wanted == name));
        wanted.map(|name| thing(family, &name, read)).collect::<Vec<_>>()
    });
    things.collect()
}

fn thing(family: &'static str, name: &str, read: Reader) -> Thing {
    let group = GROUPS.iter().find(|group| group.family == family && group.name == name);
    let examples = groups_of(family, name).map(|group| group.example.clone());
    let mut asked = explored(family, name, examples.collect(), read);
    // The parts of composites and mixes, and the trace of a layout, have keys of their own.
    let parts: Vec<String> = (asked.iter())
        .filter_map(|question| question.key.strip_suffix(".base"))
        .chain(["part", "trace"])
        .map(|part| format!("{part}."))
        .collect();
    asked.retain(|question| {
        let of_part = parts.iter().any(|part| question.key.starts_with(part));
        !of_part || meaning(family, name, &question.key).is_some()
    });
    asked.retain(|question| {
        !["name", "kind"].contains(&question.key.as_str()) || family == "devices"
    });
    let mut keys: Vec<Key> =
        asked.into_iter().map(|question| key(family, name, question)).collect();
    let place = |key: &Key| GROUPS.iter().position(|group| group.name == key.group);
    keys.sort_by_key(|key| (key.group != name, place(key)));
    Thing {
        family,
        name: name.to_owned(),
        about: group.map(|group| group.about.clone()).unwrap_or_default(),
        page: group.map(|group| group.page.clone()).unwrap_or_default(),
        keys,
    }
}

fn key(family: &'static str, thing: &str, question: Question) -> Key {
    let said = meaning(family, thing, &question.key);
    Key {
        unit: unit_of(&question.key).filter(|_| is_quantity(&question.types[0])),
        meaning: said.map(|(_, meaning)| meaning.is.clone()).unwrap_or_default(),
        default: said.and_then(|(_, meaning)| meaning.default.clone()),
        usual: said.and_then(|(_, meaning)| meaning.usual.as_ref()).map(ToString::to_string),
        source: said.and_then(|(_, meaning)| meaning.source.clone()),
        group: said.map(|(group, _)| group.name.clone()).unwrap_or_default(),
        question,
    }
}

fn is_quantity(r#type: &Type) -> bool {
    matches!(r#type, Type::Number | Type::Integer | Type::IntegerOr(_) | Type::List)
}

/// All that the reader of a thing asks for: without settings, with those of examples, then with
/// each table and each choice that it asks for.
fn explored(family: &str, name: &str, mut settings: Vec<String>, read: Reader) -> Vec<Question> {
    let mut asked: Vec<Question> = Vec::new();
    settings.insert(0, String::new());
    let mut next = 0;
    let mut filled = Vec::new();
    while let Some(setting) = settings.get(next) {
        next += 1;
        for question in questions(family, name, setting, &mut filled, read) {
            if let Some(other) = asked.iter_mut().find(|other| other.key == question.key) {
                // It is required only if it always is.
                other.required &= question.required;
                other.add(question.types, &question.takes);
                continue;
            }
            let key = &question.key;
            match &question.types[0] {
                Type::Table => settings.push(format!("[{key}]")),
                Type::OneOf(names) | Type::IntegerOr(names) => {
                    settings.extend(names.iter().map(|name| format!("{key} = {name:?}")));
                }
                _ => {}
            }
            asked.push(question);
        }
    }
    asked
}

/// What the reader of a thing asks for under a setting. Missing keys get usual values, so that
/// it goes on: those that were `filled` before, and further ones, which are added to them.
fn questions(
    family: &str,
    name: &str,
    setting: &str,
    filled: &mut Vec<(String, Value)>,
    read: Reader,
) -> Vec<Question> {
    let Ok(mut keys) = Keys::parse(setting, name) else {
        return Vec::new();
    };
    for (key, value) in filled.iter().filter(|(key, _)| !setting.contains(&**key)) {
        // A usual value has no name that is refused.
        let _ = keys.set(key, value.clone(), "usual value");
    }
    let kept = keys.keep_questions();
    let usual = |key: &str| usual(family, name, key);
    fill_missing(
        &mut keys,
        usual,
        |keys| read(name, keys),
        |missing| {
            if let Some(usual) = usual(&missing.key).filter(|_| !missing.key.contains('.')) {
                filled.push((missing.key.clone(), usual));
            }
        },
    );
    kept.take()
}

/// The usual value of a key; of a part, a device that is read fast.
fn usual(family: &str, name: &str, key: &str) -> Option<Value> {
    let usual = meaning(family, name, key)?.1.usual.clone()?;
    let is_device = usual.as_inline_table().is_some_and(|table| table.contains_key("base"));
    Some(if is_device { InlineTable::from_iter([("base", "memory")]).into() } else { usual })
}

fn read_workload(name: &str, keys: Keys) -> Result<()> {
    Load::workload(name, keys).map(drop)
}

fn read_trace(name: &str, keys: Keys) -> Result<()> {
    Load::trace(Path::new(name), keys).map(drop)
}

fn read_device(name: &str, mut keys: Keys) -> Result<()> {
    keys.set("kind", name.into(), "kind")?;
    Device::from_keys(keys, None).map(drop)
}

fn read_scheduler(name: &str, mut keys: Keys) -> Result<()> {
    keys.set("name", name.into(), "name")?;
    SchedulerSpec::read(keys).map(drop)
}

fn read_layout(name: &str, mut keys: Keys) -> Result<()> {
    keys.set("name", name.into(), "name")?;
    let device = Device::resolve("g2", &[])?;
    let traces = TraceFiles { beside: None, samples: None };
    ResolvedLayout::read(keys, &mut device.site(&traces, &mut |_| Ok(()))).map(drop)
}

fn read_policy(name: &str, mut keys: Keys) -> Result<()> {
    match POLICIES.get(name) {
        Some(entry) => (entry.read)(&mut keys).map(drop),
        None => Ok(()),
    }
}
