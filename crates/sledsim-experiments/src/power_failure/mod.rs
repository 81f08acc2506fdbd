//! Power cuts: what a device holds when power fails under recorded requests.
//!
//! Every written block has a token in place of its data. The model of the device keeps the
//! tokens pass by pass ([`sledsim_core::catalog::Device::build_on_media`]); after a cut and
//! the recovery of the device, the token of a block says which write it holds. The same
//! requests and the same instant give the same tokens.
//!
//! In reading order:
//! - `history`: the recorded requests.
//! - `replay`: the device at an instant of them.
//! - `image`: what a device holds after a cut.
//! - `ledger`: which acknowledged writes are lost.
//! - `requests_file`: a history as a file.

mod history;
mod image;
mod ledger;
mod replay;
mod requests_file;

pub use history::{Epoch, History, Recorded};
pub use image::{Content, ContentRun, Image};
pub use ledger::{Ledger, LostWrite};
pub use replay::{Failed, build, replay};
pub use requests_file::{read_requests, requests_table, write_requests};

use sledsim_base::random::Stream;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::model::Model;
use sledsim_core::model::torn_blocks::TornBlocks;

/// A device after a power failure and its recovery.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Time of the cut on the clock of the requests.
    pub at: Nanos,
    /// From power-on until the device has started.
    pub startup: Nanos,
    /// From then until it takes requests: the recovery of a hybrid.
    pub recovery: Nanos,
    /// What it holds.
    pub image: Image,
    /// The fate of the writes since power-on.
    pub ledger: Ledger,
}

/// Lets power fail at `at`, after all events before it, and the device recover from time
/// zero of a new clock. `epoch` has the requests since power-on, whose completions are
/// known, and `before` those of earlier times whose blocks the image should include.
///
/// # Panics
/// If the model keeps no contents.
pub fn fail(
    device: &Device,
    model: &mut dyn Model,
    torn: &TornBlocks,
    (before, epoch): (&[Epoch], &Epoch),
    at: Nanos,
) -> Outcome {
    let contents = model.contents().expect("it was built to keep some");
    // It serves guesses of a host; the media need none.
    let mut unused = Stream::new(0, "power cut");
    contents.lose_power(at.since(epoch.zero), &mut unused);
    let ready = contents.recover(Nanos::ZERO);
    let startup = device.startup().min(ready);
    let all = before.iter().chain([epoch]);
    let image = Image::of(all, &mut |lbn| contents.token(lbn));
    let ledger = Ledger::of(epoch, device.promise(), at, &image, torn);
    Outcome { at, startup, recovery: ready - startup, image, ledger }
}
