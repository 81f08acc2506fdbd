//! A logical unit: an export as SCSI commands see it.

use super::sense::{Key, Sense};
use super::task_set::TaskSet;
use crate::errno::Errno;
use crate::export::Export;
use sledsim_base::units::BLOCK_BYTES;
use std::sync::{Arc, Mutex, PoisonError};

/// The most blocks that one command reads or writes (32 MiB).
pub(super) const MAXIMUM_BLOCKS: u32 = 1 << 16;

/// What initiators can change of a logical unit, all of them together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UnitSettings {
    /// Whether sense data are descriptors (D_SENSE of the control mode page).
    pub(super) descriptor_sense: bool,
    /// Whether the Link bit of reads and writes joins them to a batch.
    pub(super) batch_by_link: bool,
    /// Whether the group number of reads and writes does.
    pub(super) batch_by_group: bool,
    /// Whether START STOP UNIT has stopped it.
    pub(super) stopped: bool,
}

/// A logical unit.
pub(super) struct LogicalUnit {
    /// Its number.
    pub(super) number: u16,
    pub(super) export: Arc<Export>,
    pub(super) tasks: TaskSet,
    settings: Mutex<UnitSettings>,
}

impl LogicalUnit {
    pub(super) fn new(number: u16, export: Arc<Export>) -> Self {
        Self { number, export, tasks: TaskSet::default(), settings: Mutex::default() }
    }

    /// Its capacity in blocks.
    pub(super) fn blocks(&self) -> u64 {
        self.export.bytes() / BLOCK_BYTES
    }

    /// Refuses blocks that it does not have.
    pub(super) fn must_have(&self, lbn: u64, blocks: u64) -> Result<(), Sense> {
        let end = lbn.checked_add(blocks);
        match end.is_some_and(|end| end <= self.blocks()) {
            true => Ok(()),
            false => Err(Sense::OUT_OF_RANGE),
        }
    }

    pub(super) fn settings(&self) -> UnitSettings {
        *self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes its settings; returns whether they differ then.
    pub(super) fn change(&self, change: impl FnOnce(&mut UnitSettings)) -> bool {
        let mut settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        let before = *settings;
        change(&mut settings);
        *settings != before
    }

    /// Refuses access to its medium while it has no power or is stopped.
    pub(super) fn must_be_ready(&self) -> Result<(), Sense> {
        match () {
            () if !self.export.is_on() => Err(Sense::NO_POWER),
            () if self.settings().stopped => Err(Sense::STOPPED),
            () => Ok(()),
        }
    }

    /// The sense data of an access to `blocks` blocks from `lbn` on that the export has
    /// answered with `errno`.
    pub(super) fn failure(&self, errno: Errno, is_read: bool, lbn: u64, blocks: u64) -> Sense {
        match errno {
            Errno::INVAL => Sense::OUT_OF_RANGE,
            Errno::ROFS => Sense::WRITE_PROTECTED,
            Errno::NOSPC => Sense::NO_SPACE,
            _ if !self.export.is_on() => Sense::NO_POWER,
            _ if is_read => match self.first_unreadable(lbn, blocks) {
                Some(bad) => Sense::READ_ERROR.at(bad),
                None => Sense::READ_ERROR,
            },
            Errno::IO => Sense::WRITE_ERROR,
            _ => Sense::of(Key::HardwareError, Sense::INTERNAL.code),
        }
    }

    /// The first of these blocks that cannot be read: by its store, or since power has
    /// failed.
    fn first_unreadable(&self, lbn: u64, blocks: u64) -> Option<u64> {
        let mut block = [0; BLOCK_BYTES as usize];
        let (store, power) = (self.export.store(), self.export.power());
        (lbn..lbn + blocks).find(|&lbn| {
            power.is_some_and(|power| power.cannot_read(lbn..lbn + 1))
                || store.read(lbn * BLOCK_BYTES, &mut block).is_err()
        })
    }
}
