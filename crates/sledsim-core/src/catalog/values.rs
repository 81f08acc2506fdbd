//! Devices as values: text to compare, TOML, and further overrides.

use super::Override;
use super::device::Device;
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::Keys;

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
        Self::read(self.known, self.name(), keys, None)
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
