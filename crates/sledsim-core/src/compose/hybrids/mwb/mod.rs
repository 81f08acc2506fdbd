//! MEMS write buffer: writes go to logs on the front, and from there to the
//! back (MSST 2005, section 4.1).
//!
//! **Writes** are appended to the open log, a header and the data in one
//! request, and complete when that request does. A write that does not fit in
//! the rest of a log continues in the next one, as a separate record. **Reads**
//! get each block from its newest completed write: with one request to the
//! front, one to the back, or both. **Cleaning** takes the oldest logs, several
//! at once: blocks not overwritten since are read into the speed-matching
//! buffer, sorted by LBN and written to the back in the fewest requests; then
//! the logs are free. It begins when many logs are in use, sooner if the back
//! is idle. A **trim** goes to the back and does not change the logs; a
//! **flush** does nothing, as completed writes are on the front.
//!
//! # Layout of the front
//!
//! Logs are numbered in the order in which they are begun, and occupy places
//! that are used in turn (`shape.rs`). Each begins with room for its *summary*.
//! A *record* is a header (its own address, the LBNs of the data, a checksum
//! over all) and its data. The summary lists the extents of the records; it is
//! written when the log is closed and all records are complete. A *mark* is
//! written over the first block of a log when it and all older ones are free;
//! it names the oldest log in use, and so does a summary. All these writes, and
//! those to the back, have `fua` set: a child with a volatile buffer must not
//! report them early.
//!
//! # Why a power failure loses nothing
//!
//! Recovery reads the first blocks of all places. The largest number that any
//! of them names as the oldest log in use is F. Logs from F on that have a
//! summary are known; the others are read whole and searched block by block for
//! headers that name the address where they were found and whose checksum
//! matches. So neither a torn record counts nor one of an earlier log in this
//! place. The records found are entered in the order of addresses.
//!
//! *No completed write is missing.* Its record was on the front when it
//! completed. Only a record of the next log in its place can overwrite it, and
//! such a record is sent only after a mark or summary that names a later log as
//! the oldest is on the front. By then the blocks were on the back, or a newer
//! record held them, for which the same is true. Enough logs are searched: a
//! log is begun only when all logs before the last eight have their summaries
//! on the front (`logs.rs`).
//!
//! *Nothing stale wins.* Suppose a record in log g is found, but not a newer
//! record of the same block completed in log h. Then h is older than F, or its
//! place was overwritten, for which a log later than h must have been named as
//! the oldest on the front. Either way F is later than h, hence later than g,
//! and the record in g would not count. The oldest log named on the front never
//! decreases, as places are used in turn: a mark is overwritten by the summary
//! of a later log, which names the same log or a later one.
//!
//! *A torn record stays torn.* After recovery no log is open; the next one
//! begins after the last one found. The missing blocks of a torn record can
//! appear in its place only if the same data are written there; later completed
//! writes have a larger address and win.
//!
//! Modules in reading order:
//! - `spec`: the keys of a write buffer;
//! - `kind`: the kind `mwb` of devices;
//! - `shape`: the division of the front: logs, summaries, addresses;
//! - `logs`: the circular queue of logs;
//! - `table`: the lookup table: the address of each block's newest version;
//! - `timing`: the timing state of a write buffer;
//! - `model`: host requests, and their requests to the children;
//! - `cleaner`: moves the oldest logs to the back;
//! - `media`: the metadata blocks on the front: headers, summaries and marks;
//! - `recovery`: rebuilds the table from the state that survives.

mod spec;

pub mod kind;

mod shape;

mod logs;

mod table;

mod timing;

mod model;

mod cleaner;

mod media;

mod recovery;

pub use model::Mwb;
pub use spec::MwbSpec;
