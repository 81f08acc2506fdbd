//! Strings by code: the dictionary beside the pages.

use std::collections::HashMap;
use std::sync::Arc;

/// The strings of a column in the order in which they first came.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    strings: Vec<Arc<str>>,
    codes: HashMap<Arc<str>, u32>,
}

impl Dictionary {
    /// All strings; a code is an index.
    pub fn strings(&self) -> &[Arc<str>] {
        &self.strings
    }

    /// Takes over what was staged.
    pub fn extend(&mut self, fresh: Self) {
        for string in fresh.strings {
            self.codes.insert(Arc::clone(&string), self.strings.len() as u32);
            self.strings.push(string);
        }
    }

    /// The code of `text`, which is added to `fresh` if neither has it.
    pub fn code(&self, fresh: &mut Self, text: &str) -> u32 {
        if let Some(code) = self.codes.get(text) {
            return *code;
        }
        let before = self.strings.len() as u32;
        if let Some(code) = fresh.codes.get(text) {
            return before + code;
        }
        let code = fresh.strings.len() as u32;
        let string: Arc<str> = text.into();
        fresh.codes.insert(Arc::clone(&string), code);
        fresh.strings.push(string);
        before + code
    }
}
