//! Tips that share a read/write channel.

use super::Groups;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;

/// Reads `channels`: square i uses channel i modulo `channels`, one square at a time.
/// With as many channels as blocks in a row, a row is read at once, and each channel is
/// switched between the tracks.
pub(super) fn read(keys: &mut Keys, squares: u32) -> Result<Groups> {
    let channels = keys.u32("channels", 1..=squares)?;
    Ok(Groups::new((0..squares).map(|square| square % channels).collect(), 1))
}
