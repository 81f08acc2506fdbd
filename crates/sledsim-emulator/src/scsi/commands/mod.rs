//! The commands, one file for each family.
//!
//! Accesses to blocks:
//! - `blocks`: fields, ranges and replies that they share.
//! - `several`: several commands of the export for one task.
//! - `read_write`: READ and WRITE.
//! - `batches`: reads and writes that form a batch.
//! - `scattered`: WRITE SCATTERED.
//! - `verify`: VERIFY, WRITE AND VERIFY.
//! - `exchange`: COMPARE AND WRITE, ORWRITE.
//! - `write_same`: WRITE SAME.
//! - `unmap`: UNMAP, GET LBA STATUS.
//! - `format`: FORMAT UNIT.
//! - `cache`: SYNCHRONIZE CACHE, PRE-FETCH.
//!
//! What a logical unit is:
//! - `inquiry`: INQUIRY.
//! - `product_data`: the vital product data of INQUIRY.
//! - `capacity`: READ CAPACITY.
//! - `mode`: MODE SENSE, MODE SELECT.
//! - `mode_pages`: the mode pages, also that of the parallel interface.
//! - `log`: LOG SENSE.
//! - `reports`: REPORT LUNS, REPORT SUPPORTED OPERATION CODES and the like.
//! - `unit_control`: TEST UNIT READY, REQUEST SENSE, START STOP UNIT, SEND DIAGNOSTIC.
//! - `parallel`: the vendor command with the functions of the parallel interface.

mod batches;
mod blocks;
mod cache;
mod capacity;
mod exchange;
mod format;
mod inquiry;
mod log;
mod mode;
mod mode_pages;
mod parallel;
mod product_data;
mod read_write;
mod reports;
mod scattered;
mod several;
#[cfg(test)]
mod tests;
mod unit_control;
mod unmap;
mod verify;
mod write_same;

use super::sense::Sense;
use super::table::Entry;

/// All commands, by family.
static FAMILIES: [&[Entry]; 15] = [
    &read_write::COMMANDS,
    &scattered::COMMANDS,
    &verify::COMMANDS,
    &exchange::COMMANDS,
    &write_same::COMMANDS,
    &unmap::COMMANDS,
    &format::COMMANDS,
    &cache::COMMANDS,
    &inquiry::COMMANDS,
    &capacity::COMMANDS,
    &mode::COMMANDS,
    &log::COMMANDS,
    &reports::COMMANDS,
    &unit_control::COMMANDS,
    &parallel::COMMANDS,
];

/// Bytes of the blocks that the CDB of an access names, at most those that one command may
/// move.
pub(super) fn block_bytes(cdb: &[u8]) -> u64 {
    let most = u64::from(super::unit::MAXIMUM_BLOCKS);
    blocks::Fields::of(cdb).blocks.min(most) * sledsim_base::units::BLOCK_BYTES
}

/// All commands.
fn all() -> impl Iterator<Item = &'static Entry> {
    FAMILIES.iter().copied().flatten()
}

/// Finds the entry of a command of 6 bytes at least.
pub(super) fn find(cdb: &[u8]) -> Result<&'static Entry, Sense> {
    let found = all().find(|entry| entry.is(cdb));
    found.ok_or_else(|| match all().any(|entry| entry.opcode == cdb[0]) {
        true => Sense::invalid_field(1),
        false => Sense::NO_SUCH_COMMAND,
    })
}
