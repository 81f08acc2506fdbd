//! UNMAP, GET LBA STATUS (SBC-3, sections 5.28 and 5.4).

use super::blocks::command;
use super::several::submit_all;
use crate::command::{Command, CommandKind};
use crate::errno::errno_of;
use crate::scsi::bytes::{be16, be32, be64, put};
use crate::scsi::responder::Responder;
use crate::scsi::sense::Sense;
use crate::scsi::table::{Call, Entry, Handler};
use crate::scsi::unit::LogicalUnit;
use sledsim_base::units::BLOCK_BYTES;

/// The most ranges that one UNMAP may have.
pub(super) const MAXIMUM_RANGES: usize = 256;

/// Bytes of the head of a parameter list, and of GET LBA STATUS.
const HEAD: usize = 8;
/// Bytes of a descriptor, of both commands.
const DESCRIPTOR: usize = 16;
/// The most descriptors that GET LBA STATUS returns.
const MAXIMUM_STATUS: usize = 1024;

/// The provisioning status of blocks that have space, and of those that have none.
const MAPPED: u8 = 0;
const DEALLOCATED: u8 = 1;

// The bit ANCHOR is not there: nothing is anchored.
#[rustfmt::skip]
pub(super) static COMMANDS: [Entry; 2] = [
    Entry::new(0x42, &[0x42, 0, 0, 0, 0, 0, 31, 255, 255, 0], Handler::Later(unmap))
        .takes(|cdb| u64::from(be16(cdb, 7))),
    Entry::new(
        0x9e,
        &[0x9e, 0x12, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0],
        Handler::Now(get_lba_status),
    )
    .action(0x12),
];

fn unmap(call: &Call<'_>, responder: Responder) {
    match trims(call) {
        Ok(trims) => submit_all(call.unit, &trims, responder),
        Err(sense) => responder.end(Err(sense)),
    }
}

/// The commands of an UNMAP.
fn trims(call: &Call<'_>) -> Result<Vec<Command<'static>>, Sense> {
    let list = call.data;
    match (be16(call.cdb, 7), list.len()) {
        (0, _) => return Ok(Vec::new()),
        (_, 0..HEAD) => return Err(Sense::PARAMETER_LENGTH),
        _ => {}
    }
    let bytes = usize::from(be16(list, 2));
    let descriptors = list[HEAD..].get(..bytes);
    let descriptors = descriptors.filter(|_| bytes.is_multiple_of(DESCRIPTOR));
    let descriptors = descriptors.ok_or(Sense::invalid_parameter(2))?;
    if bytes / DESCRIPTOR > MAXIMUM_RANGES {
        return Err(Sense::invalid_parameter(2));
    }
    let mut trims = Vec::new();
    for descriptor in descriptors.chunks_exact(DESCRIPTOR) {
        let (lbn, blocks) = (be64(descriptor, 0), u64::from(be32(descriptor, 8)));
        call.unit.must_have(lbn, blocks)?;
        if blocks > 0 {
            trims.push(command(call, CommandKind::Trim(blocks * BLOCK_BYTES), lbn));
        }
    }
    match !trims.is_empty() && call.unit.export.is_read_only() {
        true => Err(Sense::WRITE_PROTECTED),
        false => Ok(trims),
    }
}

fn get_lba_status(call: &Call<'_>) -> Result<Vec<u8>, Sense> {
    call.unit.must_be_ready()?;
    let (lbn, allocated) = (be64(call.cdb, 2), be32(call.cdb, 10) as usize);
    if lbn >= call.unit.blocks() {
        return Err(Sense::OUT_OF_RANGE);
    }
    let most = (allocated.saturating_sub(HEAD) / DESCRIPTOR).clamp(1, MAXIMUM_STATUS);
    let ranges = ranges(call.unit, lbn, most)?;
    let mut data = vec![0; HEAD];
    for Range { lbn, blocks, status } in ranges {
        data.extend_from_slice(&lbn.to_be_bytes());
        data.extend_from_slice(&blocks.to_be_bytes());
        data.extend_from_slice(&[status, 0, 0, 0]);
    }
    let length = data.len() as u32 - 4;
    put(&mut data, 0, &length.to_be_bytes());
    data.truncate(allocated);
    Ok(data)
}

/// Blocks of the same provisioning status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    lbn: u64,
    blocks: u32,
    status: u8,
}

/// The first ranges from `lbn` on, `most` at most.
fn ranges(unit: &LogicalUnit, mut lbn: u64, most: usize) -> Result<Vec<Range>, Sense> {
    let mut ranges: Vec<Range> = Vec::new();
    let capacity = unit.blocks();
    while lbn < capacity {
        // So many fit into a descriptor.
        let left = (capacity - lbn).min(u64::from(u32::MAX));
        let extent = (unit.export.store()).extent(lbn * BLOCK_BYTES, left * BLOCK_BYTES);
        let (bytes, hole) =
            extent.map_err(|error| unit.failure(errno_of(&error), true, lbn, left))?;
        // A block of which only a part is a hole is mapped. Writes may have changed the
        // rest of it meanwhile.
        let (blocks, status) = match (bytes / BLOCK_BYTES) as u32 {
            0 => (1, MAPPED),
            blocks if hole => (blocks, DEALLOCATED),
            blocks => (blocks, MAPPED),
        };
        let full = ranges.len() == most;
        let joined = ranges.last_mut().filter(|last| last.status == status);
        match joined.and_then(|last| Some((last.blocks.checked_add(blocks)?, last))) {
            Some((sum, last)) => last.blocks = sum,
            None if full => break,
            None => ranges.push(Range { lbn, blocks, status }),
        }
        lbn += u64::from(blocks);
    }
    Ok(ranges)
}
