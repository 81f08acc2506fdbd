//! A blocking client of the RPC server.
//!
//! A [`Client`] is a connection; a [`Remote`] is one export of its server. Both
//! can be cloned and used by several threads. A [`Pipeline`] has many batches in
//! flight. There is no background thread: the calling thread drives the
//! connection while it waits, and nothing is sent or received between calls.
//!
//! In reading order:
//!
//! * `connect`: socket, TLS and HTTP/2.
//! * `remote`: one export, its commands and answers.
//! * `pipeline`: many batches in flight.
//! * `medium`: a served sled as the medium of tables.

mod connect;
mod medium;
mod pipeline;
mod remote;

pub use medium::RemoteMedium;
pub use pipeline::Pipeline;
pub use remote::{Answer, Command, Outcome, Remote};

use crate::v1;
use crate::v1::mem_store_client::MemStoreClient;
use connect::Link;
pub use sledsim_emulator::net::Address;
use std::fmt::{self, Display, Formatter};
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
pub use tonic::Code;

/// Called from time to time while a call waits: whether to give up.
pub type GiveUp = Arc<dyn Fn() -> bool + Send + Sync>;

/// Options of a connection.
#[derive(Clone)]
pub struct Options {
    /// A folder with `ca-cert.pem`, which must have signed the server's certificate,
    /// and `client-cert.pem` with `client-key.pem`, if the server requires them; `None`
    /// for a connection without TLS.
    pub tls: Option<PathBuf>,
    /// Time limit for connecting and listing the exports.
    pub patience: Duration,
    /// Whether to give up waiting.
    pub give_up: Option<GiveUp>,
}

impl Default for Options {
    fn default() -> Self {
        Self { tls: None, patience: Duration::from_secs(10), give_up: None }
    }
}

/// Why a call failed; each text names the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no connection: no server, no sledsim server, or unsuitable
    /// certificates.
    Connect(String),
    /// The server refused the call; nothing was done.
    Refused {
        /// The gRPC status code.
        code: Code,
        /// The reason.
        message: String,
    },
    /// The connection ended; requests in flight may have been executed.
    Ended(String),
    /// The server violated the protocol.
    Protocol(String),
    /// The call was given up ([`Options::give_up`]); it may still be executed.
    GivenUp,
}

impl Display for Error {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(why) | Self::Ended(why) | Self::Protocol(why) => out.write_str(why),
            Self::Refused { message, .. } => out.write_str(message),
            Self::GivenUp => out.write_str("the call was given up"),
        }
    }
}

impl std::error::Error for Error {}

/// The result of a call.
pub type Result<T> = std::result::Result<T, Error>;

/// A connection to a server.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    address: String,
    version: String,
    exports: Vec<v1::Export>,
    store: MemStoreClient<Link>,
    runtime: Runtime,
    give_up: Option<GiveUp>,
}

/// Interval of checks whether to give up.
const LOOK: Duration = Duration::from_millis(100);

/// Waits for `work` unless the call is given up.
async fn unless_given_up<T>(give_up: Option<&GiveUp>, work: impl Future<Output = T>) -> Result<T> {
    let Some(give_up) = give_up else {
        return Ok(work.await);
    };
    let mut work = std::pin::pin!(work);
    loop {
        match tokio::time::timeout(LOOK, work.as_mut()).await {
            Ok(done) => return Ok(done),
            Err(_) if give_up() => return Err(Error::GivenUp),
            Err(_) => {}
        }
    }
}

impl Client {
    /// Connects to the server at `address`.
    ///
    /// # Errors
    /// [`Error::Connect`] if there is no server, no sledsim server, or certificates are
    /// unsuitable.
    pub fn connect(address: &Address, options: &Options) -> Result<Self> {
        let refuse = |why: String| Error::Connect(format!("server at '{address}': {why}"));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| refuse(error.to_string()))?;
        let opening = async {
            let opening = async {
                let link = connect::open(address, options.tls.as_deref()).await?;
                let mut store = MemStoreClient::new(link.clone())
                    .max_decoding_message_size(usize::MAX)
                    .max_encoding_message_size(usize::MAX);
                let listed = store.list_exports(v1::ListExportsRequest {}).await;
                Ok((store, listed.map_err(|status| not_ours(&link, &status))?.into_inner()))
            };
            let patience = options.patience;
            let late = |_| format!("did not list its exports within {} s", patience.as_secs_f64());
            (tokio::time::timeout(patience, opening).await).map_err(late)?
        };
        let give_up = options.give_up.clone();
        let opened = runtime.block_on(unless_given_up(give_up.as_ref(), opening));
        let (store, listed) = opened?.map_err(refuse)?;
        Ok(Self(Arc::new(Inner {
            address: address.to_string(),
            version: listed.sledsim,
            exports: listed.exports,
            store,
            runtime,
            give_up,
        })))
    }

    /// Address of the server.
    pub fn address(&self) -> &str {
        &self.0.address
    }

    /// The version of the server.
    pub fn version(&self) -> &str {
        &self.0.version
    }

    /// The exports, as listed when the connection was made.
    pub fn exports(&self) -> &[v1::Export] {
        &self.0.exports
    }

    /// Opens the export called `name`; the first export also has the empty name.
    ///
    /// # Errors
    /// [`Error::Refused`] if there is no such export.
    pub fn open(&self, name: &str) -> Result<Remote> {
        Remote::open(self, name)
    }

    /// Makes a call and waits for its result.
    fn call<T, F>(&self, call: impl FnOnce(MemStoreClient<Link>) -> F) -> Result<T>
    where
        F: Future<Output = std::result::Result<tonic::Response<T>, tonic::Status>>,
    {
        let answer = self.wait(call(self.0.store.clone()))?;
        let answer = answer.map_err(|status| self.failed(&status))?;
        Ok(answer.into_inner())
    }

    /// Drives the connection until `work` is done.
    fn wait<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        let work = unless_given_up(self.0.give_up.as_ref(), work);
        self.0.runtime.block_on(work)
    }

    /// Whether to give up a call of many short waits; checked at intervals, `looked`
    /// being the time of the last check.
    fn is_given_up(&self, looked: &mut Instant) -> bool {
        let Some(give_up) = (self.0.give_up.as_ref()).filter(|_| looked.elapsed() >= LOOK) else {
            return false;
        };
        *looked = Instant::now();
        give_up()
    }

    fn runtime(&self) -> &Runtime {
        &self.0.runtime
    }

    /// Converts a status to an error.
    fn failed(&self, status: &tonic::Status) -> Error {
        let address = self.address();
        match connect::cause(status) {
            Some(why) => Error::Ended(format!(
                "server at '{address}' ended the connection: {why}; what was under way may have \
                 been done"
            )),
            None => Error::Refused {
                code: status.code(),
                message: format!("server at '{address}': {}", status.message()),
            },
        }
    }
}

/// Describes why a server that does not list its exports is unsuitable.
fn not_ours(link: &Link, status: &tonic::Status) -> String {
    match (link.cause(status), status.code()) {
        (Some(why), _) if why.contains("clients are connected") => {
            format!("is busy: it has no place for another client ({why})")
        }
        (Some(why), _) => format!(
            "is busy, with no place for another client, or is no sledsim server for RPC, or wants \
             TLS that was not given or does not do: {why}"
        ),
        (None, Code::Unimplemented) => {
            "speaks gRPC, but not sledsim.v1: it is no sledsim server, or of another version"
                .to_owned()
        }
        (None, _) => format!("refused to list its exports: {}", status.message()),
    }
}
