//! Defines the answer to a request, and the interfaces that receive it: of the client, and of
//! an observer.

use crate::errno::Errno;
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;

/// The answer to a client: the data of a read, empty for other requests, or the error.
pub type Answer = Result<Vec<u8>, Errno>;

/// Receives the answer to one request.
pub trait Reply: Send {
    /// Sends the answer. Called once, by the thread that finds it due; must not block
    /// on the client.
    fn send(self: Box<Self>, answer: Answer);

    /// As [`Reply::send`], with the row of the request and its lateness in model time.
    fn tell(self: Box<Self>, row: &Row, lateness: Nanos, answer: Answer) {
        let _ = (row, lateness);
        self.send(answer);
    }
}

/// Observes completions. Its methods must not block.
pub trait CompletionObserver: Send + Sync {
    /// Called when a request is answered, `lateness` (in model time) after its
    /// completion.
    fn answered(&self, row: &Row, lateness: Nanos);

    /// Called when the device has decided on a request, before any later decision.
    /// The caller holds the lock of the timeline.
    fn decided(&self, row: &Row) {
        let _ = row;
    }
}
