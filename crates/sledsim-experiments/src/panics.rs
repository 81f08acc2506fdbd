//! Panics as errors.
//!
//! A library may panic on a damaged file. The program then continues and reports
//! an error that names the file.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::path::Path;
use std::sync::Once;

thread_local! {
    /// The nesting depth of [`caught`] on this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// The message of the last panic within [`caught`].
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Does `work`. What it must not be asked after a panic is what it has changed.
///
/// # Errors
/// If it panics: what it message, and where. Nothing is printed.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| match DEPTH.get() {
            0 => before(info),
            _ => MESSAGE.set(text(info)),
        }));
    });
    DEPTH.set(DEPTH.get() + 1);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    done.map_err(|_| MESSAGE.take())
}

/// The message of a panic, with its source location.
fn text(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let message = (payload.downcast_ref::<&str>().copied())
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given");
    match info.location() {
        Some(place) => {
            let file = Path::new(place.file()).file_name().unwrap_or_default();
            format!("{message}; {}:{}", file.to_string_lossy(), place.line())
        }
        None => message.to_owned(),
    }
}

/// The message for a panic without a damaged file: a bug in sledsim.
pub fn internal_error(message: &str) -> String {
    format!("this is an error in sledsim, please report it: {message}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_with_message_and_location() {
        assert_eq!(catch_panic(|| 7), Ok(7));
        let inner = || catch_panic(|| panic!("the {} is gone", "floor"));
        let message: Result<(), String> = catch_panic(inner).unwrap();
        let message = message.unwrap_err();
        assert!(message.starts_with("the floor is gone; panics.rs:"), "{message}");
        let values: Vec<u8> = Vec::new();
        let message = catch_panic(|| values[3]).unwrap_err();
        assert!(message.contains("index is 3"), "{message}");
        assert_eq!(DEPTH.get(), 0);
    }
}
