//! The replacement policies against their publications.
//!
//! Each policy has a reference implementation in `common/policies.rs`, written
//! naively from its publication, and evicts the same entries request by request.

mod choices;
mod optimum;
mod policies;
mod traces;
