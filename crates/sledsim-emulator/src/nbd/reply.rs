//! Replies to requests, simple or structured as negotiated.

use super::wire::{
    CHUNK_DONE, CHUNK_ERROR, CHUNK_MAGIC, CHUNK_NONE, CHUNK_OFFSET_DATA, SIMPLE_REPLY_MAGIC,
    error_number,
};
use crate::errno::Errno;
use crate::net::{Frame, Header, Link};
use crate::timeline::{Answer, Reply};
use std::sync::Arc;

/// The reply to a request admitted by the limiter; if dropped unsent, it tells the
/// client that the server is stopping.
pub(super) struct PendingReply {
    /// `None` once it has been sent.
    link: Option<Arc<Link>>,
    cookie: u64,
    /// Number of bytes with which the limiter admitted its request.
    size: u64,
    /// Offset of the data of a read. `None` if no data are sent.
    pub(super) data_at: Option<u64>,
    /// Whether replies are structured.
    structured: bool,
}

impl PendingReply {
    pub(super) fn new(link: &Arc<Link>, cookie: u64, size: u64, structured: bool) -> Self {
        Self { link: Some(Arc::clone(link)), cookie, size, data_at: None, structured }
    }

    /// Replies with an error and its reason.
    pub(super) fn refuse(mut self, errno: Errno, why: &str) {
        self.fail(errno, why);
    }

    fn fail(&mut self, errno: Errno, why: &str) {
        let error = error_number(errno);
        if self.structured {
            let mut head = self.chunk(CHUNK_ERROR, 6 + why.len());
            head.extend_from_slice(&error.to_be_bytes());
            head.extend_from_slice(&(why.len() as u16).to_be_bytes());
            head.extend_from_slice(why.as_bytes());
            self.send(head, Vec::new());
        } else {
            self.send(self.simple(error), Vec::new());
        }
    }

    /// Replies with a chunk of the given type.
    pub(super) fn answer(mut self, chunk: u16, data: Vec<u8>) {
        self.send(self.chunk(chunk, data.len()), data);
    }

    fn simple(&self, error: u32) -> Header {
        let mut head = Header::new();
        head.extend_from_slice(&SIMPLE_REPLY_MAGIC.to_be_bytes());
        head.extend_from_slice(&error.to_be_bytes());
        head.extend_from_slice(&self.cookie.to_be_bytes());
        head
    }

    fn chunk(&self, kind: u16, length: usize) -> Header {
        let mut head = Header::new();
        head.extend_from_slice(&CHUNK_MAGIC.to_be_bytes());
        head.extend_from_slice(&CHUNK_DONE.to_be_bytes());
        head.extend_from_slice(&kind.to_be_bytes());
        head.extend_from_slice(&self.cookie.to_be_bytes());
        head.extend_from_slice(&(length as u32).to_be_bytes());
        head
    }

    fn send(&mut self, head: Header, data: Vec<u8>) {
        if let Some(link) = self.link.take() {
            let completes = Some(self.size);
            link.send(Frame { head, data, completes });
        }
    }
}

impl Reply for PendingReply {
    fn send(mut self: Box<Self>, answer: Answer) {
        let data = match (answer, self.data_at) {
            (Ok(data), Some(_)) => data,
            (Ok(_), None) => Vec::new(),
            (Err(errno), _) => {
                let why = std::io::Error::from(errno).to_string();
                return self.fail(errno, &why);
            }
        };
        let head = match self.data_at {
            _ if !self.structured => self.simple(0),
            Some(offset) if !data.is_empty() => {
                let mut head = self.chunk(CHUNK_OFFSET_DATA, 8 + data.len());
                head.extend_from_slice(&offset.to_be_bytes());
                head
            }
            _ => self.chunk(CHUNK_NONE, 0),
        };
        Self::send(&mut self, head, data);
    }
}

impl Drop for PendingReply {
    fn drop(&mut self) {
        if self.link.is_some() {
            self.fail(Errno::SHUTDOWN, "the server is stopping");
        }
    }
}
