//! READ and WRITE (SBC-3, sections 5.11 to 5.13 and 5.33 to 5.35; READ (6) and WRITE (6) of SBC-2).

use super::batches;
use super::blocks::{DPO, FUA, Fields, command, data_out, read_media_then, whole_blocks};
use crate::command::{Command, CommandKind};
use crate::scsi::responder::Responder;
use crate::scsi::sense::Sense;
use crate::scsi::table::{Call, Entry, Handler};

const FLAGS: u8 = DPO | FUA;

#[rustfmt::skip]
pub(super) static COMMANDS: [Entry; 8] = [
    Entry::new(0x28, &[0x28, FLAGS, 255, 255, 255, 255, 31, 255, 255, 0], Handler::Later(read)),
    Entry::new(0x2a, &[0x2a, FLAGS, 255, 255, 255, 255, 31, 255, 255, 0], Handler::Later(write))
        .takes(data_out),
    Entry::new(
        0x88,
        &[0x88, FLAGS, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 31, 0],
        Handler::Later(read),
    ),
    Entry::new(
        0x8a,
        &[0x8a, FLAGS, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 31, 0],
        Handler::Later(write),
    )
    .takes(data_out),
    Entry::new(
        0xa8,
        &[0xa8, FLAGS, 255, 255, 255, 255, 255, 255, 255, 255, 31, 0],
        Handler::Later(read),
    ),
    Entry::new(
        0xaa,
        &[0xaa, FLAGS, 255, 255, 255, 255, 255, 255, 255, 255, 31, 0],
        Handler::Later(write),
    )
    .takes(data_out),
    Entry::new(0x08, &[0x08, 31, 255, 255, 255, 0], Handler::Later(read)),
    Entry::new(0x0a, &[0x0a, 31, 255, 255, 255, 0], Handler::Later(write)).takes(data_out),
];

fn read(call: &Call<'_>, responder: Responder) {
    let fields = Fields::of(call.cdb);
    let command = fields
        .check(call.unit)
        .map(|()| command(call, CommandKind::Read(fields.bytes()), fields.lbn));
    access(call, &fields, command, responder);
}

fn write(call: &Call<'_>, responder: Responder) {
    let fields = Fields::of(call.cdb);
    // An initiator that sends fewer data writes fewer blocks.
    let what = CommandKind::Write(whole_blocks(call.data));
    let command = fields
        .check(call.unit)
        .map(|()| Command { fua: has_fua(call, &fields), ..command(call, what, fields.lbn) });
    access(call, &fields, command, responder);
}

/// Whether the media must be accessed; CDBs of 6 bytes have no such bit.
fn has_fua(call: &Call<'_>, fields: &Fields) -> bool {
    fields.group.is_some() && call.cdb[1] & FUA != 0
}

/// Submits a read or a write, by itself or in a batch.
fn access(
    call: &Call<'_>,
    fields: &Fields,
    command: Result<Command<'_>, Sense>,
    responder: Responder,
) {
    match batches::membership(call.unit, fields) {
        None => match command {
            Ok(read) if has_fua(call, fields) && matches!(read.what, CommandKind::Read(_)) => {
                read_media_then(call.unit, read, responder, |data, responder| {
                    responder.end(data);
                });
            }
            Ok(command) => super::blocks::submit(call.unit, command, responder),
            Err(sense) => responder.end(Err(sense)),
        },
        Some(membership) => batches::add(call, &membership, command, responder),
    }
}
