//! Admission of clients: limits and authentication.

use super::TlsSpec;
use std::time::Duration;

/// Which clients a front end admits.
#[derive(Clone, Debug)]
pub struct Admission {
    /// TLS settings, if it is offered; RPC clients must then use it.
    pub tls: Option<TlsSpec>,
    /// Whether remote clients may connect without a certificate.
    pub allow_unauthenticated: bool,
    /// The most connections at once; of further ones the oldest without a handshake is
    /// closed, else the new one.
    pub max_clients: usize,
    /// What a user can do to admit remote clients, for messages.
    pub remedy: &'static str,
    /// How long the handshake may take, an NBD client or an iSCSI initiator may be silent in
    /// the middle of a message, and may take for reading its outstanding replies after it
    /// disconnects.
    pub patience: Duration,
}

impl Default for Admission {
    fn default() -> Self {
        Self {
            tls: None,
            allow_unauthenticated: false,
            max_clients: 64,
            remedy: "require TLS with client certificates, or say --allow-unauthenticated-remote",
            patience: Duration::from_secs(10),
        }
    }
}

impl Admission {
    /// Whether remote clients are admitted: because they show a certificate, or because
    /// the user allowed all.
    pub(super) fn admits_remote(&self) -> bool {
        self.allow_unauthenticated || self.tls.as_ref().is_some_and(TlsSpec::authenticates)
    }
}
