//! The limiter of a connection's batches in flight.

use super::Settings;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes per permit.
const UNIT: usize = 1 << 10;

/// Permits for batches and their bytes.
#[derive(Clone)]
pub(super) struct InFlightLimiter {
    batches: Arc<Semaphore>,
    units: Arc<Semaphore>,
    most_batches: usize,
    most_units: usize,
}

/// Permits taken, returned on drop.
pub(super) struct Permits {
    _batch: OwnedSemaphorePermit,
    _units: OwnedSemaphorePermit,
}

impl InFlightLimiter {
    pub(super) fn new(settings: &Settings) -> Self {
        let most_units = (settings.max_outstanding_bytes / UNIT).clamp(1, u32::MAX as usize);
        Self {
            batches: Arc::new(Semaphore::new(settings.max_outstanding)),
            units: Arc::new(Semaphore::new(most_units)),
            most_batches: settings.max_outstanding,
            most_units,
        }
    }

    fn units(&self, bytes: usize) -> u32 {
        bytes.div_ceil(UNIT).clamp(1, self.most_units) as u32
    }

    /// Waits for the permits of a batch with `bytes` bytes, in order. Never `None`
    /// while the connection exists.
    pub(super) async fn take(&self, bytes: usize) -> Option<Permits> {
        let units = self.units(bytes);
        let batch = Arc::clone(&self.batches).acquire_owned().await.ok()?;
        let units = Arc::clone(&self.units).acquire_many_owned(units).await;
        Some(Permits {
            _batch: batch,
            _units: units.ok()?,
        })
    }

    /// Takes the permits of a batch with `bytes` bytes, if available.
    pub(super) fn try_take(&self, bytes: usize) -> Option<Permits> {
        let units = Arc::clone(&self.units).try_acquire_many_owned(self.units(bytes));
        Some(Permits {
            _batch: Arc::clone(&self.batches).try_acquire_owned().ok()?,
            _units: units.ok()?,
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
