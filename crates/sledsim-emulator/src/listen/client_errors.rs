//! What went wrong with clients: counted, with the latest of each kind.

use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};

/// A bounded account of what went wrong with the clients of a server.
#[derive(Debug)]
pub struct ClientErrorStats {
    kinds: &'static [&'static str],
    /// Of each kind how often, and the latest.
    all: Mutex<Vec<(u64, String)>>,
}

impl ClientErrorStats {
    /// None yet, of the kinds that there are.
    #[must_use]
    pub fn new(kinds: &'static [&'static str]) -> Self {
        Self {
            kinds,
            all: Mutex::new(vec![(0, String::new()); kinds.len()]),
        }
    }

    /// Something of the kind called `kind` went wrong with `client`.
    pub fn note(&self, client: u32, kind: &str, what: &str) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        for ((count, latest), name) in all.iter_mut().zip(self.kinds) {
            if *name == kind {
                *count += 1;
                *latest = format!("client {client}: {what}");
            }
        }
    }

    /// Of each kind how often (`count`), and the `latest` of them, if any.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let kinds = all.iter().zip(self.kinds).map(|((count, latest), name)| {
            let latest = (*count > 0).then_some(latest);
            (
                (*name).to_owned(),
                json!({ "count": count, "latest": latest }),
            )
        });
        Value::Object(kinds.collect())
    }
}
