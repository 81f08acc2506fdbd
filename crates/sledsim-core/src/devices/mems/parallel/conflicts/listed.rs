//! Any other relation, listed square by square.

use super::Groups;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;

/// Reads `resources`, the resource number of each square, and `at_once`, the number of
/// squares that each resource supports at once.
pub(super) fn read(keys: &mut Keys, squares: u32) -> Result<Groups> {
    let last = u64::from(squares) - 1;
    let resources = keys.opt_u64s("resources", 0..=last)?.unwrap_or_default();
    if resources.len() != squares as usize {
        let items = resources.len();
        let must = format!("must have one item for each of the {squares} squares, and has {items}");
        return Err(keys.refuse("resources", must));
    }
    let at_once = keys.u32("at_once", 1..=squares)?;
    Ok(Groups::new(resources.into_iter().map(|resource| resource as u32).collect(), at_once))
}
