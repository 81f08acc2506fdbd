//! Tables on a sled: records of fixed width in pages, laid out so that rows,
//! columns or both are read fast (CMU-CS-03-125, section 5.2).
//!
//! A [`Table`] holds real data: `values` turns Arrow columns into bytes and
//! back, `store` keeps the bytes that are on the device, a [`Layout`] says
//! where each value lies and which requests a query takes, and `drive` hands
//! these to the device's own model, one after the other. What a query returns is
//! taken out of the pages, never from the source.

mod drive;
pub mod layouts;
mod schema;
mod store;
mod strings;
mod table;
mod values;

pub use drive::Cost;
pub use layouts::{Kind, Layout, Run, Settings};
pub use schema::Column;
pub use table::Table;

/// Bytes in a page of a capsule or of a column of its own: one block.
pub const PAGE_BYTES: u32 = crate::units::BLOCK_BYTES as u32;
