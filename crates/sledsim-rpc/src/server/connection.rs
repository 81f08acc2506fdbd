//! A connection: TLS, the check for HTTP/2, then calls.

use super::inbound::{Inbound, LargeMessages};
use super::opening::{self, BadPreface, WithPreface};
use super::peer::Peer;
use super::permits::{PermittedBody, SharedPermits};
use super::session::Session;
use super::state::ServerState;
use crate::v1::mem_store_server::MemStoreServer;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustix::net::AddressFamily;
use rustix::net::sockopt::socket_domain;
use sledsim_emulator::net::ClientErrorKind;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::error::Elapsed;
use tokio::time::{sleep, timeout, timeout_at};
use tonic::codegen::Service;

/// Receive window of a stream, in bytes: the windows of all streams fit into that of
/// the connection, so that no stream blocks another.
const STREAM_WINDOW: u32 = 64 << 10;

/// The most bytes of headers in a call.
const HEADERS_MAXIMUM: u32 = 16 << 10;

/// Time for the last answers to be sent.
const LINGER: Duration = Duration::from_millis(200);

/// Serves a client until it ends.
pub(super) fn run(server: &Arc<ServerState>, peer: &Peer) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    let ended = runtime.and_then(|runtime| runtime.block_on(served(server, peer)));
    if let Err(error) = ended {
        let why = format!("cannot be served: {error}");
        server.note(peer.client, ClientErrorKind::Accept, &why);
    }
}

async fn served(server: &Arc<ServerState>, peer: &Peer) -> io::Result<()> {
    let (client, gives_way) = (peer.client, peer.gives_way.notified());
    let Some(socket) = peer.take_socket() else {
        return Ok(());
    };
    if socket_domain(&socket)? == AddressFamily::UNIX {
        let stream = UnixStream::from(socket);
        stream.set_nonblocking(true)?;
        let stream = tokio::net::UnixStream::from_std(stream)?;
        first(secured(server, client, stream), gives_way).await;
    } else {
        let stream = TcpStream::from(socket);
        stream.set_nonblocking(true)?;
        let stream = tokio::net::TcpStream::from_std(stream)?;
        first(secured(server, client, stream), gives_way).await;
    }
    Ok(())
}

/// Negotiates TLS, if configured.
async fn secured<S>(server: &Arc<ServerState>, client: u32, stream: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Some(tls) = &server.tls else {
        return check_preface(server, client, stream).await;
    };
    match in_time(server, tls.accept(stream)).await {
        None => {}
        Some(Ok(Ok(stream))) => check_preface(server, client, stream).await,
        Some(Ok(Err(error))) => {
            server.note(client, ClientErrorKind::Tls, &error.to_string());
        }
        Some(Err(_)) => slow(server, client),
    }
}

fn slow(server: &ServerState, client: u32) {
    let s = server.shared.admission.patience.as_secs_f64();
    let why = format!("made no call of gRPC within {s} s");
    server.note(client, ClientErrorKind::Timeout, &why);
}

/// The result of `work`, a part of the handshake, or a timeout; `None` if the server
/// stops first.
async fn in_time<T>(
    server: &ServerState,
    work: impl Future<Output = T>,
) -> Option<Result<T, Elapsed>> {
    until_stopped(server, timeout(server.shared.admission.patience, work)).await
}

/// The result of `work`; `None` if the server stops first.
async fn until_stopped<T>(server: &ServerState, work: impl Future<Output = T>) -> Option<T> {
    let mut stop = server.stop.subscribe();
    first(work, async move { drop(stop.wait_for(Option::is_some).await) }).await
}

/// The result of `work`; `None` if `other` is done first.
async fn first<T>(work: impl Future<Output = T>, other: impl Future<Output = ()>) -> Option<T> {
    let (mut work, mut other) = (pin!(work), pin!(other));
    std::future::poll_fn(|context| {
        if let Poll::Ready(done) = work.as_mut().poll(context) {
            return Poll::Ready(Some(done));
        }
        other.as_mut().poll(context).map(|()| None)
    })
    .await
}

/// Checks that the client speaks HTTP/2.
async fn check_preface<S>(server: &Arc<ServerState>, client: u32, mut stream: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    match in_time(server, opening::read(&mut stream)).await {
        None | Some(Ok(Err(BadPreface::Closed))) => {}
        Some(Ok(Ok(()))) => serve_calls(server, client, WithPreface::new(stream)).await,
        Some(Ok(Err(BadPreface::Other(why)))) => {
            server.note(client, ClientErrorKind::Protocol, &why);
        }
        Some(Err(_)) => slow(server, client),
    }
}

/// Serves calls.
async fn serve_calls<S>(server: &Arc<ServerState>, client: u32, stream: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let settings = &server.settings;
    let session = Session::new(server);
    let limiter = session.limiter.clone();
    let streams = u32::try_from(settings.net.max_outstanding).unwrap_or(u32::MAX);
    let calls = Calls {
        store: MemStoreServer::new(session).max_decoding_message_size(usize::MAX),
        large: LargeMessages::new(settings, &server.shared.room),
        is_called: watch::Sender::new(false),
        server: Arc::clone(server),
        client,
    };
    let mut is_called = calls.is_called.subscribe();
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(streams)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(STREAM_WINDOW.saturating_mul(streams.saturating_add(1)))
        .max_header_list_size(HEADERS_MAXIMUM)
        .serve_connection(TokioIo::new(stream), calls);
    let mut connection = Box::pin(connection);
    // A client that has made a call may be idle for as long as it likes.
    let called = async { drop(is_called.wait_for(|is_called| *is_called).await) };
    let silent = async {
        if timeout(settings.net.admission.patience, called).await.is_ok() {
            std::future::pending::<()>().await;
        }
    };
    let Some(served) = until_stopped(server, first(connection.as_mut(), silent)).await else {
        connection.as_mut().graceful_shutdown();
        let end = (*server.stop.borrow()).unwrap_or_else(Instant::now);
        // A client that does not read does not acknowledge the shutdown, either.
        let answers_sent = async {
            limiter.idle().await;
            sleep(LINGER).await;
        };
        let _ = timeout_at(end.into(), first(connection, answers_sent)).await;
        return;
    };
    let Some(ended) = served else {
        return slow(server, client);
    };
    if let Err(error) = ended {
        let kind = match is_cut(&error) {
            true => ClientErrorKind::Vanished,
            false => ClientErrorKind::Protocol,
        };
        server.note(client, kind, &reasons(&error));
    } else if limiter.is_used() {
        let why = "closed with batches in flight";
        server.note(client, ClientErrorKind::Vanished, why);
    }
}

/// Whether the connection was cut in any way.
fn is_cut(error: &hyper::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if error.is::<io::Error>() {
            return true;
        }
        source = error.source();
    }
    error.is_incomplete_message() || error.is_closed()
}

/// An error with its causes.
fn reasons(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text += &format!(": {error}");
        source = error.source();
    }
    text
}

/// The calls of one connection, with their limits.
struct Calls {
    store: MemStoreServer<Session>,
    large: LargeMessages,
    /// Whether there has been a call.
    is_called: watch::Sender<bool>,
    server: Arc<ServerState>,
    client: u32,
}

type PermittedResponse = http::Response<PermittedBody<tonic::body::Body>>;

impl hyper::service::Service<http::Request<Incoming>> for Calls {
    type Response = PermittedResponse;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<PermittedResponse, Infallible>> + Send>>;

    fn call(&self, request: http::Request<Incoming>) -> Self::Future {
        if !self.is_called.send_replace(true) {
            self.server.shared.places.settle(self.client);
        }
        let request = request.map(|body| Inbound::new(body, &self.large));
        let answer = self.store.clone().call(request);
        Box::pin(async move {
            let mut answer = answer.await?;
            let permits = answer.extensions_mut().remove::<SharedPermits>();
            Ok(answer.map(|body| PermittedBody::new(body, permits)))
        })
    }
}
