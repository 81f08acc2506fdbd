//! Files that hold secrets.

use sledsim_base::error::{Error, Result};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Opens a file that only its owner, who runs this process or is root, can read.
///
/// # Errors
/// A file that is missing, that others than its owner may read or write, or that
/// another user owns.
pub fn open_private(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(|error| Error::file(path, error))?;
    let about = file.metadata().map_err(|error| Error::file(path, error))?;
    let own = rustix::process::geteuid().as_raw();
    if about.uid() != own && about.uid() != 0 {
        let uid = about.uid();
        let why = format!("belongs to user {uid}: must belong to user {own} or to root");
        return Err(Error::file(path, why));
    }
    let mode = about.mode() & 0o777;
    if mode & 0o077 != 0 {
        let why = format!("has mode {mode:04o}: only its owner may read or write it; chmod 600");
        return Err(Error::file(path, why));
    }
    Ok(file)
}
