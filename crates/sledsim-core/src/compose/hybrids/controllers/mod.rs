//! Controllers: what the memory of a controller does in front of any device.
//!
//! The key `controller` of the table `[controller_cache]` names one. To add one, write a
//! file or a folder with its [`ControllerEntry`], and list it here.
//!
//! Modules in reading order:
//! - `tier`: the tier of MCD, with memory for its front;
//! - `disksim`: the cached controller that DiskSim 4.0 ships.

mod tier;

mod disksim;

use crate::devices::kind::DeviceKind;
use crate::devices::memory::Memory;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::registry::{Named, Registry};
use std::sync::Arc;

/// A controller, read from its keys.
pub struct Controller {
    /// What makes its model.
    pub kind: Arc<dyn DeviceKind>,
    /// Its memory, if the model takes it for a first child; the device behind follows.
    pub memory: Option<Memory>,
}

/// A registered controller.
#[derive(Clone, Copy)]
pub struct ControllerEntry {
    /// Its name.
    pub name: &'static str,
    /// Reads its keys, before a device of so many blocks.
    pub read: fn(&mut Keys, u64) -> Result<Controller>,
}

impl Named for ControllerEntry {
    fn name(&self) -> &'static str {
        self.name
    }
}

/// All controllers; the first is the default.
pub const CONTROLLERS: Registry<ControllerEntry> = Registry::new(&[tier::ENTRY, disksim::ENTRY]);

/// Reads the controller of the keys of `[controller_cache]`, before a device of
/// `back_blocks`.
///
/// # Errors
/// An unknown controller, or a key that is missing or not allowed.
pub fn read(keys: &mut Keys, back_blocks: u64) -> Result<Controller> {
    let named = keys.opt_choice("controller", &CONTROLLERS.choices())?;
    (named.unwrap_or(tier::ENTRY).read)(keys, back_blocks)
}
