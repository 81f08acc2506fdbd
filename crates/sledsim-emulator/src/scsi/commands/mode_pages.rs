//! The mode pages (SPC-4, section 7.5; SBC-3, section 6.4).
//!
//! Page 20h, of the vendor, is the parallel interface of a single sled (CMU-CS-03-125,
//! section 3.4, Tables 2 and 3):
//!
//! | Byte     | Contents                                                               |
//! |----------|------------------------------------------------------------------------|
//! | 2, bit 0 | LINK: the Link bit of reads and writes joins them to a batch           |
//! | 2, bit 1 | GROUP: their group number does                                         |
//! | 2, bit 7 | SERVED: the device serves a batch as one                               |
//! | 4 to 39  | p, N, S_x, S_y, M, N_x, N_y, S_T and S_C, 4 bytes each; M is that of now |
//! | 40 to 47 | reserved                                                               |
//!
//! LINK and GROUP can be changed, and are not set both.

use super::parallel;
use crate::scsi::bytes::put;
use crate::scsi::unit::{LogicalUnit, UnitSettings};
use sledsim_core::model::links::Links;

/// A mode page of the format without a subpage code.
pub(super) struct ModePage {
    /// Its page code.
    pub(super) code: u8,
    /// Its bytes, with the header of two.
    pub(super) bytes: usize,
    /// Whether a logical unit has it.
    pub(super) exists: fn(&LogicalUnit) -> bool,
    /// Fills in its values with these settings.
    fill: fn(&LogicalUnit, &UnitSettings, &mut [u8]),
    /// The bits that initiators can change, by byte.
    changeable: &'static [(usize, u8)],
    /// Takes over those bits; returns the byte that is invalid, if one is.
    apply: fn(&mut UnitSettings, &[u8]) -> Result<(), usize>,
}

const WCE: u8 = 1 << 2;
const D_SENSE: u8 = 1 << 2;
const SWP: u8 = 1 << 3;
const LINK: u8 = 1 << 0;
const GROUP: u8 = 1 << 1;
const SERVED: u8 = 1 << 7;

/// All mode pages, in ascending order.
pub(super) static PAGES: [ModePage; 5] = [
    // Read-write error recovery.
    fixed(0x01, 12, |_, _, _| ()),
    // Caching: writes may be in volatile buffers until they are flushed.
    fixed(0x08, 20, |_, _, page| page[2] = WCE),
    // Control.
    ModePage {
        changeable: &[(2, D_SENSE)],
        apply: |settings, page| {
            settings.descriptor_sense = page[2] & D_SENSE != 0;
            Ok(())
        },
        ..fixed(0x0a, 12, |unit, settings, page| {
            page[2] = if_set(D_SENSE, settings.descriptor_sense);
            page[3] = 0x10; // unrestricted reordering
            page[4] = if_set(SWP, unit.export.is_read_only());
        })
    },
    // Informational exceptions control.
    fixed(0x1c, 12, |_, _, _| ()),
    // Parallel interface.
    ModePage {
        exists: |unit| parallel::interface(unit).is_some(),
        changeable: &[(2, LINK | GROUP)],
        apply: |settings, page| {
            settings.batch_by_link = page[2] & LINK != 0;
            settings.batch_by_group = page[2] & GROUP != 0;
            match settings.batch_by_link && settings.batch_by_group {
                true => Err(2),
                false => Ok(()),
            }
        },
        ..fixed(0x20, 48, fill_parallel)
    },
];

/// A page of all logical units without a changeable bit.
const fn fixed(
    code: u8,
    bytes: usize,
    fill: fn(&LogicalUnit, &UnitSettings, &mut [u8]),
) -> ModePage {
    ModePage { code, bytes, exists: |_| true, fill, changeable: &[], apply: |_, _| Ok(()) }
}

const fn if_set(bit: u8, is_set: bool) -> u8 {
    match is_set {
        true => bit,
        false => 0,
    }
}

fn fill_parallel(unit: &LogicalUnit, settings: &UnitSettings, page: &mut [u8]) {
    let timeline = unit.export.timeline();
    page[2] = if_set(LINK, settings.batch_by_link)
        | if_set(GROUP, settings.batch_by_group)
        | if_set(SERVED, timeline.links() == Links::Served);
    if let Some(sled) = parallel::interface(unit) {
        put(page, 4, &parallel::values(&sled, timeline.now()));
    }
}

impl ModePage {
    /// The page of this code that a logical unit has.
    pub(super) fn find(unit: &LogicalUnit, code: u8) -> Option<&'static Self> {
        let found = PAGES.iter().find(|page| page.code == code);
        found.filter(|page| (page.exists)(unit))
    }

    fn empty(&self) -> Vec<u8> {
        let mut page = vec![0; self.bytes];
        page[0] = self.code;
        page[1] = (self.bytes - 2) as u8;
        page
    }

    /// Its values with these settings.
    pub(super) fn values(&self, unit: &LogicalUnit, settings: &UnitSettings) -> Vec<u8> {
        let mut page = self.empty();
        (self.fill)(unit, settings, &mut page);
        page
    }

    /// The mask of the bits that initiators can change.
    pub(super) fn mask(&self) -> Vec<u8> {
        let mut page = self.empty();
        for (at, bits) in self.changeable {
            page[*at] = *bits;
        }
        page
    }

    /// Takes over `page`, as long as this one, into `settings`; returns the byte that is
    /// invalid, if one is.
    pub(super) fn apply(
        &self,
        unit: &LogicalUnit,
        settings: &mut UnitSettings,
        page: &[u8],
    ) -> Result<(), usize> {
        let current = self.values(unit, settings);
        let mask = self.mask();
        for at in 2..self.bytes {
            if (page[at] ^ current[at]) & !mask[at] != 0 {
                return Err(at);
            }
        }
        (self.apply)(settings, page)
    }
}
