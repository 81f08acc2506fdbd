//! Who may connect to a server, and how many at once.

use super::TlsSpec;
use std::time::Duration;

/// Which clients a front end admits.
#[derive(Clone, Debug)]
pub struct Admission {
    /// TLS, if it is offered; clients of RPC must then use it.
    pub tls: Option<TlsSpec>,
    /// Whether clients beyond this machine may come without a certificate.
    pub allow_unauthenticated: bool,
    /// Connections at once; more are closed.
    pub max_clients: usize,
    /// How long the handshake may take, and how long an answer may wait for a
    /// client of NBD that has said goodbye to read it.
    pub patience: Duration,
}

impl Default for Admission {
    fn default() -> Self {
        Self {
            tls: None,
            allow_unauthenticated: false,
            max_clients: 64,
            patience: Duration::from_secs(10),
        }
    }
}

impl Admission {
    /// Whether clients beyond this machine may come: they show a certificate, or
    /// the user said that anyone may.
    pub(super) fn admits_remote(&self) -> bool {
        self.allow_unauthenticated || self.tls.as_ref().is_some_and(TlsSpec::authenticates)
    }

    /// Why no other client is admitted when so many are there, if so.
    #[must_use]
    pub fn refusal(&self, clients: usize) -> Option<String> {
        let most = self.max_clients;
        (clients >= most)
            .then(|| format!("sent away: there are {most} clients, and no more are allowed"))
    }
}
