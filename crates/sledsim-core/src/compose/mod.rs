//! Composites: models made of models.
//!
//! A composite holds [`Children`], which routes requests and completions by
//! index and keeps their times in order. The composite itself defines the
//! requests that a request is turned into, and what follows the completion of a
//! child.
//!
//! Modules in reading order:
//! - `children`: the children of a composite, with their events in order;
//! - `composite`: the events of a composite;
//! - `by_id`: items by id: requests under way;
//! - `content_tracker`: contents of a leaf, for tests of power failures;
//! - `media_record`: the contents of the media over time, by the passes of a leaf;
//! - `token_table`: a token per block, in pages;
//! - `host_queue`: the queue of a host in front of a device;
//! - `shared_bus`: a bus that several devices share;
//! - `stripe`: blocks distributed over several devices in units;
//! - `stripe_kind`: the kinds `stripe` and `raid0` of devices;
//! - `actuators`: the kind `actuators` of devices;
//! - `read_cache`: a fast model in front of a slow one, writing through;
//! - `read_cache_kind`: the kind `read_cache` of devices;
//! - `arrays`: mirrors and rotated parity, with failures and rebuilds;
//! - `caches`: replacement policies of caches;
//! - `hybrids`: small fast storage combined with a disk.

mod children;

mod composite;

mod by_id;

pub mod content_tracker;

pub mod media_record;

mod token_table;

mod host_queue;

mod shared_bus;

mod stripe;

pub mod stripe_kind;

pub mod actuators;

mod read_cache;

pub mod read_cache_kind;

pub mod arrays;

pub mod caches;

pub mod hybrids;

pub use children::Children;
pub use composite::Composite;
pub use host_queue::HostQueue;
pub use read_cache::ReadCache;
pub use stripe::Stripe;
