//! What happens to the tips, for a store that keeps the tip sectors themselves.

use sledsim_base::units::Nanos;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Something that happened to tips or blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TipEvent {
    /// The new device: its blocks with defective tip sectors without a replacement, in
    /// order, and the number of these sectors.
    Started {
        /// Blocks of the device, and their defective tip sectors.
        defects: Vec<(u64, u32)>,
        /// Spare tips left.
        spares_left: u32,
    },
    /// A tip fails.
    Failed(TipFailure),
    /// The device has served a write of these blocks, numbered as the host does.
    Written {
        /// First block.
        lbn: u64,
        /// Number of blocks.
        blocks: u32,
    },
    /// This block of the device has been read, and what it missed under replaced tips is
    /// written back.
    Mended(u64),
}

/// A tip fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TipFailure {
    /// Tips are counted square by square, then the spare ones.
    pub tip: u32,
    /// When it is found.
    pub at: Nanos,
    /// Whether the device holds no data yet.
    pub blank: bool,
    /// The spare tip that replaces it.
    pub spare: Option<u32>,
    /// Whether the blocks of its square move to spare cylinders.
    pub moved: bool,
    /// Whether the blocks of its square are given up.
    pub given_up: bool,
    /// Spare tips left.
    pub spares_left: u32,
}

/// The events of one device, in order, until they are taken.
#[derive(Debug, Default)]
pub struct TipFeed {
    events: Mutex<Vec<TipEvent>>,
    /// Whether an event other than [`TipEvent::Written`] waits.
    is_urgent: AtomicBool,
}

impl TipFeed {
    /// Appends an event.
    pub fn push(&self, event: TipEvent) {
        let is_urgent = !matches!(event, TipEvent::Written { .. });
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.push(event);
        if is_urgent {
            self.is_urgent.store(true, Ordering::Release);
        }
    }

    /// Whether an event waits that changes what can be read.
    #[inline]
    pub fn is_urgent(&self) -> bool {
        self.is_urgent.load(Ordering::Acquire)
    }

    /// Moves all events to the end of `to`.
    pub fn take(&self, to: &mut Vec<TipEvent>) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_urgent.store(false, Ordering::Release);
        to.append(&mut events);
    }
}
