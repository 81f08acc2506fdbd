//! The state that the connections of a server share.

use super::{CLIENT_ERRORS, Settings};
use sledsim_base::error::Result;
use sledsim_emulator::front_end::Exports;
use sledsim_emulator::listen::{ClientErrorStats, Places, Room, TlsSpec};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Instant;
use tokio::sync::{oneshot, watch};
use tokio_rustls::TlsAcceptor;

/// The state that the connections of a server share.
pub(super) struct ServerState {
    pub(super) exports: Arc<Exports>,
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) settings: Settings,
    pub(super) client_errors: ClientErrorStats,
    /// Set when the server stops: the time by which connections must end.
    pub(super) stop: watch::Sender<Option<Instant>>,
    /// The clients; one gives way when its sender is dropped.
    pub(super) places: Places<oneshot::Sender<()>>,
    /// Memory for the data of their batches.
    pub(super) room: Arc<Room>,
    /// Number of clients so far.
    pub(super) accepted: AtomicU32,
}

impl ServerState {
    pub(super) fn new(exports: Arc<Exports>, settings: &Settings) -> Result<Self> {
        let accepts = |spec: &TlsSpec| -> Result<TlsAcceptor> {
            let mut config = spec.load()?;
            config.alpn_protocols = vec![b"h2".to_vec()];
            Ok(Arc::new(config).into())
        };
        let tls = settings.admission.tls.as_ref().map(accepts);
        Ok(Self {
            exports,
            tls: tls.transpose()?,
            settings: settings.clone(),
            client_errors: ClientErrorStats::new(&CLIENT_ERRORS),
            stop: watch::Sender::new(None),
            places: Places::new(&settings.admission),
            room: Arc::default(),
            accepted: AtomicU32::new(0),
        })
    }
}
