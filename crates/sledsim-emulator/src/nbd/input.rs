//! What a client sends, through a buffer.

use super::client_error::ClientErrorKind;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::sync::Arc;
use std::time::Instant;

/// Why a connection ends.
#[derive(Debug)]
pub(super) enum End {
    /// As it should.
    Well,
    /// The client sends no more. What is under way may be answered.
    Eof,
    /// Something is wrong: nothing more is sent.
    Bad(ClientErrorKind, String),
}

/// Bytes that are read at once, if that many are there.
const BUFFER: usize = 128 << 10;

/// The largest buffer that is kept for the next write.
const KEPT: usize = 4 << 20;

/// The bytes that come from a socket.
pub(super) struct Input {
    socket: Arc<OwnedFd>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Until when everything must have come, if so.
    deadline: Option<Instant>,
}

impl Input {
    pub(super) fn new(socket: Arc<OwnedFd>, deadline: Option<Instant>) -> Self {
        Self {
            socket,
            buffer: vec![0; BUFFER],
            start: 0,
            end: 0,
            deadline,
        }
    }

    /// Whether nothing has come that was not taken.
    pub(super) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// From now on there is no hurry.
    pub(super) fn no_deadline(&mut self) {
        self.deadline = None;
    }

    /// Goes on with another socket.
    pub(super) fn switch(&mut self, socket: Arc<OwnedFd>) {
        self.socket = socket;
    }

    /// Waits for `count` bytes and takes them. [`End::Eof`] if there are none
    /// and will be none.
    pub(super) fn take(&mut self, count: usize) -> Result<&[u8], End> {
        if self.end - self.start < count {
            self.make_room(count);
            while self.end - self.start < count {
                self.fill()?;
            }
        }
        self.start += count;
        Ok(&self.buffer[self.start - count..self.start])
    }

    /// Takes `count` bytes that nobody wants.
    pub(super) fn skip(&mut self, mut count: u64) -> Result<(), End> {
        while count > 0 {
            if self.is_empty() {
                self.make_room(1);
                self.fill()?;
            }
            let some = count.min((self.end - self.start) as u64);
            self.start += some as usize;
            count -= some;
        }
        Ok(())
    }

    /// Makes the buffer hold `count` bytes from what was not taken on, and
    /// gives back the space that a long write took.
    fn make_room(&mut self, count: usize) {
        let held = self.start..self.end;
        if count > self.buffer.len() || (self.buffer.len() > KEPT && count <= BUFFER) {
            let mut other = vec![0; count.max(held.len()).max(BUFFER)];
            other[..held.len()].copy_from_slice(&self.buffer[held.clone()]);
            self.buffer = other;
        } else if held.is_empty() || self.start + count > self.buffer.len() {
            self.buffer.copy_within(held.clone(), 0);
        } else {
            return;
        }
        (self.start, self.end) = (0, held.len());
    }

    fn fill(&mut self) -> Result<(), End> {
        if let Some(deadline) = self.deadline {
            wait(&self.socket, PollFlags::IN, deadline)?;
        }
        let free = &mut self.buffer[self.end..];
        match recv(&self.socket, free, RecvFlags::empty()) {
            Ok((_, 0)) if self.is_empty() => Err(End::Eof),
            Ok((_, 0)) => Err(cut_short()),
            Ok((_, some)) => {
                self.end += some;
                Ok(())
            }
            Err(Errno::INTR) => Ok(()),
            Err(error) => Err(broken(error)),
        }
    }

    /// Sends all of `bytes` to the client.
    pub(super) fn answer(&self, mut bytes: &[u8]) -> Result<(), End> {
        while !bytes.is_empty() {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match send(&self.socket, bytes, flags) {
                Ok(some) => bytes = &bytes[some..],
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => match self.deadline {
                    Some(deadline) => wait(&self.socket, PollFlags::OUT, deadline)?,
                    None => return Err(broken(Errno::WOULDBLOCK)),
                },
                Err(error) => return Err(broken(error)),
            }
        }
        Ok(())
    }
}

/// The client stopped in the middle of something.
pub(super) fn cut_short() -> End {
    let what = "closed in the middle of a message";
    End::Bad(ClientErrorKind::Vanished, what.to_owned())
}

fn broken(error: Errno) -> End {
    End::Bad(
        ClientErrorKind::Vanished,
        std::io::Error::from(error).to_string(),
    )
}

fn wait(socket: &OwnedFd, what: PollFlags, deadline: Instant) -> Result<(), End> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let what = "the handshake took too long";
            return Err(End::Bad(ClientErrorKind::Timeout, what.to_owned()));
        }
        let left = Timespec::try_from(left).ok();
        let mut polled = [PollFd::new(socket, what)];
        match poll(&mut polled, left.as_ref()) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(broken(error)),
        }
    }
}
