//! The sending side of a session: sequence numbers, responses to commands.

use super::parameters::Parameters;
use super::pdu::{
    DATA_IN, Digests, FINAL, NO_TAG, SCSI_RESPONSE, TASK_MANAGEMENT_RESPONSE, header, set,
};
use crate::net::{Frame, Header, Link};
use crate::scsi::{Outcome, Status, TaskId, TaskReply};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bits of byte 1 of responses.
const OVERFLOW: u8 = 1 << 2;
const UNDERFLOW: u8 = 1 << 1;
const HAS_STATUS: u8 = 1 << 0;

/// Statuses that the transport gives by itself (SAM-5, section 5.3).
pub(super) const BUSY: u8 = 0x08;
pub(super) const TASK_SET_FULL: u8 = 0x28;

/// How a message takes part in the numbering of statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbering {
    /// It has the next number, and the one after it the next.
    Advances,
    /// It shows the next number.
    Shows,
    /// It has none.
    None,
}

/// The sending side of a session, which its commands share.
pub(super) struct Sender {
    pub(super) link: Arc<Link>,
    digests: Digests,
    sent_maximum: usize,
    burst: usize,
    /// The number of the next status.
    stat_sn: Mutex<u32>,
    /// The number of the next command.
    exp_cmd_sn: AtomicU32,
    /// The most commands in flight, and how many are that have a number.
    window: u32,
    numbered: AtomicU32,
    /// The tasks of the commands in flight, by tag.
    tasks: Mutex<BTreeMap<u32, Option<TaskId>>>,
}

impl Sender {
    pub(super) fn new(
        link: Arc<Link>,
        parameters: &Parameters,
        window: u32,
        stat_sn: u32,
        cmd_sn: u32,
    ) -> Arc<Self> {
        Arc::new(Self {
            link,
            digests: Digests { header: parameters.header_digest, data: parameters.data_digest },
            sent_maximum: parameters.sent_maximum as usize,
            burst: parameters.burst as usize,
            stat_sn: Mutex::new(stat_sn),
            exp_cmd_sn: AtomicU32::new(cmd_sn),
            window,
            numbered: AtomicU32::new(0),
            tasks: Mutex::default(),
        })
    }

    pub(super) fn digests(&self) -> Digests {
        self.digests
    }

    /// The most bytes of data that a message may have.
    pub(super) fn sent_maximum(&self) -> usize {
        self.sent_maximum
    }

    /// The number of the next command, and the last number that may be sent.
    pub(super) fn command_window(&self) -> (u32, u32) {
        let next = self.exp_cmd_sn.load(SeqCst);
        let free = self.window.saturating_sub(self.numbered.load(SeqCst));
        (next, next.wrapping_add(free).wrapping_sub(1))
    }

    /// Advances the number of the next command.
    pub(super) fn advance(&self) {
        self.exp_cmd_sn.fetch_add(1, SeqCst);
    }

    fn tasks(&self) -> MutexGuard<'_, BTreeMap<u32, Option<TaskId>>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The task of a command in flight; `None` if there is no command with this tag.
    pub(super) fn task(&self, tag: u32) -> Option<Option<TaskId>> {
        self.tasks().get(&tag).copied()
    }

    /// Number of commands in flight.
    pub(super) fn outstanding(&self) -> usize {
        self.tasks().len()
    }

    /// Sends a message after all earlier ones, with the current numbers.
    pub(super) fn send(
        &self,
        head: Header,
        data: Vec<u8>,
        numbering: Numbering,
        completes: Option<u64>,
    ) {
        let mut stat_sn = self.stat_sn.lock().unwrap_or_else(PoisonError::into_inner);
        self.send_numbered(&mut stat_sn, head, data, numbering, completes);
    }

    fn send_numbered(
        &self,
        stat_sn: &mut u32,
        mut head: Header,
        mut data: Vec<u8>,
        numbering: Numbering,
        completes: Option<u64>,
    ) {
        if numbering != Numbering::None {
            set(&mut head, 24, *stat_sn);
        }
        if numbering == Numbering::Advances {
            *stat_sn = stat_sn.wrapping_add(1);
        }
        let (next, last) = self.command_window();
        set(&mut head, 28, next);
        set(&mut head, 32, last);
        self.digests.seal(&mut head, &mut data);
        self.link.send(Frame { head, data, completes });
    }

    /// Answers a task management function.
    pub(super) fn answer_management(&self, tag: u32, response: u8) {
        let mut head = header(TASK_MANAGEMENT_RESPONSE, FINAL, 0, tag);
        head[2] = response;
        self.send(head, Vec::new(), Numbering::Advances, None);
    }
}

/// What a command says of itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandInfo {
    pub(super) tag: u32,
    pub(super) lun: u64,
    /// Whether it has a number: it is not immediate.
    pub(super) is_numbered: bool,
    /// Bytes that the initiator expects.
    pub(super) expected_in: u32,
    /// Bytes that it offers.
    pub(super) expected_out: u32,
    /// Bytes that the command takes.
    pub(super) taken: u64,
}

/// A command in flight. Dropping it ends the command without a status.
pub(super) struct CommandInFlight {
    sender: Arc<Sender>,
    info: CommandInfo,
    /// Bytes with which the limiter has admitted it, if it has.
    admitted: Option<u64>,
    /// Number of messages that have asked for data.
    pub(super) r2ts: u32,
    is_ended: bool,
}

impl CommandInFlight {
    /// Enters a command; `None` if there is one with its tag.
    pub(super) fn enter(
        sender: &Arc<Sender>,
        info: CommandInfo,
        task: Option<TaskId>,
    ) -> Option<Self> {
        let mut tasks = sender.tasks();
        if tasks.contains_key(&info.tag) {
            return None;
        }
        tasks.insert(info.tag, task);
        drop(tasks);
        if info.is_numbered {
            sender.numbered.fetch_add(1, SeqCst);
        }
        Some(Self { sender: Arc::clone(sender), info, admitted: None, r2ts: 0, is_ended: false })
    }

    /// Notes that the limiter has admitted it with `bytes` bytes.
    pub(super) fn admit(&mut self, bytes: u64) {
        self.admitted = Some(bytes);
    }

    pub(super) fn info(&self) -> &CommandInfo {
        &self.info
    }

    /// Ends it: its tag and its place in the window are free.
    fn end(&mut self) {
        if std::mem::replace(&mut self.is_ended, true) {
            return;
        }
        self.sender.tasks().remove(&self.info.tag);
        if self.info.is_numbered {
            self.sender.numbered.fetch_sub(1, SeqCst);
        }
    }

    /// Sends a status that the transport gives by itself.
    pub(super) fn refuse(mut self, status: u8) {
        self.respond(status, &[], Vec::new());
    }

    /// Sends data and status.
    fn respond(&mut self, status: u8, sense: &[u8], data: Vec<u8>) {
        self.end();
        let info = self.info;
        let completes = self.admitted.take();
        let (flags, residual) = residual(&info, data.len() as u64);
        let mut data = data;
        data.truncate(info.expected_in as usize);
        let sender = &self.sender;
        let mut stat_sn = sender.stat_sn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut messages = 0;
        if !data.is_empty() {
            // The status comes with the last data, unless there is more to say.
            let alone = status == Status::Good as u8 && sense.is_empty();
            messages =
                self.send_data(&mut stat_sn, data, alone.then_some((flags, residual)), completes);
            if alone {
                return;
            }
        }
        let mut head = header(SCSI_RESPONSE, FINAL | flags, 0, info.tag);
        head[3] = status;
        set(&mut head, 36, messages + self.r2ts);
        set(&mut head, 44, residual);
        let mut segment = Vec::new();
        if !sense.is_empty() {
            segment.extend_from_slice(&(sense.len() as u16).to_be_bytes());
            segment.extend_from_slice(sense);
        }
        sender.send_numbered(&mut stat_sn, head, segment, Numbering::Advances, completes);
    }

    /// Sends data in as many messages as it takes; the last one has the status GOOD with
    /// these flags and this residual count, if any. Returns their number.
    fn send_data(
        &self,
        stat_sn: &mut u32,
        data: Vec<u8>,
        status: Option<(u8, u32)>,
        completes: Option<u64>,
    ) -> u32 {
        let sender = &self.sender;
        let (whole, most) = (data.len(), sender.sent_maximum);
        let (mut offset, mut number) = (0, 0);
        let mut data = Some(data);
        while offset < whole {
            let burst_left = sender.burst - offset % sender.burst;
            let bytes = most.min(burst_left).min(whole - offset);
            let is_last = offset + bytes == whole;
            let is_final = is_last || bytes == burst_left;
            let mut head =
                header(DATA_IN, if is_final { FINAL } else { 0 }, self.info.lun, self.info.tag);
            set(&mut head, 20, NO_TAG);
            set(&mut head, 36, number);
            set(&mut head, 40, offset as u32);
            let part = match data.as_ref() {
                Some(all) if bytes < whole => all[offset..offset + bytes].to_vec(),
                _ => data.take().unwrap_or_default(),
            };
            match status.filter(|_| is_last) {
                Some((flags, residual)) => {
                    head[1] |= HAS_STATUS | flags;
                    set(&mut head, 44, residual);
                    sender.send_numbered(stat_sn, head, part, Numbering::Advances, completes);
                }
                None => sender.send_numbered(stat_sn, head, part, Numbering::None, None),
            }
            offset += bytes;
            number += 1;
        }
        number
    }
}

/// The flags and the count of a residual: bytes that were expected and not moved, or
/// that would have been moved and were not expected.
fn residual(info: &CommandInfo, sent: u64) -> (u8, u32) {
    // A command moves data one way.
    let (expected, moved) = match info.expected_out {
        0 if info.taken == 0 => (u64::from(info.expected_in), sent),
        out => (u64::from(out), info.taken),
    };
    let (flag, bytes) = match moved.cmp(&expected) {
        std::cmp::Ordering::Equal => (0, 0),
        std::cmp::Ordering::Less => (UNDERFLOW, expected - moved),
        std::cmp::Ordering::Greater => (OVERFLOW, moved - expected),
    };
    (flag, u32::try_from(bytes).unwrap_or(u32::MAX))
}

impl TaskReply for CommandInFlight {
    fn send(mut self: Box<Self>, outcome: Outcome) {
        self.respond(outcome.status as u8, &outcome.sense, outcome.data);
    }
}

impl Drop for CommandInFlight {
    fn drop(&mut self) {
        self.end();
        if let Some(bytes) = self.admitted.take() {
            self.sender.link.limiter.leave(bytes);
        }
    }
}
