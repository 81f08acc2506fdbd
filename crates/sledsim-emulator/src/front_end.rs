//! Front ends: the exports they serve, and the interface they implement.

use crate::export::Export;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The exports of a server, in order; the first also has the empty name.
#[derive(Default)]
pub struct Exports {
    all: Vec<Arc<Export>>,
    streams: Arc<AtomicU32>,
}

impl Exports {
    /// Creates the list, in this order.
    pub(crate) fn new(all: Vec<Arc<Export>>) -> Self {
        Self { all, streams: Arc::default() }
    }

    /// Finds the export called `name`.
    pub fn named(&self, name: &str) -> Option<&Arc<Export>> {
        let first = self.all.first().filter(|_| name.is_empty());
        first.or_else(|| self.all.iter().find(|export| export.name() == name))
    }

    /// All exports.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Export>> {
        self.all.iter()
    }

    /// A new stream number, unique in the server.
    pub fn new_stream(&self) -> u32 {
        self.streams.fetch_add(1, Ordering::Relaxed)
    }

    /// The counter of stream numbers.
    pub(crate) fn streams(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.streams)
    }
}

/// Serves exports to clients.
pub trait FrontEnd: Send + Sync {
    /// Its state as JSON: its `kind`, `uri`, connected `clients`, `accepted`
    /// connections in all, and the counts of client errors, if any.
    fn to_json(&self) -> Value;

    /// Whether clients can still connect.
    fn is_alive(&self) -> bool;

    /// Accepts no more clients and requests; waits at most `grace` until requests in
    /// flight are answered; ends all connections. A second call does nothing.
    fn stop(&mut self, grace: Duration);
}
