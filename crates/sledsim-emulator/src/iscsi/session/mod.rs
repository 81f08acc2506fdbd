//! The session of a connection: the login, then the full feature phase.

mod commands;
mod management;
mod text;

use super::login::{Agreed, Login};
use super::parameters::{Parameters, RECEIVED_MAXIMUM};
use super::pdu::{
    DATA_OUT, FINAL, LOGOUT, LOGOUT_RESPONSE, NO_TAG, NOP_IN, NOP_OUT, REJECT, Received,
    SCSI_COMMAND, SNACK, TASK_MANAGEMENT, TEXT, header, set,
};
use super::reply::{Numbering, Sender};
use super::target::Target;
use super::transfer::Transfers;
use super::{Settings, TargetName};
use crate::front_end::Exports;
use crate::net::{
    ClientErrorKind, ClientErrorStats, Connection, Conversation, End, Input, Limits, Link,
    Protocol, Shared,
};
use crate::scsi::Nexus;
use rustix::fd::OwnedFd;
use std::sync::{Arc, Weak};

/// Reasons of a reject (RFC 7143, section 11.17.1).
const REJECT_SNACK: u8 = 0x03;
const REJECT_PROTOCOL: u8 = 0x04;
const REJECT_UNSUPPORTED: u8 = 0x05;

/// Immediate commands that are admitted beyond the window.
const IMMEDIATE_MAXIMUM: usize = 8;

/// The longest data for which earlier replies wait, to be sent with its own.
const WAITED_FOR: usize = 64 << 10;

impl Conversation for Target {
    const NAME: &'static str = "iscsi";
    type Agreed = Agreed;
    const UNDONE: &'static str = "logged in";

    fn state(&self) -> &Shared<Connection> {
        &self.shared
    }

    /// With immediate commands.
    fn limits(&self) -> Limits {
        let limits = self.settings.limits();
        Limits { requests: limits.requests + IMMEDIATE_MAXIMUM, ..limits }
    }

    fn agree(
        &self,
        input: &mut Input,
        _connection: &Arc<Connection>,
        settle: &dyn Fn(),
    ) -> Result<Agreed, End> {
        Login::new(input, self, self.new_handle(), settle).run()
    }

    fn receive(
        &self,
        agreed: Agreed,
        input: &mut Input,
        connection: &Arc<Connection>,
        link: &Arc<Link>,
    ) -> Result<(), End> {
        if !agreed.is_discovery {
            self.establish((agreed.initiator.clone(), agreed.isid), connection);
        }
        // When it ends, no command waits for data or for other commands any more.
        Session::new(self, connection, link, &agreed).receive(input)
    }
}

/// Serves one initiator at the other end of `socket`, a connected stream socket, until it
/// ends; returns its errors.
pub fn serve(socket: OwnedFd, exports: Arc<Exports>, settings: &Settings) -> ClientErrorStats {
    let target = Target::new(exports, &TargetName::default(), settings);
    target.serve(&Arc::new(target.connect(0, socket)));
    target.shared.client_errors
}

/// A session in the full feature phase.
struct Session<'a> {
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
    fn new(
        target: &'a Target,
        connection: &'a Arc<Connection>,
        link: &Arc<Link>,
        agreed: &Agreed,
    ) -> Self {
        let settings = &target.settings;
        let window = settings.max_outstanding as u32;
        let parameters = agreed.parameters.clone();
        let (stat_sn, cmd_sn) = (agreed.stat_sn, agreed.cmd_sn);
        Self {
            target,
            connection,
            nexus: (!agreed.is_discovery).then(|| target.device.open_nexus()),
            sender: Sender::new(Arc::clone(link), &parameters, window, stat_sn, cmd_sn),
            link: Arc::clone(link),
            transfers: Transfers::new(settings.max_outstanding_bytes, parameters.burst),
            parameters,
            text: Vec::new(),
        }
    }

    /// Reads messages until the initiator logs out.
    fn receive(&mut self, input: &mut Input) -> Result<(), End> {
        self.end_with_power();
        let digests = self.sender.digests();
        let gathers = !self.target.exports.iter().any(|export| export.store().is_durable());
        loop {
            if !input.has(digests.header_bytes()) {
                self.link.release();
            }
            input.expect(!self.transfers.is_empty());
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
            let gathers = gathers && input.has(digests.data_bytes(bytes) + digests.header_bytes());
            if gathers {
                self.link.gather();
            }
            let data = digests.receive_data(input, bytes)?;
            if !self.handle(&message, data)? {
                return Ok(());
            }
        }
    }

    /// A cut of the power of any logical unit ends the session.
    fn end_with_power(&self) {
        for power in self.target.exports.iter().filter_map(|export| export.power()) {
            if let Some(nexus) = &self.nexus {
                let link: Weak<Connection> = Arc::downgrade(self.connection);
                let _ = power.register(nexus.stream(), link);
            }
        }
    }

    /// Handles a message; returns `false` after a logout.
    fn handle(&mut self, message: &Received, data: &[u8]) -> Result<bool, End> {
        if matches!(message.opcode(), NOP_OUT | SCSI_COMMAND | TASK_MANAGEMENT | TEXT | LOGOUT)
            && !self.is_next(message)?
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

    /// Whether a message is the next by its command number. One outside the window is
    /// ignored, as section 4.2.2.1 demands.
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

    /// Answers a logout; returns whether the session goes on.
    fn log_out(&self, message: &Received) -> bool {
        self.count(message);
        let recovery = message.bytes[1] & 0x7f == 2;
        let mut head = header(LOGOUT_RESPONSE, FINAL, 0, message.tag());
        // Response 2: a connection cannot be recovered.
        head[2] = if recovery { 2 } else { 0 };
        self.sender.send(head, Vec::new(), Numbering::Advances, None);
        recovery
    }

    fn reject(&self, message: &Received, reason: u8) {
        let mut head = header(REJECT, FINAL, 0, NO_TAG);
        head[2] = reason;
        self.sender.send(head, message.bytes.to_vec(), Numbering::Advances, None);
    }
}

/// A violation of the protocol by a message.
fn protocol(message: &Received, why: &str) -> End {
    let what = format!("opcode {:#04x}: {why}", message.opcode());
    End::Bad(ClientErrorKind::Protocol, what)
}
