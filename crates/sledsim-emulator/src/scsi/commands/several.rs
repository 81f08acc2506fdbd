//! Several commands of the export for one task.

use super::blocks::Accessed;
use crate::command::Command;
use crate::scsi::responder::Responder;
use crate::scsi::sense::Sense;
use crate::scsi::unit::LogicalUnit;
use crate::timeline::{Answer, Reply};
use std::sync::{Arc, Mutex, PoisonError};

/// What is left to do before a task ends. If a command is never answered, the responder is
/// dropped and says so.
struct Left {
    commands: usize,
    /// The first command that has failed, and its sense data.
    failed: Option<(usize, Sense)>,
    responder: Option<Responder>,
}

/// The reply to one of the commands.
struct Part {
    accessed: Accessed,
    left: Arc<Mutex<Left>>,
    index: usize,
}

impl Reply for Part {
    fn send(self: Box<Self>, answer: Answer) {
        let sense = self.accessed.result(answer).err();
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.commands -= 1;
        if let Some(sense) = sense
            && left.failed.is_none_or(|(index, _)| self.index < index)
        {
            left.failed = Some((self.index, sense));
        }
        if left.commands > 0 {
            return;
        }
        let failed = left.failed;
        let responder = left.responder.take();
        drop(left);
        if let Some(responder) = responder {
            responder.end(match failed {
                Some((_, sense)) => Err(sense),
                None => Ok(Vec::new()),
            });
        }
    }
}

/// Submits commands that return no data, in order. The task ends when all have been
/// answered; the first in order that has failed says why.
pub(super) fn submit_all(unit: &Arc<LogicalUnit>, commands: &[Command<'_>], responder: Responder) {
    if commands.is_empty() {
        return responder.end(Ok(Vec::new()));
    }
    let left = Arc::new(Mutex::new(Left {
        commands: commands.len(),
        failed: None,
        responder: Some(responder),
    }));
    for (index, command) in commands.iter().enumerate() {
        let part = Part { accessed: Accessed::by(unit, command), left: Arc::clone(&left), index };
        unit.export.submit(*command, Box::new(part));
    }
}
