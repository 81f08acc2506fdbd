//! The integration tests of traces, linked once.

#[path = "../../sledsim-core/tests/common/reference.rs"]
mod reference;

mod text;
