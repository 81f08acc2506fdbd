//! What a front end serves, and what it must do.

use crate::export::Export;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The exports of a server, in their order; the first also has the empty name.
#[derive(Default)]
pub struct Exports {
    all: Vec<Arc<Export>>,
    streams: Arc<AtomicU32>,
}

impl Exports {
    /// These, in this order.
    pub(crate) fn new(all: Vec<Arc<Export>>) -> Self {
        Self {
            all,
            streams: Arc::default(),
        }
    }

    /// The export that a client calls `name`.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Arc<Export>> {
        let first = self.all.first().filter(|_| name.is_empty());
        first.or_else(|| self.all.iter().find(|export| export.name() == name))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Export>> {
        self.all.iter()
    }

    /// The number of a stream of requests that nobody else has.
    #[must_use]
    pub fn new_stream(&self) -> u32 {
        self.streams.fetch_add(1, Ordering::Relaxed)
    }

    /// What numbers streams.
    pub(crate) fn streams(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.streams)
    }
}

/// What serves exports to clients.
pub trait FrontEnd: Send + Sync {
    /// What happened so far; `uri`, `clients` connected and `accepted` in all,
    /// `client_errors`, where it has such, and the `kind` of front end it is.
    fn to_json(&self) -> Value;

    /// Whether clients can come.
    fn is_alive(&self) -> bool;

    /// Takes no more clients and requests; waits until those under way are
    /// answered, at most `grace`; ends all connections. A second call does
    /// nothing.
    fn stop(&mut self, grace: Duration);
}
