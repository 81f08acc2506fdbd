//! Limits the batches of a connection in flight, as those of any protocol.

use super::state::ServerState;
use sledsim_emulator::net::InFlightLimiter;
use sledsim_emulator::net::room::LOOK;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// The limiter of a connection, for tasks that wait.
#[derive(Clone)]
pub(super) struct Limiter {
    net: Arc<InFlightLimiter>,
    /// How long a batch may wait for room.
    patience: Duration,
    /// Notified when a batch leaves.
    left: Arc<Notify>,
}

/// A batch that was let in; it leaves on drop.
pub(super) struct Permit(Limiter, u64);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.net.leave(self.1);
        self.0.left.notify_waiters();
    }
}

impl Limiter {
    pub(super) fn new(server: &ServerState) -> Self {
        let settings = &server.settings.net;
        Self {
            net: Arc::new(InFlightLimiter::new(settings.limits(), &server.shared.room)),
            patience: settings.admission.patience,
            left: Arc::default(),
        }
    }

    /// Lets a batch with `bytes` bytes in, if it may now.
    pub(super) fn try_take(&self, bytes: usize) -> Option<Permit> {
        let bytes = bytes as u64;
        let is_in = self.net.try_enter(bytes);
        is_in.then(|| Permit(self.clone(), bytes))
    }

    /// Waits until a batch with `bytes` bytes may enter; `None` if other clients have left no
    /// room for it for long.
    pub(super) async fn take(&self, bytes: usize) -> Option<Permit> {
        self.until(|| self.net.is_within(bytes as u64)).await;
        let entered = async {
            loop {
                match self.try_take(bytes) {
                    Some(permit) => return permit,
                    None => sleep(LOOK).await,
                }
            }
        };
        timeout(self.patience, entered).await.ok()
    }

    /// Waits until no batch is in flight.
    pub(super) async fn idle(&self) {
        self.until(|| !self.is_used()).await;
    }

    /// Whether any batch is in flight.
    pub(super) fn is_used(&self) -> bool {
        self.net.requests() > 0
    }

    /// Waits for what batches that leave bring about.
    async fn until(&self, come: impl Fn() -> bool) {
        loop {
            let left = self.left.notified();
            if come() {
                return;
            }
            left.await;
        }
    }
}
