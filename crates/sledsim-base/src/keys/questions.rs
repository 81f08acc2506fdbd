//! Questions of readers: which keys are asked for, and what they take.
//!
//! Types, ranges and choices of keys are written in the code that reads them and nowhere
//! else. Lists of keys are made by reading keys that keep the questions.

use super::Keys;
use serde::Serialize;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

/// What a key takes, without its range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// A number; integers are taken too.
    Number,
    /// An integer.
    Integer,
    /// An integer, or a string that names the same.
    IntegerOrText,
    /// An integer or one of these names.
    IntegerOr(Vec<String>),
    /// `true` or `false`.
    Boolean,
    /// A string.
    Text,
    /// One of these names.
    OneOf(Vec<String>),
    /// A list.
    List,
    /// A table of keys.
    Table,
    /// A list of tables.
    Tables,
}

/// A key that a reader asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Question {
    /// Its full name: `seed`, `power.startup_ms`, `zones[].sectors`.
    pub key: String,
    /// What it takes; several where readers differ.
    pub types: Vec<Type>,
    /// The same in words, with the range: `a number above 0`.
    pub takes: String,
    /// Whether the reader goes on only if it is given.
    pub required: bool,
}

impl Question {
    /// Adds what another reader of the key takes.
    pub fn add(&mut self, types: Vec<Type>, takes: &str) {
        if !self.types.contains(&types[0]) {
            self.takes = format!("{}, or {takes}", self.takes);
            self.types.extend(types);
        }
    }
}

/// The questions asked of keys and of the tables that were taken out of them.
pub(super) type Questions = Arc<Mutex<Vec<Question>>>;

/// The questions asked of some keys, which a reader consumes.
#[derive(Debug)]
pub struct Kept(Questions);

impl Kept {
    /// The questions so far, in the order in which they were first asked.
    pub fn take(self) -> Vec<Question> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Keys {
    /// Keeps the questions that are asked from here on.
    pub fn keep_questions(&mut self) -> Kept {
        let asked = Questions::default();
        self.asked = Some(Arc::clone(&asked));
        Kept(asked)
    }

    /// The name of a key of this table in it: `rpm` of `front.rpm`.
    pub fn bare<'k>(&self, key: &'k str) -> &'k str {
        key.strip_prefix(&self.prefix).unwrap_or(key)
    }

    pub(super) fn asks(&self, key: &str, r#type: Type, takes: &dyn Fn() -> String) {
        self.change_asked(key, |asked, key| {
            match asked.iter_mut().find(|question| question.key == key) {
                Some(question) => question.add(vec![r#type], &takes()),
                None => {
                    let takes = takes();
                    asked.push(Question { key, types: vec![r#type], takes, required: false });
                }
            }
        });
    }

    pub(super) fn must_have(&self, key: &str) {
        self.change_asked(key, |asked, key| {
            if let Some(question) = asked.iter_mut().find(|question| question.key == key) {
                question.required = true;
            }
        });
    }

    /// Calls `change` with the questions and the full name of `key`, if questions are kept.
    fn change_asked(&self, key: &str, change: impl FnOnce(&mut Vec<Question>, String)) {
        if let Some(asked) = &self.asked {
            let key = without_index(&format!("{}{key}", self.prefix));
            change(&mut asked.lock().unwrap_or_else(PoisonError::into_inner), key);
        }
    }
}

/// The name of a key with `[]` for the place in a list: `zones[].sectors`.
fn without_index(key: &str) -> String {
    let mut pieces = key.split('[');
    let mut name = pieces.next().unwrap_or(key).to_owned();
    for piece in pieces {
        name += "[]";
        name += piece.split_once(']').map_or("", |(_, rest)| rest);
    }
    name
}
