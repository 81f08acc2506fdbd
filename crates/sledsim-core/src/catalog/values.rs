//! Devices as values: text to compare, TOML, and further overrides.

use super::device::{Device, Override};
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::Keys;

/// The keys of a device with those of its parts.
#[derive(Clone, Debug)]
pub(super) struct Values {
    /// All keys, with those of the bases of parts.
    full: Keys,
    /// The keys as they were given, with those of the bases of parts that are files.
    portable: Keys,
    /// Whether any base is a file.
    has_file: bool,
}

impl Values {
    /// The keys `keys` of a device, merged with its bases, one of which is a file if
    /// `has_file`, and those of its parts.
    pub(super) fn new(keys: &Keys, has_file: bool, parts: &[Device]) -> Self {
        let mut full = keys.clone();
        full.forget("base");
        let mut values = Self {
            portable: full.clone(),
            full,
            has_file: has_file || parts.iter().any(|part| part.values.has_file),
        };
        for (index, part) in parts.iter().enumerate() {
            // Of copies, which may differ in what the parent sets, the first has the
            // keys of the table.
            let Values { full, portable, .. } = &*part.values;
            let is_copy = |other: &Device| other.values.full.prefix() == full.prefix();
            if parts[..index].iter().any(is_copy) {
                continue;
            }
            let place = full.prefix().strip_prefix(keys.prefix());
            let place = place.unwrap_or_default().trim_end_matches('.');
            values.full.put_table(place, full.clone());
            if part.values.has_file {
                values.portable.put_table(place, portable.clone());
            }
        }
        values
    }
}

impl Device {
    /// Its keys, self-contained: parts that are based on files have the keys of
    /// these, those on presets name them. Its layout is in the table `layout`, its
    /// background tasks in the list `background`.
    pub fn keys(&self) -> Keys {
        let mut keys = self.values.portable.clone();
        if let Some(layout) = self.layout() {
            keys.put_table("layout", layout.keys().clone());
        }
        for (index, task) in self.background().iter().enumerate() {
            keys.put_table(&format!("background[{index}]"), task.keys().clone());
        }
        keys
    }

    /// Its keys without layout and background tasks as self-contained TOML, from
    /// which [`Device::from_toml`] makes an equal device.
    pub fn to_toml(&self) -> String {
        self.values.portable.to_toml("base")
    }

    /// Resolves a device called `name` from self-contained TOML, as
    /// [`Device::to_toml`] writes it.
    pub fn from_toml(name: &str, text: &str) -> Result<Self> {
        Self::from_named_keys(name, Keys::parse(text, &format!("{name}.toml"))?)
    }

    /// The same device, without layout and background tasks, with other values of
    /// some keys.
    pub fn with_overrides(&self, overrides: &[Override]) -> Result<Self> {
        let mut keys = self.values.portable.clone();
        for (key, value, origin) in overrides {
            let part = key.strip_suffix(".base");
            let has_keys = |part| keys.has(&format!("{part}.kind")) && !keys.has(key);
            if key == "base" || part.is_some_and(has_keys) {
                let name = self.name();
                let message = format!(
                    "{origin} = {value}: the keys of the device '{name}' are resolved; its base \
                     cannot be replaced"
                );
                return Err(Error::argument(key, message));
            }
            keys.set(key, value.clone(), origin)?;
        }
        Self::from_named_keys(self.name(), keys)
    }

    /// Text that is equal for equal devices: the name, all keys with those of parts,
    /// the keys that layout and background tasks were given. Keys at their defaults
    /// that were not given are not in it, nor are the content and the name of a trace
    /// that the layout was read from.
    pub fn canonical(&self) -> String {
        let mut lines = vec![format!("name = {:?}", self.name())];
        lines.push("[device]".to_owned());
        lines.extend(self.values.full.canonical(&["title", "base"]));
        if let Some(layout) = self.layout() {
            lines.push("[layout]".to_owned());
            lines.extend(layout.keys().canonical(&["file", "sha256"]));
        }
        for task in self.background() {
            lines.push("[[background]]".to_owned());
            lines.extend(task.keys().canonical(&[]));
        }
        lines.join("\n") + "\n"
    }
}
