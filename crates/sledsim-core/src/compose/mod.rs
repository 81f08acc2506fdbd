//! Composites: models made of models.
//!
//! A composite holds [`Children`], which routes requests and completions by
//! index and keeps their times in order. The composite itself only says what
//! a request turns into and what a child's completion leads to.

pub mod arrays;
pub mod caches;
mod children;
mod composite;
pub mod content_tracker;
mod host_queue;
pub mod hybrids;
mod read_cache;
pub mod read_cache_kind;
mod stripe;
pub mod stripe_kind;

pub use children::Children;
pub use composite::Composite;
pub use host_queue::HostQueue;
pub use read_cache::ReadCache;
pub use stripe::Stripe;
