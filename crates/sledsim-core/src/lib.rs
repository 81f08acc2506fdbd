//! sledsim-core: simulation of storage whose media moves.
//!
//! A source emits requests; a [`model::Model`] computes when each completes. A
//! model is pure timing: no clock, no input or output, no threads. The same
//! object runs under the virtual clock of [`engine`] and under a real one.
//!
//! Time is integer nanoseconds ([`sledsim_base::units::Nanos`]) in events and
//! results; the physics inside a device is `f64` in SI units.
//!
//! Modules in reading order, each using only those above it:
//! - `model`: the traits and records that a simulation is made of;
//! - `engine`: the event loop on a virtual clock;
//! - `idle_policy`: policies for the power states of an idle device;
//! - `queueing`: schedulers, and the station that gives a mechanism a queue, a
//!   bus and a buffer;
//! - `devices`: MEMS sleds, disks, flash and memory;
//! - `compose`: models made of models: stripes, arrays, caches and hybrids;
//! - `workloads`: generators of requests;
//! - `layouts`: maps from the blocks of a workload to the blocks of a device;
//! - `catalog`: device kinds and presets by name.

pub mod model;

pub mod engine;

pub mod idle_policy;

pub mod queueing;

pub mod devices;

pub mod compose;

pub mod workloads;

pub mod layouts;

pub mod catalog;
