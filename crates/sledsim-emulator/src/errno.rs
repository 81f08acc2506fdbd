//! Error numbers for failed requests.

/// System error numbers, which both NBD and FUSE use.
pub use rustix::io::Errno;

/// The error number of `error`; `EIO` if it has none.
pub fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
