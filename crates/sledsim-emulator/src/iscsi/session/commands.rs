//! SCSI commands of a session, and their data.

use super::{REJECT_PROTOCOL, Session, protocol};
use crate::iscsi::parameters::Parameters;
use crate::iscsi::pdu::Received;
use crate::iscsi::reply::{BUSY, CommandInFlight, CommandInfo, TASK_SET_FULL};
use crate::iscsi::transfer::{Arrived, Transfer};
use crate::net::{ClientErrorKind, Conversation, End};
use crate::scsi::{Attribute, Task};

impl Session<'_> {
    pub(super) fn command(&mut self, message: &Received, data: &[u8]) -> Result<(), End> {
        let Some(nexus) = &self.nexus else {
            self.count(message);
            self.reject(message, REJECT_PROTOCOL);
            return Ok(());
        };
        let flags = message.bytes[1];
        let (is_read, is_write) = (flags & 0x40 != 0, flags & 0x20 != 0);
        let attribute = match flags & 7 {
            2 => Attribute::Ordered,
            3 => Attribute::HeadOfQueue,
            _ => Attribute::Simple,
        };
        let expected = message.field(20);
        let (expected_in, expected_out) = match (is_read, is_write) {
            (_, true) => (0, expected),
            (true, false) => (expected, 0),
            (false, false) => (0, 0),
        };
        let unsolicited = self.unsolicited(message, data, is_write, expected)?;
        let mut task = nexus.begin(message.lun(), &message.cdb(), attribute);
        task.offer(expected_out.into());
        let info = CommandInfo {
            tag: message.tag(),
            lun: message.lun(),
            is_numbered: !message.is_immediate(),
            expected_in,
            expected_out,
            taken: task.data_out_bytes(),
        };
        let is_full = self.sender.outstanding() >= self.target.limits().requests;
        let command = CommandInFlight::enter(&self.sender, info, task.id());
        self.count(message);
        let Some(command) = command else {
            let why = format!("tag {:#x}: is in use by another command", info.tag);
            return Err(protocol(message, &why));
        };
        if is_full {
            command.refuse(TASK_SET_FULL);
        } else if !is_write {
            self.execute(task, command, &[]);
        } else if unsolicited.is_none() && data.len() as u64 >= info.taken.min(expected.into()) {
            // All data are here: they need not be copied.
            let taken = data.len().min(info.taken as usize);
            self.execute(task, command, &data[..taken]);
        } else {
            self.transfers.begin(task, command, data, unsolicited);
            self.transfers.solicit(&self.sender);
        }
        Ok(())
    }

    /// Handles a message with data of a command.
    pub(super) fn data(&mut self, message: &Received, data: &[u8]) {
        match self.transfers.receive(message, data, &self.sender) {
            Arrived::Part => {}
            Arrived::All(transfer) => {
                let Transfer { task, command, data, .. } = transfer;
                self.execute(task, command, &data);
            }
            Arrived::Wrong(transfer, why) => {
                let client = self.connection.client;
                self.target.shared.note(ClientErrorKind::Protocol, client, &why);
                transfer.task.refuse_data(Box::new(transfer.command));
            }
        }
        self.transfers.solicit(&self.sender);
    }

    /// The offset up to which a command sends data that it is not asked for, if any come
    /// after its own message.
    fn unsolicited(
        &self,
        message: &Received,
        data: &[u8],
        is_write: bool,
        expected: u32,
    ) -> Result<Option<usize>, End> {
        let Parameters { first_burst, initial_r2t, immediate_data, .. } = self.parameters;
        let most = first_burst.min(expected) as usize;
        if !data.is_empty() {
            if !is_write || !immediate_data {
                return Err(protocol(message, "immediate data, which are not allowed"));
            }
            if data.len() > most {
                let why = format!("{} bytes of immediate data: at most {most}", data.len());
                return Err(protocol(message, &why));
            }
        }
        if !is_write || message.is_final() {
            return Ok(None);
        }
        match initial_r2t {
            true => Err(protocol(message, "unsolicited data, which are not allowed")),
            false => Ok(Some(most)),
        }
    }

    /// Executes a command whose data are here.
    fn execute(&self, task: Task, mut command: CommandInFlight, data: &[u8]) {
        let Some(nexus) = &self.nexus else {
            return;
        };
        let limiter = &self.link.limiter;
        let size = task.memory_bytes();
        if !limiter.fits(size) {
            self.link.release();
            // The commands in flight end by themselves, and this one waits for that, unless
            // one of them waits for a message that only this thread can read.
            if !self.transfers.is_empty() || nexus.is_stalled() {
                nexus.abandon_batches();
                return command.refuse(TASK_SET_FULL);
            }
        }
        let open = limiter.enter(size, || self.link.release());
        command.admit(size);
        // In this order, a thread that stops the server either sees the command in flight,
        // or the command is refused.
        if !open || self.target.shared.is_stopping() {
            return command.refuse(BUSY);
        }
        task.run(data, Box::new(command));
    }
}
