//! Batches in a stream: many under way.

use super::limiter::Permits;
use super::service::{Session, answered, stopping};
use crate::v1;
use sledsim_emulator::export::{Done, Gathered};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::sync::mpsc;
use tonic::codegen::tokio_stream::Stream;
use tonic::{Status, Streaming};

/// How many such calls a connection may have at once.
const STREAMS_MAXIMUM: usize = 4;

/// What became of a batch, or why it was refused; with the room it takes.
struct Answered {
    tag: u64,
    done: Result<Vec<Done>, Status>,
    _taken: Arc<Permits>,
}

/// The answers, as they are there.
pub(super) struct Streamed {
    answers: mpsc::UnboundedReceiver<Answered>,
    /// How the stream ends, after all answers.
    end: Arc<Mutex<Option<Status>>>,
}

impl Stream for Streamed {
    type Item = Result<v1::BatchResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.answers.poll_recv(context).map(|answer| {
            let Some(Answered { tag, done, .. }) = answer else {
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

/// Sends what became of a batch into the stream.
#[derive(Clone)]
struct Tell {
    answers: mpsc::UnboundedSender<Answered>,
    tag: u64,
    taken: Arc<Permits>,
}

impl Tell {
    fn say(self, done: Result<Vec<Done>, Status>) {
        let Self {
            answers,
            tag,
            taken,
        } = self;
        // Unless the call was given up.
        let _ = answers.send(Answered {
            tag,
            done,
            _taken: taken,
        });
    }
}

impl Gathered for Tell {
    fn send(self: Box<Self>, done: Vec<Done>) {
        self.say(Ok(done));
    }
}

/// Counts a call as long as it is there.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Serves the batches of a call.
///
/// # Errors
/// A call too many.
pub(super) fn start(
    session: &Session,
    requests: Streaming<v1::BatchRequest>,
) -> Result<Streamed, Status> {
    let streams = session.streams();
    let counted = Counted(Arc::clone(streams));
    if streams.fetch_add(1, Ordering::SeqCst) >= STREAMS_MAXIMUM {
        return Err(Status::resource_exhausted(format!(
            "there are {STREAMS_MAXIMUM} calls of Batches in this connection, and no more are \
             allowed"
        )));
    }
    let (answers, received) = mpsc::unbounded_channel();
    let end = Arc::<Mutex<Option<Status>>>::default();
    let reader = Reader {
        session: session.clone(),
        requests,
        answers,
        _counted: counted,
    };
    let ends = Arc::clone(&end);
    tokio::spawn(async move {
        // The stream does not end before it is known how.
        let _open = reader.answers.clone();
        let ended = reader.run().await;
        *ends.lock().unwrap_or_else(PoisonError::into_inner) = ended.err();
    });
    Ok(Streamed {
        answers: received,
        end,
    })
}

/// Begins batches as they come.
struct Reader {
    session: Session,
    requests: Streaming<v1::BatchRequest>,
    answers: mpsc::UnboundedSender<Answered>,
    _counted: Counted,
}

impl Reader {
    /// Until there are no more.
    async fn run(mut self) -> Result<(), Status> {
        let mut stop = self.session.stopping();
        let mut stopped = Box::pin(async move { drop(stop.wait_for(Option::is_some).await) });
        let limiter = self.session.limiter();
        loop {
            let Some(batch) = next(&mut self.requests, stopped.as_mut()).await? else {
                return Ok(());
            };
            // One that is refused takes a place, too, until that was said.
            let bytes = self.session.bytes(&batch);
            let Some(taken) = limiter.take(*bytes.as_ref().unwrap_or(&0)).await else {
                return Err(stopping());
            };
            self.begin(&batch, bytes.map(drop), taken);
        }
    }

    fn begin(&self, batch: &v1::BatchRequest, checked: Result<(), Status>, taken: Permits) {
        let tell = Tell {
            answers: self.answers.clone(),
            tag: batch.tag,
            taken: Arc::new(taken),
        };
        let refused = tell.clone();
        if let Err(status) = checked.and_then(|()| self.session.begin(batch, Box::new(tell))) {
            refused.say(Err(status));
        }
    }
}

/// The next batch, unless the server stops.
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
