//! The digest of a recording in Parquet: a changed bit anywhere is found.
//!
//! It stands behind the first four bytes of the file, where readers of Parquet skip it: a
//! line feed, `sledsim sha256 `, 64 digits, a line feed, `sledsim` and a line feed. It is
//! the SHA-256 of the file with zeros (`0`) for these digits. Other files have none, and
//! are not checked.

use sha2::{Digest, Sha256};
use sledsim_base::files::PendingFile;
use std::io::{self, Read, Seek, SeekFrom, Write};

const BEFORE: &[u8; 20] = b"PAR1\nsledsim sha256 ";
const DIGITS: [u8; 64] = [b'0'; 64];
/// Tells that there is a digest even if `BEFORE` is damaged.
const AFTER: &[u8; 9] = b"\nsledsim\n";
const HEAD: usize = BEFORE.len() + DIGITS.len() + AFTER.len();

/// What to write behind the first four bytes.
pub(crate) fn unsealed() -> Vec<u8> {
    [&BEFORE[4..], &DIGITS, AFTER].concat()
}

/// Gives a file its digest, which began with [`unsealed`].
pub(crate) fn seal(file: &PendingFile) -> io::Result<()> {
    let Some(mut file) = file.as_file() else {
        return Ok(());
    };
    file.seek(SeekFrom::Start(0))?;
    let (_, digest) = digests(file)?.ok_or(io::ErrorKind::InvalidData)?;
    file.seek(SeekFrom::Start(BEFORE.len() as u64))?;
    file.write_all(digest.as_bytes())
}

/// Compares a file with its digest, if it has one.
pub(crate) fn check(file: impl Read) -> Result<(), String> {
    match digests(file).map_err(|error| error.to_string())? {
        Some((wanted, found)) if *wanted != *found.as_bytes() => Err(format!(
            "is damaged: its digest is {found}, and must be {}, as its second line says",
            wanted.escape_ascii()
        )),
        _ => Ok(()),
    }
}

/// The digest that a file gives, and the one that it has; `None` if it gives none.
fn digests(mut file: impl Read) -> io::Result<Option<(Vec<u8>, String)>> {
    let mut head = Vec::new();
    file.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
    let is_sealed = head.starts_with(BEFORE) || head.len() == HEAD && head.ends_with(AFTER);
    if !is_sealed || head.len() < HEAD {
        return Ok(None);
    }
    let digits = &mut head[BEFORE.len()..][..DIGITS.len()];
    let wanted = digits.to_vec();
    digits.copy_from_slice(&DIGITS);
    let mut hash = Sha256::new_with_prefix(&head);
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            some => hash.update(&buffer[..some]),
        }
    }
    let digest = hash.finalize();
    let digest = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Some((wanted, digest)))
}
