//! Digests of the files of a recording: a changed bit anywhere is found.
//!
//! The digest of a file is the SHA-256 of its units of 4 KiB that are not all zero, in
//! order: of each its number, eight bytes, least first, then its bytes; the last one of a
//! file may be shorter. The size of the file follows, in eight bytes. So holes need not be
//! read, and a copy without holes has the same digest.
//!
//! `about.json` lists the others, and has in its second line the SHA-256 of all of its other
//! lines.

use rustix::fs::SeekFrom;
use rustix::io::Errno;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sledsim_base::error::{Error, Result};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const UNIT: u64 = 4096;

/// Bytes that are read at once, whole units.
const CHUNK: u64 = 256 * UNIT;

/// The digest of a file.
pub(super) fn digest(file: &File) -> io::Result<String> {
    let end = file.metadata()?.len();
    let mut hash = Sha256::new();
    let mut buffer = Vec::new();
    // Where the next hole begins. It is sought once: that may take as long as to read so far.
    let (mut at, mut hole) = (0, 0);
    loop {
        if at >= hole {
            let data = match rustix::fs::seek(file, SeekFrom::Data(at)) {
                Ok(data) => data,
                Err(Errno::NXIO) => break,
                Err(error) => return Err(error.into()),
            };
            hole = rustix::fs::seek(file, SeekFrom::Hole(data))?.next_multiple_of(UNIT);
            at = data - data % UNIT;
        }
        let to = hole.clamp(at + UNIT, at + CHUNK);
        buffer.resize((to.min(end) - at) as usize, 0);
        file.read_exact_at(&mut buffer, at)?;
        for (number, unit) in (at / UNIT..).zip(buffer.chunks(UNIT as usize)) {
            if unit.iter().any(|byte| *byte != 0) {
                hash.update(number.to_le_bytes());
                hash.update(unit);
            }
        }
        at = to;
    }
    hash.update(end.to_le_bytes());
    Ok(hex(hash))
}

/// The digest of an image that a cut was saved to, or of any file.
///
/// # Errors
/// A file that cannot be read.
pub fn image_digest(path: &Path) -> Result<String> {
    let found = File::open(path).and_then(|file| digest(&file));
    found.map_err(|error| Error::file(path, error))
}

/// The entry of a file in `about.json`.
pub(super) fn entry(path: &Path) -> Result<Value> {
    let sha256 = image_digest(path)?;
    let about = path.metadata().map_err(|error| Error::file(path, error))?;
    Ok(json!({"bytes": about.len(), "sha256": sha256}))
}

/// Opens a file that must be as its entry says.
pub(super) fn open(path: &Path, entry: &Value) -> Result<File> {
    let refuse = |problem: String| Error::file(path, problem);
    let system = |error: io::Error| refuse(error.to_string());
    let file = File::open(path).map_err(system)?;
    let has = file.metadata().map_err(system)?.len();
    if entry["bytes"] != has {
        let wanted = &entry["bytes"];
        return Err(refuse(format!(
            "is damaged: has {has} bytes, and must have {wanted}, as about.json says"
        )));
    }
    let found = digest(&file).map_err(system)?;
    match entry["sha256"] == *found {
        true => Ok(file),
        false => Err(refuse(format!(
            "is damaged: its digest is {found}, and must be {}, as about.json says",
            entry["sha256"].as_str().unwrap_or("text")
        ))),
    }
}

const BEGIN: &[u8] = b"{\n";

/// A document as text, with the digest of its other lines in the second one.
pub(super) fn sealed(document: &Value) -> Vec<u8> {
    let text = format!("{document:#}\n").into_bytes();
    [BEGIN, &seal(&text), &text[BEGIN.len()..]].concat()
}

/// The text without its digest; `None` if that is missing or wrong.
pub(super) fn unsealed(text: &[u8]) -> Option<Vec<u8>> {
    let rest = text.strip_prefix(BEGIN)?;
    let end = 1 + rest.iter().position(|byte| *byte == b'\n')?;
    let others = [BEGIN, &rest[end..]].concat();
    (rest[..end] == *seal(&others)).then_some(others)
}

fn seal(others: &[u8]) -> Vec<u8> {
    let digest = hex(Sha256::new_with_prefix(others));
    format!("  \"sha256\": \"{digest}\",\n").into_bytes()
}

fn hex(hash: Sha256) -> String {
    let bytes = hash.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
