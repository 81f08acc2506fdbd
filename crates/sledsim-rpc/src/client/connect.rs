//! Connecting to a server: socket, TLS and HTTP/2.

use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::RootCertStore;
use rustls::client::ClientConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use sledsim_emulator::net::{Address, Identity, pem_items};
use std::error::Error;
use std::future::Future;
use std::io::ErrorKind;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tonic::codegen::Service;

/// An HTTP/2 connection for calls.
#[derive(Clone)]
pub(super) struct Link(SendRequest<tonic::body::Body>, Ended);

/// Why a connection has ended, once it has.
type Ended = Arc<OnceLock<String>>;

impl Link {
    /// The cause of a status that the connection has, if any.
    pub(super) fn cause(&self, status: &tonic::Status) -> Option<String> {
        let cause = cause(status)?;
        Some(self.1.get().cloned().unwrap_or(cause))
    }
}

type HttpResponse = http::Response<hyper::body::Incoming>;

impl Service<http::Request<tonic::body::Body>> for Link {
    type Response = HttpResponse;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, hyper::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), hyper::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, mut request: http::Request<tonic::body::Body>) -> Self::Future {
        // HTTP/2 requires an authority; its value is not used.
        let path = request.uri().path_and_query().cloned();
        let mut uri = http::uri::Parts::default();
        uri.scheme = Some(http::uri::Scheme::HTTP);
        uri.authority = Some(http::uri::Authority::from_static("localhost"));
        uri.path_and_query = path;
        if let Ok(uri) = http::Uri::from_parts(uri) {
            *request.uri_mut() = uri;
        }
        Box::pin(self.0.send_request(request))
    }
}

/// Flow-control window for answers, in bytes.
const WINDOW: u32 = 4 << 20;

/// Connects to `address`.
pub(super) async fn open(address: &Address, tls: Option<&Path>) -> Result<Link, String> {
    let unreachable = |error: std::io::Error| format!("cannot be reached: {error}");
    match address {
        Address::Unix(path) => {
            let stream = UnixStream::connect(path).await.map_err(unreachable)?;
            secured(stream, "localhost", tls).await
        }
        Address::Tcp(host, port) => {
            let stream = TcpStream::connect((host.as_str(), *port)).await;
            let stream = stream.map_err(unreachable)?;
            stream.set_nodelay(true).map_err(unreachable)?;
            secured(stream, host, tls).await
        }
    }
}

async fn secured<S>(stream: S, host: &str, tls: Option<&Path>) -> Result<Link, String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Some(folder) = tls else {
        return start_http2(stream).await;
    };
    let config = config(folder).map_err(|error| error.to_string())?;
    let name = ServerName::try_from(host.to_owned());
    let name = name.map_err(|_| format!("'{host}' is no name that a certificate can be for"))?;
    let connector = TlsConnector::from(Arc::new(config));
    let stream = connector.connect(name, stream).await;
    let stream = stream.map_err(|error| {
        let hint = match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => {
                "; so does a server that is busy, with no place for another client"
            }
            _ => "",
        };
        format!("TLS failed: {error}{hint}")
    })?;
    start_http2(stream).await
}

async fn start_http2<S>(stream: S) -> Result<Link, String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let handshake = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(2 * WINDOW)
        .handshake(TokioIo::new(stream))
        .await;
    let (link, connection) = handshake.map_err(|error| reasons(&error))?;
    // Calls report how the connection ends.
    let ended = Ended::default();
    let why = Arc::clone(&ended);
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            let _ = why.set(reasons(&error));
        }
    });
    Ok(Link(link, ended))
}

/// Loads the TLS configuration of a client from a folder.
fn config(folder: &Path) -> sledsim_base::error::Result<ClientConfig> {
    let refuse =
        |path: &Path, error: &dyn std::fmt::Display| sledsim_base::error::Error::file(path, error);
    let authority = folder.join("ca-cert.pem");
    let mut roots = RootCertStore::empty();
    for root in pem_items::<CertificateDer<'static>>(&authority)? {
        roots.add(root).map_err(|error| refuse(&authority, &error))?;
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| refuse(folder, &error))?
        .with_root_certificates(roots);
    let mut config = if folder.join("client-cert.pem").exists() {
        let Identity { file, chain, key } = Identity::load(folder, "client")?;
        (builder.with_client_auth_cert(chain, key)).map_err(|error| refuse(&file, &error))?
    } else {
        builder.with_no_client_auth()
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(config)
}

/// An error with its causes.
fn reasons(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text += &format!(": {error}");
        source = error.source();
    }
    text
}

/// The connection error that caused a status, if any.
pub(super) fn cause(status: &tonic::Status) -> Option<String> {
    let mut source = status.source();
    while let Some(error) = source {
        if error.is::<hyper::Error>() {
            return Some(reasons(error));
        }
        source = error.source();
    }
    None
}
