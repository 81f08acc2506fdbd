//! Memory for the data of all connections of a server.
//!
//! Every connection has a share of its own, which no other can take. What a connection
//! holds beyond it, it takes from a common part. So clients that read no answers keep
//! others from much at once, but not from going on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// Bytes that each connection may always hold, also if others have taken the common part.
pub const SHARE_BYTES: u64 = 2 << 20;

/// The most bytes that all connections hold beyond their shares.
pub const COMMON_BYTES: u64 = 96 << 20;

/// The most bytes beyond those, for long requests of connections that hold nothing.
const RESERVE_BYTES: u64 = 32 << 20;

/// Interval at which a connection looks for room.
pub const LOOK: Duration = Duration::from_millis(20);

/// The common part, and who waits for it.
#[derive(Debug, Default)]
pub struct Room {
    common: AtomicU64,
    waiting: AtomicUsize,
}

/// What a connection holds.
#[derive(Debug, Default)]
pub struct Share {
    room: Arc<Room>,
    bytes: AtomicU64,
    is_waiting: AtomicBool,
}

/// The part of `bytes` that is beyond the share.
fn beyond(bytes: u64) -> u64 {
    bytes.saturating_sub(SHARE_BYTES)
}

/// The most of the common part that is taken for a connection that holds so much.
fn limit(held: u64) -> u64 {
    COMMON_BYTES + if held == 0 { RESERVE_BYTES } else { 0 }
}

impl Share {
    /// The share of a new connection, which holds nothing yet.
    pub fn new(room: &Arc<Room>) -> Self {
        Self {
            room: Arc::clone(room),
            bytes: AtomicU64::default(),
            is_waiting: AtomicBool::default(),
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(SeqCst)
    }

    /// Whether there is room for `size` more bytes.
    pub fn has_room(&self, size: u64) -> bool {
        let held = self.bytes();
        let more = beyond(held + size) - beyond(held);
        more == 0 || self.room.common.load(SeqCst) + more <= limit(held)
    }

    /// Takes `size` bytes if there is room.
    pub fn try_take(&self, size: u64) -> bool {
        let most = self.most_beyond(size);
        let limit = limit(self.bytes());
        let sum = |common: u64| Some(common + most).filter(|sum| *sum <= limit);
        let common = &self.room.common;
        if most > 0 && common.fetch_update(SeqCst, SeqCst, sum).is_err() {
            return false;
        }
        self.hold(size, most);
        true
    }

    /// Takes `size` bytes even if there is no room.
    pub fn take(&self, size: u64) {
        let most = self.most_beyond(size);
        self.room.common.fetch_add(most, SeqCst);
        self.hold(size, most);
    }

    /// The most that `size` more bytes take of the common part; they take less if the
    /// connection gives back meanwhile.
    fn most_beyond(&self, size: u64) -> u64 {
        beyond(self.bytes() + size).min(size)
    }

    /// Holds `size` more bytes, for which `most` of the common part have been taken.
    fn hold(&self, size: u64, most: u64) {
        let held = self.bytes.fetch_add(size, SeqCst);
        let more = beyond(held + size) - beyond(held);
        self.room.common.fetch_sub(most - more, SeqCst);
    }

    /// Gives back `size` bytes.
    pub fn give_back(&self, size: u64) {
        let held = self.bytes.fetch_sub(size, SeqCst);
        let less = beyond(held) - beyond(held - size);
        self.room.common.fetch_sub(less, SeqCst);
    }

    /// Notes whether the connection waits for room.
    pub fn wait(&self, is_waiting: bool) {
        if self.is_waiting.swap(is_waiting, SeqCst) != is_waiting {
            match is_waiting {
                true => self.room.waiting.fetch_add(1, SeqCst),
                false => self.room.waiting.fetch_sub(1, SeqCst),
            };
        }
    }

    /// Whether it holds what another connection waits for.
    pub fn is_wanted(&self) -> bool {
        let own = usize::from(self.is_waiting.load(SeqCst));
        beyond(self.bytes()) > 0 && self.room.waiting.load(SeqCst) > own
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.wait(false);
        self.give_back(self.bytes());
    }
}
