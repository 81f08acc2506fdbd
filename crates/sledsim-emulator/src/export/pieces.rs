//! Zeroes of any length, a piece at a time: a write has a token in memory for each block.

use super::Export;
use crate::command::{Command, CommandKind};
use crate::errno::Errno;
use crate::timeline::{Answer, Reply};
use std::sync::{Arc, Weak};

/// The most bytes of a piece.
pub(super) const PIECE_BYTES: u64 = 1 << 30;

/// What is left to zero after the piece that is being written.
struct Pieces {
    export: Weak<Export>,
    offset: u64,
    bytes: u64,
    unmap: bool,
    fua: bool,
    stream: u32,
    reply: Box<dyn Reply>,
}

/// Zeroes as `command` says, piece by piece; the first that fails is the answer.
pub(super) fn zero(
    export: &Arc<Export>,
    command: &Command<'_>,
    unmap: bool,
    reply: Box<dyn Reply>,
) {
    let all = Pieces {
        export: Arc::downgrade(export),
        offset: command.offset,
        bytes: command.bytes(),
        unmap,
        fua: command.fua,
        stream: command.stream,
        reply,
    };
    Box::new(all).send(Ok(Vec::new()));
}

impl Reply for Pieces {
    fn send(mut self: Box<Self>, answer: Answer) {
        let export = match (answer, self.export.upgrade()) {
            (Err(error), _) => return self.reply.send(Err(error)),
            (Ok(_), _) if self.bytes == 0 => return self.reply.send(Ok(Vec::new())),
            (Ok(_), None) => return self.reply.send(Err(Errno::IO)),
            (Ok(_), Some(export)) => export,
        };
        let (bytes, unmap) = (self.bytes.min(PIECE_BYTES), self.unmap);
        let piece = Command {
            what: CommandKind::Zero { bytes, unmap },
            offset: self.offset,
            fua: self.fua,
            stream: self.stream,
        };
        self.offset += bytes;
        self.bytes -= bytes;
        export.submit(piece, self);
    }
}
