//! A raw initiator, with the numbers of RFC 7143 spelled out.

use crate::session::device;
use sledsim_emulator::iscsi::{IscsiServer, Place, Settings};
use sledsim_emulator::server::{ExportSpec, Server};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

pub const TARGET: &str = "iqn.2026-11.com.example.sledsim:target";
pub const NO_TAG: u32 = u32::MAX;

pub const GOOD: u8 = 0;
pub const CHECK: u8 = 2;

/// A received PDU.
#[derive(Clone, Debug)]
pub struct Pdu {
    pub head: [u8; 48],
    pub data: Vec<u8>,
}

impl Pdu {
    pub fn opcode(&self) -> u8 {
        self.head[0]
    }

    pub fn field(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.head[at..at + 4].try_into().unwrap())
    }

    /// Status class and detail of a login response.
    pub fn login_status(&self) -> (u8, u8) {
        (self.head[36], self.head[37])
    }

    /// Sense key, and additional sense code with its qualifier.
    pub fn sense(&self) -> (u8, u8, u8) {
        (self.data[4] & 15, self.data[14], self.data[15])
    }
}

/// A target with its exports: memory without latency as LUN 0, and what a test adds.
pub struct Served {
    pub server: Server,
    pub target: IscsiServer,
}

/// A memory of this many blocks in which requests take this long.
pub fn memory(blocks: u64, latency_ms: f64) -> ExportSpec {
    let keys = [
        ("blocks", &*blocks.to_string()),
        ("latency_ms", &*format!("{latency_ms:?}")),
        ("ms_per_block", "0.0"),
    ];
    ExportSpec::of("m", device("memory", &keys))
}

/// A memory of another name.
pub fn named(name: &str) -> ExportSpec {
    ExportSpec { name: name.to_owned(), ..memory(4096, 0.0) }
}

impl Served {
    pub fn new(settings: &Settings) -> Self {
        Self::of(vec![memory(4096, 0.0)], settings)
    }

    pub fn of(specs: Vec<ExportSpec>, settings: &Settings) -> Self {
        let server = Server::start(specs).unwrap();
        let place: Place = "127.0.0.1:0".parse().unwrap();
        let target = IscsiServer::start(&place, Arc::clone(server.exports()), settings).unwrap();
        Self { server, target }
    }

    pub fn connect(&self) -> Initiator {
        let uri = self.target.uri();
        let portal = uri.strip_prefix("iscsi://").unwrap().split('/').next().unwrap();
        let wire = TcpStream::connect(portal).unwrap();
        wire.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        wire.set_nodelay(true).unwrap();
        Initiator { wire, cmd_sn: 1, tag: 0, digests: (false, false) }
    }

    /// A session for commands, with its first unit attention taken.
    pub fn session(&self) -> Initiator {
        let mut initiator = self.connect();
        initiator.log_in(&[]);
        assert_eq!(initiator.execute(0, &[0; 6], 0, &[]).head[3], CHECK);
        initiator
    }

    /// The counts of client errors.
    pub fn troubles(&self, kind: &str) -> u64 {
        self.target.to_json()["troubles"][kind]["count"].as_u64().unwrap()
    }
}

pub struct Initiator {
    pub wire: TcpStream,
    pub cmd_sn: u32,
    pub tag: u32,
    pub digests: (bool, bool),
}

pub fn text(keys: &[(&str, &str)]) -> Vec<u8> {
    let pairs = keys.iter().flat_map(|(key, value)| [*key, "=", *value, "\0"]);
    pairs.collect::<String>().into_bytes()
}

/// A header: opcode, flags, LUN, tag, and fields of four bytes.
pub fn head(opcode: u8, flags: u8, lun: u16, tag: u32, fields: &[(usize, u32)]) -> [u8; 48] {
    let mut head = [0; 48];
    (head[0], head[1]) = (opcode, flags);
    head[8..10].copy_from_slice(&lun.to_be_bytes());
    head[16..20].copy_from_slice(&tag.to_be_bytes());
    for (at, field) in fields {
        head[*at..at + 4].copy_from_slice(&field.to_be_bytes());
    }
    head
}

impl Initiator {
    /// Sends a PDU with padding and the digests that were agreed on.
    pub fn send(&mut self, mut head: [u8; 48], data: &[u8]) {
        head[5..8].copy_from_slice(&(data.len() as u32).to_be_bytes()[1..]);
        let mut bytes = head.to_vec();
        if self.digests.0 {
            bytes.extend(crc32c::crc32c(&head).to_le_bytes());
        }
        let mut padded = data.to_vec();
        padded.resize(data.len().next_multiple_of(4), 0);
        bytes.extend_from_slice(&padded);
        if self.digests.1 && !data.is_empty() {
            bytes.extend(crc32c::crc32c(&padded).to_le_bytes());
        }
        self.wire.write_all(&bytes).unwrap();
    }

    /// Receives a PDU; `None` at the end of the connection.
    pub fn receive(&mut self) -> Option<Pdu> {
        let mut head = [0; 48];
        match self.wire.read_exact(&mut head) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("nothing comes"),
            Err(_) => return None,
        }
        if self.digests.0 {
            let mut digest = [0; 4];
            self.wire.read_exact(&mut digest).ok()?;
            assert_eq!(digest, crc32c::crc32c(&head).to_le_bytes());
        }
        let bytes = u32::from_be_bytes([0, head[5], head[6], head[7]]) as usize;
        let mut data = vec![0; bytes.next_multiple_of(4)];
        self.wire.read_exact(&mut data).ok()?;
        if self.digests.1 && bytes > 0 {
            let mut digest = [0; 4];
            self.wire.read_exact(&mut digest).ok()?;
            assert_eq!(digest, crc32c::crc32c(&data).to_le_bytes());
        }
        data.truncate(bytes);
        Some(Pdu { head, data })
    }

    /// Whether the target ends the connection, perhaps after messages.
    pub fn is_ended(&mut self) -> bool {
        while self.receive().is_some() {}
        true
    }

    /// Sends a login request; stages are 0 (security), 1 (operational), 3 (full feature).
    pub fn login(&mut self, stage: u8, next: Option<u8>, keys: &[(&str, &str)]) -> Pdu {
        let flags = stage << 2 | next.map_or(0, |next| 0x80 | next);
        let mut head = head(0x43, flags, 0, 0, &[(24, self.cmd_sn)]);
        head[8..14].copy_from_slice(&[0x80, 0, 0, 0, 0, 1]);
        // Each connection of a test is an initiator port of its own.
        let port = self.wire.local_addr().unwrap().port();
        head[11..13].copy_from_slice(&port.to_be_bytes());
        self.send(head, &text(keys));
        self.receive().expect("a login response")
    }

    /// Logs in to a normal session with these operational keys; returns the answers.
    pub fn log_in(&mut self, keys: &[(&str, &str)]) -> String {
        let names = [("InitiatorName", "iqn.2026-11.com.example:test"), ("TargetName", TARGET)];
        let answer = self.login(0, Some(1), &[&names[..], &[("AuthMethod", "None")]].concat());
        assert_eq!((answer.login_status(), answer.head[1]), ((0, 0), 0x81));
        let answer = self.login(1, Some(3), keys);
        assert_eq!((answer.login_status(), answer.head[1]), ((0, 0), 0x87));
        let answers = String::from_utf8(answer.data).unwrap();
        self.digests =
            (answers.contains("HeaderDigest=CRC32C"), answers.contains("DataDigest=CRC32C"));
        answers
    }

    /// Sends a command; returns its tag. Flags: 0x80 final, 0x40 read, 0x20 write, then the
    /// attribute (1 simple, 2 ordered, 3 head of queue).
    pub fn command(&mut self, flags: u8, lun: u16, cdb: &[u8], expected: u32, data: &[u8]) -> u32 {
        self.tag += 1;
        let (tag, cmd_sn) = (self.tag, self.cmd_sn);
        let mut head = head(0x01, flags, lun, tag, &[(20, expected), (24, cmd_sn)]);
        head[32..32 + cdb.len().min(16)].copy_from_slice(&cdb[..cdb.len().min(16)]);
        self.cmd_sn = self.cmd_sn.wrapping_add(1);
        self.send(head, data);
        tag
    }

    /// Executes a command with immediate data or data from the target; returns the message
    /// with the status, and in its data those of the command (or the sense data).
    pub fn execute(&mut self, lun: u16, cdb: &[u8], expected: u32, data: &[u8]) -> Pdu {
        let flags = match (expected, data.is_empty()) {
            (0, true) => 0x81,
            (_, true) => 0xc1,
            (_, false) => 0xa1,
        };
        self.command(flags, lun, cdb, expected.max(data.len() as u32), data);
        self.status()
    }

    /// Receives until a status; returns its message, with all data before it.
    pub fn status(&mut self) -> Pdu {
        let mut data = Vec::new();
        loop {
            let mut pdu = self.receive().expect("a status");
            match pdu.opcode() {
                0x25 => {
                    assert_eq!(pdu.field(40) as usize, data.len());
                    data.extend_from_slice(&pdu.data);
                    if pdu.head[1] & 1 != 0 {
                        pdu.data = data;
                        return pdu;
                    }
                }
                0x21 => {
                    if !data.is_empty() {
                        data.extend_from_slice(&pdu.data);
                        pdu.data = data;
                    }
                    return pdu;
                }
                other => panic!("opcode {other:#x}"),
            }
        }
    }

    /// Sends data for a command.
    pub fn data_out(
        &mut self,
        tag: u32,
        transfer: u32,
        number: u32,
        offset: u32,
        data: &[u8],
        last: bool,
    ) {
        let flags = if last { 0x80 } else { 0 };
        let fields = [(20, transfer), (36, number), (40, offset)];
        self.send(head(0x05, flags, 0, tag, &fields), data);
    }
}

pub fn read_10(lbn: u32, blocks: u16) -> Vec<u8> {
    let mut cdb = vec![0x28, 0];
    cdb.extend(lbn.to_be_bytes());
    cdb.push(0);
    cdb.extend(blocks.to_be_bytes());
    cdb.push(0);
    cdb
}

pub fn write_10(lbn: u32, blocks: u16) -> Vec<u8> {
    let mut cdb = read_10(lbn, blocks);
    cdb[0] = 0x2a;
    cdb
}
