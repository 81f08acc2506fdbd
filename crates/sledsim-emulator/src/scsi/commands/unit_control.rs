//! TEST UNIT READY, REQUEST SENSE, SEND DIAGNOSTIC (SPC-4, sections 6.47, 6.39 and 6.42) and
//! START STOP UNIT (SBC-3, section 5.25).

use super::blocks::{command, submit_then};
use crate::command::CommandKind;
use crate::scsi::bytes::truncated;
use crate::scsi::responder::Responder;
use crate::scsi::sense::Sense;
use crate::scsi::table::{AnyCall, Call, Entry, Handler};
use crate::scsi::unit::LogicalUnit;
use sledsim_core::model::Rest;
use std::sync::Arc;

/// DESC: asks for sense data in descriptors.
const DESC: u8 = 1 << 0;
const IMMED: u8 = 1 << 0;
const START: u8 = 1 << 0;
const LOEJ: u8 = 1 << 1;
const NO_FLUSH: u8 = 1 << 2;
const POWER_CONDITION: u8 = 15 << 4;
/// Power conditions.
const ACTIVE: u8 = 0x1;
const IDLE: u8 = 0x2;
const STANDBY: u8 = 0x3;
const UNITOFFL: u8 = 1 << 0;
const DEVOFFL: u8 = 1 << 1;
const SELFTEST: u8 = 1 << 2;
const PF: u8 = 1 << 4;

pub(super) static COMMANDS: [Entry; 4] = [
    Entry::new(0x00, &[0x00, 0, 0, 0, 0, 0], Handler::Now(test_unit_ready)),
    Entry::new(0x03, &[0x03, DESC, 0, 0, 255, 0], Handler::Any(request_sense)),
    Entry::new(
        0x1b,
        &[0x1b, IMMED, 0, 0, POWER_CONDITION | NO_FLUSH | LOEJ | START, 0],
        Handler::Always(start_stop),
    ),
    Entry::new(
        0x1d,
        // No self-tests but the default one, and no parameters.
        &[0x1d, PF | SELFTEST | DEVOFFL | UNITOFFL, 0, 0, 0, 0],
        Handler::Now(send_diagnostic),
    ),
];

fn test_unit_ready(call: &Call<'_>) -> Result<Vec<u8>, Sense> {
    call.unit.must_be_ready()?;
    Ok(Vec::new())
}

/// Returns a unit attention, or why the logical unit is not ready, as data.
fn request_sense(call: &AnyCall<'_>) -> Result<Vec<u8>, Sense> {
    let sense = match call.unit {
        None => Sense::NO_SUCH_UNIT,
        Some(unit) => call.nexus.take_attention(unit.number).unwrap_or_else(|| {
            let ready = unit.must_be_ready();
            ready.err().unwrap_or(Sense::NONE)
        }),
    };
    let data = sense.encode(call.cdb[1] & DESC != 0);
    Ok(truncated(data, u32::from(call.cdb[4])))
}

/// Starts or stops the logical unit, before it returns also with IMMED. STANDBY and STOP
/// flush first, unless NO_FLUSH is set, as the media cannot be accessed afterwards.
fn start_stop(call: &Call<'_>, responder: Responder) {
    let (unit, flags) = (Arc::clone(call.unit), call.cdb[4]);
    // What was sent before power has failed changes nothing afterwards.
    let power = unit.export.power();
    if power.is_some_and(|power| power.has_ended(call.nexus.stream)) {
        return responder.end(Err(Sense::NO_POWER));
    }
    let starts = match flags >> 4 {
        0x0 if flags & LOEJ == 0 => flags & START != 0,
        ACTIVE | IDLE | STANDBY => true,
        _ => return responder.end(Err(Sense::invalid_field(4))),
    };
    let leaves = !starts || flags >> 4 == STANDBY;
    if !leaves || flags & NO_FLUSH != 0 || unit.must_be_ready().is_err() {
        return responder.end(enter(&unit, flags, starts));
    }
    let flush = command(call, CommandKind::Flush, 0);
    submit_then(call.unit, flush, responder, move |flushed, responder| {
        responder.end(flushed.and_then(|_| enter(&unit, flags, starts)));
    });
}

/// Enters the state that START STOP UNIT asks for. STANDBY makes a sled go inactive until its
/// next request, which wakes it; so does STOP, if the sled has no work. ACTIVE and IDLE only
/// start the unit: it is idle whenever it has no work.
fn enter(unit: &LogicalUnit, flags: u8, starts: bool) -> Result<Vec<u8>, Sense> {
    let timeline = unit.export.timeline();
    if flags >> 4 == STANDBY {
        if !unit.export.is_on() {
            return Err(Sense::NO_POWER);
        }
        match timeline.rest() {
            Rest::Rests => {}
            Rest::Works => return Err(Sense::WORKS),
            Rest::Cannot => return Err(Sense::invalid_field(4)),
        }
    }
    let _ = unit.change(|settings| settings.stopped = !starts);
    if starts {
        unit.must_be_ready()?;
    } else {
        // A device that works or cannot rest is stopped all the same.
        let _ = timeline.rest();
    }
    Ok(Vec::new())
}

/// The default self-test: whether the logical unit is ready.
fn send_diagnostic(call: &Call<'_>) -> Result<Vec<u8>, Sense> {
    if call.cdb[1] & SELFTEST != 0 {
        call.unit.must_be_ready()?;
    }
    Ok(Vec::new())
}
