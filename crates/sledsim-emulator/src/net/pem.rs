//! Items of PEM files.

use rustls::pki_types::pem::{self, PemObject};
use sledsim_base::error::{Error, Result};
use std::path::Path;

/// All items of one kind in a PEM file, at least one.
///
/// # Errors
/// A file that cannot be read, or contains no such item.
pub fn pem_items<T: PemObject>(path: &Path) -> Result<Vec<T>> {
    let found: std::result::Result<Vec<T>, _> = T::pem_file_iter(path).and_then(Iterator::collect);
    match found {
        Ok(items) if items.is_empty() => Err(unreadable(path, pem::Error::NoItemsFound)),
        Ok(items) => Ok(items),
        Err(error) => Err(unreadable(path, error)),
    }
}

pub(super) fn unreadable(path: &Path, error: pem::Error) -> Error {
    match error {
        pem::Error::NoItemsFound => Error::file(path, "contains no PEM item of the expected kind"),
        pem::Error::Io(error) => Error::file(path, error),
        other => Error::file(path, other),
    }
}
