//! Panics as errors.
//!
//! A library may panic on a file that is damaged in a way its authors did not
//! foresee. That is no reason to end the program, or to print anything but an
//! error that names the file.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::path::Path;
use std::sync::Once;

thread_local! {
    /// How many calls of [`caught`] this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// What the last panic in one of them said.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Does `work`. What it must not be asked after a panic is what it has changed.
///
/// # Errors
/// If it panics: what it said, and where. Nothing is printed.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| match DEPTH.get() {
            0 => before(info),
            _ => SAID.set(text(info)),
        }));
    });
    DEPTH.set(DEPTH.get() + 1);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    done.map_err(|_| SAID.take())
}

/// What a panic said, and the place in the source.
fn text(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let said = (payload.downcast_ref::<&str>().copied())
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given");
    match info.location() {
        Some(place) => {
            let file = Path::new(place.file()).file_name().unwrap_or_default();
            format!("{said}; {}:{}", file.to_string_lossy(), place.line())
        }
        None => said.to_owned(),
    }
}

/// The message for a panic that no damaged file explains: an error of ours.
#[must_use]
pub fn unexpected(said: &str) -> String {
    format!("this is an error in sledsim, please report it: {said}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_that_says_what_and_where() {
        assert_eq!(caught(|| 7), Ok(7));
        let inner = || caught(|| panic!("the {} is gone", "floor"));
        let said: Result<(), String> = caught(inner).unwrap();
        let said = said.unwrap_err();
        assert!(said.starts_with("the floor is gone; panics.rs:"), "{said}");
        let values: Vec<u8> = Vec::new();
        let said = caught(|| values[3]).unwrap_err();
        assert!(said.contains("index is 3"), "{said}");
        assert_eq!(DEPTH.get(), 0);
    }
}
