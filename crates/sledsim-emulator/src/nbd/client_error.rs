//! The kinds of trouble there are with clients.

use crate::listen::ClientErrorStats;

/// Kinds of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientErrorKind {
    /// One client too many.
    TooMany,
    /// A connection could not be accepted.
    Accept,
    /// The handshake came to nothing.
    Handshake,
    /// The handshake took too long.
    Timeout,
    /// TLS failed.
    Tls,
    /// What was sent is not NBD.
    Protocol,
    /// A client went away with requests under way, or in the middle of one.
    Vanished,
    /// A client that said goodbye did not read its replies.
    Unread,
}

/// Their names, in the order of [`ClientErrorKind`].
const NAMES: [&str; 8] = [
    "too_many_clients",
    "failed_accepts",
    "refused_handshakes",
    "handshake_timeouts",
    "tls_failures",
    "protocol_errors",
    "disconnects_mid_request",
    "unread_replies",
];

impl ClientErrorKind {
    /// Notes trouble of this kind.
    pub(super) fn note(self, client_errors: &ClientErrorStats, client: u32, what: &str) {
        client_errors.note(client, NAMES[self as usize], what);
    }
}

/// No trouble yet.
pub(super) fn none() -> ClientErrorStats {
    ClientErrorStats::new(&NAMES)
}
