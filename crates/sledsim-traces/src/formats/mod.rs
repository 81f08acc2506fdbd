//! The readers of the formats, one file per format.
//!
//! In reading order: `disksim_ascii` and `mqsim`, which share `five_words`; the
//! other text formats `disksim_validate`, `spc`, `msr`, `systor`, `alibaba`,
//! `tencent`, `blkparse` and `fio_iolog`; the binary formats `hp_srt`, `vscsi`
//! and `oracle_general` (refused as requests); the generic `csv`.

mod alibaba;
mod blkparse;
pub(super) mod csv;
mod disksim_ascii;
mod disksim_validate;
mod fio_iolog;
mod five_words;
mod hp_srt;
mod mqsim;
mod msr;
pub(super) mod oracle_general;
mod spc;
mod systor;
mod tencent;
mod vscsi;

use crate::format::{Format, Formats};
use crate::writers::WRITERS;
use sledsim_base::registry::Registry;

/// All formats, in the order in which they are listed.
pub const FORMATS: Registry<Format> = Registry::new(&[
    disksim_ascii::ENTRY,
    mqsim::ENTRY,
    disksim_validate::ENTRY,
    fio_iolog::ENTRY,
    blkparse::ENTRY,
    hp_srt::ENTRY,
    spc::ENTRY,
    msr::ENTRY,
    systor::ENTRY,
    alibaba::ENTRY,
    tencent::ENTRY,
    vscsi::ENTRY,
    oracle_general::ENTRY,
    csv::ENTRY,
]);

impl Default for Formats {
    fn default() -> Self {
        Self { readers: FORMATS, writers: WRITERS }
    }
}
