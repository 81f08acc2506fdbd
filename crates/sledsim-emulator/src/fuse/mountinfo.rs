//! The list of mounts: `/proc/self/mountinfo` (proc(5)).

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// A mount, as the kernel lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Major and minor number of its file system, unique while it is mounted.
    pub device: String,
    /// Mount point.
    pub point: PathBuf,
    /// Type of the file system, such as `fuse.sledsim`.
    pub kind: String,
}

/// The uppermost mount at `point`, a path without links.
///
/// # Errors
/// A system without `/proc`.
pub(super) fn at(point: &Path) -> io::Result<Option<Entry>> {
    Ok(uppermost(&fs::read("/proc/self/mountinfo")?, point))
}

fn uppermost(text: &[u8], point: &Path) -> Option<Entry> {
    let lines = text.split(|byte| *byte == b'\n').rev();
    lines.filter_map(entry).find(|entry| entry.point == point)
}

/// Parses `36 35 98:0 /root /mnt rw,noatime master:1 - ext3 /dev/root rw`, with any
/// number of fields before the dash.
fn entry(line: &[u8]) -> Option<Entry> {
    let mut fields = line.split(|byte| *byte == b' ');
    let device = String::from_utf8_lossy(fields.nth(2)?).into_owned();
    let point = PathBuf::from(OsString::from_vec(unescaped(fields.nth(1)?)));
    fields.find(|field| *field == b"-")?;
    let kind = String::from_utf8_lossy(fields.next()?).into_owned();
    Some(Entry { device, point, kind })
}

/// Decodes blanks, tabs, newlines and backslashes, written as `\` and three octal
/// digits.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let code = (rest.get(1..4))
            .filter(|_| *first == b'\\')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &rest[4..] } else { after };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of proc(5), a mount point with a blank and a backslash in it, and one mount
    /// over another.
    const TEXT: &[u8] = b"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw\n\
        40 27 0:50 / /a\\040b\\134c rw,nosuid - fuse.sledsim sledsim rw,user_id=0\n\
        41 27 0:51 / /x rw - fuse.sledsim sledsim rw\n\
        42 41 0:52 / /x rw shared:7 master:2 - tmpfs none rw\n";

    #[test]
    fn the_last_mount_at_a_place_is_the_uppermost() {
        let at = |point: &str| uppermost(TEXT, Path::new(point)).map(|it| (it.device, it.kind));
        assert_eq!(at("/mnt2"), Some(("98:0".into(), "ext3".into())));
        assert_eq!(at("/a b\\c"), Some(("0:50".into(), "fuse.sledsim".into())));
        assert_eq!(at("/x"), Some(("0:52".into(), "tmpfs".into())));
        assert_eq!(at("/mnt1"), None);
    }

    #[test]
    fn the_root_is_mounted() {
        assert!(at(Path::new("/")).unwrap().is_some());
    }
}
