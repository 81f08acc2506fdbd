//! Pairs for serde.

use serde::{Serialize, Serializer};

/// Serializes pairs as a map, in their order.
///
/// # Errors
/// The serializer's.
pub fn as_map<K: Serialize, V: Serialize, S: Serializer>(
    pairs: &[(K, V)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}
