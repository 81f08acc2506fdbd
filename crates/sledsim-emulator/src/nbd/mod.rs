//! The NBD server: exports through sockets.
//!
//! It implements the fixed newstyle of the protocol by its specification
//! (`proto.md` of the NBD project): any number of exports, simple and structured
//! replies, the metadata context `base:allocation`, TLS.
//!
//! In reading order:
//!
//! * `wire`: constants and fields of the protocol.
//! * `options`: encoding of options and their replies.
//! * `negotiate`: the handshake.
//! * `session`: the requests of a connection.
//! * `reply`: replies to requests.
//! * `uri`: addresses as NBD URIs.

mod negotiate;
mod options;
mod reply;
mod session;
mod uri;
mod wire;

pub use session::{Nbd, serve};

use crate::front_end::Exports;
use crate::listen::{Address, Admission};
use crate::stream::StreamServer;
use sledsim_base::error::Result;
use std::sync::Arc;
use std::time::Duration;

/// Settings of an NBD server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which clients may connect.
    pub admission: Admission,
    /// The most unanswered requests of a connection; no more are read.
    pub max_outstanding: usize,
    /// The most bytes in their answers, except for a single larger one.
    pub max_outstanding_bytes: u64,
    /// How long a connection polls for its next request before it sleeps.
    pub busy_poll: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            admission: Admission::default(),
            max_outstanding: 128,
            max_outstanding_bytes: 64 << 20,
            busy_poll: Duration::ZERO,
        }
    }
}

/// Serves exports at one address; clients find it at its URI, to whose path the name of an
/// export can be appended.
pub type NbdServer = StreamServer<Nbd>;

impl NbdServer {
    /// Listens at `address` and serves `exports`.
    ///
    /// # Errors
    /// An address that is unavailable or that `settings` do not protect; certificates
    /// that cannot be used.
    pub fn start(address: &Address, exports: Arc<Exports>, settings: &Settings) -> Result<Self> {
        let nbd = Nbd::new(exports, settings)?;
        let tls = settings.admission.tls.is_some();
        Self::listen(address, nbd, |place| uri::uri(place, tls))
    }
}
