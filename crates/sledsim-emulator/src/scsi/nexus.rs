//! An initiator as a target sees it: an I_T nexus (SAM-5, section 4.7).

use super::device::{Device, NexusState};
use super::sense::Sense;
use super::task::{Task, TaskId};
use super::task_set::Attribute;
use super::unit::LogicalUnit;
use std::sync::Arc;

/// A task management function (SAM-5, section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskManagement {
    /// Aborts one task of the initiator, if it is there.
    AbortTask(TaskId),
    /// Aborts the tasks of the initiator in a logical unit.
    AbortTaskSet,
    /// Aborts the tasks of all initiators in a logical unit.
    ClearTaskSet,
    /// Resets a logical unit: aborts its tasks and restores its settings.
    ResetUnit,
    /// Resets all logical units.
    ResetTarget,
}

/// An initiator at a target device. Dropping it aborts its tasks.
pub struct Nexus {
    device: Arc<Device>,
    state: Arc<NexusState>,
}

impl Device {
    /// Opens a nexus for an initiator, which ends when it is dropped.
    pub fn open_nexus(self: &Arc<Self>) -> Nexus {
        Nexus { device: Arc::clone(self), state: self.enter() }
    }
}

impl Nexus {
    /// The stream number of its requests.
    pub fn stream(&self) -> u32 {
        self.state.stream
    }

    /// Begins the command `cdb`, which has arrived now, for the logical unit with the
    /// address `lun`. It keeps its place among the tasks of that unit until it is run or
    /// dropped.
    pub fn begin(&self, lun: u64, cdb: &[u8], attribute: Attribute) -> Task {
        let unit = self.unit(lun).cloned();
        Task::begin(&self.device, &self.state, unit, cdb, attribute)
    }

    /// Whether one of its commands waits for another: in a batch that has not ended, or in
    /// the order of its task set.
    pub fn is_stalled(&self) -> bool {
        let own = self.state.id;
        !self.state.batches.is_empty()
            || (self.device.units.iter()).any(|unit| unit.tasks.has_waiting(own))
    }

    /// Aborts the commands of batches that have not ended, with sense data.
    pub fn abandon_batches(&self) {
        self.state.batches.abandon_all();
    }

    /// Performs a task management function; returns `false` if there is no such logical
    /// unit.
    pub fn manage(&self, lun: u64, function: TaskManagement) -> bool {
        match function {
            TaskManagement::AbortTask(TaskId { unit, number }) => {
                if let Some(unit) = self.device.units.get(usize::from(unit)) {
                    let _ = unit.tasks.abort(|other, _| other == number);
                }
                return true;
            }
            TaskManagement::ResetTarget => {
                for unit in &self.device.units {
                    self.reset(unit);
                }
                return true;
            }
            _ => {}
        }
        let Some(unit) = self.unit(lun) else {
            return false;
        };
        let own = self.state.id;
        match function {
            TaskManagement::AbortTaskSet => {
                let _ = unit.tasks.abort(|_, nexus| nexus == own);
            }
            TaskManagement::ClearTaskSet => {
                let cleared = unit.tasks.abort(|_, _| true);
                let others = |id| id != own && cleared.contains(&id);
                self.device.attend(unit.number, Sense::CLEARED, others);
            }
            _ => self.reset(unit),
        }
        true
    }

    /// Resets a logical unit; all initiators find a unit attention.
    fn reset(&self, unit: &LogicalUnit) {
        let _ = unit.tasks.abort(|_, _| true);
        let _ = unit.change(|settings| *settings = super::unit::UnitSettings::default());
        self.device.attend(unit.number, Sense::UNIT_RESET, |_| true);
    }

    /// The logical unit at an address (SAM-5, section 4.6): one level, by the peripheral
    /// or the flat method.
    fn unit(&self, lun: u64) -> Option<&Arc<LogicalUnit>> {
        let (first, rest) = ((lun >> 48) as u16, lun << 16);
        let number = match first >> 14 {
            0b00 if first < 0x100 => first,
            0b01 => first & 0x3fff,
            _ => return None,
        };
        let unit = self.device.units.get(usize::from(number));
        unit.filter(|_| rest == 0)
    }
}

impl Drop for Nexus {
    fn drop(&mut self) {
        for unit in &self.device.units {
            let _ = unit.tasks.abort(|_, nexus| nexus == self.state.id);
        }
        self.abandon_batches();
    }
}
