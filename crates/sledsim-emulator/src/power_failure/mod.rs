//! Power failures of a served device.
//!
//! An export with a [`Power`] keeps the data of all writes, and its model the contents of
//! its media pass by pass. In the instant of a cut the device stops: no request in flight
//! is answered, connections end, and the store gets what the device holds after its
//! recovery. While it is off, requests fail; when power returns, those that arrive before
//! it has started and recovered wait for that.
//!
//! In reading order:
//! - `spec`: when power fails.
//! - `data`: the data of all writes, and the images made of them.
//! - `initial`: what blocks held before their first write.
//! - `image`: the blocks after a cut, read from a recording.
//! - `digest`: digests of the files of a recording.
//! - `recording`: recorded requests with their data, and cuts of them.
//! - `switch`: the power of an export.

mod data;
mod digest;
mod image;
mod initial;
mod recording;
mod spec;
mod switch;

pub use data::{Base, WrittenData};
pub use digest::image_digest;
pub(crate) use recording::RecordingFolder;
pub use recording::{Cut, DataRecording};
pub use spec::{CutSpec, CutWhen};
pub(crate) use switch::NotBegun;
pub use switch::{HangUp, Power};
