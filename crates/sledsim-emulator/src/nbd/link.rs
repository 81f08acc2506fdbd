//! The way back to a client: replies, whole and one after the other.

use super::limiter::InFlightLimiter;
use super::wire::Head;
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
    pub(super) head: Head,
    pub(super) data: Vec<u8>,
    /// With how many bytes its request entered the gate.
    pub(super) size: u64,
}

/// A frame that did not fit into the socket, and how much of it did.
struct Rest(Frame, usize);

/// The sending side of a connection.
pub(super) struct Link {
    socket: Arc<OwnedFd>,
    pub(super) limiter: Arc<InFlightLimiter>,
    out: Mutex<Out>,
    changed: Condvar,
}

#[derive(Default)]
struct Out {
    queue: VecDeque<Rest>,
    /// Bytes that the writer has sent.
    sent: u64,
    /// Nothing can be sent any more.
    dead: bool,
    /// Nothing will be sent any more.
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

    fn out(&self) -> MutexGuard<'_, Out> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends `frame`, after those that wait already; does not wait itself.
    pub(super) fn send(self: &Arc<Self>, frame: Frame) {
        let mut out = self.out();
        let mut rest = Rest(frame, 0);
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
                Err(_) => self.bury(&mut out),
            }
            return;
        }
        drop(out);
        self.limiter.leave(rest.0.size);
    }

    /// Sends what the socket takes of `rest`; whether it is done with, sent or
    /// not.
    fn push(&self, out: &mut Out, rest: &mut Rest) -> bool {
        let Rest(frame, sent) = rest;
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
                    self.bury(out);
                    return true;
                }
            }
        }
        true
    }

    /// The client is gone: what waits for it is dropped.
    fn bury(&self, out: &mut Out) {
        out.dead = true;
        for Rest(frame, _) in out.queue.drain(..) {
            self.limiter.leave(frame.size);
        }
        let _ = shutdown(&self.socket, Shutdown::Both);
    }

    /// The life of the thread that sends what did not fit into the socket.
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

    /// Waits until everything is answered, and ends the connection. A client
    /// that for the time of `patience` reads none of the replies it waits for is
    /// left; whether it read them.
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

    /// Ends the connection. Replies that are still to come go nowhere.
    pub(super) fn end(&self) {
        let mut out = self.out();
        out.over = true;
        self.bury(&mut out);
        self.changed.notify_one();
        let writer = out.writer.take();
        drop(out);
        if let Some(writer) = writer {
            let _ = writer.join();
        }
    }
}
