//! The kinds of client errors.

use crate::listen::ClientErrorStats;

/// Kinds of client errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientErrorKind {
    /// Too many clients.
    TooMany,
    /// A connection could not be accepted.
    Accept,
    /// The handshake failed.
    Handshake,
    /// The handshake took too long, or the client was silent in the middle of a message.
    Timeout,
    /// TLS failed.
    Tls,
    /// The client violated the protocol.
    Protocol,
    /// A client disconnected with requests in flight, or within one.
    Vanished,
    /// A client disconnected without reading its replies.
    Unread,
}

/// Their names, in the order of [`ClientErrorKind`].
const NAMES: [&str; 8] = [
    "too_many_clients",
    "failed_accepts",
    "refused_handshakes",
    "timeouts",
    "tls_failures",
    "protocol_errors",
    "disconnects_mid_request",
    "unread_replies",
];

impl ClientErrorKind {
    /// Records an error of this kind.
    pub(crate) fn note(self, client_errors: &ClientErrorStats, client: u32, what: &str) {
        client_errors.note(client, NAMES[self as usize], what);
    }
}

/// Empty counts of these kinds.
pub(crate) fn none() -> ClientErrorStats {
    ClientErrorStats::new(&NAMES)
}
