//! The sending side of a connection: replies are sent whole, one after the other.

use super::limiter::InFlightLimiter;
use super::wire::Header;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, Shutdown, sendmsg, shutdown};
use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A reply to one request.
pub(super) struct Frame {
    pub(super) head: Header,
    pub(super) data: Vec<u8>,
    /// Number of bytes with which the limiter admitted its request.
    pub(super) size: u64,
}

/// A frame that did not fit into the socket, and the number of its bytes sent.
struct PartialFrame(Frame, usize);

/// The sending side of a connection.
pub(super) struct Link {
    socket: Arc<OwnedFd>,
    pub(super) limiter: Arc<InFlightLimiter>,
    out: Mutex<OutQueue>,
    changed: Condvar,
}

#[derive(Default)]
struct OutQueue {
    queue: VecDeque<PartialFrame>,
    /// Number of bytes sent.
    sent: u64,
    /// Whether the connection is broken.
    dead: bool,
    /// Whether no more frames will be sent.
    over: bool,
    writer: Option<JoinHandle<()>>,
}

impl Link {
    pub(super) fn new(socket: Arc<OwnedFd>, limiter: Arc<InFlightLimiter>) -> Arc<Self> {
        Arc::new(Self {
            socket,
            limiter,
            out: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    fn out(&self) -> MutexGuard<'_, OutQueue> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends `frame` after the queued ones, without blocking.
    pub(super) fn send(self: &Arc<Self>, frame: Frame) {
        let mut out = self.out();
        let mut rest = PartialFrame(frame, 0);
        if !out.dead && (!out.queue.is_empty() || !self.push(&mut out, &mut rest)) {
            out.queue.push_back(rest);
            if out.writer.is_some() {
                self.changed.notify_one();
                return;
            }
            let link = Arc::clone(self);
            let writer = thread::Builder::new().name("sledsim-nbd-out".into());
            match writer.spawn(move || link.write()) {
                Ok(writer) => out.writer = Some(writer),
                Err(_) => self.abort(&mut out),
            }
            return;
        }
        drop(out);
        self.limiter.leave(rest.0.size);
    }

    /// Sends as much of `rest` as the socket takes; returns whether it is finished,
    /// sent or dropped.
    fn push(&self, out: &mut OutQueue, rest: &mut PartialFrame) -> bool {
        let PartialFrame(frame, sent) = rest;
        let whole = frame.head.len() + frame.data.len();
        while *sent < whole {
            let head = &frame.head[(*sent).min(frame.head.len())..];
            let data = &frame.data[sent.saturating_sub(frame.head.len())..];
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            let parts = [IoSlice::new(head), IoSlice::new(data)];
            let none = &mut SendAncillaryBuffer::default();
            match sendmsg(&self.socket, &parts, none, flags) {
                Ok(some) => *sent += some,
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => return false,
                Err(_) => {
                    self.abort(out);
                    return true;
                }
            }
        }
        true
    }

    /// Drops all queued frames after the client has gone.
    fn abort(&self, out: &mut OutQueue) {
        out.dead = true;
        for PartialFrame(frame, _) in out.queue.drain(..) {
            self.limiter.leave(frame.size);
        }
        let _ = shutdown(&self.socket, Shutdown::Both);
    }

    /// Runs the thread that sends frames that did not fit into the socket.
    fn write(&self) {
        let mut out = self.out();
        loop {
            while let Some(mut rest) = out.queue.pop_front() {
                let before = rest.1;
                let done = self.push(&mut out, &mut rest);
                out.sent += (rest.1 - before) as u64;
                if done {
                    self.limiter.leave(rest.0.size);
                } else {
                    out.queue.push_front(rest);
                    break;
                }
            }
            if !out.queue.is_empty() {
                drop(out);
                let mut socket = [PollFd::new(&*self.socket, PollFlags::OUT)];
                let _ = poll(&mut socket, None);
                out = self.out();
            } else if out.over {
                return;
            } else {
                out = (self.changed.wait(out)).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Waits until all requests are answered, and ends the connection. Gives up on a
    /// client that reads none of its replies for `patience`; returns whether it read
    /// them.
    pub(super) fn finish(&self, patience: Duration) -> bool {
        let mut before = None;
        let read = loop {
            if self.limiter.idle(patience) {
                break true;
            }
            let out = self.out();
            let now = (!out.queue.is_empty()).then_some(out.sent);
            if now.is_some() && now == before {
                break false;
            }
            before = now;
        };
        self.end();
        read
    }

    /// Ends the connection. Later replies are dropped.
    pub(super) fn end(&self) {
        let mut out = self.out();
        out.over = true;
        self.abort(&mut out);
        self.changed.notify_one();
        let writer = out.writer.take();
        drop(out);
        if let Some(writer) = writer {
            let _ = writer.join();
        }
    }
}
