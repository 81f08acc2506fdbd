//! A client of the RPC server, which waits for its answers.
//!
//! A [`Client`] is a connection; a [`Remote`] is one export of its server. Both
//! can be cloned and used by several threads. Batches of which many are under way
//! go through a [`Pipeline`]. The connection is looked after by whoever waits:
//! there is no thread, and nothing is sent or received between the calls.

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
pub use sledsim_emulator::listen::Address;
use std::fmt::{self, Display, Formatter};
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
pub use tonic::Code;

/// Asked now and then while a call waits: whether it should give up.
pub type GiveUp = Arc<dyn Fn() -> bool + Send + Sync>;

/// How to connect.
#[derive(Clone)]
pub struct Options {
    /// A folder with `ca-cert.pem`, which must have signed the server's
    /// certificate, and `client-cert.pem` with `client-key.pem`, if the server
    /// asks for them; without it there is no TLS.
    pub tls: Option<PathBuf>,
    /// How long it may take until the server has said what it is.
    pub patience: Duration,
    /// Whether to give up waiting, if anybody may say so.
    pub give_up: Option<GiveUp>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tls: None,
            patience: Duration::from_secs(10),
            give_up: None,
        }
    }
}

/// Why something failed; every text names the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no connection: nobody is there, or nobody who speaks so, or
    /// certificates do not do.
    Connect(String),
    /// The server refused it; nothing of it was done.
    Refused {
        /// Which kind of reason, as gRPC has it.
        code: Code,
        /// The reason.
        message: String,
    },
    /// The server ended meanwhile; what was under way may have been done.
    Ended(String),
    /// The server said what it should not.
    Protocol(String),
    /// It was given up ([`Options::give_up`]); it may be done all the same.
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

/// What comes of a call.
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

/// How often it is asked whether to give up.
const LOOK: Duration = Duration::from_millis(100);

/// Waits for `work`, unless it is given up.
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
    /// [`Error::Connect`] if there is none, if it is something else, or if
    /// certificates do not do.
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
                let mut store = MemStoreClient::new(link)
                    .max_decoding_message_size(usize::MAX)
                    .max_encoding_message_size(usize::MAX);
                let said = store.list_exports(v1::ListExportsRequest {}).await;
                Ok((
                    store,
                    said.map_err(|status| not_ours(&status))?.into_inner(),
                ))
            };
            let patience = options.patience;
            let late = |_| format!("did not say within {} s what it is", patience.as_secs_f64());
            (tokio::time::timeout(patience, opening).await).map_err(late)?
        };
        let give_up = options.give_up.clone();
        let opened = runtime.block_on(unless_given_up(give_up.as_ref(), opening));
        let (store, said) = opened?.map_err(refuse)?;
        Ok(Self(Arc::new(Inner {
            address: address.to_string(),
            version: said.sledsim,
            exports: said.exports,
            store,
            runtime,
            give_up,
        })))
    }

    /// Where the server is.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.0.address
    }

    /// The version of the server.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.0.version
    }

    /// What it serves, as it was when the connection was made.
    #[must_use]
    pub fn exports(&self) -> &[v1::Export] {
        &self.0.exports
    }

    /// The export called `name`; the first has the empty name, too.
    ///
    /// # Errors
    /// [`Error::Refused`] if there is none.
    pub fn open(&self, name: &str) -> Result<Remote> {
        Remote::open(self, name)
    }

    /// What comes of a call.
    fn call<T, F>(&self, call: impl FnOnce(MemStoreClient<Link>) -> F) -> Result<T>
    where
        F: Future<Output = std::result::Result<tonic::Response<T>, tonic::Status>>,
    {
        let answer = self.wait(call(self.0.store.clone()))?;
        let answer = answer.map_err(|status| self.failed(&status))?;
        Ok(answer.into_inner())
    }

    /// Waits, and looks after the connection.
    fn wait<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        let work = unless_given_up(self.0.give_up.as_ref(), work);
        self.0.runtime.block_on(work)
    }

    /// Whether to give up what takes many short waits; asked from time to time, the
    /// last one being `looked`.
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

    /// What a status is about.
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

/// Why a server that does not list its exports is none of ours.
fn not_ours(status: &tonic::Status) -> String {
    match (connect::cause(status), status.code()) {
        (Some(why), _) => format!(
            "is no sledsim server for RPC, or wants TLS that was not given or does not do: {why}"
        ),
        (None, Code::Unimplemented) => {
            "speaks gRPC, but not sledsim.v1: it is no sledsim server, or of another version"
                .to_owned()
        }
        (None, _) => format!("refused to say what it is: {}", status.message()),
    }
}
