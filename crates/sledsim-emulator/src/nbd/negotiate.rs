//! The handshake: the client chooses an export and options.

use super::Nbd;
use super::options::{self, Info, MetaQuery};
use super::wire::*;
use crate::export::Export;
use crate::net::{ClientErrorKind, Connection, End, Header, Input, cut_short};
use std::sync::Arc;

/// The result of a handshake.
pub(crate) struct Agreed {
    pub(super) export: Arc<Export>,
    pub(super) structured: bool,
    /// Whether the client may query which blocks are holes.
    pub(super) allocation: bool,
}

/// The longest data of an option that are parsed.
const DATA_MAXIMUM: u32 = 64 << 10;

/// The longest data of an option that are skipped.
const SKIP_MAXIMUM: u32 = 1 << 20;

/// The most options of a client.
const OPTIONS_MAXIMUM: usize = 4096;

/// The one metadata context, and its number in replies.
const ALLOCATION: &str = "base:allocation";
pub(super) const ALLOCATION_ID: u32 = 1;

/// A handshake in progress.
pub(super) struct Handshake<'a> {
    input: &'a mut Input,
    connection: &'a Connection,
    shared: &'a Nbd,
    /// To be called before the last answer.
    settle: &'a dyn Fn(),
    /// Whether TLS has been started.
    secured: bool,
    structured: bool,
    /// The export for which the client selected `base:allocation`.
    allocation: Option<Arc<Export>>,
}

/// Why no client may connect without power.
const OFF: &str = "the device is off: power has failed";

fn refused(why: impl Into<String>) -> End {
    End::Bad(ClientErrorKind::Handshake, why.into())
}

fn protocol(why: impl Into<String>) -> End {
    End::Bad(ClientErrorKind::Protocol, why.into())
}

impl<'a> Handshake<'a> {
    pub(super) fn new(
        input: &'a mut Input,
        connection: &'a Connection,
        shared: &'a Nbd,
        settle: &'a dyn Fn(),
    ) -> Self {
        Self {
            input,
            connection,
            shared,
            settle,
            secured: false,
            structured: false,
            allocation: None,
        }
    }

    /// Performs the handshake.
    pub(super) fn run(&mut self) -> Result<Agreed, End> {
        let mut hello = Header::new();
        hello.extend_from_slice(&INIT_MAGIC.to_be_bytes());
        hello.extend_from_slice(&OPTION_MAGIC.to_be_bytes());
        hello.extend_from_slice(&(FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
        self.input.answer(&hello)?;
        let flags = Fields(self.input.take(4)?).u32().unwrap_or(0);
        if flags & !u32::from(FIXED_NEWSTYLE | NO_ZEROES) != 0 {
            return Err(protocol(format!("client flags {flags:#x}: unknown")));
        }
        let fixed = flags & u32::from(FIXED_NEWSTYLE) != 0;
        let zeroes = flags & u32::from(NO_ZEROES) == 0;
        for _ in 0..OPTIONS_MAXIMUM {
            let mut fields = Fields(self.input.take(16)?);
            let (Some(magic), Some(option), Some(length)) =
                (fields.u64(), fields.u32(), fields.u32())
            else {
                return Err(End::Eof);
            };
            if magic != OPTION_MAGIC {
                return Err(protocol(format!("option magic {magic:#018x}")));
            }
            if option == OPT_EXPORT_NAME {
                return self.export_name(length, zeroes);
            }
            if !fixed {
                let why = format!("option {option} of a client without fixed newstyle");
                return Err(protocol(why));
            }
            if length > SKIP_MAXIMUM {
                let why = format!("option {option} with {length} bytes of data");
                return Err(protocol(why));
            }
            if length > DATA_MAXIMUM {
                self.input.skip(u64::from(length))?;
                let why = format!("{length} bytes of data: at most {DATA_MAXIMUM} are allowed");
                self.reply(option, REP_ERR_TOO_BIG, why.as_bytes())?;
                continue;
            }
            let data = self.input.take(length as usize).map_err(half)?.to_vec();
            if self.tls_is_missing() && !matches!(option, OPT_STARTTLS | OPT_ABORT) {
                self.reply(option, REP_ERR_TLS_REQD, b"TLS is required: start it first")?;
                continue;
            }
            if let Some(agreed) = self.option(option, &data)? {
                return Ok(agreed);
            }
        }
        Err(protocol(format!("more than {OPTIONS_MAXIMUM} options")))
    }

    fn tls_is_missing(&self) -> bool {
        let tls = self.shared.settings.admission.tls.as_ref();
        !self.secured && tls.is_some_and(|tls| tls.required)
    }

    fn option(&mut self, option: u32, data: &[u8]) -> Result<Option<Agreed>, End> {
        let bare = matches!(option, OPT_ABORT | OPT_LIST | OPT_STARTTLS | OPT_STRUCTURED_REPLY);
        if bare && option != OPT_ABORT && !data.is_empty() {
            self.reply(option, REP_ERR_INVALID, b"this option has no data")?;
            return Ok(None);
        }
        match option {
            OPT_ABORT => {
                // Clients may close without waiting for it.
                let _ = self.reply(option, REP_ACK, &[]);
                return Err(End::Well);
            }
            OPT_LIST => self.list()?,
            OPT_STARTTLS => self.start_tls()?,
            OPT_STRUCTURED_REPLY => {
                self.structured = true;
                self.reply(option, REP_ACK, &[])?;
            }
            OPT_INFO | OPT_GO => return self.info(option, data),
            OPT_LIST_META_CONTEXT | OPT_SET_META_CONTEXT => self.meta(option, data)?,
            _ => self.reply(option, REP_ERR_UNSUP, b"unknown option")?,
        }
        Ok(None)
    }

    fn reply(&self, option: u32, kind: u32, data: &[u8]) -> Result<(), End> {
        let mut reply = Vec::with_capacity(20 + data.len());
        reply.extend_from_slice(&OPTION_REPLY_MAGIC.to_be_bytes());
        reply.extend_from_slice(&option.to_be_bytes());
        reply.extend_from_slice(&kind.to_be_bytes());
        reply.extend_from_slice(&(data.len() as u32).to_be_bytes());
        reply.extend_from_slice(data);
        self.input.answer(&reply)
    }

    /// Handles `NBD_OPT_EXPORT_NAME`, which has no error reply.
    fn export_name(&mut self, length: u32, zeroes: bool) -> Result<Agreed, End> {
        if length as usize > STRING_MAXIMUM {
            return Err(protocol(format!("export name of {length} bytes")));
        }
        let name = self.input.take(length as usize).map_err(half)?;
        let name = String::from_utf8_lossy(name).into_owned();
        if self.tls_is_missing() {
            return Err(refused("TLS is required"));
        }
        let Some(export) = self.shared.exports.named(&name).cloned() else {
            return Err(refused(no_export(&name)));
        };
        if !export.is_on() {
            return Err(refused(OFF));
        }
        let mut reply = Vec::with_capacity(134);
        reply.extend_from_slice(&export.bytes().to_be_bytes());
        reply.extend_from_slice(&options::flags(&export, self.structured).to_be_bytes());
        if zeroes {
            reply.extend_from_slice(&[0; 124]);
        }
        (self.settle)();
        self.input.answer(&reply)?;
        Ok(self.agreed(export))
    }

    fn agreed(&self, export: Arc<Export>) -> Agreed {
        let chosen = self.allocation.as_ref();
        Agreed {
            allocation: chosen.is_some_and(|chosen| Arc::ptr_eq(chosen, &export)),
            structured: self.structured,
            export,
        }
    }

    fn list(&self) -> Result<(), End> {
        for export in self.shared.exports.iter() {
            self.reply(OPT_LIST, REP_SERVER, &options::string(export.name()))?;
        }
        self.reply(OPT_LIST, REP_ACK, &[])
    }

    fn info(&self, option: u32, data: &[u8]) -> Result<Option<Agreed>, End> {
        let Some(Info { name, wants_name }) = Info::decode(data) else {
            self.reply(option, REP_ERR_INVALID, b"malformed")?;
            return Ok(None);
        };
        let Some(export) = self.shared.exports.named(name) else {
            self.reply(option, REP_ERR_UNKNOWN, no_export(name).as_bytes())?;
            return Ok(None);
        };
        if !export.is_on() {
            self.reply(option, REP_ERR_SHUTDOWN, OFF.as_bytes())?;
            return Ok(None);
        }
        self.reply(option, REP_INFO, &options::export(export, self.structured))?;
        if wants_name {
            self.reply(option, REP_INFO, &options::name(export))?;
        }
        self.reply(option, REP_INFO, &options::block_size())?;
        if option == OPT_GO {
            (self.settle)();
        }
        self.reply(option, REP_ACK, &[])?;
        Ok((option == OPT_GO).then(|| self.agreed(Arc::clone(export))))
    }

    fn meta(&mut self, option: u32, data: &[u8]) -> Result<(), End> {
        let set = option == OPT_SET_META_CONTEXT;
        if set {
            self.allocation = None;
        }
        let Some(MetaQuery { name, queries }) = MetaQuery::decode(data) else {
            return self.reply(option, REP_ERR_INVALID, b"malformed");
        };
        if !self.structured {
            let why = b"structured replies must be agreed on first";
            return self.reply(option, REP_ERR_INVALID, why);
        }
        let Some(export) = self.shared.exports.named(name).cloned() else {
            return self.reply(option, REP_ERR_UNKNOWN, no_export(name).as_bytes());
        };
        let all = !set && queries.is_empty();
        let wanted = |query: &&str| *query == ALLOCATION || (!set && *query == "base:");
        if all || queries.iter().any(wanted) {
            let id = if set { ALLOCATION_ID } else { 0 };
            let context = [&id.to_be_bytes(), ALLOCATION.as_bytes()].concat();
            self.reply(option, REP_META_CONTEXT, &context)?;
            self.allocation = self.allocation.take().or(set.then_some(export));
        }
        self.reply(option, REP_ACK, &[])
    }

    fn start_tls(&mut self) -> Result<(), End> {
        let Some(tls) = &self.shared.tls else {
            return self.reply(OPT_STARTTLS, REP_ERR_POLICY, b"TLS is not available");
        };
        if self.secured {
            return self.reply(OPT_STARTTLS, REP_ERR_INVALID, b"TLS has been started");
        }
        // Bytes sent before TLS must not be taken for bytes sent through it.
        if !self.input.is_empty() {
            return Err(protocol("bytes before the answer to STARTTLS"));
        }
        self.reply(OPT_STARTTLS, REP_ACK, &[])?;
        let started = self.connection.socket.start_tls(tls);
        started.map_err(|error| End::Bad(ClientErrorKind::Tls, error.to_string()))?;
        self.secured = true;
        // Options negotiated without TLS are not trusted.
        (self.structured, self.allocation) = (false, None);
        Ok(())
    }
}

/// The client stopped within an option.
fn half(end: End) -> End {
    match end {
        End::Eof => cut_short(),
        other => other,
    }
}

fn no_export(name: &str) -> String {
    let name: String = name.chars().take(200).collect();
    format!("no export '{name}'")
}
