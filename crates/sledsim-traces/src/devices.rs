//! Device columns, which hold numbers or names.

use super::names::{self, NameTable};
use super::number;
use std::collections::BTreeMap;

/// A column of device numbers or names: the first value decides which.
pub struct DeviceColumn {
    /// `None` before the first.
    numbers: Option<bool>,
    names: NameTable,
    /// Names that stand beside the numbers.
    beside: BTreeMap<u32, Box<str>>,
}

impl DeviceColumn {
    /// No values yet; with `names`, values are names even if they look like
    /// numbers.
    pub fn new(names: bool) -> Self {
        Self {
            numbers: names.then_some(false),
            names: NameTable::default(),
            beside: BTreeMap::new(),
        }
    }

    /// No values yet; all are numbers.
    pub fn numbers() -> Self {
        Self { numbers: Some(true), ..Self::new(false) }
    }

    /// The number of a device; `None` if the text is not allowed.
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

    /// The allowed values, for messages.
    pub fn allowed(&self) -> &'static str {
        match self.numbers {
            Some(true) => {
                "a whole number from 0 to 4294967295, as the first one is; or add :name to device"
            }
            _ => names::ALLOWED,
        }
    }

    /// Stores the name of a numbered device; false if the device has another
    /// name already, or the name is not allowed.
    #[inline]
    pub fn name_is(&mut self, device: u32, name: &[u8]) -> bool {
        match self.beside.get(&device) {
            // Comparing empty slices is slow: test for emptiness instead.
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
    pub fn name(&self, device: u32) -> Option<&str> {
        if self.numbers == Some(true) {
            let name = self.beside.get(&device).map(|name| &**name);
            return name.filter(|name| !name.is_empty());
        }
        self.names.name(device)
    }
}
