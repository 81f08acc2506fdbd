//! Why a connection ends.

use super::client_errors::ClientErrorKind;
use rustix::io::Errno;

/// Why a connection ends.
#[derive(Debug)]
pub(crate) enum End {
    /// Regular end.
    Well,
    /// The client sends no more. Requests in flight may still be answered.
    Eof,
    /// An error: nothing more is sent.
    Bad(ClientErrorKind, String),
}

/// The client stopped within a message.
pub(crate) fn cut_short() -> End {
    let what = "closed in the middle of a message";
    End::Bad(ClientErrorKind::Vanished, what.to_owned())
}

/// The connection failed.
pub(super) fn broken(error: Errno) -> End {
    End::Bad(ClientErrorKind::Vanished, std::io::Error::from(error).to_string())
}
