//! A SCSI target device: its logical units are the exports of a server.
//!
//! It knows commands, sense data and task management, and no transport. A transport such
//! as [`crate::iscsi`] opens a [`Nexus`] for each initiator, begins a [`Task`] for each
//! command in the order in which they arrive, and runs it once the data that the command
//! takes are there. Standards: SAM-5 (tasks), SPC-4 (commands of all devices), SBC-3 with
//! WRITE SCATTERED of SBC-4 (commands of block devices).
//!
//! Batches are linked requests of an export ([`crate::export::Export::submit_batch`]): WRITE
//! SCATTERED is one; reads and writes become one by the Link bit, as CMU-CS-03-125, section
//! 3.4, proposes, or by their group number, if the initiator has asked for that by MODE
//! SELECT.
//!
//! In reading order:
//! - `bytes`: fields in big-endian order.
//! - `sense`: sense data, and the status of a task.
//! - `task_set`: the order of the tasks of a logical unit.
//! - `unit`: a logical unit.
//! - `responder`: the result of a task, and who sends it.
//! - `open_batches`: the batches that an initiator has begun.
//! - `device`: the logical units of a target, and the initiators that use them.
//! - `table`: the entries of the table of commands.
//! - `commands`: the commands, one file for each family.
//! - `task`: one command, from its arrival to its status.
//! - `nexus`: an initiator as a target sees it.

pub(crate) mod bytes;
mod commands;
mod device;
mod nexus;
mod open_batches;
mod responder;
mod sense;
mod table;
mod task;
mod task_set;
mod unit;

pub use device::Device;
pub use nexus::{Nexus, TaskManagement};
pub use responder::{Outcome, TaskReply};
pub use sense::Status;
pub use task::{Task, TaskId};
pub use task_set::Attribute;
