//! A raw NBD client, with the numbers of the specification spelled out.

use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_emulator::nbd::NbdServer;
use sledsim_emulator::net::{Address, Admission, Settings};
use sledsim_emulator::server::{ExportSpec, Server};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

pub const FIXED: u32 = 1;
pub const NO_ZEROES: u32 = 2;
pub const EXPORT_NAME: u32 = 1;
pub const ABORT: u32 = 2;
pub const LIST: u32 = 3;
pub const STARTTLS: u32 = 5;
pub const INFO: u32 = 6;
pub const GO: u32 = 7;
pub const STRUCTURED_REPLY: u32 = 8;
pub const LIST_META: u32 = 9;
pub const SET_META: u32 = 10;
pub const ACK: u32 = 1;
pub const REP_SERVER: u32 = 2;
pub const REP_INFO: u32 = 3;
pub const REP_META: u32 = 4;
pub const ERR_UNSUP: u32 = 0x8000_0001;
pub const ERR_POLICY: u32 = 0x8000_0002;
pub const ERR_INVALID: u32 = 0x8000_0003;
pub const ERR_TLS_REQD: u32 = 0x8000_0005;
pub const ERR_UNKNOWN: u32 = 0x8000_0006;
pub const ERR_TOO_BIG: u32 = 0x8000_0009;

pub const READ: u16 = 0;
pub const WRITE: u16 = 1;
pub const DISC: u16 = 2;
pub const FLUSH: u16 = 3;
pub const TRIM: u16 = 4;
pub const CACHE: u16 = 5;
pub const WRITE_ZEROES: u16 = 6;
pub const BLOCK_STATUS: u16 = 7;
pub const FUA: u16 = 1;
pub const NO_HOLE: u16 = 2;
pub const DF: u16 = 4;
pub const REQ_ONE: u16 = 8;
pub const FAST_ZERO: u16 = 16;

pub const EPERM: u32 = 1;
pub const EIO: u32 = 5;
pub const EINVAL: u32 = 22;
pub const ENOSPC: u32 = 28;
pub const ENOTSUP: u32 = 95;
pub const ESHUTDOWN: u32 = 108;

/// The reply to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub cookie: u64,
    pub error: u32,
    /// The type of the chunk, if structured.
    pub chunk: Option<u16>,
    pub data: Vec<u8>,
}

/// A connection.
pub struct Client<S: Read + Write = UnixStream> {
    pub wire: S,
    pub structured: bool,
    pub bytes: u64,
    pub flags: u16,
}

impl Client {
    /// Connects and performs the greeting.
    pub fn connect(path: &Path) -> Self {
        let mut client = Self::silent(path);
        client.greet(FIXED | NO_ZEROES);
        client
    }

    /// Connects without sending anything.
    pub fn silent(path: &Path) -> Self {
        let wire = UnixStream::connect(path).unwrap();
        // Longer than any reply in these tests takes.
        wire.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        wire.set_write_timeout(Some(Duration::from_secs(120))).unwrap();
        Self::on(wire)
    }

    /// With simple replies, ready for commands.
    pub fn simple(path: &Path, export: &str) -> Self {
        let mut client = Self::connect(path);
        client.go(export);
        client
    }

    /// With structured replies and `base:allocation`, ready for commands.
    pub fn ready(path: &Path, export: &str) -> Self {
        let mut client = Self::connect(path);
        client.structure();
        client.set_allocation(export);
        client.go(export);
        client
    }

    pub fn half_close(&self) {
        self.wire.shutdown(Shutdown::Write).unwrap();
    }
}

impl Client<TcpStream> {
    pub fn tcp(at: &str) -> Self {
        let wire = TcpStream::connect(at).unwrap();
        wire.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        wire.set_nodelay(true).unwrap();
        Self::on(wire)
    }
}

impl<S: Read + Write> Client<S> {
    pub fn on(wire: S) -> Self {
        Self { wire, structured: false, bytes: 0, flags: 0 }
    }

    pub fn say(&mut self, bytes: &[u8]) {
        self.wire.write_all(bytes).unwrap();
    }

    pub fn hear(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.wire.read_exact(&mut bytes).unwrap();
        bytes
    }

    pub fn u16(&mut self) -> u16 {
        u16::from_be_bytes(self.hear(2).try_into().unwrap())
    }

    pub fn u32(&mut self) -> u32 {
        u32::from_be_bytes(self.hear(4).try_into().unwrap())
    }

    pub fn u64(&mut self) -> u64 {
        u64::from_be_bytes(self.hear(8).try_into().unwrap())
    }

    /// Whether the server has closed, after at most its last replies.
    pub fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        match self.wire.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => error.kind() == ErrorKind::ConnectionReset,
        }
    }

    pub fn greet(&mut self, flags: u32) {
        assert_eq!(self.hear(16), b"NBDMAGICIHAVEOPT");
        assert_eq!(self.u16(), 3);
        self.say(&flags.to_be_bytes());
    }

    pub fn option(&mut self, option: u32, data: &[u8]) {
        let mut all = b"IHAVEOPT".to_vec();
        all.extend(option.to_be_bytes());
        all.extend((data.len() as u32).to_be_bytes());
        all.extend(data);
        self.say(&all);
    }

    /// One reply to `option`: its type and its data.
    pub fn reply(&mut self, option: u32) -> (u32, Vec<u8>) {
        assert_eq!(self.u64(), 0x0003_e889_0455_65a9);
        assert_eq!(self.u32(), option);
        let kind = self.u32();
        let length = self.u32() as usize;
        (kind, self.hear(length))
    }

    /// All replies to `option`, up to an acknowledgement or an error.
    pub fn replies(&mut self, option: u32, data: &[u8]) -> Vec<(u32, Vec<u8>)> {
        self.option(option, data);
        let mut replies = Vec::new();
        loop {
            replies.push(self.reply(option));
            let kind = replies.last().unwrap().0;
            if kind == ACK || kind >= 1 << 31 {
                return replies;
            }
        }
    }

    pub fn structure(&mut self) {
        assert_eq!(self.replies(STRUCTURED_REPLY, &[]), [(ACK, vec![])]);
        self.structured = true;
    }

    pub fn set_allocation(&mut self, export: &str) {
        let replies = self.replies(SET_META, &meta(export, &["base:allocation"]));
        let context = [&[0, 0, 0, 1], &b"base:allocation"[..]].concat();
        assert_eq!(replies, [(REP_META, context), (ACK, vec![])]);
    }

    /// Enters transmission.
    pub fn go(&mut self, export: &str) {
        let replies = self.replies(GO, &info(export, &[]));
        assert_eq!(replies.last().unwrap().0, ACK, "{replies:?}");
        let about = &replies[0].1;
        assert_eq!(about[..2], [0, 0]);
        self.bytes = u64::from_be_bytes(about[2..10].try_into().unwrap());
        self.flags = u16::from_be_bytes(about[10..12].try_into().unwrap());
    }

    pub fn ask(&mut self, command: u16, flags: u16, cookie: u64, offset: u64, length: u32) {
        self.say(&request(command, flags, cookie, offset, length));
    }

    /// One reply; with structured replies, one chunk, which must be the last. `length`
    /// is the number of bytes that a successful simple reply carries.
    pub fn answer(&mut self, length: u32) -> Answer {
        if !self.structured {
            assert_eq!(self.u32(), 0x6744_6698);
            let error = self.u32();
            let cookie = self.u64();
            let length = if error == 0 { length as usize } else { 0 };
            return Answer { cookie, error, chunk: None, data: self.hear(length) };
        }
        assert_eq!(self.u32(), 0x668e_33ef);
        assert_eq!(self.u16(), 1, "the only chunk is the last");
        let chunk = self.u16();
        let cookie = self.u64();
        let length = self.u32() as usize;
        let data = self.hear(length);
        let error = match chunk {
            0x8001 => {
                let error = u32::from_be_bytes(data[..4].try_into().unwrap());
                let message = u16::from_be_bytes(data[4..6].try_into().unwrap());
                assert_eq!(data.len(), 6 + usize::from(message));
                assert!(message > 0 && std::str::from_utf8(&data[6..]).is_ok());
                assert_ne!(error, 0);
                error
            }
            _ => 0,
        };
        Answer { cookie, error, chunk: Some(chunk), data }
    }

    /// Reads; returns the error number on failure.
    pub fn read(&mut self, offset: u64, length: u32) -> Result<Vec<u8>, u32> {
        self.ask(READ, 0, 77, offset, length);
        let answer = self.answer(length);
        assert_eq!(answer.cookie, 77);
        data_of(answer, offset, length)
    }

    fn done(&mut self, cookie: u64) -> Result<(), u32> {
        let answer = self.answer(0);
        assert_eq!(answer.cookie, cookie);
        match answer.error {
            0 => {
                assert!(matches!(answer.chunk, None | Some(0)) && answer.data.is_empty());
                Ok(())
            }
            error => Err(error),
        }
    }

    pub fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), u32> {
        self.write_with(0, offset, data)
    }

    pub fn write_with(&mut self, flags: u16, offset: u64, data: &[u8]) -> Result<(), u32> {
        let mut all = request(WRITE, flags, 78, offset, data.len() as u32);
        all.extend(data);
        self.say(&all);
        self.done(78)
    }

    /// A command without data.
    pub fn command(
        &mut self,
        command: u16,
        flags: u16,
        offset: u64,
        length: u32,
    ) -> Result<(), u32> {
        self.ask(command, flags, 79, offset, length);
        self.done(79)
    }

    /// The extents of a range, each with its length and state.
    pub fn status(&mut self, flags: u16, offset: u64, length: u32) -> Result<Vec<[u32; 2]>, u32> {
        self.ask(BLOCK_STATUS, flags, 80, offset, length);
        let answer = self.answer(0);
        assert_eq!(answer.cookie, 80);
        if answer.error != 0 {
            return Err(answer.error);
        }
        assert_eq!(answer.chunk, Some(5));
        let words: Vec<u32> = (answer.data.chunks_exact(4))
            .map(|word| u32::from_be_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(words[0], 1);
        assert_eq!(answer.data.len() % 8, 4);
        Ok(words[1..].chunks_exact(2).map(|two| [two[0], two[1]]).collect())
    }
}

/// The result of a read.
pub fn data_of(answer: Answer, offset: u64, length: u32) -> Result<Vec<u8>, u32> {
    if answer.error != 0 {
        return Err(answer.error);
    }
    let data = match answer.chunk {
        None => answer.data,
        Some(0) => Vec::new(),
        Some(chunk) => {
            assert_eq!(chunk, 1);
            assert_eq!(answer.data[..8], offset.to_be_bytes());
            answer.data[8..].to_vec()
        }
    };
    assert_eq!(data.len(), length as usize);
    Ok(data)
}

/// The bytes of a request.
pub fn request(command: u16, flags: u16, cookie: u64, offset: u64, length: u32) -> Vec<u8> {
    let mut all = 0x2560_9513u32.to_be_bytes().to_vec();
    all.extend(flags.to_be_bytes());
    all.extend(command.to_be_bytes());
    all.extend(cookie.to_be_bytes());
    all.extend(offset.to_be_bytes());
    all.extend(length.to_be_bytes());
    all
}

/// The data of INFO and GO.
pub fn info(name: &str, wanted: &[u16]) -> Vec<u8> {
    let mut data = (name.len() as u32).to_be_bytes().to_vec();
    data.extend(name.as_bytes());
    data.extend((wanted.len() as u16).to_be_bytes());
    data.extend(wanted.iter().flat_map(|kind| kind.to_be_bytes()));
    data
}

/// The data of the options about metadata contexts.
pub fn meta(name: &str, queries: &[&str]) -> Vec<u8> {
    let mut data = (name.len() as u32).to_be_bytes().to_vec();
    data.extend(name.as_bytes());
    data.extend((queries.len() as u32).to_be_bytes());
    for query in queries {
        data.extend((query.len() as u32).to_be_bytes());
        data.extend(query.as_bytes());
    }
    data
}

/// A device to serve.
#[derive(Clone)]
pub struct Wanted {
    pub name: &'static str,
    pub bytes: u64,
    pub latency_ms: f64,
    pub speed: f64,
    pub file: Option<PathBuf>,
    pub read_only: bool,
}

impl Wanted {
    /// A device that takes no time.
    pub fn quick(name: &'static str, bytes: u64) -> Self {
        Self { name, bytes, latency_ms: 0.0, speed: 1.0, file: None, read_only: false }
    }

    /// A device that serves one request at a time, each in `ms` milliseconds.
    pub fn slow(name: &'static str, bytes: u64, latency_ms: f64) -> Self {
        Self { latency_ms, ..Self::quick(name, bytes) }
    }
}

/// Exports served at a socket file, with its folder.
pub struct Served {
    pub nbd: NbdServer,
    pub server: Server,
    pub socket: PathBuf,
    _folder: TempDir,
}

/// The exports, without a server.
pub fn exports(wanted: &[Wanted]) -> Server {
    let specs = wanted.iter().map(|wanted| {
        let set =
            |key: &str, value: String| (key.to_owned(), value.parse().unwrap(), String::new());
        let device = [
            set("blocks", (wanted.bytes / 512).to_string()),
            set("latency_ms", format!("{:?}", wanted.latency_ms)),
            set("ms_per_block", "0.0".to_owned()),
        ];
        ExportSpec {
            file: wanted.file.clone(),
            read_only: wanted.read_only,
            speed: wanted.speed,
            ..ExportSpec::of(wanted.name, Device::resolve("memory", &device).unwrap())
        }
    });
    Server::start(specs.collect()).unwrap()
}

/// Number of requests that the device of an export has served.
pub fn requests(server: &Server, name: &str) -> u64 {
    let status = server.status();
    let mut exports = status["exports"].as_array().unwrap().iter();
    let export = exports.find(|export| export["name"] == name).unwrap();
    export["summary"]["requests"].as_u64().unwrap()
}

/// Settings with this admission.
pub fn admitting(admission: Admission) -> Settings {
    Settings { admission, ..Settings::default() }
}

impl Served {
    pub fn new(wanted: &[Wanted]) -> Self {
        Self::with(wanted, &Settings::default())
    }

    pub fn with(wanted: &[Wanted], settings: &Settings) -> Self {
        Self::serving(exports(wanted), settings)
    }

    pub fn serving(server: Server, settings: &Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s.sock");
        let address = Address::Unix(socket.clone());
        let nbd = NbdServer::start(&address, server.exports().clone(), settings).unwrap();
        Self { nbd, server, socket, _folder: folder }
    }

    /// A preset, sped up by a factor.
    pub fn start_device(preset: &str, scheduler: &str, speed: f64) -> Self {
        let spec = ExportSpec {
            scheduler: SchedulerSpec::named(scheduler).unwrap(),
            speed,
            ..ExportSpec::of(preset, Device::resolve(preset, &[]).unwrap())
        };
        Self::serving(Server::start(vec![spec]).unwrap(), &Settings::default())
    }

    /// Number of client errors of this kind.
    pub fn client_errors(&self, kind: &str) -> u64 {
        let facts = self.nbd.to_json();
        facts["troubles"][kind]["count"].as_u64().unwrap()
    }

    /// Number of requests in flight in the device of an export.
    pub fn outstanding(&self, name: &str) -> usize {
        let export = self.server.exports().named(name).unwrap();
        export.timeline().outstanding()
    }

    /// Number of requests that the device of an export has served.
    pub fn requests(&self, name: &str) -> u64 {
        requests(&self.server, name)
    }

    /// Waits until `what` holds.
    pub fn until(&self, what: impl Fn(&Self) -> bool) {
        for _ in 0..24_000 {
            if what(self) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("it never came: {}", self.nbd.to_json());
    }
}
