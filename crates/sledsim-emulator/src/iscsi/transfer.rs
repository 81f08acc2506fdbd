//! Commands that wait for data from the initiator (RFC 7143, sections 11.7 and 11.8).

use super::pdu::{FINAL, NO_TAG, R2T, Received, header, set};
use super::reply::{CommandInFlight, Numbering, Sender};
use crate::scsi::Task;
use std::collections::{BTreeMap, VecDeque};

/// The state of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The initiator sends data that it was not asked for, up to this offset.
    Unsolicited { end: usize },
    /// Waits until the target asks for data.
    Queued,
    /// The target has asked for data up to this offset.
    Solicited { tag: u32, end: usize },
}

/// A command that waits for data.
pub(super) struct Transfer {
    pub(super) task: Task,
    pub(super) command: CommandInFlight,
    /// What has arrived, without what the command does not take.
    pub(super) data: Vec<u8>,
    /// Bytes that the command gets.
    needed: usize,
    /// Bytes that have arrived.
    offset: usize,
    /// The number of the next message of the sequence.
    data_sn: u32,
    phase: Phase,
}

/// What a message with data is.
pub(super) enum Arrived {
    /// A part of the data of a command.
    Part,
    /// The last part.
    All(Transfer),
    /// One that violates the protocol, and why; its command must end.
    Wrong(Transfer, String),
}

/// The transfers of a session.
pub(super) struct Transfers {
    waiting: BTreeMap<u32, Transfer>,
    /// Tags of commands for whose data the target will ask.
    queue: VecDeque<u32>,
    /// Bytes of the commands for whose data it has asked, and the most.
    solicited: u64,
    most: u64,
    /// The most bytes that it asks for at once.
    burst: usize,
    next_tag: u32,
}

impl Transfers {
    pub(super) fn new(most: u64, burst: u32) -> Self {
        Self {
            waiting: BTreeMap::new(),
            queue: VecDeque::new(),
            solicited: 0,
            most,
            burst: burst as usize,
            next_tag: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Begins the transfer of a command with `immediate` data, which are not all.
    /// `unsolicited` is the offset up to which more come without being asked for, if any do.
    pub(super) fn begin(
        &mut self,
        task: Task,
        command: CommandInFlight,
        immediate: &[u8],
        unsolicited: Option<usize>,
    ) {
        let info = command.info();
        let needed = info.taken.min(u64::from(info.expected_out)) as usize;
        let tag = info.tag;
        let mut transfer = Transfer {
            task,
            command,
            data: Vec::new(),
            needed,
            offset: 0,
            data_sn: 0,
            phase: match unsolicited {
                Some(end) => Phase::Unsolicited { end },
                None => Phase::Queued,
            },
        };
        transfer.append(immediate);
        if unsolicited.is_none() {
            debug_assert!(transfer.offset < needed, "it waits for data");
            self.queue.push_back(tag);
        }
        self.waiting.insert(tag, transfer);
    }

    /// Asks for the data of as many commands as memory allows.
    pub(super) fn solicit(&mut self, sender: &Sender) {
        while let Some(tag) = self.queue.front().copied() {
            let Some(transfer) = self.waiting.get_mut(&tag) else {
                self.queue.pop_front();
                continue;
            };
            let needed = transfer.needed as u64;
            let share = &sender.link.limiter.share;
            // A session can always write something.
            if self.solicited == 0 {
                share.take(needed);
            } else if self.solicited + needed > self.most || !share.try_take(needed) {
                return;
            }
            self.solicited += needed;
            self.queue.pop_front();
            transfer.data.reserve_exact(transfer.needed - transfer.data.len());
            transfer.ask(sender, &mut self.next_tag, self.burst);
        }
    }

    /// Takes a message with data. Data of a command that is gone are dropped.
    pub(super) fn receive(&mut self, message: &Received, data: &[u8], sender: &Sender) -> Arrived {
        let tag = message.tag();
        let Some(transfer) = self.waiting.get_mut(&tag) else {
            return Arrived::Part;
        };
        if let Err(why) = transfer.take(message, data) {
            return match self.remove(tag, sender) {
                Some(transfer) => Arrived::Wrong(transfer, format!("data of tag {tag:#x}: {why}")),
                None => Arrived::Part,
            };
        }
        if !message.is_final() {
            return Arrived::Part;
        }
        if transfer.offset >= transfer.needed {
            return self.remove(tag, sender).map_or(Arrived::Part, Arrived::All);
        }
        match transfer.phase {
            Phase::Solicited { .. } => transfer.ask(sender, &mut self.next_tag, self.burst),
            _ => {
                transfer.phase = Phase::Queued;
                self.queue.push_back(tag);
            }
        }
        Arrived::Part
    }

    fn remove(&mut self, tag: u32, sender: &Sender) -> Option<Transfer> {
        let transfer = self.waiting.remove(&tag)?;
        if let Phase::Solicited { .. } = transfer.phase {
            self.solicited -= transfer.needed as u64;
            sender.link.limiter.share.give_back(transfer.needed as u64);
        }
        Some(transfer)
    }

    /// Drops the transfers of commands that have been aborted.
    pub(super) fn prune(&mut self, sender: &Sender) {
        let all = self.waiting.iter();
        let gone: Vec<u32> =
            all.filter(|(_, transfer)| !transfer.task.is_live()).map(|(tag, _)| *tag).collect();
        for tag in gone {
            drop(self.remove(tag, sender));
        }
        self.solicit(sender);
    }
}

impl Transfer {
    /// Takes the data of a message.
    fn take(&mut self, message: &Received, data: &[u8]) -> Result<(), &'static str> {
        let offset = message.field(40) as usize;
        let (expected_tag, end) = match self.phase {
            Phase::Unsolicited { end } => (NO_TAG, end),
            Phase::Solicited { tag, end } => (tag, end),
            Phase::Queued => return Err("not asked for"),
        };
        if message.field(20) != expected_tag {
            return Err("another transfer tag");
        }
        if message.field(36) != self.data_sn {
            return Err("DataSN out of order");
        }
        if offset != self.offset || offset + data.len() > end {
            return Err("another offset, or more than asked for");
        }
        self.data_sn = self.data_sn.wrapping_add(1);
        self.append(data);
        let is_complete = self.offset == end;
        match self.phase {
            Phase::Solicited { .. } if message.is_final() != is_complete => {
                Err("another amount than asked for")
            }
            _ => Ok(()),
        }
    }

    /// Appends data, without what the command does not take.
    fn append(&mut self, data: &[u8]) {
        let room = self.needed - self.data.len();
        self.data.extend_from_slice(&data[..data.len().min(room)]);
        self.offset += data.len();
    }

    /// Asks for the next data.
    fn ask(&mut self, sender: &Sender, next_tag: &mut u32, burst: usize) {
        let bytes = (self.needed - self.offset).min(burst);
        let tag = *next_tag;
        *next_tag = match next_tag.wrapping_add(1) {
            NO_TAG => 0,
            tag => tag,
        };
        self.phase = Phase::Solicited { tag, end: self.offset + bytes };
        self.data_sn = 0;
        let info = self.command.info();
        let mut head = header(R2T, FINAL, info.lun, info.tag);
        set(&mut head, 20, tag);
        set(&mut head, 36, self.command.r2ts);
        set(&mut head, 40, self.offset as u32);
        set(&mut head, 44, bytes as u32);
        self.command.r2ts += 1;
        sender.send(head, Vec::new(), Numbering::Shows, None);
    }
}
