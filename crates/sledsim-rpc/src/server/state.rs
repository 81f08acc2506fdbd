//! The state that the connections of a server share.

use super::Settings;
use super::peer::Peer;
use rustix::fd::OwnedFd;
use sledsim_base::error::Result;
use sledsim_emulator::front_end::Exports;
use sledsim_emulator::net::{ClientErrorKind, Shared, TlsSpec};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

/// The kinds of client errors.
const CLIENT_ERRORS: [ClientErrorKind; 6] = [
    ClientErrorKind::TooMany,
    ClientErrorKind::Accept,
    ClientErrorKind::Timeout,
    ClientErrorKind::Tls,
    ClientErrorKind::Protocol,
    ClientErrorKind::Vanished,
];

/// The state that the connections of a server share.
pub(super) struct ServerState {
    pub(super) exports: Arc<Exports>,
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) settings: Settings,
    pub(super) shared: Shared<Peer>,
    /// Set when the server stops: the time by which connections must end.
    pub(super) stop: watch::Sender<Option<Instant>>,
    /// The latest clients without a place. Where the system closes a socket with unread
    /// bytes, the other side may not read the answer.
    pub(super) refused: Mutex<VecDeque<OwnedFd>>,
}

impl ServerState {
    pub(super) fn new(exports: Arc<Exports>, settings: &Settings) -> Result<Self> {
        let admission = &settings.net.admission;
        let accepts = |spec: &TlsSpec| -> Result<TlsAcceptor> {
            let mut config = spec.load()?;
            config.alpn_protocols = vec![b"h2".to_vec()];
            Ok(Arc::new(config).into())
        };
        let tls = admission.tls.as_ref().map(accepts);
        Ok(Self {
            exports,
            tls: tls.transpose()?,
            settings: settings.clone(),
            shared: Shared::new(admission, &CLIENT_ERRORS),
            stop: watch::Sender::new(None),
            refused: Mutex::default(),
        })
    }

    /// Records a client error.
    pub(super) fn note(&self, client: u32, kind: ClientErrorKind, why: &str) {
        self.shared.client_errors.note(client, kind, why);
    }
}
