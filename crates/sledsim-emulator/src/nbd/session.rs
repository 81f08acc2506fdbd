//! The session of a connection: the handshake, then requests.

use super::Nbd;
use super::negotiate::{ALLOCATION_ID, Agreed, Handshake};
use super::reply::PendingReply;
use super::wire::*;
use crate::command::{Command, CommandKind};
use crate::errno::{Errno, errno_of};
use crate::front_end::Exports;
use crate::net::{
    ClientErrorKind, ClientErrorStats, Connection, Conversation, End, Input, Limits, Link,
    Protocol, Settings, Shared, cut_short,
};
use rustix::fd::OwnedFd;
use sledsim_base::error::Result;
use std::sync::{Arc, Weak};

impl Conversation for Nbd {
    const NAME: &'static str = "nbd";
    type Agreed = Agreed;
    const UNDONE: &'static str = "an export";

    fn state(&self) -> &Shared<Connection> {
        &self.shared
    }

    fn limits(&self) -> Limits {
        self.settings.limits()
    }

    fn agree(
        &self,
        input: &mut Input,
        connection: &Arc<Connection>,
        settle: &dyn Fn(),
    ) -> std::result::Result<Agreed, End> {
        Handshake::new(input, connection, self, settle).run()
    }

    fn receive(
        &self,
        agreed: Agreed,
        input: &mut Input,
        connection: &Arc<Connection>,
        link: &Arc<Link>,
    ) -> std::result::Result<(), End> {
        let stream = self.exports.new_stream();
        // It is over before it has begun, if power has failed since.
        if !has_power(&agreed, stream, connection) {
            return Ok(());
        }
        let client = connection.client;
        Session { nbd: self, agreed: &agreed, link, client, stream }.transmit(input)
    }
}

/// Serves one client at the other end of `socket`, a connected stream socket, until it
/// ends; returns its errors.
///
/// # Errors
/// Certificates that cannot be used.
pub fn serve(
    socket: OwnedFd,
    exports: Arc<Exports>,
    settings: &Settings,
) -> Result<ClientErrorStats> {
    let nbd = Nbd::new(exports, settings)?;
    nbd.serve(&Arc::new(nbd.connect(0, socket)));
    Ok(nbd.shared.client_errors)
}

/// Whether the device has power; the connection ends when that fails.
fn has_power(agreed: &Agreed, stream: u32, connection: &Arc<Connection>) -> bool {
    let Some(power) = agreed.export.power() else {
        return true;
    };
    let link: Weak<Connection> = Arc::downgrade(connection);
    power.register(stream, link)
}

/// The transmission phase.
struct Session<'a> {
    nbd: &'a Nbd,
    agreed: &'a Agreed,
    link: &'a Arc<Link>,
    client: u32,
    stream: u32,
}

/// The longest write that is skipped rather than a reason to disconnect.
const SKIP_MAXIMUM: u32 = 4 * PAYLOAD_MAXIMUM;

/// The longest request for which earlier replies wait, to be sent with its own.
const WAITED_FOR: u32 = 64 << 10;

/// The most extents of one reply about holes.
const EXTENTS_MAXIMUM: usize = 1024;

/// Why a request is refused.
type RequestError = (Errno, String);

impl Session<'_> {
    /// Reads requests until the client disconnects.
    fn transmit(&self, input: &mut Input) -> std::result::Result<(), End> {
        let gathers = !self.agreed.export.store().is_durable();
        loop {
            if !input.has(Request::BYTES) {
                self.link.release();
            }
            let request = match input.take(Request::BYTES) {
                Ok(bytes) => Request::decode(bytes),
                Err(End::Eof) if self.link.limiter.requests() > 0 => {
                    let why = "closed with requests under way".to_owned();
                    let shared = &self.nbd.shared;
                    shared.note(ClientErrorKind::Vanished, self.client, &why);
                    return Err(End::Eof);
                }
                Err(end) => return Err(end),
            };
            let request = request.map_err(|magic| {
                End::Bad(ClientErrorKind::Protocol, format!("request magic {magic:#010x}"))
            })?;
            if request.command == CMD_DISC {
                return Ok(());
            }
            if request.command == CMD_WRITE && request.length > SKIP_MAXIMUM {
                let why = format!("a write of {} bytes", request.length);
                return Err(End::Bad(ClientErrorKind::Protocol, why));
            }
            if gathers && input.has(Request::BYTES) {
                self.link.gather();
            }
            self.request(&request, input)?;
        }
    }

    fn request(&self, request: &Request, input: &mut Input) -> std::result::Result<(), End> {
        let refusal = self.refusal(request);
        let size = match request.command {
            CMD_READ | CMD_CACHE if refusal.is_none() => u64::from(request.length),
            _ => 0,
        };
        let carries = if request.command == CMD_WRITE { request.length as usize } else { 0 };
        let limiter = &self.link.limiter;
        if request.length > WAITED_FOR || !input.has(carries) {
            self.link.release();
        }
        let open = limiter.enter(size, || self.link.release());
        let structured = self.agreed.structured;
        let mut pending = PendingReply::new(self.link, request.cookie, size, structured);
        let data = match request.command {
            CMD_WRITE if request.length > PAYLOAD_MAXIMUM => {
                input.skip(request.length.into()).map(|()| &[][..])
            }
            CMD_WRITE => input.take_rest(request.length as usize),
            _ => Ok(&[][..]),
        };
        let data = match data {
            Ok(data) => data,
            Err(end) => {
                pending.refuse(Errno::INVAL, "the data are incomplete");
                return Err(if let End::Eof = end { cut_short() } else { end });
            }
        };
        // In this order, a thread that stops the server either sees the request in
        // flight, or the request is refused.
        if !open || self.nbd.shared.is_stopping() {
            drop(pending);
            return Ok(());
        }
        if let Some((errno, why)) = refusal {
            pending.refuse(errno, &why);
            return Ok(());
        }
        let bytes = u64::from(request.length);
        let no_hole = request.flags & FLAG_NO_HOLE != 0;
        let what = match request.command {
            CMD_READ => {
                pending.data_at = Some(request.offset);
                CommandKind::Read(bytes)
            }
            // The device reads them, into its caches if it has any.
            CMD_CACHE => CommandKind::Read(bytes),
            CMD_WRITE => CommandKind::Write(data),
            CMD_FLUSH => CommandKind::Flush,
            CMD_TRIM => CommandKind::Trim(bytes),
            CMD_WRITE_ZEROES => CommandKind::Zero { bytes, unmap: !no_hole },
            _ => {
                self.block_status(request, pending);
                return Ok(());
            }
        };
        let command = Command {
            what,
            offset: request.offset,
            fua: request.flags & FLAG_FUA != 0
                && !matches!(what, CommandKind::Read(_) | CommandKind::Flush),
            stream: self.stream,
        };
        self.agreed.export.submit(command, Box::new(pending));
        Ok(())
    }

    /// Why `request` cannot be served, if so.
    fn refusal(&self, request: &Request) -> Option<RequestError> {
        let no = |errno, why: String| Some((errno, why));
        let &Request { flags, command, offset, length, .. } = request;
        let structured = self.agreed.structured;
        let allowed = match command {
            CMD_READ if structured => FLAG_FUA | FLAG_DF,
            CMD_READ | CMD_WRITE | CMD_FLUSH | CMD_TRIM | CMD_CACHE => FLAG_FUA,
            CMD_WRITE_ZEROES => FLAG_FUA | FLAG_NO_HOLE | FLAG_FAST_ZERO,
            CMD_BLOCK_STATUS if self.agreed.allocation => FLAG_FUA | FLAG_REQ_ONE,
            CMD_BLOCK_STATUS => {
                let why = "base:allocation has not been agreed on";
                return no(Errno::INVAL, why.to_owned());
            }
            _ => return no(Errno::INVAL, format!("unknown command {command}")),
        };
        if flags & !allowed != 0 {
            return no(
                Errno::INVAL,
                format!("flags {flags:#x}: not all of them go with command {command}"),
            );
        }
        if command == CMD_FLUSH {
            let why = "a flush has neither offset nor length";
            return (offset != 0 || length != 0).then(|| (Errno::INVAL, why.to_owned()));
        }
        let writes = matches!(command, CMD_WRITE | CMD_TRIM | CMD_WRITE_ZEROES);
        if writes && self.agreed.export.is_read_only() {
            return no(Errno::PERM, "the export is read-only".to_owned());
        }
        let block = u64::from(BLOCK_MINIMUM);
        if !(offset | u64::from(length)).is_multiple_of(block) {
            return no(
                Errno::INVAL,
                format!("offset {offset}, length {length}: not multiples of {block}"),
            );
        }
        if !self.agreed.export.contains(offset, length.into()) {
            let capacity = self.agreed.export.bytes();
            let errno = match command {
                CMD_WRITE | CMD_WRITE_ZEROES => Errno::NOSPC,
                _ => Errno::INVAL,
            };
            return no(
                errno,
                format!("offset {offset}, length {length}: the export has {capacity} bytes"),
            );
        }
        let carries = matches!(command, CMD_READ | CMD_WRITE | CMD_CACHE);
        if carries && length > PAYLOAD_MAXIMUM {
            return no(Errno::INVAL, format!("length {length}: at most {PAYLOAD_MAXIMUM}"));
        }
        if command == CMD_BLOCK_STATUS && length == 0 {
            return no(Errno::INVAL, "length 0".to_owned());
        }
        if flags & FLAG_FAST_ZERO != 0 {
            let why = "zeroes take the time of a write";
            return no(Errno::OPNOTSUPP, why.to_owned());
        }
        None
    }

    /// Replies which blocks are holes; takes no model time.
    fn block_status(&self, request: &Request, pending: PendingReply) {
        let one = request.flags & FLAG_REQ_ONE != 0;
        let most = if one { 1 } else { EXTENTS_MAXIMUM };
        match self.extents(request.offset, request.length, most) {
            Ok(extents) => {
                let mut data = Vec::with_capacity(4 + 8 * extents.len());
                data.extend_from_slice(&ALLOCATION_ID.to_be_bytes());
                for (bytes, state) in extents {
                    data.extend_from_slice(&bytes.to_be_bytes());
                    data.extend_from_slice(&state.to_be_bytes());
                }
                pending.answer(CHUNK_BLOCK_STATUS, data);
            }
            Err(error) => pending.refuse(errno_of(&error), &error.to_string()),
        }
    }

    /// At most `most` extents from `offset` on, adjacent ones differing in state.
    fn extents(&self, offset: u64, length: u32, most: usize) -> std::io::Result<Vec<(u32, u32)>> {
        let mut extents: Vec<(u32, u32)> = Vec::new();
        let mut done = 0;
        while done < length {
            let left = length - done;
            let store = self.agreed.export.store();
            let (bytes, hole) = store.extent(offset + u64::from(done), left.into())?;
            let whole = bytes as u32 / BLOCK_MINIMUM * BLOCK_MINIMUM;
            // Writes may have changed the data meanwhile.
            let (bytes, state) = match whole {
                0 => (BLOCK_MINIMUM, 0),
                _ if hole => (whole, STATE_HOLE | STATE_ZERO),
                _ => (whole, 0),
            };
            let full = extents.len() == most;
            match extents.last_mut() {
                Some(last) if last.1 == state => last.0 += bytes,
                _ if full => break,
                _ => extents.push((bytes, state)),
            }
            done += bytes;
        }
        Ok(extents)
    }
}
