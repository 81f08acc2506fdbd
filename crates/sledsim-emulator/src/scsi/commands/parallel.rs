//! The functions of the parallel interface (CMU-CS-03-125, section 3.4), as a command of 16
//! bytes with the vendor's operation code C0h and these service actions:
//!
//! | Action | Function          | CDB                       | Data                               |
//! |--------|-------------------|---------------------------|------------------------------------|
//! | 00h    | GET PARALLELISM   | allocation 10-13          | nine values, 4 bytes each          |
//! | 01h    | GET EQUIVALENT    | LBN 2-9, allocation 10-13 | count, 4 bytes; LBNs, 8 bytes each |
//! | 02h    | CHECK CONFLICTING | LBNs 2-7 and 8-13         | 1 or 0, 4 bytes                    |
//! | 03h    | GET BOUNDARIES    | LBN 2-9, allocation 10-13 | first and last LBN, 8 bytes each   |
//!
//! The nine values are p, N, S_x, S_y, M, N_x, N_y, S_T and S_C of Tables 2 and 3. They,
//! the equivalent blocks and conflicts are those at the time of the command. Byte 1 has the
//! service action in bits 4 to 0. A device that is no single sled has no such command.

use crate::parallel_interface::Interface;
use crate::scsi::bytes::{be32, be64, put, truncated};
use crate::scsi::sense::Sense;
use crate::scsi::table::{Call, Entry, Handler};
use crate::scsi::unit::LogicalUnit;
use sledsim_base::units::Nanos;
use sledsim_core::devices::mems::parallel::Parameters;

/// The operation code.
pub(super) const OPCODE: u8 = 0xc0;

#[rustfmt::skip]
pub(super) static COMMANDS: [Entry; 4] = [
    Entry::new(
        OPCODE,
        &[OPCODE, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 0, 0],
        Handler::Now(parallelism),
    )
    .action(0x00),
    Entry::new(
        OPCODE,
        &[OPCODE, 0x01, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0],
        Handler::Now(equivalent),
    )
    .action(0x01),
    Entry::new(
        OPCODE,
        &[OPCODE, 0x02, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0],
        Handler::Now(conflicting),
    )
    .action(0x02),
    Entry::new(
        OPCODE,
        &[OPCODE, 0x03, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0],
        Handler::Now(boundaries),
    )
    .action(0x03),
];

/// Bytes of the values that describe the parallelism of a sled.
pub(super) const VALUES_BYTES: usize = 36;

/// The interface of a logical unit, if its device is a single sled.
pub(super) fn interface(unit: &LogicalUnit) -> Option<Interface<'_>> {
    Interface::of(&unit.export.about().device)
}

/// The values that describe the parallelism of a sled at `now`.
pub(super) fn values(sled: &Interface<'_>, now: Nanos) -> [u8; VALUES_BYTES] {
    let parameters = sled.parallel().parameters(now);
    let Parameters { p, n, s_x, s_y, m, n_x, n_y, .. } = parameters;
    let [s_t, s_c] = parameters.sizes();
    let fields = [p, n, s_x, s_y, m, n_x, n_y, s_t, s_c];
    let mut bytes = [0; VALUES_BYTES];
    for (index, field) in fields.iter().enumerate() {
        put(&mut bytes, 4 * index, &field.to_be_bytes());
    }
    bytes
}

/// The interface of the logical unit of `call`, and the time of its device.
fn sled<'a>(call: &Call<'a>) -> Result<(Interface<'a>, Nanos), Sense> {
    let sled = interface(call.unit).ok_or(Sense::NO_SUCH_COMMAND)?;
    Ok((sled, call.unit.export.timeline().now()))
}

fn parallelism(call: &Call<'_>) -> Result<Vec<u8>, Sense> {
    let (sled, now) = sled(call)?;
    let data = values(&sled, now).to_vec();
    Ok(truncated(data, be32(call.cdb, 10)))
}

fn equivalent(call: &Call<'_>) -> Result<Vec<u8>, Sense> {
    let (sled, now) = sled(call)?;
    let class = sled.equivalent(be64(call.cdb, 2), now);
    let class = class.map_err(|_| Sense::OUT_OF_RANGE)?;
    let mut data = (class.len() as u32).to_be_bytes().to_vec();
    data.extend(class.iter().flat_map(|lbn| lbn.to_be_bytes()));
    Ok(truncated(data, be32(call.cdb, 10)))
}

fn conflicting(call: &Call<'_>) -> Result<Vec<u8>, Sense> {
    let (sled, now) = sled(call)?;
    // Six bytes each, which end the eight bytes from two bytes before on.
    let [a, b] = [0, 6].map(|at| be64(call.cdb, at) & ((1 << 48) - 1));
    let conflicting = sled.conflicting(a, b, now);
    let conflicting = conflicting.map_err(|_| Sense::OUT_OF_RANGE)?;
    Ok(u32::from(conflicting).to_be_bytes().to_vec())
}

fn boundaries(call: &Call<'_>) -> Result<Vec<u8>, Sense> {
    let (sled, _) = sled(call)?;
    let boundaries = sled.boundaries(be64(call.cdb, 2));
    let (first, last) = boundaries.map_err(|_| Sense::OUT_OF_RANGE)?;
    let data = [first.to_be_bytes(), last.to_be_bytes()].concat();
    Ok(truncated(data, be32(call.cdb, 10)))
}
