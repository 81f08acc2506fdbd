//! Registries: what there is of one kind, by name.

use std::fmt::{self, Debug};

/// What a registry lists.
pub trait Named: 'static {
    /// Its name in keys and results.
    fn name(&self) -> &'static str;
}

/// Entries of one kind, in the order in which they are listed. Its parts may
/// come from several crates: a crate above adds a part of its own.
pub struct Registry<T: 'static>(&'static [&'static [T]]);

impl<T> Clone for Registry<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Registry<T> {}

impl<T: Named> Debug for Registry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl<T: Named> Registry<T> {
    /// The entries of `parts`.
    #[must_use]
    pub const fn new(parts: &'static [&'static [T]]) -> Self {
        Self(parts)
    }

    /// The entries.
    pub fn iter(self) -> impl Iterator<Item = &'static T> + Clone {
        self.0.iter().copied().flatten()
    }

    /// Their names.
    pub fn names(self) -> impl Iterator<Item = &'static str> + Clone {
        self.iter().map(T::name)
    }

    /// The entry of that name.
    #[must_use]
    pub fn get(self, name: &str) -> Option<&'static T> {
        self.iter().find(|entry| entry.name() == name)
    }

    /// Names and entries, as [`Keys::choice`](crate::keys::Keys::choice) takes them.
    #[must_use]
    pub fn choices(self) -> Vec<(&'static str, T)>
    where
        T: Clone,
    {
        self.iter()
            .map(|entry| (entry.name(), entry.clone()))
            .collect()
    }
}
