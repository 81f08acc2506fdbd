//! A sparse file: in memory, or on disk.

use super::Store;
use rustix::fs::{FallocateFlags, FlockOperation, MemfdFlags, SeekFrom};
use rustix::io::Errno;
use sledsim_base::error::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

/// A sparse file: holes read as zero and take no space.
#[derive(Debug)]
pub struct Sparse {
    file: File,
    bytes: u64,
    stays: bool,
}

impl Sparse {
    /// Creates a store in memory, lost with the process.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn in_memory(bytes: u64) -> Result<Self> {
        let made = rustix::fs::memfd_create("sledsim", MemfdFlags::CLOEXEC)
            .map_err(io::Error::from)
            .and_then(|file| {
                let file = File::from(file);
                file.set_len(bytes)?;
                Ok(file)
            });
        let file = made.map_err(|error| {
            Error::System(format!("cannot keep {bytes} bytes in memory: {error}"))
        })?;
        Ok(Self { file, bytes, stays: false })
    }

    /// A file that is open for reading, also while others read it.
    ///
    /// # Errors
    /// If its size cannot be determined.
    pub fn shared(file: File) -> io::Result<Self> {
        Ok(Self { bytes: file.metadata()?.len(), file, stays: false })
    }

    /// The file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Opens the file at `path`, creating it if missing; an existing file must have
    /// exactly that size. The file is locked against other servers.
    ///
    /// # Errors
    /// A file of another size, one in use by another server, or an error of the system.
    pub fn at(path: &Path, bytes: u64, read_only: bool) -> Result<Self> {
        let refuse = |problem: &dyn std::fmt::Display| Error::file(path, problem);
        let mut options = OpenOptions::new();
        options.read(true).write(!read_only).create(!read_only);
        let file = options.open(path).map_err(|error| refuse(&error))?;
        let about = file.metadata().map_err(|error| refuse(&error))?;
        if !about.is_file() {
            return Err(refuse(&"is not a regular file, as a backing file must be"));
        }
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                return Err(refuse(&"is in use by another server (it is locked)"));
            }
            Err(error) => return Err(refuse(&io::Error::from(error))),
        }
        let has = file.metadata().map_err(|error| refuse(&error))?.len();
        if has == 0 && !read_only {
            file.set_len(bytes).map_err(|error| refuse(&error))?;
        } else if has != bytes {
            return Err(refuse(&format_args!(
                "has {has} bytes, and the device has {bytes}; a backing file is as large as its \
                 device"
            )));
        }
        Ok(Self { file, bytes, stays: true })
    }
}

impl Store for Sparse {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write_all_at(data, offset)
    }

    fn zero(&self, offset: u64, bytes: u64, unmap: bool) -> io::Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match rustix::fs::fallocate(&self.file, punch, offset, bytes) {
            Ok(()) if unmap => return Ok(()),
            // A hole reads as zero; allocate its space again.
            Ok(()) => {
                let keep = FallocateFlags::KEEP_SIZE;
                match rustix::fs::fallocate(&self.file, keep, offset, bytes) {
                    Ok(()) => return Ok(()),
                    Err(Errno::OPNOTSUPP) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(Errno::OPNOTSUPP) => {}
            Err(error) => return Err(error.into()),
        }
        // A file system without holes.
        let zeroes = vec![0; bytes.min(1 << 20) as usize];
        let mut at = offset;
        while at < offset + bytes {
            let some = (offset + bytes - at).min(zeroes.len() as u64);
            self.file.write_all_at(&zeroes[..some as usize], at)?;
            at += some;
        }
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        if self.stays { self.file.sync_data() } else { Ok(()) }
    }

    fn is_durable(&self) -> bool {
        self.stays
    }

    fn extent(&self, offset: u64, bytes: u64) -> io::Result<(u64, bool)> {
        let end = offset + bytes;
        // The end of the file counts as a hole, so there always is one.
        let seek = |from| match rustix::fs::seek(&self.file, from) {
            Ok(at) => Ok(at),
            Err(Errno::NXIO) => Ok(self.bytes),
            Err(error) => Err(error),
        };
        let data = seek(SeekFrom::Data(offset))?;
        if data > offset {
            return Ok((data.min(end) - offset, true));
        }
        // The data may have become a hole meanwhile.
        let hole = seek(SeekFrom::Hole(offset))?.max(offset + 1);
        Ok((hole.min(end) - offset, false))
    }

    fn allocated(&self) -> u64 {
        self.file.metadata().map_or(0, |about| about.blocks() * 512)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BYTES: u64 = 1 << 20;

    fn whole(store: &Sparse) -> Vec<u8> {
        let mut all = vec![1; BYTES as usize];
        store.read(0, &mut all).unwrap();
        all
    }

    proptest! {
        /// Any history gives the same contents as in an array, and holes are zero.
        #[test]
        fn contents_equal_those_of_an_array(steps in prop::collection::vec(
            (0u8..3, 0..BYTES, 0..200_000u64, any::<u8>()), 1..40,
        )) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("d.img");
            let stores = [Sparse::in_memory(BYTES).unwrap(), Sparse::at(&path, BYTES, false).unwrap()];
            let mut array = vec![0u8; BYTES as usize];
            for (kind, offset, bytes, value) in steps {
                let bytes = bytes.min(BYTES - offset);
                let range = offset as usize..(offset + bytes) as usize;
                for store in &stores {
                    match kind {
                        0 => store.write(offset, &vec![value; bytes as usize]).unwrap(),
                        kind => store.zero(offset, bytes, kind == 1).unwrap(),
                    }
                }
                array[range].fill(if kind == 0 { value } else { 0 });
            }
            for store in &stores {
                prop_assert!(whole(store) == array);
                let mut at = 0;
                while at < BYTES {
                    let (some, hole) = store.extent(at, BYTES - at).unwrap();
                    prop_assert!(some > 0);
                    if hole {
                        prop_assert!(array[at as usize..(at + some) as usize].iter().all(|b| *b == 0));
                    }
                    at += some;
                }
                prop_assert_eq!(at, BYTES);
            }
            drop(stores);
            let again = Sparse::at(&path, BYTES, true).unwrap();
            prop_assert!(whole(&again) == array);
        }
    }

    #[test]
    fn unwritten_ranges_take_no_space() {
        let store = Sparse::in_memory(1 << 40).unwrap();
        assert_eq!(store.allocated(), 0);
        store.write(1 << 39, &[1; 4096]).unwrap();
        assert_eq!(store.allocated(), 4096);
        assert_eq!(store.extent(0, 1 << 40).unwrap(), (1 << 39, true));
        assert_eq!(store.extent(1 << 39, 1 << 30).unwrap(), (4096, false));
        store.zero(1 << 39, 4096, true).unwrap();
        assert_eq!(store.allocated(), 0);
    }

    #[test]
    fn a_backing_file_is_locked_and_has_the_size_of_its_device() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("d.img");
        let first = Sparse::at(&path, BYTES, false).unwrap();
        let second = Sparse::at(&path, BYTES, false).unwrap_err().to_string();
        assert!(second.contains("d.img") && second.contains("in use"), "{second}");
        drop(first);
        let other = Sparse::at(&path, 2 * BYTES, false).unwrap_err().to_string();
        assert!(other.contains("has 1048576 bytes"), "{other}");
        let none = Sparse::at(&folder.path().join("none"), BYTES, true);
        assert!(none.is_err());
        assert!(Sparse::at(folder.path(), BYTES, true).is_err());
    }
}
