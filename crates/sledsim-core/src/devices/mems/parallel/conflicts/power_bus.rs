//! Tips that share a power bus.

use super::Groups;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;

/// Reads `squares_per_bus`: this many consecutive squares are fed by one bus, which
/// supports `at_once` of them.
pub(super) fn read(keys: &mut Keys, squares: u32) -> Result<Groups> {
    let squares_per_bus = keys.u32("squares_per_bus", 1..=squares)?;
    let at_once = keys.u32("at_once", 1..=squares_per_bus)?;
    let bus = |square| square / squares_per_bus;
    Ok(Groups::new((0..squares).map(bus).collect(), at_once))
}
