//! The full feature phase of a session.

use super::keys::{Keys, TEXT_MAXIMUM, put};
use super::login::Agreed;
use super::name::portal;
use super::parameters::{Parameters, RECEIVED_MAXIMUM};
use super::pdu::{
    DATA_OUT, FINAL, LOGOUT, LOGOUT_RESPONSE, NO_TAG, NOP_IN, NOP_OUT, REJECT, Received,
    SCSI_COMMAND, SNACK, TASK_MANAGEMENT, TEXT, TEXT_RESPONSE, header, set,
};
use super::reply::{BUSY, CommandInFlight, CommandInfo, Numbering, Sender, TASK_SET_FULL};
use super::target::Target;
use super::transfer::{Arrived, Transfer, Transfers};
use crate::listen::Address;
use crate::scsi::{Attribute, Nexus, Task, TaskManagement};
use crate::stream::{ClientErrorKind, Connection, End, Input, Link};
use std::net::SocketAddr;
use std::sync::{Arc, Weak};

/// Reasons of a reject (RFC 7143, section 11.17.1).
const REJECT_SNACK: u8 = 0x03;
const REJECT_PROTOCOL: u8 = 0x04;
const REJECT_UNSUPPORTED: u8 = 0x05;

/// Responses to task management functions (section 11.6.1).
const COMPLETE: u8 = 0;
const NO_SUCH_TASK: u8 = 1;
const NO_SUCH_LUN: u8 = 2;
const NO_REASSIGNMENT: u8 = 4;
const NOT_SUPPORTED: u8 = 5;

/// Immediate commands that are admitted beyond the window.
const IMMEDIATE_MAXIMUM: usize = 8;

/// The longest data for which earlier replies wait, to be sent with its own.
const WAITED_FOR: usize = 64 << 10;

/// A session in the full feature phase.
pub(super) struct Session<'a> {
    target: &'a Target,
    connection: &'a Arc<Connection>,
    parameters: Parameters,
    /// `None` in a discovery session.
    nexus: Option<Nexus>,
    link: Arc<Link>,
    sender: Arc<Sender>,
    transfers: Transfers,
    /// Text of requests that continue.
    text: Vec<u8>,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        target: &'a Target,
        connection: &'a Arc<Connection>,
        agreed: &Agreed,
    ) -> Self {
        let settings = &target.settings;
        let link = Link::new(connection.socket(), Arc::clone(&connection.limiter));
        let window = settings.max_outstanding as u32;
        let parameters = agreed.parameters.clone();
        let (stat_sn, cmd_sn) = (agreed.stat_sn, agreed.cmd_sn);
        Self {
            target,
            connection,
            nexus: (!agreed.is_discovery).then(|| target.device.open_nexus()),
            sender: Sender::new(Arc::clone(&link), &parameters, window, stat_sn, cmd_sn),
            link,
            transfers: Transfers::new(settings.max_outstanding_bytes, parameters.burst),
            parameters,
            text: Vec::new(),
        }
    }

    /// Serves the session until it ends; passes errors of the initiator to `note`.
    pub(super) fn run(mut self, input: &mut Input, note: &dyn Fn(&End)) {
        let exports = &self.target.exports;
        // A cut of the power of any logical unit ends the session.
        for power in exports.iter().filter_map(|export| export.power()) {
            let link: Weak<Connection> = Arc::downgrade(self.connection);
            let _ = power.register(link);
        }
        if !exports.iter().any(|export| export.store().is_durable()) {
            self.link.gather();
        }
        let end = self.receive(input).err().unwrap_or(End::Well);
        self.link.release();
        note(&end);
        // No command waits for data or for other commands any more.
        let patience = self.target.settings.admission.patience;
        let link = Arc::clone(&self.link);
        let is_bad = matches!(end, End::Bad(..));
        drop(self);
        if is_bad {
            link.end();
        }
        if !link.finish(patience) {
            let why = "closed without reading its replies".to_owned();
            note(&End::Bad(ClientErrorKind::Unread, why));
        }
    }

    /// Reads messages until the initiator logs out.
    fn receive(&mut self, input: &mut Input) -> Result<(), End> {
        let digests = self.sender.digests();
        loop {
            if !input.has(digests.header_bytes()) {
                self.link.release();
            }
            let message = match digests.receive_header(input) {
                Err(End::Eof) if self.sender.outstanding() > 0 => {
                    let why = "closed with commands in flight".to_owned();
                    return Err(End::Bad(ClientErrorKind::Vanished, why));
                }
                message => message?,
            };
            let bytes = message.data_bytes();
            if bytes > RECEIVED_MAXIMUM as usize {
                let why = format!("{bytes} bytes of data: at most {RECEIVED_MAXIMUM} are allowed");
                return Err(protocol(&message, &why));
            }
            if bytes > WAITED_FOR || !input.has(digests.data_bytes(bytes)) {
                self.link.release();
            }
            let data = digests.receive_data(input, bytes)?;
            if !self.handle(&message, data)? {
                return Ok(());
            }
        }
    }

    /// Handles a message; returns `false` after a logout.
    fn handle(&mut self, message: &Received, data: &[u8]) -> Result<bool, End> {
        if matches!(
            message.opcode(),
            NOP_OUT | SCSI_COMMAND | TASK_MANAGEMENT | TEXT | LOGOUT
        ) && !self.is_next(message)?
        {
            return Ok(true);
        }
        match message.opcode() {
            NOP_OUT => self.nop(message, data),
            SCSI_COMMAND => self.command(message, data)?,
            DATA_OUT => self.data(message, data),
            TASK_MANAGEMENT => self.manage(message),
            TEXT => self.text(message, data)?,
            LOGOUT => {
                return Ok(self.log_out(message));
            }
            SNACK => self.reject(message, REJECT_SNACK),
            _ => self.reject(message, REJECT_UNSUPPORTED),
        }
        Ok(true)
    }

    /// Whether a message with a command number is the next; counts it. One outside the
    /// window is ignored, as section 4.2.2.1 demands.
    fn is_next(&self, message: &Received) -> Result<bool, End> {
        if message.is_immediate() {
            return Ok(true);
        }
        let (next, last) = self.sender.command_window();
        let ahead = message.cmd_sn().wrapping_sub(next);
        // `last` is one less than `next` if the window is closed.
        let window = last.wrapping_sub(next).wrapping_add(1);
        if ahead >= window {
            return Ok(false);
        }
        if ahead > 0 {
            let why = format!("CmdSN {}: must be {next} next", message.cmd_sn());
            return Err(protocol(message, &why));
        }
        Ok(true)
    }

    /// Counts a message that is no SCSI command.
    fn count(&self, message: &Received) {
        if !message.is_immediate() {
            self.sender.advance();
        }
    }

    fn nop(&self, message: &Received, data: &[u8]) {
        self.count(message);
        if message.tag() == NO_TAG {
            return;
        }
        let mut head = header(NOP_IN, FINAL, message.lun(), message.tag());
        set(&mut head, 20, NO_TAG);
        let echoed = data[..data.len().min(self.sender.sent_maximum())].to_vec();
        self.sender.send(head, echoed, Numbering::Advances, None);
    }

    fn command(&mut self, message: &Received, data: &[u8]) -> Result<(), End> {
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
        let most = self.target.settings.max_outstanding + IMMEDIATE_MAXIMUM;
        let is_full = self.sender.outstanding() >= most;
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
            let done = self.transfers.begin(task, command, data, unsolicited);
            debug_assert!(done.is_none(), "it waits for data");
            self.transfers.solicit(&self.sender);
        }
        Ok(())
    }

    /// Handles a message with data of a command.
    fn data(&mut self, message: &Received, data: &[u8]) {
        match self.transfers.receive(message, data, &self.sender) {
            Arrived::Part => {}
            Arrived::All(transfer) => {
                let Transfer {
                    task,
                    command,
                    data,
                    ..
                } = transfer;
                self.execute(task, command, &data);
            }
            Arrived::Wrong(transfer, why) => {
                let client = self.connection.client;
                self.target
                    .shared
                    .note(ClientErrorKind::Protocol, client, &why);
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
        let Parameters {
            first_burst,
            initial_r2t,
            immediate_data,
            ..
        } = self.parameters;
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
        let settings = &self.target.settings;
        let limiter = &self.link.limiter;
        let (most, bytes) = (
            settings.max_outstanding + IMMEDIATE_MAXIMUM,
            settings.max_outstanding_bytes,
        );
        let size = task.memory_bytes();
        if !limiter.fits(size, most, bytes) {
            self.link.release();
            // The commands in flight end by themselves, and this one waits for that, unless
            // one of them waits for a message that only this thread can read.
            if !self.transfers.is_empty() || nexus.is_stalled() {
                nexus.abandon_batches();
                return command.refuse(TASK_SET_FULL);
            }
        }
        let open = limiter.enter(size, most, bytes);
        command.admit(size);
        // In this order, a thread that stops the server either sees the command in flight,
        // or the command is refused.
        if !open || self.target.shared.is_stopping() {
            return command.refuse(BUSY);
        }
        task.run(data, Box::new(command));
    }

    fn manage(&mut self, message: &Received) {
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

    fn text(&mut self, message: &Received, data: &[u8]) -> Result<(), End> {
        self.count(message);
        if self.text.len() + data.len() > TEXT_MAXIMUM {
            return Err(protocol(message, "too much text"));
        }
        self.text.extend_from_slice(data);
        let mut head = header(TEXT_RESPONSE, FINAL, message.lun(), message.tag());
        set(&mut head, 20, NO_TAG);
        if message.bytes[1] & 0x40 != 0 {
            // The text continues: an empty answer asks for the rest.
            head[1] = 0;
            set(&mut head, 20, 0);
            self.sender
                .send(head, Vec::new(), Numbering::Advances, None);
            return Ok(());
        }
        let keys = Keys::decode(&std::mem::take(&mut self.text))?;
        let mut answers = Vec::new();
        for (key, value) in keys.iter() {
            match key {
                "SendTargets" => {
                    let name = self.target.name();
                    if value == "All" || value.is_empty() || value == name {
                        put(&mut answers, "TargetName", name);
                        if let Some(address) = local_address(self.connection) {
                            put(&mut answers, "TargetAddress", &format!("{address},1"));
                        }
                    }
                }
                _ => put(&mut answers, key, "NotUnderstood"),
            }
        }
        if answers.len() > self.sender.sent_maximum() {
            return Err(protocol(message, "keys with too long an answer"));
        }
        self.sender.send(head, answers, Numbering::Advances, None);
        Ok(())
    }

    /// Answers a logout; returns whether the session goes on.
    fn log_out(&self, message: &Received) -> bool {
        self.count(message);
        let recovery = message.bytes[1] & 0x7f == 2;
        let mut head = header(LOGOUT_RESPONSE, FINAL, 0, message.tag());
        // Response 2: a connection cannot be recovered.
        head[2] = if recovery { 2 } else { 0 };
        self.sender
            .send(head, Vec::new(), Numbering::Advances, None);
        recovery
    }

    fn reject(&self, message: &Received, reason: u8) {
        let mut head = header(REJECT, FINAL, 0, NO_TAG);
        head[2] = reason;
        self.sender
            .send(head, message.bytes.to_vec(), Numbering::Advances, None);
    }
}

/// A violation of the protocol by a message.
fn protocol(message: &Received, why: &str) -> End {
    let what = format!("opcode {:#04x}: {why}", message.opcode());
    End::Bad(ClientErrorKind::Protocol, what)
}

/// The address of this side of a connection, if it is TCP.
fn local_address(connection: &Connection) -> Option<String> {
    let address = rustix::net::getsockname(&*connection.socket()).ok()?;
    let address = SocketAddr::try_from(address).ok()?;
    Some(portal(&Address::Tcp(
        address.ip().to_string(),
        address.port(),
    )))
}
