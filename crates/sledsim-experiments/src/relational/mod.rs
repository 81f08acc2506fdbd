//! Tables on a sled: records of fixed width in pages, laid out so that rows,
//! columns or both are read fast (CMU-CS-03-125, section 5.2).
//!
//! A [`SledTable`] holds real data: `values` turns Arrow columns into bytes and
//! back, a [`TableLayout`] says where each value lies and which requests a query
//! takes, and a [`Medium`] carries them out: [`Drive`] by the device's own model,
//! in simulated time, with the device's bytes in a [`Store`]; others by remote
//! devices. Queries return the contents of the pages, never of the source.

mod drive;
pub mod layouts;
mod medium;
mod schema;
mod staging;
mod store;
mod strings;
mod table;
mod values;

pub use drive::Drive;
pub use layouts::{PageSettings, TableLayout, TableLayoutKind, ValueRun};
pub use medium::{Cost, Medium};
pub use schema::Column;
pub use store::Store;
pub use table::SledTable;

/// Bytes in a page of a capsule or of a column of its own: one block.
pub const PAGE_BYTES: u32 = sledsim_base::units::BLOCK_BYTES as u32;
