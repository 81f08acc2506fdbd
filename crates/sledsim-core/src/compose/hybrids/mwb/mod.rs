//! MEMS write buffer: writes go to logs on the front and from there to the back
//! (MSST 2005, section 4.1).
//!
//! **Writes** are appended to the open log, a header and the data in one
//! request, and are complete when the front has them. A write that does not fit
//! in what is left of a log goes on in the next one, as a record of its own.
//! **Reads** get each block where its newest completed write is: in one request
//! to the front, one to the back, or both. **Cleaning** takes the oldest logs,
//! several at once: what nobody has written since is read into the
//! speed-matching buffer, sorted by LBN, written to the back in the fewest
//! requests, and the logs are free. It begins when much is in use, sooner if the
//! back is idle. A **trim** goes to the back and leaves the logs alone; a
//! **flush** finds all that is complete on the front and has nothing to do.
//!
//! # What is on the front
//!
//! Logs are numbered as they are begun and live in places that are used in turn
//! (`shape.rs`). Each begins with room for its *summary*. A *record* is a header
//! (its own address, where the data belong, a checksum over all) and its data.
//! The summary lists what the records hold; it is written when the log is closed
//! and all of them are complete. A *mark* is written over the first block of a
//! log when it and all older ones are free; it names the oldest log in use, and
//! so does a summary. All these writes, and those to the back, have `fua` set: a
//! child with a volatile buffer must not report them early.
//!
//! # Why a failure loses nothing
//!
//! Recovery reads the first blocks of all places. The largest number that any of
//! them names as the oldest log in use is F. Logs from F on that have a summary
//! are known; the others are read whole and searched block by block for headers
//! that name the address where they were found and whose checksum holds, so that
//! a torn record does not count, and one of an earlier log in this place neither.
//! What was found is entered in the order of addresses.
//!
//! *No completed write is missing.* Its record was on the front when it
//! completed. It can only be damaged by a record of the log that has its place
//! next, and that is sent after a mark or summary that names a later log as the
//! oldest is on the front. Then the blocks were on the back before the mark was
//! sent, or a newer record held them, for which the same is true. The logs that
//! are searched are enough: one is begun only when of all but the last
//! eight before it the summaries are there (`logs.rs`).
//!
//! *Nothing stale wins.* Say a record in log g is found and a newer one of the
//! same block, completed in log h, is not. So h is older than F or its place was
//! written over, which needs a name later than h on the front; either way F is
//! later than h, hence later than g, and the record would not count. Places are
//! used in turn, so that no name ever goes back: what overwrites a mark is the
//! summary of a later log, which names the same log or a later one.
//!
//! *A torn record stays torn.* After recovery no log is open; the next one
//! begins after the last that was found. Should the missing blocks of a torn
//! record appear in its place, then by writing the same data there; and what is
//! complete later has a larger address and wins.

mod cleaner;
pub mod kind;
mod logs;
mod media;
mod model;
mod recovery;
mod shape;
mod spec;
mod table;
mod timing;

pub use model::Mwb;
pub use spec::MwbSpec;
