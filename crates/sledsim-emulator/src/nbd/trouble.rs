//! What went wrong with clients: counted, with the latest of each kind.

use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};

/// Kinds of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
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

const NAMES: [(Kind, &str); 8] = [
    (Kind::TooMany, "too_many_clients"),
    (Kind::Accept, "failed_accepts"),
    (Kind::Handshake, "refused_handshakes"),
    (Kind::Timeout, "handshake_timeouts"),
    (Kind::Tls, "tls_failures"),
    (Kind::Protocol, "protocol_errors"),
    (Kind::Vanished, "disconnects_mid_request"),
    (Kind::Unread, "unread_replies"),
];

/// A bounded account of what went wrong with the clients of a server.
#[derive(Debug, Default)]
pub struct Troubles(Mutex<[(u64, String); NAMES.len()]>);

impl Troubles {
    pub(super) fn note(&self, client: u32, kind: Kind, what: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for ((count, last), (name, _)) in all.iter_mut().zip(NAMES) {
            if name == kind {
                *count += 1;
                *last = format!("client {client}: {what}");
            }
        }
    }

    /// Of each kind how often (`count`), and the `latest` of them, if any.
    #[must_use]
    pub fn facts(&self) -> Value {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kinds = all.iter().zip(NAMES).map(|((count, latest), (_, name))| {
            let latest = (*count > 0).then_some(latest);
            (name.to_owned(), json!({ "count": count, "latest": latest }))
        });
        Value::Object(kinds.collect())
    }
}
