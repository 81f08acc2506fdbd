//! Text of files and of messages.

use crate::error::Origin;

/// At most 60 characters of a value, on one line.
pub(super) fn excerpt(text: &str) -> String {
    let text = text.trim().escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'");
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// The start of a message: origin, name and value, with the name once.
pub(super) fn setting(origin: &Origin, name: &str, value: &str) -> String {
    if origin.name().ends_with(name) {
        format!("{origin} = {value}")
    } else {
        format!("{origin}: {name} = {value}")
    }
}

/// Whether text begins as a number does: `8KiB`, `-5%`, `500/s`.
pub(super) fn starts_with_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    digits.starts_with(|c: char| c.is_ascii_digit()) && is_bare(text)
}

/// Whether text has no quotes, comments or control characters.
pub(super) fn is_bare(text: &str) -> bool {
    !text.contains(|c: char| c.is_control() || "\"'#".contains(c))
}

pub(super) fn line_of(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    1 + before.iter().filter(|&&byte| byte == b'\n').count()
}
