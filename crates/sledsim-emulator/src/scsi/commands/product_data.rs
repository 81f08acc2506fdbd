//! Vital product data (SPC-4, section 7.8; SBC-3, section 6.5; SBC-5 for concurrent
//! positioning ranges).

use super::unmap::MAXIMUM_RANGES;
use crate::parallel_interface::Interface;
use crate::scsi::bytes::put;
use crate::scsi::sense::Sense;
use crate::scsi::table::AnyCall;
use crate::scsi::unit::{LogicalUnit, MAXIMUM_BLOCKS};
use sledsim_core::catalog;

/// The vendor.
pub(super) const VENDOR: &[u8; 8] = b"SLEDSIM ";
/// The peripheral qualifier and type of an address without a logical unit.
pub(super) const NO_UNIT: u8 = 0x7f;

/// Makes what follows the header of a page; empty if the unit does not have the page. It gets
/// the name of the target device.
type Contents = fn(&LogicalUnit, &str) -> Vec<u8>;

/// The pages but the list of them, in ascending order.
static PAGES: [(u8, Contents); 7] = [
    (0x80, |unit, target| serial(unit, target).into_bytes()),
    (0x83, designators),
    (0x86, |_, _| extended()),
    (0xb0, |unit, _| limits(unit)),
    (0xb1, |unit, _| characteristics(unit)),
    (0xb2, |_, _| provisioning()),
    (0xb9, |unit, _| positioning_ranges(unit)),
];

/// The bytes after the header in a page of 64 bytes.
const LONG: usize = 60;
/// The most bytes of a designator that are a multiple of four.
const DESIGNATOR_BYTES: usize = 252;

/// A page with its header. At an address without a logical unit there is only the list.
pub(super) fn page(call: &AnyCall<'_>, code: u8) -> Result<Vec<u8>, Sense> {
    let (peripheral, contents) = match (call.unit, code) {
        (None, 0x00) => (NO_UNIT, vec![0x00]),
        (Some(unit), 0x00) => {
            let has = |make: &Contents| !make(unit, call.device.name()).is_empty();
            let codes = PAGES.iter().filter(|(_, make)| has(make)).map(|(code, _)| *code);
            (0, std::iter::once(0x00).chain(codes).collect())
        }
        (Some(unit), _) => {
            let found = PAGES.iter().find(|(known, _)| *known == code);
            (0, found.map_or_else(Vec::new, |(_, make)| make(unit, call.device.name())))
        }
        (None, _) => (0, Vec::new()),
    };
    if contents.is_empty() {
        return Err(Sense::invalid_field(2));
    }
    let [high, low] = (contents.len() as u16).to_be_bytes();
    let mut page = vec![peripheral, code, high, low];
    page.extend_from_slice(&contents);
    Ok(page)
}

/// A number of 60 bits for a logical unit, the same for the same names. It is FNV-1a in 64
/// bits of the name of the target, a zero byte and the name of the export, the high bits
/// folded into the low ones.
fn identity(unit: &LogicalUnit, target: &str) -> u64 {
    let text = target.bytes().chain([0]).chain(unit.export.name().bytes());
    let hash = text.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ (hash >> 60)) & ((1 << 60) - 1)
}

/// The unit serial number: its identity in hexadecimal digits.
fn serial(unit: &LogicalUnit, target: &str) -> String {
    format!("{:015X}", identity(unit, target))
}

/// The designators of the logical unit and of the target device.
fn designators(unit: &LogicalUnit, target: &str) -> Vec<u8> {
    // T10 vendor identification, in ASCII.
    let mut vendor = VENDOR.to_vec();
    vendor.extend_from_slice(serial(unit, target).as_bytes());
    // NAA 3h, locally assigned, in binary.
    let naa = (3 << 60) | identity(unit, target);
    // SCSI name string, in UTF-8: it ends with a zero and is a multiple of four bytes.
    let mut name = target.as_bytes().to_vec();
    name.truncate(DESIGNATOR_BYTES - 1);
    name.resize((name.len() / 4 + 1) * 4, 0);
    let mut all = designator(0x02, 0x01, &vendor);
    all.extend(designator(0x01, 0x03, &naa.to_be_bytes()));
    // Protocol iSCSI; PIV, association with the target device.
    all.extend(designator(0x53, 0xa8, &name));
    all
}

fn designator(code_set: u8, kind: u8, value: &[u8]) -> Vec<u8> {
    let mut bytes = vec![code_set, kind, 0, value.len() as u8];
    bytes.extend_from_slice(value);
    bytes
}

/// Extended INQUIRY data.
fn extended() -> Vec<u8> {
    let mut data = vec![0; LONG];
    data[1] = 0x17; // GROUP_SUP, HEADSUP, ORDSUP, SIMPSUP
    data[2] = 0x01; // V_SUP: its cache is volatile
    data
}

/// Block limits.
fn limits(unit: &LogicalUnit) -> Vec<u8> {
    let device = &unit.export.about().device;
    // A layout may divide the tracks.
    let sled = Interface::of(device).filter(|_| device.layout().is_none());
    let now = unit.export.timeline().now();
    let track = sled.map_or(0, |sled| sled.parallel().parameters(now).s_t);
    let mut data = vec![0; LONG];
    data[0] = 0x01; // WSNZ: WRITE SAME of 0 blocks is refused
    data[1] = 255; // maximum compare and write length
    put(&mut data, 4, &MAXIMUM_BLOCKS.to_be_bytes()); // transfer length
    put(&mut data, 8, &(track.min(MAXIMUM_BLOCKS.into()) as u32).to_be_bytes()); // optimal transfer length
    put(&mut data, 16, &u32::MAX.to_be_bytes()); // blocks of UNMAP
    put(&mut data, 20, &(MAXIMUM_RANGES as u32).to_be_bytes()); // descriptors of UNMAP
    put(&mut data, 24, &1_u32.to_be_bytes()); // optimal unmap granularity
    put(&mut data, 32, &u64::from(MAXIMUM_BLOCKS).to_be_bytes()); // blocks of WRITE SAME
    data
}

/// Block device characteristics.
fn characteristics(unit: &LogicalUnit) -> Vec<u8> {
    let rate = rotation_rate(&unit.export.about().device);
    let mut data = vec![0; LONG];
    put(&mut data, 0, &rate.to_be_bytes());
    data
}

/// Does not report the rate of rotation.
const UNREPORTED: u16 = 0;
/// Does not rotate.
const NON_ROTATING: u16 = 1;

/// The rate of rotation, if it is the same for all parts of the device.
fn rotation_rate(device: &catalog::Device) -> u16 {
    if let Some(disk) = device.disk() {
        let rpm = disk.rpm().round();
        return if (1025.0..=65534.0).contains(&rpm) { rpm as u16 } else { UNREPORTED };
    }
    let mut parts = device.children().iter().map(rotation_rate);
    let Some(first) = parts.next() else {
        return NON_ROTATING;
    };
    match parts.all(|rate| rate == first) {
        true => first,
        false => UNREPORTED,
    }
}

/// Logical block provisioning.
fn provisioning() -> Vec<u8> {
    // No threshold; LBPU, LBPWS, LBPWS10, LBPRZ; thin provisioning. Where power may fail,
    // UNMAP deallocates nothing: see the export.
    vec![0x00, 0xe4, 0x02, 0x00]
}

/// Bytes of a range of LBAs in the page of concurrent positioning ranges.
const RANGE_BYTES: usize = 32;

/// Concurrent positioning ranges: those of a device with several arms.
fn positioning_ranges(unit: &LogicalUnit) -> Vec<u8> {
    let ranges = unit.export.about().device.ranges();
    if ranges.is_empty() {
        return Vec::new();
    }
    let mut data = vec![0; LONG + RANGE_BYTES * ranges.len()];
    for (index, range) in ranges.iter().enumerate() {
        let at = LONG + RANGE_BYTES * index;
        data[at] = index as u8;
        data[at + 1] = 1; // storage elements
        put(&mut data, at + 8, &range.start.to_be_bytes());
        put(&mut data, at + 16, &(range.end - range.start).to_be_bytes());
    }
    data
}
