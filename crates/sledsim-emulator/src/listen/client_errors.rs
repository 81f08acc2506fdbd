//! Errors of clients: counts, with the latest of each kind.

use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};

/// The most characters of an error that are kept: it may quote the client.
const SHOWN: usize = 400;

/// The number and the latest of the client errors of a server, by kind.
#[derive(Debug)]
pub struct ClientErrorStats {
    kinds: &'static [&'static str],
    /// Count and latest error of each kind.
    all: Mutex<Vec<(u64, String)>>,
}

impl ClientErrorStats {
    /// Creates empty counts of these kinds.
    pub fn new(kinds: &'static [&'static str]) -> Self {
        Self { kinds, all: Mutex::new(vec![(0, String::new()); kinds.len()]) }
    }

    /// Records an error of kind `kind` of `client`.
    pub fn note(&self, client: u32, kind: &str, what: &str) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        for ((count, latest), name) in all.iter_mut().zip(self.kinds) {
            if *name == kind {
                *count += 1;
                let what: String = what.chars().take(SHOWN).collect();
                *latest = format!("client {client}: {what}");
            }
        }
    }

    /// Per kind the `count`, and the `latest` error, if any.
    pub fn to_json(&self) -> Value {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let kinds = all.iter().zip(self.kinds).map(|((count, latest), name)| {
            let latest = (*count > 0).then_some(latest);
            ((*name).to_owned(), json!({ "count": count, "latest": latest }))
        });
        Value::Object(kinds.collect())
    }
}
