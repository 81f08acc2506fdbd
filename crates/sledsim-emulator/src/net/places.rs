//! The places of clients: as many as may be connected at once.

use super::Admission;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why a client that gave way is gone.
pub const GAVE_WAY: &str =
    "gave way to a new client: had not finished its handshake, and no place was free";

/// The connected clients. Where no place is free, the oldest client that has not finished
/// its handshake gives way to a new one.
#[derive(Debug)]
pub struct Places<T> {
    most: usize,
    taken: Mutex<BTreeMap<u32, Place<T>>>,
}

/// The place of a client.
#[derive(Debug)]
struct Place<T> {
    handle: T,
    /// Whether it has finished its handshake.
    is_settled: bool,
}

/// A client that gave way.
#[derive(Debug)]
pub struct GaveWay<T> {
    /// Its number.
    pub client: u32,
    /// What ends its connection.
    pub handle: T,
}

impl<T> Places<T> {
    /// As many places as `admission` has.
    pub fn new(admission: &Admission) -> Self {
        Self { most: admission.max_clients, taken: Mutex::default() }
    }

    fn taken(&self) -> MutexGuard<'_, BTreeMap<u32, Place<T>>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a new client a place; `handle` ends its connection. Returns the client that
    /// gave way, if one had to.
    pub fn take(&self, client: u32, handle: T) -> Result<Option<GaveWay<T>>, String> {
        let mut taken = self.taken();
        let mut gave_way = None;
        if taken.len() >= self.most {
            let mut unsettled = taken.iter().filter(|(_, place)| !place.is_settled);
            let oldest = unsettled.next().map(|(client, _)| *client);
            gave_way = oldest.and_then(|client| {
                let handle = taken.remove(&client)?.handle;
                Some(GaveWay { client, handle })
            });
            if gave_way.is_none() {
                let most = self.most;
                return Err(format!("refused: {most} clients are connected, the most allowed"));
            }
        }
        let is_settled = false;
        taken.insert(client, Place { handle, is_settled });
        Ok(gave_way)
    }

    /// Notes that a client has finished its handshake.
    pub fn settle(&self, client: u32) {
        if let Some(place) = self.taken().get_mut(&client) {
            place.is_settled = true;
        }
    }

    /// Frees the place of a client.
    pub fn leave(&self, client: u32) {
        self.taken().remove(&client);
    }

    /// Number of places taken.
    pub fn count(&self) -> usize {
        self.taken().len()
    }
}

impl<T: Clone> Places<T> {
    /// The handles of all clients.
    pub fn handles(&self) -> Vec<T> {
        let taken = self.taken();
        taken.values().map(|place| place.handle.clone()).collect()
    }
}
