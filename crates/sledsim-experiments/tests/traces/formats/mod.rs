//! Trace formats: the meaning of each field, and errors about bad ones. The
//! bytes are made here from the descriptions of the formats.

mod csv;
mod every;
mod oracle;
mod speed;
mod srt;
mod text;
mod vscsi;

use crate::common::refusals::{refuse, replaced};
use sledsim_base::error::Result;
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_experiments::formats::all;
use sledsim_traces::{Format, Input, Options, Record};
use std::io::Cursor;

fn format(name: &str) -> Format {
    let found = all().readers.iter().copied().find(|format| format.name == name);
    found.expect("a format of this name")
}

/// All records and the names of their devices.
pub fn read_with(
    name: &str,
    bytes: impl AsRef<[u8]>,
    columns: Option<&str>,
) -> Result<(Vec<Record>, Vec<Option<String>>)> {
    let input = Input::new("t", Box::new(Cursor::new(bytes.as_ref().to_vec())))?;
    let options = Options { columns: columns.map(str::to_owned), ..Options::default() };
    let mut reader = format(name).open(input, &options)?;
    let (mut records, mut names) = (Vec::new(), Vec::new());
    while let Some(record) = reader.next()? {
        names.push(reader.device_name(record.device).map(str::to_owned));
        records.push(record);
    }
    assert_eq!(reader.bytes_read(), bytes.as_ref().len() as u64);
    assert_eq!(reader.next()?, None, "the end stays the end");
    Ok((records, names))
}

fn read(name: &str, bytes: impl AsRef<[u8]>) -> Vec<Record> {
    read_with(name, bytes, None).unwrap().0
}

fn message(name: &str, bytes: impl AsRef<[u8]>) -> String {
    message_with(name, bytes, None)
}

fn message_with(name: &str, bytes: impl AsRef<[u8]>, columns: Option<&str>) -> String {
    let bytes = bytes.as_ref();
    match read_with(name, bytes, columns) {
        Err(error) => error.to_string(),
        Ok(read) => panic!("{} was read as {read:?}", bytes.escape_ascii()),
    }
}

fn record(time_ns: u64, device: u32, op: Op, offset: u64, bytes: u64) -> Record {
    Record { time: Nanos(time_ns), device, op, offset, bytes, ..Record::default() }
}

fn with_response(record: Record, response_ns: u64) -> Record {
    Record { response: Some(Nanos(response_ns)), ..record }
}

/// A table of bad inputs: what replaces what in `good`.
fn refuses(name: &str, good: &str, columns: Option<&str>, table: &str) {
    assert!(read_with(name, good, columns).is_ok(), "{name}: {good}");
    refuse(table, |change| {
        let bad = replaced(good, change).replace("\\0", "\0");
        read_with(name, bad, columns).map(drop)
    });
}

const SRT_HEADER: &str = "\
$$TR_IOREC-1.3 (IOAdaptor Upgrade Version)
version = 1.3;
description = \"a string with { braces }; and sectorsize = 7,\";
sectorsize = 11;
disks = {
  0 -> {
    disktype = hp335h, seekparms = {616, 3450}, queue = {fcfs, 1},
    blockmajor = 8,
    charactermajor = 7,
    adaptor = 1 -> { hp_ib , 1.2 , sectorsize = 13 },
    sectorsize  = 256,
    sections = { 8 -> { \"/\", size = (171760 291362816), sectorsize = 17 } }
  },
  3 -> { sectorsize = 1024, blockmajor = 8 }
};
";

/// The fields of a record behind its size and id.
#[derive(Clone, Copy)]
struct Srt {
    sec: u32,
    usec: u32,
    stop_us: u32,
    bytes: u32,
    sector: u32,
    device: u32,
    flags: u32,
}

const SRT: Srt = Srt {
    sec: 5,
    usec: 250_000,
    stop_us: 19_687,
    bytes: 4_096,
    sector: 1_056,
    device: 0x0800_0008,
    flags: 0x1b,
};

impl Srt {
    /// With so many words behind `info`.
    fn words(self, extra: usize) -> Vec<u32> {
        let Self { sec, usec, stop_us, bytes, sector, device, flags } = self;
        let size = 4 * (13 + extra as u32);
        let mut words = vec![
            size,
            4 << 16 | 1,
            sec,
            usec,
            174,
            stop_us,
            bytes,
            sector,
            device,
            4,
            1,
            flags,
            7 << 16,
        ];
        words.resize(13 + extra, 0xffff_ffff);
        words
    }

    fn bytes(self) -> Vec<u8> {
        big_endian(&self.words(1))
    }
}

fn big_endian(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn srt(header: &str, records: &[Vec<u8>]) -> Vec<u8> {
    let mut file = header.as_bytes().to_vec();
    file.push(0x0c);
    records.iter().for_each(|record| file.extend(record));
    file
}

#[derive(Clone, Copy)]
struct Vscsi {
    opcode: u16,
    version: u16,
    bytes: u32,
    lbn: u64,
    us: u64,
    response_us: u64,
}

const VSCSI: Vscsi = Vscsi {
    opcode: 0x28,
    version: 0x0100,
    bytes: 4_096,
    lbn: 42_932_745,
    us: 5_633_898_368_802,
    response_us: 1_234,
};

impl Vscsi {
    fn v1(self) -> Vec<u8> {
        let mut record = Vec::new();
        record.extend(77_u32.to_le_bytes());
        record.extend(self.bytes.to_le_bytes());
        record.extend(1_u32.to_le_bytes());
        record.extend(self.opcode.to_le_bytes());
        record.extend(self.version.to_le_bytes());
        record.extend(self.lbn.to_le_bytes());
        record.extend(self.us.to_le_bytes());
        record
    }

    fn v2(self) -> Vec<u8> {
        let mut record = Vec::new();
        record.extend(self.opcode.to_le_bytes());
        record.extend(self.version.to_le_bytes());
        record.extend(77_u32.to_le_bytes());
        record.extend(self.bytes.to_le_bytes());
        record.extend(1_u32.to_le_bytes());
        record.extend(self.lbn.to_le_bytes());
        record.extend(self.us.to_le_bytes());
        record.extend(self.response_us.to_le_bytes());
        record
    }
}

const MAP: &str =
    "time=ts:us, offset=lba:512B, bytes=len:B, op=type:0/1, device=vol, response=rt:us";

const CSV: &str = "ts,rt,vol,type,lba,len\n1.5,,4,0,8,4096\n2,7.25,4,1,3,1\n";
