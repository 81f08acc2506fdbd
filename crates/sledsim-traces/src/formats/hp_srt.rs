//! HP's `.srt` traces (SRT 1.x), as in the hplajw and cello traces of 1992.

use crate::bytes::Bytes;
use crate::format::{Clock, Format};
use crate::lines::excerpt;
use crate::reader::Reader;
use crate::record::Record;
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;

/// Its registration.
pub(super) const ENTRY: Format = Format {
    name: "hp_srt",
    about: "HP SRT 1.x, binary: time in us, disk, sector, bytes, flags, measured response",
    endings: &["srt"],
    clock: Clock::Start,
    by_columns: false,
    units: None,
    by_action: false,
    open: |input, _| Ok(Box::new(HpSrt::new(Bytes::new(input))?)),
};

/// A header of text that ends in a form feed, then records of big-endian
/// `u32`: `size, id, sec, usec, start_us, stop_us, bytes, sector, device,
/// driver, cylinder, flags, info, ...`.
///
/// `size` counts the bytes of the record itself; the upper half of `id` is the
/// version, the lower the type (1: a request). `sec` and `usec` count from the
/// `tracedate` of the header, `start_us` and `stop_us` from there on. `device`
/// is `major << 24 | disk << 8 | section`, and sectors count from the start of
/// the disk, so that the sections of a disk are one device. The header gives
/// the bytes of a sector for each disk, and the majors of the block and the
/// character devices by which it is reached.
pub struct HpSrt {
    bytes: Bytes,
    disks: Vec<Disk>,
    /// The sector size, if the header has only one.
    sector_bytes: Option<u32>,
    /// Index of the disk of the last record.
    last: usize,
}

/// A disk, which is one device of the trace.
#[derive(Debug, Default, PartialEq, Eq)]
struct Disk {
    /// `disk` in the records.
    number: u32,
    /// Its device number in records.
    device: u32,
    /// The block and character `major` in the file's records; `None` if not in
    /// the header.
    majors: [Option<u32>; 2],
    /// 0 if not in the header.
    sector_bytes: u32,
    /// `major:disk`.
    name: String,
}

/// The first bytes of every header.
const MAGIC: &[u8] = b"$$TR_IOREC";
/// The longest header.
const LONGEST_HEADER: usize = 1 << 18;
/// The fields up to `info`.
const SHORTEST_RECORD: u32 = 52;
const LONGEST_RECORD: u32 = 4_096;
const REQUEST: u32 = 1;

impl HpSrt {
    /// Reads the header from `bytes`.
    pub fn new(mut bytes: Bytes) -> Result<Self> {
        // In small steps: only the head of the file may be available.
        let mut look = 1 << 10;
        while look < LONGEST_HEADER {
            let ahead = bytes.peek(look)?;
            if ahead.len() < look || memchr::memchr(0x0c, ahead).is_some() {
                break;
            }
            look *= 2;
        }
        let ahead = bytes.peek(look.min(LONGEST_HEADER))?;
        if !ahead.starts_with(MAGIC) {
            let problem = match ahead {
                [] => "no requests".to_owned(),
                _ => format!(
                    "begins with '{}': an HP SRT trace begins with '$$TR_IOREC'",
                    excerpt(&ahead[..ahead.len().min(MAGIC.len())])
                ),
            };
            return Err(bytes.refuse(problem));
        }
        let Some(end) = memchr::memchr(0x0c, ahead) else {
            let looked = ahead.len();
            return Err(bytes.refuse(format!(
                "no form feed (0x0c) that ends the header within {looked} bytes"
            )));
        };
        let disks = match disks(&ahead[..end]) {
            Ok(disks) => disks,
            Err(problem) => return Err(bytes.refuse(format!("header: {problem}"))),
        };
        bytes.skip(end + 1);
        let mut sizes = disks.iter().map(|disk| disk.sector_bytes);
        let first = sizes.next().filter(|&size| size > 0);
        let sector_bytes = first.filter(|first| sizes.all(|size| size == *first));
        Ok(Self { bytes, disks, sector_bytes, last: 0 })
    }

    /// The index of the disk with these numbers, added if unknown.
    #[inline]
    fn disk(&mut self, major: u32, number: u32) -> usize {
        let is = |disk: &Disk| {
            disk.number == number
                && (disk.majors == [None; 2] || disk.majors.contains(&Some(major)))
        };
        if !self.disks.get(self.last).is_some_and(is) {
            self.last = match self.disks.iter().position(is) {
                Some(index) => index,
                None => self.add(major, number),
            };
            let disk = &mut self.disks[self.last];
            if disk.majors == [None; 2] {
                // Not in the header: take the first one seen.
                disk.majors[0] = Some(major);
                disk.name = format!("{major}:{number}");
            }
        }
        self.last
    }

    /// Adds a disk missing in the header. Its device number is its disk number
    /// if free, else the next free one.
    #[cold]
    fn add(&mut self, major: u32, number: u32) -> usize {
        let taken = |device| self.disks.iter().any(|disk| disk.device == device);
        let device = (number..).find(|&device| !taken(device));
        self.disks.push(Disk {
            number,
            device: device.unwrap_or(u32::MAX),
            majors: [Some(major), None],
            sector_bytes: self.sector_bytes.unwrap_or(0),
            name: format!("{major}:{number}"),
        });
        self.disks.len() - 1
    }
}

impl Reader for HpSrt {
    fn next(&mut self) -> Result<Option<Record>> {
        let size = match *self.bytes.peek(4)? {
            [] => return Ok(None),
            [a, b, c, d] => u32::from_be_bytes([a, b, c, d]),
            // Fails: the file is cut off.
            _ => return self.bytes.take(4).map(|_| None),
        };
        if !(SHORTEST_RECORD..=LONGEST_RECORD).contains(&size) || !size.is_multiple_of(4) {
            return Err(self.bytes.refuse(format!(
                "size of the record is {size}: must be a multiple of 4 from {SHORTEST_RECORD} to \
                 {LONGEST_RECORD}"
            )));
        }
        let Some(record) = self.bytes.take(size as usize)? else {
            return Ok(None);
        };
        let mut fields = [0; 12];
        for (field, bytes) in fields.iter_mut().zip(record.chunks_exact(4)) {
            *field = bytes.iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte));
        }
        let [_, id, sec, usec, start, stop, bytes, sector, device, _, _, flags] = fields;
        let bad = |problem: String| Err(self.bytes.refuse(problem));
        let (version, kind) = (id >> 16, id & 0xffff);
        if kind != REQUEST || !(1..=4).contains(&version) {
            return bad(format!(
                "id is version {version}, type {kind}: must be version 1 to 4 and type 1, a request"
            ));
        }
        if usec >= 1_000_000 {
            return bad(format!("usec is {usec}: must be below 1000000"));
        }
        if bytes == 0 {
            return bad("bytes is 0: must be at least 1".to_owned());
        }
        if start > stop {
            return bad(format!("start is {start} us: must be at most stop, {stop} us"));
        }
        let (major, number) = (device >> 24, device >> 8 & 0xffff);
        let index = self.disk(major, number);
        let disk = &self.disks[index];
        if disk.sector_bytes == 0 {
            return Err(self.bytes.refuse(format!(
                "device is {device:#010x}, disk {number} of major {major}: the header gives no \
                 sectorsize for it, nor one that all disks share"
            )));
        }
        Ok(Some(Record {
            time: Nanos(u64::from(sec) * 1_000_000_000 + u64::from(usec) * 1_000),
            device: disk.device,
            op: if flags & 1 == 1 { Op::Read } else { Op::Write },
            offset: u64::from(sector) * u64::from(disk.sector_bytes),
            bytes: u64::from(bytes),
            response: Some(Nanos(u64::from(stop) * 1_000)),
            queue: Some(Nanos(u64::from(start) * 1_000)),
            ..Record::default()
        }))
    }

    fn refuse(&self, problem: String) -> Error {
        self.bytes.refuse(problem)
    }

    fn device_name(&self, device: u32) -> Option<&str> {
        let disk = self.disks.iter().find(|disk| disk.device == device);
        disk.map(|disk| disk.name.as_str())
    }

    fn bytes_read(&self) -> u64 {
        self.bytes.bytes_read()
    }
}

/// The disks that a header names: `disks = { 0 -> { ..., blockmajor = 8, ...,
/// sectorsize = 256, ... }, 1 -> { ... } }`.
fn disks(header: &[u8]) -> std::result::Result<Vec<Disk>, String> {
    let mut disks: Vec<Disk> = Vec::new();
    let mut depth = 0_usize;
    // The last word.
    let mut last: &[u8] = b"";
    let mut inside = false;
    let mut rest = header;
    while let Some(token) = next_token(&mut rest) {
        match token {
            b"{" => {
                depth += 1;
                if last == b"disks" && depth == 1 {
                    inside = true;
                } else if inside && depth == 2 {
                    let number = std::str::from_utf8(last).ok().and_then(|n| n.parse().ok());
                    let Some(number) = number.filter(|&number: &u32| number <= 0xffff) else {
                        let found = excerpt(last);
                        return Err(format!(
                            "disk number is '{found}': must be a whole number from 0 to 65535"
                        ));
                    };
                    if disks.iter().any(|disk| disk.number == number) {
                        return Err(format!("disk {number} occurs twice"));
                    }
                    disks.push(Disk { number, device: number, ..Disk::default() });
                }
            }
            b"}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    inside = false;
                }
            }
            b"=" | b"->" | b"," | b";" | b"(" | b")" => {
                if token != b"=" && token != b"->" {
                    last = b"";
                }
                continue;
            }
            word => {
                let key = std::mem::replace(&mut last, word);
                if inside && depth == 2 {
                    let disk = disks.last_mut().ok_or("a key before the first disk")?;
                    set(disk, key, word)?;
                }
                continue;
            }
        }
        last = b"";
    }
    for disk in &mut disks {
        let major = disk.majors[0].or(disk.majors[1]).unwrap_or(0);
        disk.name = format!("{major}:{}", disk.number);
    }
    Ok(disks)
}

/// Stores `key = value` of a disk, if the key is used.
fn set(disk: &mut Disk, key: &[u8], value: &[u8]) -> std::result::Result<(), String> {
    let number = || {
        let text = std::str::from_utf8(value).ok();
        text.and_then(|text| text.parse::<u32>().ok())
    };
    let (name, most) = match key {
        b"sectorsize" => ("sectorsize", 1 << 16),
        b"blockmajor" => ("blockmajor", 255),
        b"charactermajor" => ("charactermajor", 255),
        _ => return Ok(()),
    };
    let least = u32::from(name == "sectorsize");
    let Some(number) = number().filter(|number| (least..=most).contains(number)) else {
        let (found, disk) = (excerpt(value), disk.number);
        return Err(format!(
            "{name} of disk {disk} is '{found}': must be a whole number from {least} to {most}"
        ));
    };
    match name {
        "sectorsize" => disk.sector_bytes = number,
        "blockmajor" => disk.majors[0] = Some(number),
        _ => disk.majors[1] = Some(number),
    }
    Ok(())
}

/// The next word, sign or string in quotes.
fn next_token<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let text = rest.trim_ascii_start();
    let end = match text {
        [] => return None,
        [b'"', behind @ ..] => match memchr::memchr(b'"', behind) {
            Some(end) => end + 2,
            None => text.len(),
        },
        [b'-', b'>', ..] => 2,
        [b'{' | b'}' | b'(' | b')' | b'=' | b',' | b';', ..] => 1,
        [_, behind @ ..] => {
            let sign = |byte: &u8| byte.is_ascii_whitespace() || b"{}()=,;\"".contains(byte);
            1 + behind.iter().position(sign).unwrap_or(behind.len())
        }
    };
    let (token, behind) = text.split_at(end);
    *rest = behind;
    Some(token)
}
