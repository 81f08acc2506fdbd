//! The keys of a device with those of its parts.

use sledsim_base::keys::Keys;

/// The keys of a device with those of its parts.
#[derive(Clone, Debug)]
pub(super) struct AllKeys {
    /// All keys, with those of the bases of parts.
    pub(super) full: Keys,
    /// The keys as they were given, with those of the bases of parts that are files.
    pub(super) portable: Keys,
    /// Whether any base is a file.
    has_file: bool,
}

impl AllKeys {
    /// The keys `keys` of a device, merged with its bases, one of which is a file if
    /// `has_file`, and those of its parts.
    pub(super) fn new(keys: &Keys, has_file: bool, parts: &[&Self]) -> Self {
        let mut full = keys.clone();
        full.forget("base");
        let mut values = Self {
            portable: full.clone(),
            full,
            has_file: has_file || parts.iter().any(|part| part.has_file),
        };
        for (index, part) in parts.iter().enumerate() {
            // Of copies, which may differ in what the parent sets, the first has the
            // keys of the table.
            let Self { full, portable, has_file } = part;
            let is_copy = |other: &&Self| other.full.name() == full.name();
            if parts[..index].iter().any(is_copy) {
                continue;
            }
            values.full.put_table(full.name(), full.clone());
            if *has_file {
                values.portable.put_table(full.name(), portable.clone());
            }
        }
        values
    }
}
