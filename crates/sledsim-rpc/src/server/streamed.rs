//! The call `Batches`: a stream with many batches in flight.

use super::limiter::Permit;
use super::session::{Session, answered, stopping};
use crate::v1;
use sledsim_emulator::export::{BatchReply, CommandResult};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::sync::mpsc;
use tonic::codegen::tokio_stream::Stream;
use tonic::{Status, Streaming};

/// The most such calls of a connection at once.
const STREAMS_MAXIMUM: usize = 4;

/// The results of a batch, or its refusal, with its permits.
struct BatchAnswer {
    tag: u64,
    done: Result<Vec<CommandResult>, Status>,
    _taken: Arc<Permit>,
}

/// The stream of answers.
pub(super) struct Streamed {
    answers: mpsc::UnboundedReceiver<BatchAnswer>,
    /// The final status of the stream, sent after all answers.
    end: Arc<Mutex<Option<Status>>>,
}

impl Stream for Streamed {
    type Item = Result<v1::BatchResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.answers.poll_recv(context).map(|answer| {
            let Some(BatchAnswer { tag, done, .. }) = answer else {
                let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
                return end.take().map(Err);
            };
            Some(Ok(done.map_or_else(
                |status| v1::BatchResponse {
                    tag,
                    results: Vec::new(),
                    refused: Some(v1::Refusal {
                        code: status.code().into(),
                        message: status.message().to_owned(),
                    }),
                },
                |done| answered(tag, done),
            )))
        })
    }
}

/// Sends the results of a batch into the stream.
#[derive(Clone)]
struct SendAnswer {
    answers: mpsc::UnboundedSender<BatchAnswer>,
    tag: u64,
    taken: Arc<Permit>,
}

impl SendAnswer {
    fn send_result(self, done: Result<Vec<CommandResult>, Status>) {
        let Self { answers, tag, taken } = self;
        // The call may have been cancelled.
        let _ = answers.send(BatchAnswer { tag, done, _taken: taken });
    }
}

impl BatchReply for SendAnswer {
    fn send(self: Box<Self>, done: Vec<CommandResult>) {
        self.send_result(Ok(done));
    }
}

/// Counts a call until dropped.
struct StreamGuard(Arc<AtomicUsize>);

impl Drop for StreamGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Serves the batches of a call.
///
/// # Errors
/// Too many calls at once.
pub(super) fn start(
    session: &Session,
    requests: Streaming<v1::BatchRequest>,
) -> Result<Streamed, Status> {
    let streams = &session.streams;
    let guard = StreamGuard(Arc::clone(streams));
    if streams.fetch_add(1, Ordering::SeqCst) >= STREAMS_MAXIMUM {
        return Err(Status::resource_exhausted(format!(
            "there are {STREAMS_MAXIMUM} calls of Batches in this connection, and no more are \
             allowed"
        )));
    }
    let (answers, received) = mpsc::unbounded_channel();
    let end = Arc::<Mutex<Option<Status>>>::default();
    let reader = Reader { session: session.clone(), requests, answers, _guard: guard };
    let ends = Arc::clone(&end);
    tokio::spawn(async move {
        // Keep the stream open until its final status is known.
        let _open = reader.answers.clone();
        let ended = reader.run().await;
        *ends.lock().unwrap_or_else(PoisonError::into_inner) = ended.err();
    });
    Ok(Streamed { answers: received, end })
}

/// Submits batches as they arrive.
struct Reader {
    session: Session,
    requests: Streaming<v1::BatchRequest>,
    answers: mpsc::UnboundedSender<BatchAnswer>,
    _guard: StreamGuard,
}

impl Reader {
    /// Runs until the client sends no more batches.
    async fn run(mut self) -> Result<(), Status> {
        let mut stop = self.session.server.stop.subscribe();
        let mut stopped = Box::pin(async move { drop(stop.wait_for(Option::is_some).await) });
        loop {
            let Some(batch) = next(&mut self.requests, stopped.as_mut()).await? else {
                return Ok(());
            };
            // A refused batch also holds permits until its answer is sent.
            let bytes = self.session.bytes(&batch);
            let Some(taken) = self.session.limiter.take(*bytes.as_ref().unwrap_or(&0)).await else {
                return Err(no_room());
            };
            self.begin(&batch, bytes.map(drop), taken);
        }
    }

    fn begin(&self, batch: &v1::BatchRequest, checked: Result<(), Status>, taken: Permit) {
        let answer =
            SendAnswer { answers: self.answers.clone(), tag: batch.tag, taken: Arc::new(taken) };
        let refused = answer.clone();
        if let Err(status) = checked.and_then(|()| self.session.begin(batch, Box::new(answer))) {
            refused.send_result(Err(status));
        }
    }
}

/// Receives the next batch; fails if the server stops first.
async fn next(
    requests: &mut Streaming<v1::BatchRequest>,
    mut stopped: Pin<&mut impl Future<Output = ()>>,
) -> Result<Option<v1::BatchRequest>, Status> {
    let mut batch = std::pin::pin!(requests.message());
    std::future::poll_fn(|context| {
        if stopped.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(stopping()));
        }
        batch.as_mut().poll(context)
    })
    .await
}

/// Why a stream ends when other clients hold the memory.
fn no_room() -> Status {
    Status::resource_exhausted(
        "no room for the data of the batch: other clients do not read their answers",
    )
}
