//! Keys with their values, as text (RFC 7143, section 6).

use crate::net::{ClientErrorKind, End};

/// The most bytes of text in one exchange.
pub(super) const TEXT_MAXIMUM: usize = 64 << 10;

/// The keys of a request, in order.
#[derive(Debug, Default)]
pub(super) struct Keys(Vec<(String, String)>);

impl Keys {
    /// Decodes text: `key=value` pairs, each with a zero byte at the end.
    pub(super) fn decode(text: &[u8]) -> Result<Self, End> {
        let refuse = |why: &str| End::Bad(ClientErrorKind::Protocol, format!("keys: {why}"));
        let text = std::str::from_utf8(text).map_err(|_| refuse("are not UTF-8"))?;
        let mut keys = Vec::new();
        for pair in text.split('\0').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').ok_or_else(|| refuse("without '='"))?;
            if key.is_empty() || key.len() > 63 {
                return Err(refuse("a key has 1 to 63 bytes"));
            }
            if keys.iter().any(|(other, _)| other == key) {
                return Err(refuse("one is given twice"));
            }
            keys.push((key.to_owned(), value.to_owned()));
        }
        Ok(Self(keys))
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.iter().find(|(other, _)| other == key);
        found.map(|(_, value)| value.as_str())
    }

    /// All keys with their values, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.0.iter();
        all.map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

/// Appends a key with its value to text.
pub(super) fn put(text: &mut Vec<u8>, key: &str, value: &str) {
    text.extend_from_slice(key.as_bytes());
    text.push(b'=');
    text.extend_from_slice(value.as_bytes());
    text.push(0);
}
