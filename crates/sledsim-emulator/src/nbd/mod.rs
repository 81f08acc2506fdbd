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

pub use session::serve;

use crate::front_end::Exports;
use crate::net::{Address, ClientErrorKind, Connection, NetServer, Settings, Shared, TlsSpec};
use rustls::ServerConfig;
use sledsim_base::error::Result;
use std::sync::Arc;

/// The protocol of an NBD server, and the state that its connections share.
pub struct Nbd {
    exports: Arc<Exports>,
    tls: Option<Arc<ServerConfig>>,
    settings: Settings,
    shared: Shared<Connection>,
}

impl Nbd {
    fn new(exports: Arc<Exports>, settings: &Settings) -> Result<Self> {
        let tls = settings.admission.tls.as_ref().map(TlsSpec::load);
        Ok(Self {
            exports,
            tls: tls.transpose()?.map(Arc::new),
            settings: settings.clone(),
            shared: Shared::new(&settings.admission, &ClientErrorKind::ALL),
        })
    }
}

/// Serves exports at one address; clients find it at its URI, to whose path the name of an
/// export can be appended.
pub type NbdServer = NetServer<Nbd>;

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
