//! Workload files: presets of sledsim, and files of users.

use super::Workload;
use sledsim_base::error::{Error, Result};
use sledsim_base::files::read_text;
use sledsim_base::keys::{Keys, did_you_mean};
use std::path::Path;

/// The preset workloads by name.
pub const PRESETS: [(&str, &str); 4] = [
    ("tpcd", include_str!("../../data/workloads/tpcd.toml")),
    ("tpcc", include_str!("../../data/workloads/tpcc.toml")),
    ("cello", include_str!("../../data/workloads/cello.toml")),
    ("hplajw", include_str!("../../data/workloads/hplajw.toml")),
];

/// The longest chain of bases; a longer one is a cycle.
const MAX_BASES: usize = 16;

/// Resolves `name` to a generator and its keys: `keys` themselves if `name` is
/// a generator, else merged over those of the preset or TOML file of that name.
/// A file names a generator as `kind`, or another workload as `base`; a path
/// there is relative to the file. Returns also the name of the preset or file.
///
/// # Errors
/// An unknown name, an unreadable file, or a cycle of bases.
pub fn resolve(name: &str, keys: Keys) -> Result<(String, Keys, Option<String>)> {
    if Workload::names().contains(&name) {
        return Ok((name.to_owned(), keys, None));
    }
    let mut layers = vec![load(name)?];
    let mut at = name.to_owned();
    while let Some(base) = layers[layers.len() - 1].clone().opt_text("base")? {
        if layers.len() == MAX_BASES {
            return Err(layers[0].refuse("base", "the bases form a cycle"));
        }
        let beside = Path::new(&at).parent().map(|folder| folder.join(&base));
        at = match beside {
            Some(path) if is_path(&base) => path.to_string_lossy().into_owned(),
            _ => base,
        };
        layers.push(load(&at)?);
    }
    let base = layers.into_iter().rev().reduce(|base, layer| layer.over(base));
    let mut base = base.unwrap_or_else(|| Keys::empty(name));
    let generators = Workload::names();
    let choices: Vec<_> = generators.iter().map(|name| (*name, *name)).collect();
    let kind = base.choice("kind", &choices)?;
    let mut keys = keys.over(base);
    keys.opt_text("title")?;
    for named in ["base", "kind"] {
        keys.opt_text(named)?;
    }
    let stem = Path::new(name).file_stem();
    let preset = stem.map_or_else(|| name.into(), |stem| stem.to_string_lossy().into_owned());
    Ok((kind.to_owned(), keys, Some(preset)))
}

/// The keys of a preset, or of the file at this path.
fn load(name: &str) -> Result<Keys> {
    if let Some((_, text)) = PRESETS.iter().find(|(preset, _)| *preset == name) {
        return Keys::parse(text, &format!("{name}.toml"));
    }
    let path = Path::new(name);
    if is_path(name) || path.is_file() {
        let text = read_text(path).map_err(|error| Error::spec(path, error))?;
        return Keys::parse(&text, name);
    }
    let presets = PRESETS.iter().map(|(preset, _)| *preset);
    let hint = did_you_mean(name, Workload::names().into_iter().chain(presets));
    Err(Error::Key(format!("unknown workload '{name}'{hint}")))
}

/// Whether a name is a path.
pub fn is_path(name: &str) -> bool {
    name.ends_with(".toml") || name.contains('/')
}
