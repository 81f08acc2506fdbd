//! sledsim-core: storage whose media moves, simulated.
//!
//! A source emits requests; a [`model::Model`] says when each is done. A model
//! is pure timing: no clock, no input or output, no threads. The same object
//! runs under the virtual clock of [`engine`] and under a real one.
//!
//! Time is integer nanoseconds ([`sledsim_base::units::Nanos`]) in events and
//! results; the physics inside a device is `f64` in SI units.
//!
//! Modules come in reading order; each uses those above it alone.

pub mod model;

pub mod engine;

pub mod power;

pub mod queueing;

pub mod devices;

pub mod compose;

pub mod workloads;

pub mod layouts;

pub mod catalog;
