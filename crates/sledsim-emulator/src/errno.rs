//! What clients are told when a request fails.

/// Error numbers of the system: both NBD and FUSE carry a few of them.
pub use rustix::io::Errno;

/// The error number of `error`, or that of an input or output error.
#[must_use]
pub fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
