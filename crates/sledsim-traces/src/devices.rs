//! Devices of files that may have numbers or names for them.

use super::names::{self, Names};
use super::number;
use std::collections::BTreeMap;

/// Devices in a column of numbers or of names: the first one decides which.
pub struct Devices {
    /// `None` before the first.
    numbers: Option<bool>,
    names: Names,
    /// Names that stand beside the numbers.
    beside: BTreeMap<u32, Box<str>>,
}

impl Devices {
    /// None yet; `names` even if the first looks like a number.
    #[must_use]
    pub fn new(names: bool) -> Self {
        Self {
            numbers: names.then_some(false),
            names: Names::default(),
            beside: BTreeMap::new(),
        }
    }

    /// None yet, and numbers they will be.
    #[must_use]
    pub fn numbers() -> Self {
        Self {
            numbers: Some(true),
            ..Self::new(false)
        }
    }

    /// The number of a device; `None` if it is bad.
    #[inline]
    pub fn number(&mut self, text: &[u8]) -> Option<u32> {
        let number = || number::integer(text).and_then(|number| u32::try_from(number).ok());
        match self.numbers {
            Some(true) => number(),
            Some(false) => self.names.number(text),
            None => {
                self.numbers = Some(number().is_some());
                number().or_else(|| self.names.number(text))
            }
        }
    }

    /// What a device may be, for messages.
    #[must_use]
    pub fn allowed(&self) -> &'static str {
        match self.numbers {
            Some(true) => {
                "a whole number from 0 to 4294967295, as the first one is; or add :name to device"
            }
            _ => names::ALLOWED,
        }
    }

    /// Takes the name that stands beside a number; false if it is not the one
    /// that stood there before, or none that a device may have.
    #[inline]
    pub fn name_is(&mut self, device: u32, name: &[u8]) -> bool {
        match self.beside.get(&device) {
            // No bytes are not compared: the comparison of what is nowhere is slow.
            Some(known) if known.is_empty() => name.is_empty(),
            Some(known) => known.as_bytes() == name,
            None => self.add_name(device, name),
        }
    }

    #[cold]
    fn add_name(&mut self, device: u32, name: &[u8]) -> bool {
        let Ok(name) = std::str::from_utf8(name) else {
            return false;
        };
        let fits = name.len() <= 255 && !name.contains(char::is_control);
        let fits = fits && self.beside.len() < names::MOST;
        if fits {
            self.beside.insert(device, name.into());
        }
        fits
    }

    /// The name of a device, if it has one.
    #[must_use]
    pub fn name(&self, device: u32) -> Option<&str> {
        if self.numbers == Some(true) {
            let name = self.beside.get(&device).map(|name| &**name);
            return name.filter(|name| !name.is_empty());
        }
        self.names.name(device)
    }
}
