//! A target device: its logical units, and the initiators that use them.

use super::nexus::{Nexus, NexusState};
use super::sense::Sense;
use super::unit::LogicalUnit;
use crate::front_end::Exports;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A target device. Its logical units are the exports of a server, LUN 0 the first.
pub struct Device {
    exports: Arc<Exports>,
    name: String,
    pub(super) units: Vec<Arc<LogicalUnit>>,
    nexuses: Mutex<Vec<Weak<NexusState>>>,
    next: AtomicU64,
}

impl Device {
    /// The device of `exports`; `name` is its name in the transport, such as an iSCSI name.
    pub fn new(exports: Arc<Exports>, name: &str) -> Arc<Self> {
        let units = (0..).zip(exports.iter());
        let units = units.map(|(number, export)| LogicalUnit::new(number, Arc::clone(export)));
        Arc::new(Self {
            units: units.map(Arc::new).collect(),
            exports,
            name: name.to_owned(),
            nexuses: Mutex::default(),
            next: AtomicU64::new(0),
        })
    }

    /// Its name in the transport.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Opens a nexus for an initiator, which ends when it is dropped.
    pub fn open_nexus(self: &Arc<Self>) -> Nexus {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let state = NexusState::new(id, self.exports.new_stream(), self.units.len());
        let state = Arc::new(state);
        let mut nexuses = self.nexuses.lock().unwrap_or_else(PoisonError::into_inner);
        nexuses.retain(|nexus| nexus.strong_count() > 0);
        nexuses.push(Arc::downgrade(&state));
        drop(nexuses);
        Nexus::new(Arc::clone(self), state)
    }

    /// Establishes a unit attention for the nexuses that `chosen` selects by id.
    pub(super) fn attend(&self, unit: u16, sense: Sense, chosen: impl Fn(u64) -> bool) {
        let nexuses = self.nexuses.lock().unwrap_or_else(PoisonError::into_inner);
        let live: Vec<_> = nexuses.iter().filter_map(Weak::upgrade).collect();
        drop(nexuses);
        for nexus in live.iter().filter(|nexus| chosen(nexus.id)) {
            nexus.attend(unit, sense);
        }
    }
}
