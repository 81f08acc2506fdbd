//! The limiter of a connection's batches in flight.

use super::Settings;
use sledsim_emulator::listen::room::LOOK;
use sledsim_emulator::listen::{Room, Share};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

/// Bytes per permit.
const UNIT: usize = 1 << 10;

/// Permits for batches and their bytes.
#[derive(Clone)]
pub(super) struct InFlightLimiter {
    batches: Arc<Semaphore>,
    units: Arc<Semaphore>,
    most_batches: usize,
    most_units: usize,
    /// What the connection holds of the memory for all.
    share: Arc<Share>,
    patience: Duration,
}

/// Permits taken, returned on drop.
pub(super) struct Permits {
    _batch: OwnedSemaphorePermit,
    _units: OwnedSemaphorePermit,
    _room: Held,
}

/// Bytes of the memory for all connections, given back on drop.
pub(super) struct Held(Arc<Share>, u64);

impl Held {
    /// Takes `bytes` bytes if there is room.
    fn try_take(share: &Arc<Share>, bytes: u64) -> Option<Self> {
        share.try_take(bytes).then(|| Self(Arc::clone(share), bytes))
    }

    /// Waits until there is room.
    pub(super) async fn take(share: &Arc<Share>, bytes: u64) -> Self {
        loop {
            match Self::try_take(share, bytes) {
                Some(held) => return held,
                None => sleep(LOOK).await,
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.give_back(self.1);
    }
}

impl InFlightLimiter {
    pub(super) fn new(settings: &Settings, room: &Arc<Room>) -> Self {
        let most_units = (settings.max_outstanding_bytes / UNIT).clamp(1, u32::MAX as usize);
        Self {
            batches: Arc::new(Semaphore::new(settings.max_outstanding)),
            units: Arc::new(Semaphore::new(most_units)),
            most_batches: settings.max_outstanding,
            most_units,
            share: Arc::new(Share::new(room)),
            patience: settings.admission.patience,
        }
    }

    fn units(&self, bytes: usize) -> u32 {
        bytes.div_ceil(UNIT).clamp(1, self.most_units) as u32
    }

    /// Waits for the permits of a batch with `bytes` bytes, in order; `None` if other
    /// clients have left no room for them for long.
    pub(super) async fn take(&self, bytes: usize) -> Option<Permits> {
        let units = self.units(bytes);
        let batch = Arc::clone(&self.batches).acquire_owned().await.ok()?;
        let units = Arc::clone(&self.units).acquire_many_owned(units).await;
        let room = timeout(self.patience, Held::take(&self.share, bytes as u64));
        Some(Permits { _batch: batch, _units: units.ok()?, _room: room.await.ok()? })
    }

    /// Takes the permits of a batch with `bytes` bytes, if available.
    pub(super) fn try_take(&self, bytes: usize) -> Option<Permits> {
        let units = Arc::clone(&self.units).try_acquire_many_owned(self.units(bytes));
        Some(Permits {
            _batch: Arc::clone(&self.batches).try_acquire_owned().ok()?,
            _units: units.ok()?,
            _room: Held::try_take(&self.share, bytes as u64)?,
        })
    }

    /// Waits until all permits are returned.
    pub(super) async fn idle(&self) {
        let most = u32::try_from(self.most_batches).unwrap_or(u32::MAX);
        drop(self.batches.acquire_many(most).await);
    }

    /// Whether any permit is taken.
    pub(super) fn is_used(&self) -> bool {
        self.batches.available_permits() < self.most_batches
    }
}
