//! The entries of the table of commands.

use super::device::{Device, NexusState};
use super::responder::Responder;
use super::sense::Sense;
use super::unit::LogicalUnit;
use std::sync::Arc;

/// A command that is executed now.
pub(super) struct Call<'a> {
    pub(super) device: &'a Arc<Device>,
    pub(super) nexus: &'a Arc<NexusState>,
    pub(super) unit: &'a Arc<LogicalUnit>,
    pub(super) cdb: &'a [u8],
    /// The data from the initiator: as many as it has sent, at most those that the command
    /// takes.
    pub(super) data: &'a [u8],
    /// Bytes that the initiator offers, perhaps more than the command takes.
    pub(super) offered: u64,
}

/// A command that needs no logical unit.
pub(super) struct AnyCall<'a> {
    pub(super) device: &'a Arc<Device>,
    pub(super) nexus: &'a Arc<NexusState>,
    /// `None` if no logical unit has the address.
    pub(super) unit: Option<&'a Arc<LogicalUnit>>,
    pub(super) cdb: &'a [u8],
}

/// What executes a command.
#[derive(Clone, Copy)]
pub(super) enum Handler {
    /// Also without a logical unit, and before unit attentions are reported; returns the
    /// data for the initiator.
    Any(fn(&AnyCall<'_>) -> Result<Vec<u8>, Sense>),
    /// At once; returns the data for the initiator.
    Now(fn(&Call<'_>) -> Result<Vec<u8>, Sense>),
    /// Through the export; the responder is called when it is done. Refused while the
    /// logical unit is not ready.
    Later(fn(&Call<'_>, Responder)),
    /// The same, also while the logical unit is not ready.
    Always(fn(&Call<'_>, Responder)),
}

/// A command.
pub(super) struct Entry {
    pub(super) opcode: u8,
    pub(super) service_action: Option<u16>,
    /// The bits of the CDB that it evaluates, as in REPORT SUPPORTED OPERATION CODES; as
    /// long as the CDB. A CDB with other bits set is refused.
    pub(super) usage: &'static [u8],
    /// Bytes of data that a CDB takes from the initiator.
    pub(super) data_out: fn(&[u8]) -> u64,
    pub(super) run: Handler,
}

/// The bit of the control byte that links a command to the next (obsolete since SAM-4).
pub(super) const LINK: u8 = 1 << 0;

impl Entry {
    /// A command without a service action and without data from the initiator.
    pub(super) const fn new(opcode: u8, usage: &'static [u8], run: Handler) -> Self {
        Self { opcode, service_action: None, usage, data_out: |_| 0, run }
    }

    /// The same with a service action.
    pub(super) const fn action(self, service_action: u16) -> Self {
        Self { service_action: Some(service_action), ..self }
    }

    /// The same with data from the initiator.
    pub(super) const fn takes(self, data_out: fn(&[u8]) -> u64) -> Self {
        Self { data_out, ..self }
    }

    /// Whether this is the command of `cdb`.
    pub(super) fn is(&self, cdb: &[u8]) -> bool {
        self.opcode == cdb[0] && self.service_action.is_none_or(|action| action == action_of(cdb))
    }

    /// Refuses a CDB that is too short, or has a bit that the command does not evaluate; `link` says whether the
    /// Link bit may be set.
    pub(super) fn check(&self, cdb: &[u8], link: bool) -> Result<(), Sense> {
        if cdb.len() < self.usage.len() {
            return Err(Sense::invalid_field(0));
        }
        let control = match self.opcode {
            VARIABLE_LENGTH => 1,
            _ => self.usage.len() - 1,
        };
        for (at, (byte, usage)) in cdb.iter().zip(self.usage).enumerate().skip(1) {
            let allowed = match at == control && link {
                true => usage | LINK,
                false => *usage,
            };
            if byte & !allowed != 0 {
                return Err(Sense::invalid_field(at as u16));
            }
        }
        Ok(())
    }
}

/// The operation code of commands of variable length.
pub(super) const VARIABLE_LENGTH: u8 = 0x7f;

/// The service action of a CDB, if its operation code has any.
pub(super) fn action_of(cdb: &[u8]) -> u16 {
    match cdb[0] {
        VARIABLE_LENGTH if cdb.len() >= 10 => super::bytes::be16(cdb, 8),
        VARIABLE_LENGTH => 0,
        _ => u16::from(cdb[1] & 0x1f),
    }
}
