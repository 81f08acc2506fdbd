//! Are the replacement policies the published ones?
//!
//! Each has a twin in `common/policies.rs`, written naively from its
//! publication, and makes the same choices, request for request.

mod choices;
mod policies;
mod traces;
