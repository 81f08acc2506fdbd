//! The source of a trace: a file or a stream.
//!
//! A stream (a pipe, a socket, a character device) can be read once. To be read
//! again, it is copied to an unnamed temporary file, which disappears when the
//! process ends in any way.

use super::input::Input;
use super::shared_file::SharedFile;
use sledsim_base::error::{Error, Result};
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// The path that stands for standard input; a file of that name is `./-`.
pub const STANDARD_INPUT: &str = "-";

/// The most bytes of a stream that are kept, as they come (compressed or not):
/// 16 GiB.
pub const MOST_KEPT_BYTES: u64 = 16 << 30;

/// The bytes of a stream copied between two calls of `check`.
const COPY_BYTES: usize = 1 << 18;

/// The magic number of Parquet. The format needs random access, so a stream of
/// it is kept.
const PARQUET: &[u8] = b"PAR1";

/// The state of a stream.
#[derive(Debug)]
enum SupplyState {
    Unread,
    /// It was opened, or keeping it failed.
    Consumed,
    Kept(SharedFile),
}

type SharedState = Arc<Mutex<SupplyState>>;

/// The source of a trace. Clones share the state of a stream.
#[derive(Clone, Debug)]
pub struct Supply {
    path: PathBuf,
    /// The state, once the source is known to be a stream.
    stream: Arc<OnceLock<SharedState>>,
}

/// The kind of a source.
enum Source {
    /// A file, which can be opened any number of times.
    File(PathBuf),
    Stream(SharedState),
}

impl Input {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self> {
        Supply::new(path).open(&mut || Ok(()))
    }
}

impl Supply {
    /// The trace at `path`, or [`STANDARD_INPUT`]. Nothing is opened yet.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), stream: Arc::default() }
    }

    /// The path as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name used in messages.
    pub fn name(&self) -> &Path {
        match self.is_standard_input() {
            true => Path::new("standard input"),
            false => &self.path,
        }
    }

    fn is_standard_input(&self) -> bool {
        self.path.as_os_str() == STANDARD_INPUT
    }

    /// Whether it may be read once only.
    pub fn is_stream(&self) -> Result<bool> {
        Ok(matches!(self.kind()?, Source::Stream(_)))
    }

    /// Opens the source: a stream that is not kept can be opened once. `check`
    /// is called while a stream is copied.
    pub fn open(&self, check: &mut dyn FnMut() -> Result<()>) -> Result<Input> {
        let name = self.name().to_string_lossy();
        let stream = match self.kind()? {
            Source::File(path) => {
                let file = File::open(path).map_err(|error| self.failed(&error))?;
                let about = file.metadata().map_err(|error| self.failed(&error))?;
                if !about.is_file() {
                    return Input::new(&name, Box::new(file));
                }
                let (file, bytes) = (Arc::new(file), about.len());
                return Input::from_file(&name, SharedFile::with_bytes(file, bytes));
            }
            Source::Stream(stream) => stream,
        };
        let mut state = lock(&stream);
        if let SupplyState::Unread = *state {
            *state = SupplyState::Consumed;
            let mut file = self.open_stream()?;
            let mut head = Vec::new();
            let read = (&mut file).take(PARQUET.len() as u64);
            { read }.read_to_end(&mut head).map_err(|error| self.failed(&error))?;
            let mut all = io::Cursor::new(head).chain(file);
            if all.get_ref().0.get_ref() != PARQUET {
                return Input::new(&name, Box::new(all));
            }
            *state = SupplyState::Kept(self.copy(&mut all, MOST_KEPT_BYTES, check)?);
        }
        match &*state {
            SupplyState::Kept(file) => Input::from_file(&name, file.clone()),
            _ => Err(self.was_read()),
        }
    }

    /// Copies a stream to a temporary file, so that it can be opened any number
    /// of times. `check` is called now and then; its error ends the copying.
    pub fn keep(&self, check: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let Source::Stream(stream) = self.kind()? else {
            return Ok(());
        };
        let mut state = lock(&stream);
        match &*state {
            SupplyState::Kept(_) => Ok(()),
            SupplyState::Consumed => Err(self.was_read()),
            SupplyState::Unread => {
                *state = SupplyState::Consumed;
                let mut file = self.open_stream()?;
                *state = SupplyState::Kept(self.copy(&mut file, MOST_KEPT_BYTES, check)?);
                Ok(())
            }
        }
    }

    fn kind(&self) -> Result<Source> {
        if let Some(stream) = self.stream.get() {
            return Ok(Source::Stream(Arc::clone(stream)));
        }
        let failed = |error: io::Error| self.failed(&error);
        let about = if self.is_standard_input() {
            let mut file = standard_input().map_err(failed)?;
            let about = file.metadata().map_err(failed)?;
            // On Linux, opening /dev/stdin opens the file behind it anew, at its
            // start; duplicates of the descriptor share one position.
            let mut at_start = || file.stream_position().is_ok_and(|at| at == 0);
            if cfg!(target_os = "linux") && about.is_file() && at_start() {
                return Ok(Source::File("/dev/stdin".into()));
            }
            about
        } else {
            let about = fs::metadata(&self.path).map_err(failed)?;
            if is_read_anew(&about) && (cfg!(target_os = "linux") || !self.path.starts_with("/dev"))
            {
                return Ok(Source::File(self.path.clone()));
            }
            about
        };
        // A pipe without a name never gets new bytes; a named one may get
        // another writer after all readers are done.
        let nameless = self.is_standard_input() || fs::canonicalize(&self.path).is_err();
        let stream = self.stream.get_or_init(|| shared_state(&about, nameless));
        Ok(Source::Stream(Arc::clone(stream)))
    }

    fn open_stream(&self) -> Result<File> {
        let file = match self.is_standard_input() {
            true => standard_input(),
            false => File::open(&self.path),
        };
        file.map_err(|error| self.failed(&error))
    }

    /// Copies `from` to a file without a name.
    fn copy(
        &self,
        from: &mut dyn Read,
        most: u64,
        check: &mut dyn FnMut() -> Result<()>,
    ) -> Result<SharedFile> {
        let folder = std::env::temp_dir();
        let no_room = |why: &dyn std::fmt::Display| {
            let folder = folder.display();
            let problem = format!(
                "can be read once only, and is copied to {folder} to be read again: {why}; give \
                 a file, or another folder by TMPDIR"
            );
            Error::trace(self.name(), problem)
        };
        let mut file = tempfile::tempfile_in(&folder).map_err(|error| no_room(&error))?;
        let mut buffer = vec![0; COPY_BYTES];
        let mut bytes = 0;
        loop {
            check()?;
            let count = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.failed(&error)),
            };
            bytes += count as u64;
            if bytes > most {
                return Err(no_room(&format!("it is longer than {most} bytes, the limit")));
            }
            let written = file.write_all(&buffer[..count]);
            written.map_err(|error| no_room(&error))?;
        }
        let file = Arc::new(file);
        Ok(SharedFile::with_bytes(file, bytes))
    }

    fn failed(&self, error: &io::Error) -> Error {
        Error::trace(self.name(), error)
    }

    fn was_read(&self) -> Error {
        let problem = "can be read once only, and was read before: give a file, or name it once \
                       (in Python, Load.keep() before the first run keeps it for all)";
        Error::trace(self.name(), problem)
    }
}

/// Whether opening again returns the same bytes from the start, or fails at
/// once.
fn is_read_anew(about: &Metadata) -> bool {
    #[cfg(unix)]
    let is_block_device = std::os::unix::fs::FileTypeExt::is_block_device(&about.file_type());
    #[cfg(not(unix))]
    let is_block_device = false;
    about.is_file() || about.is_dir() || is_block_device
}

/// A duplicate descriptor of standard input, which may be closed.
fn standard_input() -> io::Result<File> {
    #[cfg(unix)]
    let input = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned()?;
    #[cfg(windows)]
    let input = std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned()?;
    Ok(input.into())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A stream of this process.
struct Stream {
    state: Weak<Mutex<SupplyState>>,
    /// Keeps the state of one without a name for the whole process.
    _held: Option<SharedState>,
}

/// The streams of this process by device and inode: one stream may have several
/// names (`-`, `/dev/stdin`, `/dev/fd/0`).
static STREAMS: Mutex<BTreeMap<(u64, u64), Stream>> = Mutex::new(BTreeMap::new());

/// The state of the stream with this metadata.
fn shared_state(about: &Metadata, nameless: bool) -> SharedState {
    let new = || Arc::new(Mutex::new(SupplyState::Unread));
    #[cfg(unix)]
    let key = {
        use std::os::unix::fs::MetadataExt;
        (about.dev(), about.ino())
    };
    #[cfg(not(unix))]
    let key = {
        let _ = (about, nameless);
        return new();
    };
    let mut streams = lock(&STREAMS);
    streams.retain(|_, stream| stream.state.strong_count() > 0);
    if let Some(state) = streams.get(&key).and_then(|stream| stream.state.upgrade()) {
        return state;
    }
    let state = new();
    let stream =
        Stream { state: Arc::downgrade(&state), _held: nameless.then(|| Arc::clone(&state)) };
    streams.insert(key, stream);
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(from: &[u8], most: u64, checks: &mut u64) -> Result<Vec<u8>> {
        let supply = Supply::new(Path::new("some/pipe"));
        let mut from = from;
        let file = supply.copy(&mut from, most, &mut || {
            *checks += 1;
            if *checks == 5 {
                return Err(Error::Interrupted);
            }
            Ok(())
        })?;
        let mut found = Vec::new();
        file.reader_at(0).read_to_end(&mut found).unwrap();
        assert_eq!(file.bytes(), found.len() as u64);
        Ok(found)
    }

    #[test]
    fn a_kept_stream_has_the_same_bytes_up_to_the_limit() {
        let bytes: Vec<u8> = (0..3 * COPY_BYTES).map(|at| (at % 251) as u8).collect();
        let all = bytes.len() as u64;
        assert_eq!(copied(&bytes, all, &mut 0).unwrap(), bytes);
        let error = copied(&bytes, all - 1, &mut 0).unwrap_err().to_string();
        let expected = format!("it is longer than {} bytes, the limit; give a file", all - 1);
        assert!(error.starts_with("some/pipe: can be read once only"), "{error}");
        assert!(error.contains(&expected), "{error}");
        // An error of `check` ends the copying.
        let found = copied(&bytes, all, &mut 2);
        assert!(matches!(found, Err(Error::Interrupted)), "{found:?}");
    }

    #[test]
    fn several_readers_of_a_file_have_independent_positions() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let file = SharedFile::with_bytes(Arc::new(file), 10);
        let (mut one, mut other) = (file.reader_at(0), file.reader_at(7));
        let mut found = Vec::new();
        for _ in 0..4 {
            let (mut a, mut b) = ([0; 2], [0; 2]);
            let (a_count, b_count) = (one.read(&mut a).unwrap(), other.read(&mut b).unwrap());
            found.push((a[..a_count].to_vec(), b[..b_count].to_vec()));
        }
        let text: Vec<_> = found
            .iter()
            .map(|(a, b)| (str::from_utf8(a).unwrap(), str::from_utf8(b).unwrap()))
            .collect();
        assert_eq!(text, [("01", "78"), ("23", "9"), ("45", ""), ("67", "")]);
    }
}
