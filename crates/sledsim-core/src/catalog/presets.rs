//! Presets and files of devices, and their bases.

use sledsim_base::error::{Error, Result, printable};
use sledsim_base::files::read_text;
use sledsim_base::keys::{Keys, nearest};
use sledsim_base::labels::{settings_of_label, split_label};
use std::path::{Path, PathBuf};

/// The presets by name, in the order in which they are listed.
pub const PRESETS: [(&str, &str); 21] = [
    ("sigmetrics2000", include_str!("../../data/devices/sigmetrics2000.toml")),
    ("osdi2000", include_str!("../../data/devices/osdi2000.toml")),
    ("g1", include_str!("../../data/devices/g1.toml")),
    ("g2", include_str!("../../data/devices/g2.toml")),
    ("g2-buffered", include_str!("../../data/devices/g2-buffered.toml")),
    ("g3", include_str!("../../data/devices/g3.toml")),
    ("cmu2003", include_str!("../../data/devices/cmu2003.toml")),
    ("msst2005", include_str!("../../data/devices/msst2005.toml")),
    ("atlas10k", include_str!("../../data/devices/atlas10k.toml")),
    ("atlas10k-50mbps", include_str!("../../data/devices/atlas10k-50mbps.toml")),
    ("nearline20t", include_str!("../../data/devices/nearline20t.toml")),
    ("barracuda2t", include_str!("../../data/devices/barracuda2t.toml")),
    ("exos2x18", include_str!("../../data/devices/exos2x18.toml")),
    ("superdisk", include_str!("../../data/devices/superdisk.toml")),
    ("flash", include_str!("../../data/devices/flash.toml")),
    ("memory", include_str!("../../data/devices/memory.toml")),
    ("disk", include_str!("../../data/devices/disk.toml")),
    ("mwb", include_str!("../../data/devices/mwb.toml")),
    ("mcd", include_str!("../../data/devices/mcd.toml")),
    ("disk_ram", include_str!("../../data/devices/disk_ram.toml")),
    ("mems", include_str!("../../data/devices/mems.toml")),
];

/// What other tools call devices of a kind, with the presets that are near.
const KINDS: [(&str, &[&str]); 6] = [
    ("hdd", &["atlas10k", "nearline20t", "exos2x18", "superdisk"]),
    ("drive", &["atlas10k", "nearline20t", "exos2x18", "superdisk"]),
    ("ssd", &["flash"]),
    ("nvme", &["flash"]),
    ("ram", &["memory"]),
    ("null", &["memory"]),
];

/// The name of a device without the keys in parentheses behind it, and these; `None`
/// if it has none.
pub fn split_name(name: &str) -> Option<(&str, &str)> {
    label(name, None)
}

/// The longest chain of bases; a longer one is a cycle.
const MAX_BASES: usize = 16;

/// The name of a preset, or of a file without folder and extension; with the keys in
/// parentheses behind it, as they were written.
pub(super) fn short_name(name: &str) -> String {
    if let Some((base, settings)) = label(name, None) {
        return format!("{}({settings})", short_name(base));
    }
    let stem = Path::new(name).file_stem();
    let stem = stem.map_or_else(|| name.into(), |stem| stem.to_string_lossy());
    printable(&stem)
}

/// The name and the settings of `NAME(key=value; ...)`; `None` for a name alone, as is
/// that of a file (relative to `beside`) with parentheses in its name.
fn label<'a>(name: &'a str, beside: Option<&Path>) -> Option<(&'a str, &'a str)> {
    split_label(name).filter(|_| !path_of(name, beside).is_file())
}

fn path_of(name: &str, beside: Option<&Path>) -> PathBuf {
    beside.map_or_else(|| PathBuf::from(name), |folder| folder.join(name))
}

/// Reads a preset, or the TOML file at `name` (relative to `beside`), either of them
/// perhaps with keys in parentheses behind it; returns the keys and the folder of the
/// file.
pub(super) fn load(name: &str, beside: Option<&Path>) -> Result<(Keys, Option<PathBuf>)> {
    if let Some((base, settings)) = label(name, beside) {
        let (mut keys, folder) = load(base, beside)?;
        for (key, value) in settings_of_label("device", name, settings)? {
            keys.set(key, value, name)?;
        }
        return Ok((keys, folder));
    }
    if let Some((_, text)) = PRESETS.iter().find(|(preset, _)| *preset == name) {
        return Ok((Keys::parse(text, &format!("{name}.toml"))?, None));
    }
    let path = path_of(name, beside);
    if name.ends_with(".toml") || name.contains('/') || path.is_file() {
        let text = read_text(&path).map_err(|error| Error::spec(&path, error))?;
        let keys = Keys::parse(&text, &path.to_string_lossy())?;
        return Ok((keys, path.parent().map(Path::to_owned)));
    }
    if let Some((base, _)) = name.split_once('(')
        && PRESETS.iter().any(|(preset, _)| *preset == base.trim())
    {
        let must = "must be NAME or NAME(key=value; key=value)";
        return Err(Error::Key(format!("device '{name}': {must}")));
    }
    let mut near = nearest(name, PRESETS.iter().map(|(preset, _)| *preset));
    if let Some((_, presets)) = KINDS.iter().find(|(kind, _)| *kind == name) {
        near = presets.to_vec();
    }
    let described = described_by(name)?;
    let hint = if !near.is_empty() {
        format!("did you mean {}?", near.join(" or "))
    } else if !described.is_empty() {
        format!("presets with this word in their description are {}", described.join(", "))
    } else {
        let all: Vec<_> = PRESETS.iter().map(|(preset, _)| *preset).collect();
        format!("presets are {}; or give the path of a .toml file", all.join(", "))
    };
    Err(Error::Key(format!("unknown device '{name}': {hint}")))
}

/// Lists the presets whose title or description has the word `name`, each with
/// its title.
fn described_by(name: &str) -> Result<Vec<String>> {
    let word = name.to_lowercase();
    let mut found = Vec::new();
    for (preset, text) in PRESETS {
        let mut keys = Keys::parse(text, &format!("{preset}.toml"))?;
        let title = keys.text("title")?;
        let described = format!("{title} {}", keys.about()).to_lowercase();
        let mut words = described.split(|c: char| !c.is_alphanumeric());
        if words.any(|each| !each.is_empty() && each == word) {
            found.push(format!("{preset} ({title})"));
        }
    }
    Ok(found)
}

/// Merges `keys` with the bases they name; `keys` take precedence. Returns also
/// whether a base is a file.
pub(super) fn with_base(keys: Keys, beside: Option<&Path>) -> Result<(Keys, bool)> {
    let mut layers = vec![keys];
    let mut folder = beside.map(Path::to_owned);
    let mut has_file = false;
    while let Some(base) = layers[layers.len() - 1].clone().opt_text("base")? {
        if layers.len() > MAX_BASES {
            return Err(layers[0].refuse("base", "the bases form a cycle"));
        }
        let (keys, next) = load(&base, folder.as_deref())?;
        layers.push(keys);
        has_file |= next.is_some();
        folder = next;
    }
    let mut resolved = layers.into_iter().rev().reduce(|base, layer| layer.over(base));
    if let Some(keys) = &mut resolved {
        keys.opt_text("base")?;
    }
    Ok((resolved.unwrap_or_else(|| Keys::empty("device")), has_file))
}
