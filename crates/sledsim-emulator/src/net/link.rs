//! The sending side of a connection: replies are sent whole, one after the other.

use super::connection::Connection;
use super::limiter::InFlightLimiter;
use super::socket::Socket;
use rustix::io::Errno;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
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
    socket: Arc<Socket>,
    pub(crate) limiter: Arc<InFlightLimiter>,
    /// How long a client may read nothing while others need the memory of its replies.
    patience: Duration,
    out: Mutex<OutQueue>,
    changed: Condvar,
}

#[derive(Default)]
struct OutQueue {
    queue: VecDeque<PartialFrame>,
    /// Frames in the queue that end a request.
    ends: usize,
    /// Whether the session has further requests at hand.
    is_gathering: bool,
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
    pub(super) fn new(connection: &Connection) -> Arc<Self> {
        Arc::new(Self {
            socket: Arc::clone(&connection.socket),
            limiter: Arc::clone(&connection.limiter),
            patience: connection.patience,
            out: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    fn out(&self) -> MutexGuard<'_, OutQueue> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on frames are gathered, so that one call of the system sends several, as long
    /// as the device has no request of this connection that is not answered. The session must
    /// call [`Link::release`] before it waits.
    pub(crate) fn gather(&self) {
        self.out().is_gathering = true;
    }

    /// Sends what was gathered, and gathers no more.
    pub(crate) fn release(self: &Arc<Self>) {
        let mut out = self.out();
        out.is_gathering = false;
        if !out.queue.is_empty() {
            self.drain(&mut out);
        }
    }

    /// Sends `frame` after the queued ones, without blocking.
    pub(crate) fn send(self: &Arc<Self>, frame: Frame) {
        let mut out = self.out();
        if out.dead {
            drop(out);
            if let Some(size) = frame.completes {
                self.limiter.leave(size);
            }
            return;
        }
        out.ends += usize::from(frame.completes.is_some());
        out.queue.push_back(PartialFrame(frame, 0));
        let is_full = out.queue.len() >= GATHERED;
        if is_full || !out.is_gathering || self.limiter.requests() > out.ends {
            self.drain(&mut out);
        }
    }

    /// Removes the first frame, which has been sent or is dropped.
    fn pop(&self, out: &mut OutQueue) {
        if let Some(PartialFrame(frame, _)) = out.queue.pop_front()
            && let Some(size) = frame.completes
        {
            out.ends -= 1;
            self.limiter.leave(size);
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

    /// Sends as much of the queue as the socket takes; returns whether all is sent, or
    /// dropped.
    fn push(&self, out: &mut OutQueue) -> bool {
        while !out.queue.is_empty() {
            let mut parts = SmallVec::<[IoSlice<'_>; 2 * GATHERED]>::new();
            for PartialFrame(Frame { head, data, .. }, sent) in out.queue.iter().take(GATHERED) {
                parts.push(IoSlice::new(&head[(*sent).min(head.len())..]));
                parts.push(IoSlice::new(&data[sent.saturating_sub(head.len())..]));
            }
            let sent = self.socket.send(&parts);
            drop(parts);
            match sent {
                Ok(some) => self.note_sent(out, some),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => return false,
                Err(_) => self.abort(out),
            }
        }
        self.socket.flush() != Err(Errno::WOULDBLOCK)
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
            self.pop(out);
        }
    }

    /// Drops all queued frames after the client has gone.
    fn abort(&self, out: &mut OutQueue) {
        out.dead = true;
        while !out.queue.is_empty() {
            self.pop(out);
        }
        self.socket.close();
    }

    /// Runs the thread that sends frames that did not fit into the socket.
    fn write(&self) {
        let mut out = self.out();
        loop {
            if out.full {
                drop(out);
                let is_stuck = !self.socket.wait_writable(self.patience);
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
    pub(super) fn finish(&self) -> bool {
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
        if read {
            self.socket.linger();
        }
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
