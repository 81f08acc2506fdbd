//! Errors of clients: kinds, counts, and the latest of each kind.

use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};

/// Kinds of client errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientErrorKind {
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

impl ClientErrorKind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::TooMany,
        Self::Accept,
        Self::Handshake,
        Self::Timeout,
        Self::Tls,
        Self::Protocol,
        Self::Vanished,
        Self::Unread,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::TooMany => "too_many_clients",
            Self::Accept => "failed_accepts",
            Self::Handshake => "refused_handshakes",
            Self::Timeout => "timeouts",
            Self::Tls => "tls_failures",
            Self::Protocol => "protocol_errors",
            Self::Vanished => "disconnects_mid_request",
            Self::Unread => "unread_replies",
        }
    }
}

/// The most characters of an error that are kept: it may quote the client.
const SHOWN: usize = 400;

/// The number and the latest of the client errors of a server, by kind.
#[derive(Debug)]
pub struct ClientErrorStats(Mutex<Vec<KindStats>>);

#[derive(Debug)]
struct KindStats {
    kind: ClientErrorKind,
    count: u64,
    latest: Option<String>,
}

impl ClientErrorStats {
    /// Creates empty counts of these kinds.
    pub fn new(kinds: &[ClientErrorKind]) -> Self {
        let none = kinds.iter().map(|kind| KindStats { kind: *kind, count: 0, latest: None });
        Self(Mutex::new(none.collect()))
    }

    /// Records an error of `client`.
    pub fn note(&self, client: u32, kind: ClientErrorKind, what: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stats) = all.iter_mut().find(|stats| stats.kind == kind) {
            stats.count += 1;
            let what: String = what.chars().take(SHOWN).collect();
            stats.latest = Some(format!("client {client}: {what}"));
        }
    }

    /// Per kind the `count`, and the `latest` error, if any.
    pub fn to_json(&self) -> Value {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kinds = all.iter().map(|KindStats { kind, count, latest }| {
            (kind.name().to_owned(), json!({ "count": count, "latest": latest }))
        });
        Value::Object(kinds.collect())
    }
}
