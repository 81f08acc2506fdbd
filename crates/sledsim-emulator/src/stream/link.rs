//! The sending side of a connection: replies are sent whole, one after the other.

use super::connection::Connection;
use super::limiter::InFlightLimiter;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, Shutdown, sendmsg, shutdown};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::Duration;

/// The header of a frame.
pub(crate) type Header = SmallVec<[u8; 64]>;

/// A message to the client.
pub(crate) struct Frame {
    pub(crate) head: Header,
    pub(crate) data: Vec<u8>,
    /// Number of bytes with which the limiter admitted the request that this message ends;
    /// `None` for a message that ends none.
    pub(crate) completes: Option<u64>,
}

/// A frame, and the number of its bytes sent.
struct PartialFrame(Frame, usize);

/// The most frames sent by one call, and the most that are gathered for one.
const GATHERED: usize = 16;

/// The sending side of a connection.
pub(crate) struct Link {
    socket: Arc<OwnedFd>,
    pub(crate) limiter: Arc<InFlightLimiter>,
    /// How long a client may read nothing while others need the memory of its replies.
    patience: Duration,
    out: Mutex<OutQueue>,
    changed: Condvar,
}

#[derive(Default)]
struct OutQueue {
    queue: VecDeque<PartialFrame>,
    /// The thread whose frames are gathered, if any.
    gathering: Option<ThreadId>,
    /// Whether the socket is full: the writer sends the queue.
    full: bool,
    /// Number of bytes sent.
    sent: u64,
    /// Whether the connection is broken.
    dead: bool,
    /// Whether it was ended as its client read no replies, and others need the memory.
    gave_way: bool,
    /// Whether no more frames will be sent.
    over: bool,
    writer: Option<JoinHandle<()>>,
}

impl Link {
    pub(crate) fn new(connection: &Connection) -> Arc<Self> {
        Arc::new(Self {
            socket: connection.socket(),
            limiter: Arc::clone(&connection.limiter),
            patience: connection.patience,
            out: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    fn out(&self) -> MutexGuard<'_, OutQueue> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note that a frame has been sent or dropped.
    fn sent(&self, frame: &Frame) {
        if let Some(size) = frame.completes {
            self.limiter.leave(size);
        }
    }

    /// From now on gathers frames sent by the calling thread, so that one call of the
    /// system sends several. It must call [`Link::release`] before it waits.
    pub(crate) fn gather(&self) {
        self.out().gathering = Some(thread::current().id());
    }

    /// Sends what was gathered.
    pub(crate) fn release(self: &Arc<Self>) {
        let mut out = self.out();
        if !out.queue.is_empty() {
            self.drain(&mut out);
        }
    }

    /// Sends `frame` after the queued ones, without blocking.
    pub(crate) fn send(self: &Arc<Self>, frame: Frame) {
        let mut out = self.out();
        if out.dead {
            drop(out);
            return self.sent(&frame);
        }
        out.queue.push_back(PartialFrame(frame, 0));
        let is_gathered = out.gathering.is_some_and(|id| id == thread::current().id());
        if !is_gathered || out.queue.len() >= GATHERED {
            self.drain(&mut out);
        }
    }

    /// Sends the queue; leaves what does not fit into the socket to the writer.
    fn drain(self: &Arc<Self>, out: &mut OutQueue) {
        if out.full || self.push(out) {
            return;
        }
        out.full = true;
        if out.writer.is_some() {
            self.changed.notify_one();
            return;
        }
        let link = Arc::clone(self);
        let writer = thread::Builder::new().name("sledsim-out".into());
        match writer.spawn(move || link.write()) {
            Ok(writer) => out.writer = Some(writer),
            Err(_) => self.abort(out),
        }
    }

    /// Sends as much of the queue as the socket takes; returns whether it is empty,
    /// sent or dropped.
    fn push(&self, out: &mut OutQueue) -> bool {
        while !out.queue.is_empty() {
            let mut parts = SmallVec::<[IoSlice<'_>; 2 * GATHERED]>::new();
            for PartialFrame(Frame { head, data, .. }, sent) in out.queue.iter().take(GATHERED) {
                parts.push(IoSlice::new(&head[(*sent).min(head.len())..]));
                parts.push(IoSlice::new(&data[sent.saturating_sub(head.len())..]));
            }
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            let none = &mut SendAncillaryBuffer::default();
            let sent = sendmsg(&self.socket, &parts, none, flags);
            drop(parts);
            match sent {
                Ok(some) => self.note_sent(out, some),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => return false,
                Err(_) => self.abort(out),
            }
        }
        true
    }

    /// Removes `bytes` bytes, which were sent, from the queue.
    fn note_sent(&self, out: &mut OutQueue, mut bytes: usize) {
        out.sent += bytes as u64;
        while let Some(PartialFrame(frame, sent)) = out.queue.front_mut() {
            let left = frame.head.len() + frame.data.len() - *sent;
            if bytes < left {
                *sent += bytes;
                return;
            }
            bytes -= left;
            if let Some(PartialFrame(frame, _)) = out.queue.pop_front() {
                self.sent(&frame);
            }
        }
    }

    /// Drops all queued frames after the client has gone.
    fn abort(&self, out: &mut OutQueue) {
        out.dead = true;
        for PartialFrame(frame, _) in out.queue.drain(..) {
            self.sent(&frame);
        }
        let _ = shutdown(&self.socket, Shutdown::Both);
    }

    /// Runs the thread that sends frames that did not fit into the socket.
    fn write(&self) {
        let mut out = self.out();
        loop {
            if out.full {
                drop(out);
                let mut socket = [PollFd::new(&*self.socket, PollFlags::OUT)];
                let patience = Timespec::try_from(self.patience).ok();
                let is_stuck = poll(&mut socket, patience.as_ref()) == Ok(0);
                out = self.out();
                if is_stuck && self.limiter.share.is_wanted() {
                    out.gave_way = true;
                    self.abort(&mut out);
                }
                out.full = !self.push(&mut out);
            } else if out.over {
                return;
            } else {
                out = (self.changed.wait(out)).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Waits until all requests are answered, and ends the connection. Gives up on a
    /// client that reads none of its replies for the patience of the connection; returns
    /// whether it read them.
    pub(crate) fn finish(&self) -> bool {
        let patience = self.patience;
        let mut before = None;
        let read = loop {
            if self.limiter.idle(patience) {
                break !self.out().gave_way;
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
    pub(crate) fn end(&self) {
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
