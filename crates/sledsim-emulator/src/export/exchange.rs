//! Exchanges: data changed in place, with no change by another command in between.

use super::Export;
use crate::command::{Command, CommandKind};
use crate::errno::{Errno, errno_of};
use crate::store::blocks_of;
use crate::timeline::Reply;
use std::sync::PoisonError;

/// The data that an exchange changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// Answers only when the change survives a crash.
    pub fua: bool,
    /// Number of the client's stream.
    pub stream: u32,
}

/// Why an exchange has written nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unchanged<E> {
    /// The export refuses it, or its data cannot be read.
    Failed(Errno),
    /// So says the change.
    Declined(E),
}

impl Export {
    /// Reads data and writes what `change` makes of them, as many bytes; no command of any
    /// client changes data in between. It takes the time of the write: `reply` is sent when
    /// that is due, perhaps before this returns. `change` must not submit commands.
    ///
    /// # Errors
    /// An exchange that has written nothing, with its `reply`, which has not been sent.
    pub fn exchange<E, R: Reply + 'static>(
        &self,
        what: &Exchange,
        change: impl FnOnce(&[u8]) -> Result<Vec<u8>, E>,
        reply: R,
    ) -> Result<(), (Unchanged<E>, R)> {
        let failed = |errno| Unchanged::Failed(errno);
        if !self.contains(what.offset, what.bytes) {
            return Err((failed(Errno::INVAL), reply));
        }
        if self.is_read_only() {
            return Err((failed(Errno::ROFS), reply));
        }
        let alone = (self.changing.write()).unwrap_or_else(PoisonError::into_inner);
        let new = self.read_now(what).map_err(failed);
        let new = new.and_then(|old| change(&old).map_err(Unchanged::Declined));
        let new = match new {
            Ok(new) => new,
            Err(why) => {
                drop(alone);
                return Err((why, reply));
            }
        };
        if new.len() as u64 != what.bytes {
            drop(alone);
            return Err((failed(Errno::INVAL), reply));
        }
        let command = Command {
            what: CommandKind::Write(&new),
            offset: what.offset,
            fua: what.fua,
            stream: what.stream,
        };
        let begun = self.begin(&command);
        drop(alone);
        self.end(&command, begun, Box::new(reply));
        Ok(())
    }

    /// Reads data without a request.
    fn read_now(&self, what: &Exchange) -> Result<Vec<u8>, Errno> {
        let lbns = blocks_of(what.offset, what.bytes);
        if let Some(power) = &self.power {
            match () {
                () if power.is_off() => return Err(Errno::IO),
                () if power.cannot_read(lbns) => return Err(Errno::IO),
                () => {}
            }
        }
        let mut data = vec![0; what.bytes as usize];
        match self.store.read(what.offset, &mut data) {
            Ok(()) => Ok(data),
            Err(error) => Err(errno_of(&error)),
        }
    }
}
