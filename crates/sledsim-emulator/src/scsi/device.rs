//! A target device: its logical units, and the initiators that use them.

use super::open_batches::OpenBatches;
use super::sense::Sense;
use super::unit::LogicalUnit;
use crate::front_end::Exports;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The most unit attentions that wait for an initiator, per logical unit.
const ATTENTIONS: usize = 8;

/// The state of a nexus, shared by its tasks.
pub(super) struct NexusState {
    /// Its number, unique in the device.
    pub(super) id: u64,
    /// The stream number of its requests.
    pub(super) stream: u32,
    /// The unit attentions of each logical unit that have not been reported.
    attentions: Mutex<Vec<VecDeque<Sense>>>,
    /// The batches that its commands have begun and not ended.
    pub(super) batches: OpenBatches,
}

impl NexusState {
    fn attentions(&self) -> MutexGuard<'_, Vec<VecDeque<Sense>>> {
        self.attentions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Establishes a unit attention; a full queue reports a reset instead.
    pub(super) fn attend(&self, unit: u16, sense: Sense) {
        let waiting = &mut self.attentions()[usize::from(unit)];
        if waiting.len() == ATTENTIONS {
            *waiting = VecDeque::from([Sense::POWER_ON]);
        } else if !waiting.contains(&sense) {
            waiting.push_back(sense);
        }
    }

    /// Takes the first unit attention that waits.
    pub(super) fn take_attention(&self, unit: u16) -> Option<Sense> {
        self.attentions()[usize::from(unit)].pop_front()
    }
}

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

    /// The state of a new nexus.
    pub(super) fn enter(&self) -> Arc<NexusState> {
        let first = VecDeque::from([Sense::POWER_ON]);
        let state = Arc::new(NexusState {
            id: self.next.fetch_add(1, Ordering::Relaxed),
            stream: self.exports.new_stream(),
            attentions: Mutex::new(vec![first; self.units.len()]),
            batches: OpenBatches::default(),
        });
        let mut nexuses = self.nexuses.lock().unwrap_or_else(PoisonError::into_inner);
        nexuses.retain(|nexus| nexus.strong_count() > 0);
        nexuses.push(Arc::downgrade(&state));
        state
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
