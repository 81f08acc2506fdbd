//! Names of devices, numbered in the order in which they appear.

use std::collections::HashMap;

/// The most names of a device column.
pub const MOST: usize = 1 << 20;

/// The allowed names, for messages.
pub const ALLOWED: &str =
    "a name of 1 to 255 bytes of UTF-8 without control characters (at most 1048576 different ones)";

/// Numbers for names, from 0. Nothing is allocated for a name seen before.
#[derive(Default)]
pub struct NameTable {
    numbers: HashMap<Box<[u8]>, u32>,
    names: Vec<Box<str>>,
    /// The number returned last: successive requests often have one device.
    last: u32,
}

impl NameTable {
    /// The number of a name; `None` if the name is not [`ALLOWED`].
    #[inline]
    pub fn number(&mut self, name: &[u8]) -> Option<u32> {
        self.last = match self.known(name) {
            Some(number) => number,
            None => self.add(name)?,
        };
        Some(self.last)
    }

    /// The number of a name that was seen before.
    #[inline]
    pub fn known(&self, name: &[u8]) -> Option<u32> {
        match self.names.get(self.last as usize) {
            Some(last) if last.as_bytes() == name => Some(self.last),
            _ => self.numbers.get(name).copied(),
        }
    }

    #[cold]
    fn add(&mut self, name: &[u8]) -> Option<u32> {
        let text = std::str::from_utf8(name).ok()?;
        let fits = (1..=255).contains(&text.len()) && !text.contains(char::is_control);
        if !fits || self.names.len() == MOST {
            return None;
        }
        let number = self.names.len() as u32;
        self.names.push(text.into());
        self.numbers.insert(name.into(), number);
        Some(number)
    }

    /// The name of a number.
    pub fn name(&self, number: u32) -> Option<&str> {
        self.names.get(number as usize).map(|name| &**name)
    }
}
