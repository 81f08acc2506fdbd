//! Task management functions of a session.

use super::Session;
use crate::iscsi::pdu::Received;
use crate::scsi::TaskManagement;

/// Responses to task management functions (section 11.6.1).
const COMPLETE: u8 = 0;
const NO_SUCH_TASK: u8 = 1;
const NO_SUCH_LUN: u8 = 2;
const NO_REASSIGNMENT: u8 = 4;
const NOT_SUPPORTED: u8 = 5;

impl Session<'_> {
    pub(super) fn manage(&mut self, message: &Received) {
        self.count(message);
        let response = self.managed(message);
        self.transfers.prune(&self.sender);
        self.sender.answer_management(message.tag(), response);
    }

    /// Performs a task management function; returns the response.
    fn managed(&self, message: &Received) -> u8 {
        let Some(nexus) = &self.nexus else {
            return NOT_SUPPORTED;
        };
        let function = match message.bytes[1] & 0x7f {
            1 => match self.sender.task(message.field(20)) {
                None => return NO_SUCH_TASK,
                // It has no logical unit, and is answered by now.
                Some(None) => return COMPLETE,
                Some(Some(task)) => TaskManagement::AbortTask(task),
            },
            2 => TaskManagement::AbortTaskSet,
            4 => TaskManagement::ClearTaskSet,
            5 => TaskManagement::ResetUnit,
            6 | 7 => TaskManagement::ResetTarget,
            8 => return NO_REASSIGNMENT,
            _ => return NOT_SUPPORTED,
        };
        match nexus.manage(message.lun(), function) {
            true => COMPLETE,
            false => NO_SUCH_LUN,
        }
    }
}
