//! The integration tests of what all crates share, linked once.

mod circles;
mod keys;
