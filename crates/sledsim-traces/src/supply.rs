//! Where the bytes of a trace come from: a file, or a stream.
//!
//! A stream (a pipe, a socket, a character device) can be read once. What
//! needs it again has it kept: copied to a temporary file that has no name, so
//! that it is gone when the process ends, however that happens.

use super::input::Input;
use super::whole::Whole;
use sledsim_base::error::{Error, Result};
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// The name of standard input wherever a trace is named; a file of that name is
/// `./-`.
pub const STANDARD_INPUT: &str = "-";

/// So many bytes of a stream are kept at most, compressed if it is: 16 GiB.
pub const MOST_KEPT_BYTES: u64 = 16 << 30;

/// How much of a stream is copied between two calls of `check`.
const COPY_BYTES: usize = 1 << 18;

/// What Parquet begins with. It is read from its end, and so a stream of it is
/// kept.
const PARQUET: &[u8] = b"PAR1";

/// What became of a stream.
#[derive(Debug)]
enum State {
    Unread,
    /// It was handed out, or keeping it failed.
    Read,
    Kept(Whole),
}

type Shared = Arc<Mutex<State>>;

/// The bytes of a trace that has a name. Clones are of the same bytes.
#[derive(Clone, Debug)]
pub struct Supply {
    path: PathBuf,
    /// What became of it, once it is known to be a stream.
    stream: Arc<OnceLock<Shared>>,
}

/// What a name stands for.
enum Source {
    /// Something to be opened as often as one likes.
    File(PathBuf),
    Stream(Shared),
}

impl Input {
    /// Opens a file.
    ///
    /// # Errors
    /// The file cannot be opened or read.
    pub fn open(path: &Path) -> Result<Self> {
        Supply::new(path).open(&mut || Ok(()))
    }
}

impl Supply {
    /// The trace at `path`, or [`STANDARD_INPUT`]. Nothing is opened yet.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            stream: Arc::default(),
        }
    }

    /// As it was named.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What messages call it.
    #[must_use]
    pub fn name(&self) -> &Path {
        match self.is_standard_input() {
            true => Path::new("standard input"),
            false => &self.path,
        }
    }

    fn is_standard_input(&self) -> bool {
        self.path.as_os_str() == STANDARD_INPUT
    }

    /// Opens it: a stream that is not kept can be opened once. `check` is
    /// called while a stream is copied.
    ///
    /// # Errors
    /// It cannot be opened or read, was read before, or `check`'s.
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
                return Input::whole(&name, Whole::with_bytes(file, bytes));
            }
            Source::Stream(stream) => stream,
        };
        let mut state = lock(&stream);
        if let State::Unread = *state {
            *state = State::Read;
            let mut file = self.open_stream()?;
            let mut head = Vec::new();
            let read = (&mut file).take(PARQUET.len() as u64);
            { read }
                .read_to_end(&mut head)
                .map_err(|error| self.failed(&error))?;
            let mut all = io::Cursor::new(head).chain(file);
            if all.get_ref().0.get_ref() != PARQUET {
                return Input::new(&name, Box::new(all));
            }
            *state = State::Kept(self.copy(&mut all, MOST_KEPT_BYTES, check)?);
        }
        match &*state {
            State::Kept(whole) => Input::whole(&name, whole.clone()),
            _ => Err(self.was_read()),
        }
    }

    /// Sees to it that it can be opened any number of times: copies a stream to
    /// a temporary file. `check` is called now and then; its error ends that.
    ///
    /// # Errors
    /// It cannot be read or copied, is longer than [`MOST_KEPT_BYTES`], was
    /// read before, or `check`'s.
    pub fn keep(&self, check: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let Source::Stream(stream) = self.kind()? else {
            return Ok(());
        };
        let mut state = lock(&stream);
        match &*state {
            State::Kept(_) => Ok(()),
            State::Read => Err(self.was_read()),
            State::Unread => {
                *state = State::Read;
                let mut file = self.open_stream()?;
                *state = State::Kept(self.copy(&mut file, MOST_KEPT_BYTES, check)?);
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
            // Linux opens a file behind a descriptor anew, at its start; the
            // descriptor itself has one place for all who read it.
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
        // A pipe without a name never has other bytes; one with a name may have
        // another writer when all are done with this one.
        let nameless = self.is_standard_input() || fs::canonicalize(&self.path).is_err();
        let stream = self.stream.get_or_init(|| shared(&about, nameless));
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
    ) -> Result<Whole> {
        let folder = std::env::temp_dir();
        let no_room = |why: &dyn std::fmt::Display| {
            let folder = folder.display();
            let problem = format!(
                "can be read once only, and is copied to {folder} to be read again: {why}; give \
                 a file, or another folder by TMPDIR"
            );
            Error::file(self.name(), problem)
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
                return Err(no_room(&format!(
                    "it is longer than {most} bytes, the limit"
                )));
            }
            let written = file.write_all(&buffer[..count]);
            written.map_err(|error| no_room(&error))?;
        }
        let file = Arc::new(file);
        Ok(Whole::with_bytes(file, bytes))
    }

    fn failed(&self, error: &io::Error) -> Error {
        Error::file(self.name(), error)
    }

    fn was_read(&self) -> Error {
        let problem = "can be read once only, and was read before: give a file, or name it once \
                       (in Python, Load.keep() before the first run keeps it for all)";
        Error::file(self.name(), problem)
    }
}

/// Whether opening it again gives the same bytes from their start, or an error
/// at once.
fn is_read_anew(about: &Metadata) -> bool {
    #[cfg(unix)]
    let is_block_device = std::os::unix::fs::FileTypeExt::is_block_device(&about.file_type());
    #[cfg(not(unix))]
    let is_block_device = false;
    about.is_file() || about.is_dir() || is_block_device
}

/// A descriptor of standard input that closing does not take from others.
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
    state: Weak<Mutex<State>>,
    /// Keeps the state of one without a name for the whole process.
    _held: Option<Shared>,
}

/// The streams of this process by device and inode: the same one may be named
/// several times (`-`, `/dev/stdin`, `/dev/fd/0`).
static STREAMS: Mutex<BTreeMap<(u64, u64), Stream>> = Mutex::new(BTreeMap::new());

/// What became of the stream that `about` is of.
fn shared(about: &Metadata, nameless: bool) -> Shared {
    let new = || Arc::new(Mutex::new(State::Unread));
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
    let stream = Stream {
        state: Arc::downgrade(&state),
        _held: nameless.then(|| Arc::clone(&state)),
    };
    streams.insert(key, stream);
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(from: &[u8], most: u64, checks: &mut u64) -> Result<Vec<u8>> {
        let supply = Supply::new(Path::new("some/pipe"));
        let mut from = from;
        let whole = supply.copy(&mut from, most, &mut || {
            *checks += 1;
            if *checks == 5 {
                return Err(Error::Interrupted);
            }
            Ok(())
        })?;
        let mut found = Vec::new();
        whole.from(0).read_to_end(&mut found).unwrap();
        assert_eq!(whole.bytes(), found.len() as u64);
        Ok(found)
    }

    #[test]
    fn what_is_kept_is_the_same_up_to_the_limit() {
        let bytes: Vec<u8> = (0..3 * COPY_BYTES).map(|at| (at % 251) as u8).collect();
        let all = bytes.len() as u64;
        assert_eq!(copied(&bytes, all, &mut 0).unwrap(), bytes);
        let error = copied(&bytes, all - 1, &mut 0).unwrap_err().to_string();
        let expected = format!(
            "it is longer than {} bytes, the limit; give a file",
            all - 1
        );
        assert!(
            error.starts_with("some/pipe: can be read once only"),
            "{error}"
        );
        assert!(error.contains(&expected), "{error}");
        // An error of the check ends it.
        let found = copied(&bytes, all, &mut 2);
        assert!(matches!(found, Err(Error::Interrupted)), "{found:?}");
    }

    #[test]
    fn several_read_a_file_at_once_from_where_they_are() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let whole = Whole::with_bytes(Arc::new(file), 10);
        let (mut one, mut other) = (whole.from(0), whole.from(7));
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
