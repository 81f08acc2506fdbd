//! Output files that appear under their name only when they are complete.

use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Writes `bytes` to `path`: all of them, or nothing at all.
///
/// The bytes go to a new file in the same folder, which is then renamed to
/// `path`; an existing file is replaced and its permissions are kept. Anything
/// but a regular file (a pipe, `/dev/stdout`) is written to directly.
///
/// # Errors
/// [`Error::File`] with `path` and the system's error.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = PendingFile::create(path)?;
    file.write_all(bytes).map_err(|e| Error::output(path, e))?;
    file.commit()
}

/// Opens a file with input that must be whole, so no pipe, socket or device: opening a pipe waits
/// for a writer, and a device may have no end.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let about = fs::metadata(path)?;
    if about.is_file() || about.is_dir() {
        return File::open(path); // of a folder, reading says what it is
    }
    Err(io::Error::other("must be a regular file, not a pipe, a socket or a device"))
}

/// The text of a file that [`open_regular`] opens.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_regular(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Refuses an output that is also one of the inputs, under any name: it would
/// replace the input. Pipes and devices may be both.
///
/// # Errors
/// [`Error::File`] with `output`.
pub fn refuse_overwriting<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    let found = (inputs.into_iter()).find(|input| is_same_file(output, input));
    found.map_or(Ok(()), |input| {
        let input = input.display();
        let problem = format!("is read by the same command, as {input}: give it another name");
        Err(Error::output(output, problem))
    })
}

/// Whether both are names of one regular file that exists.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    // Two names of one file have one canonical path, but for hard links, which
    // have one inode.
    let (Ok(a), Ok(b)) = (fs::metadata(one), fs::metadata(other)) else {
        return false;
    };
    let canonical = |path: &Path| fs::canonicalize(path).ok();
    a.is_file() && (same_inode(&a, &b) || canonical(one) == canonical(other))
}

#[cfg(unix)]
fn same_inode(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn same_inode(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    false
}

/// A file being written: [`PendingFile::commit`] gives it its name; dropped
/// before that, it is deleted.
#[derive(Debug)]
pub struct PendingFile {
    /// The path as the user gave it.
    path: PathBuf,
    sink: Sink,
    /// Whether the data are synced before the file gets its name.
    synced: bool,
}

#[derive(Debug)]
enum Sink {
    /// A temporary file in the same folder, and the path to rename it to.
    Temporary(NamedTempFile, PathBuf),
    /// A pipe or device, which must not be replaced.
    Direct(File),
}

impl PendingFile {
    /// Starts a file that will be at `path`.
    ///
    /// # Errors
    /// [`Error::File`] if a file of that name could not be written.
    pub fn create(path: &Path) -> Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            sink: Sink::create(path).map_err(|problem| Error::output(path, problem))?,
            synced: true,
        })
    }

    /// The same file, which [`PendingFile::commit`] does not sync: for one of
    /// thousands of temporary files.
    pub fn unsynced(self) -> Self {
        Self { synced: false, ..self }
    }

    /// The file, to read and to change what was written; `None` of a pipe or device.
    pub fn as_file(&self) -> Option<&File> {
        match &self.sink {
            Sink::Temporary(file, _) => Some(file.as_file()),
            Sink::Direct(_) => None,
        }
    }

    /// Syncs the data and renames the file to its final name. The sync reports
    /// write errors that the system had deferred.
    ///
    /// # Errors
    /// [`Error::File`] with the system's error; the temporary file is deleted.
    pub fn commit(self) -> Result<()> {
        let sync = |file: &File| {
            if self.synced { file.sync_data() } else { Ok(()) }
        };
        let done = match self.sink {
            Sink::Temporary(file, target) => sync(file.as_file())
                .and_then(|()| file.persist(target).map(drop).map_err(|e| e.error)),
            Sink::Direct(file) => match sync(&file) {
                // Pipes and terminals cannot be synced.
                Err(e) if e.kind() == io::ErrorKind::InvalidInput => Ok(()),
                done => done,
            },
        };
        done.map_err(|e| Error::output(&self.path, e))
    }
}

impl Sink {
    fn create(path: &Path) -> std::result::Result<Self, String> {
        let message = |e: io::Error| e.to_string();
        let old = fs::metadata(path).ok();
        if old.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err("is a folder; a file name is needed".into());
        }
        if path.file_name().is_none() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err("ends in no file name".into());
        }
        let mut target = path.to_owned();
        if let Some(old) = &old {
            let file = OpenOptions::new().write(true).open(path).map_err(message)?;
            if !old.is_file() {
                return Ok(Self::Direct(file));
            }
            // Follow symbolic links: the link stays, its target is replaced.
            target = fs::canonicalize(path).map_err(message)?;
        }
        let folder = match target.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            return Err("its folder does not exist".into());
        }
        // With the usual permissions: tempfile's default is 0o600.
        let file = Builder::new()
            .prefix(".sledsim-")
            .suffix(".part")
            .make_in(folder, |name| {
                let mut options = OpenOptions::new();
                options.read(true).write(true).create_new(true).open(name)
            })
            // Only the kind: tempfile's message names the temporary file.
            .map_err(|e| format!("cannot create a file in its folder: {}", e.kind()))?;
        if let Some(old) = old {
            let file = file.as_file();
            file.set_permissions(old.permissions()).map_err(message)?;
        }
        Ok(Self::Temporary(file, target))
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Temporary(file, _) => file.as_file_mut().write(bytes),
            Sink::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(()) // unbuffered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::FileRole;
    use tempfile::tempdir;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_complete_and_replaces_the_old_one() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("out.json");
        fs::write(&path, "old").unwrap();
        let mut file = PendingFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["out.json"]);
    }

    #[test]
    fn a_drop_or_a_panic_deletes_the_temporary_file() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("out.json");
        let mut file = PendingFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(names(folder.path()).len(), 1, "written beside the target");
        drop(file);
        assert!(names(folder.path()).is_empty());
        let result = std::panic::catch_unwind(|| {
            let _file = PendingFile::create(&path).unwrap();
            panic!("planned");
        });
        assert!(result.is_err());
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_bare_name_is_written_to_the_current_folder() {
        let name = format!("sledsim-test-{}.tmp", std::process::id());
        write_atomically(Path::new(&name), b"here").unwrap();
        assert_eq!(fs::read(&name).unwrap(), b"here");
        fs::remove_file(name).unwrap();
    }

    #[test]
    fn an_unwritable_path_is_refused_at_creation_as_the_user_named_it() {
        let folder = tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        for (name, problem) in [
            ("none/out.json", "folder does not exist"),
            ("file/out.json", "folder does not exist"),
            (".", "is a folder"),
            ("new/", "no file name"),
            ("..", "is a folder"),
        ] {
            let path = folder.path().join(name);
            let Err(Error::File { path: named, role: FileRole::Output, problem: found }) =
                PendingFile::create(&path).map(drop)
            else {
                panic!("{name} was not refused as a file");
            };
            assert_eq!(named, path);
            assert!(found.contains(problem), "{name}: {found}");
            assert!(!found.contains(".part"), "{name}: {found}");
        }
        assert!(PendingFile::create(Path::new("")).is_err());
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[cfg(unix)]
    mod unix {
        use super::*;
        use std::os::unix::fs::{PermissionsExt, symlink};

        fn mode(path: &Path) -> u32 {
            fs::metadata(path).unwrap().permissions().mode() & 0o777
        }

        #[test]
        fn permissions_are_the_default_ones_or_those_of_the_replaced_file() {
            let folder = tempdir().unwrap();
            let (plain, ours) = (folder.path().join("plain"), folder.path().join("ours"));
            File::create(&plain).unwrap();
            write_atomically(&ours, b"1").unwrap();
            assert_eq!(mode(&ours), mode(&plain));
            for old in [0o600, 0o664] {
                fs::set_permissions(&ours, fs::Permissions::from_mode(old)).unwrap();
                write_atomically(&ours, b"2").unwrap();
                assert_eq!(mode(&ours), old);
            }
        }

        #[test]
        fn a_symbolic_link_stays_and_its_target_is_replaced() {
            let folder = tempdir().unwrap();
            let (real, link) = (folder.path().join("real"), folder.path().join("link"));
            fs::write(&real, "old").unwrap();
            symlink(&real, &link).unwrap();
            write_atomically(&link, b"new").unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read(&real).unwrap(), b"new");
        }

        #[test]
        fn devices_are_written_to_and_not_replaced() {
            write_atomically(Path::new("/dev/null"), b"gone").unwrap();
            assert!(!fs::metadata("/dev/null").unwrap().is_file());
            if !Path::new("/dev/full").exists() {
                println!("skipped: no /dev/full on this system");
                return;
            }
            let error = write_atomically(Path::new("/dev/full"), b"gone").unwrap_err();
            assert!(error.to_string().starts_with("/dev/full: "), "{error}");
        }
    }
}
