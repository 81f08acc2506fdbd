//! Buffered input from a client.

use super::client_errors::ClientErrorKind;
use super::end::{End, broken, cut_short};
use super::socket::{Encrypted, Socket};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, recv};
use std::io::IoSlice;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most bytes read at once.
const BUFFER: usize = 128 << 10;

/// The largest buffer kept for the next write.
const KEPT: usize = 4 << 20;

/// Buffered input from a socket.
pub(crate) struct Input {
    socket: Arc<Socket>,
    encrypted: Encrypted,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Time limit for all input, if any.
    deadline: Option<Instant>,
    /// How long to poll before sleeping.
    busy_poll: Duration,
    /// Whether the client is in the middle of something, and may not be silent for long.
    is_expected: bool,
}

impl Input {
    pub(super) fn new(socket: &Arc<Socket>, deadline: Instant) -> Self {
        Self {
            socket: Arc::clone(socket),
            encrypted: Encrypted::default(),
            buffer: vec![0; BUFFER],
            start: 0,
            end: 0,
            deadline: Some(deadline),
            busy_poll: Duration::ZERO,
            is_expected: false,
        }
    }

    /// Whether all received bytes have been taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Whether the next `count` bytes have been received.
    pub(crate) fn has(&self, count: usize) -> bool {
        self.end - self.start >= count
    }

    /// Removes the time limit; from now on polls for so long before sleeping. A client may
    /// be silent between messages, and for `patience` in the middle of one.
    pub(super) fn start_transmission(&mut self, busy_poll: Duration, patience: Duration) {
        self.deadline = None;
        self.busy_poll = busy_poll;
        let _ = set_socket_timeout(self.socket.fd(), Timeout::Recv, Some(patience));
    }

    /// Notes whether a message must come, as the client has been asked for it.
    pub(crate) fn expect(&mut self, is_expected: bool) {
        self.is_expected = is_expected;
    }

    /// As [`Input::take`], for the rest of a message that has begun.
    pub(crate) fn take_rest(&mut self, count: usize) -> Result<&[u8], End> {
        let before = std::mem::replace(&mut self.is_expected, true);
        let taken = self.take(count).map(<[u8]>::len);
        self.is_expected = before;
        Ok(&self.buffer[self.start - taken?..self.start])
    }

    /// Waits for `count` bytes and takes them. [`End::Eof`] if the client has sent its
    /// last byte before them.
    pub(crate) fn take(&mut self, count: usize) -> Result<&[u8], End> {
        if self.end - self.start < count {
            self.make_room(count);
            while self.end - self.start < count {
                self.fill()?;
            }
        }
        self.start += count;
        Ok(&self.buffer[self.start - count..self.start])
    }

    /// Discards `count` bytes of a message that has begun.
    pub(crate) fn skip(&mut self, mut count: u64) -> Result<(), End> {
        while count > 0 {
            if self.is_empty() {
                self.take_rest(1)?;
                self.start -= 1;
            }
            let some = count.min((self.end - self.start) as u64);
            self.start += some as usize;
            count -= some;
        }
        Ok(())
    }

    /// Makes the buffer hold `count` bytes from the first untaken byte on, and frees
    /// the space of a long write.
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
        let is_expected = self.is_expected || !self.is_empty();
        let (deadline, busy_poll) = (self.deadline, self.busy_poll);
        let wait = |socket: &OwnedFd, buffer: &mut [u8]| loop {
            if let Some(deadline) = deadline {
                wait(socket, PollFlags::IN, deadline)?;
            }
            return match receive(socket, buffer, busy_poll) {
                Ok((_, some)) => Ok(some),
                Err(Errno::INTR) => continue,
                // The time limit of the socket.
                Err(Errno::WOULDBLOCK) if is_expected => {
                    let what = "silent in the middle of a message";
                    Err(End::Bad(ClientErrorKind::Timeout, what.to_owned()))
                }
                Err(Errno::WOULDBLOCK) => continue,
                Err(error) => Err(broken(error)),
            };
        };
        let free = &mut self.buffer[self.end..];
        match self.socket.receive(free, &mut self.encrypted, wait)? {
            0 if self.is_empty() => Err(End::Eof),
            0 => Err(cut_short()),
            some => {
                self.end += some;
                Ok(())
            }
        }
    }

    /// Sends all of `bytes` to the client.
    pub(crate) fn answer(&self, mut bytes: &[u8]) -> Result<(), End> {
        while !bytes.is_empty() {
            match self.socket.send(&[IoSlice::new(bytes)]) {
                Ok(some) => bytes = &bytes[some..],
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => match self.deadline {
                    Some(deadline) => wait(self.socket.fd(), PollFlags::OUT, deadline)?,
                    None => return Err(broken(Errno::WOULDBLOCK)),
                },
                Err(error) => return Err(broken(error)),
            }
        }
        Ok(())
    }
}

/// Receives bytes; polls for so long before it sleeps.
fn receive(
    socket: &OwnedFd,
    buffer: &mut [u8],
    busy_poll: Duration,
) -> rustix::io::Result<(usize, usize)> {
    if !busy_poll.is_zero() {
        let start = Instant::now();
        while start.elapsed() < busy_poll {
            match recv(socket, &mut *buffer, RecvFlags::DONTWAIT) {
                Err(Errno::WOULDBLOCK) => std::hint::spin_loop(),
                done => return done,
            }
        }
    }
    recv(socket, buffer, RecvFlags::empty())
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
