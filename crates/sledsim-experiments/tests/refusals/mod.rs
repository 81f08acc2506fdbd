//! What layouts, traces and crash tests refuse, and in which words: a row for each.

mod crashes;
mod layouts;
mod traces;
