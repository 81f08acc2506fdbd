//! The kinds of devices.

use crate::compose::actuators;
use crate::compose::arrays::kind::{RAID1, RAID5, RAID6, RAID10};
use crate::compose::hybrids::{mcd, mwb};
use crate::compose::read_cache_kind;
use crate::compose::stripe_kind::{RAID0, STRIPE};
use crate::devices::kind::KindEntry;
use crate::devices::{disk, flash, memory, mems};
use sledsim_base::registry::Registry;

/// All kinds, in the order in which they are listed.
pub const KINDS: Registry<KindEntry> = Registry::new(&[
    mems::kind::KIND,
    disk::kind::KIND,
    flash::KIND,
    memory::KIND,
    STRIPE,
    RAID0,
    RAID1,
    RAID5,
    RAID6,
    RAID10,
    actuators::KIND,
    read_cache_kind::KIND,
    mcd::kind::KIND,
    mwb::kind::KIND,
]);
