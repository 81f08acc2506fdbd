//! Addresses and names of targets.

use crate::net::Address;
use sledsim_base::error::{Error, Result};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// The iSCSI name of a target (RFC 7143, section 4.2.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetName(String);

/// The longest name.
const LONGEST: usize = 223;

impl Default for TargetName {
    /// The name of a target that is given none. Its domain is one for examples (RFC 2606).
    fn default() -> Self {
        Self("iqn.2026-11.com.example.sledsim:target".to_owned())
    }
}

impl TargetName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TargetName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refuse = |problem: &str| {
            Err(Error::Key(format!(
                "target '{text}': {problem}; it must be an iSCSI name as in \
                 iqn.2026-11.com.example.sledsim:target"
            )))
        };
        if !["iqn.", "eui.", "naa."].iter().any(|kind| text.starts_with(kind)) {
            return refuse("does not begin with iqn., eui. or naa.");
        }
        if text.len() > LONGEST {
            return refuse("is longer than 223 bytes");
        }
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.:".contains(c);
        match text.chars().find(|c| !allowed(*c)) {
            Some(c) => refuse(&format!("has a '{c}': a-z, 0-9, '-', '.' and ':' are allowed")),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl Display for TargetName {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Where a target is and what it is called: `HOST:PORT` or `HOST:PORT/NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The address to listen at, TCP.
    pub address: Address,
    /// The name of the target.
    pub target: TargetName,
}

impl FromStr for Place {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (address, name) = match text.split_once('/') {
            Some((address, name)) if !text.starts_with("unix:") => (address, Some(name)),
            _ => (text, None),
        };
        let address: Address = address.parse()?;
        if let Address::Unix(_) = address {
            return Err(Error::Key(format!(
                "address '{text}': is a socket file; initiators need HOST:PORT, as in \
                 127.0.0.1:3260"
            )));
        }
        let target = name.map(str::parse).transpose()?.unwrap_or_default();
        Ok(Self { address, target })
    }
}

/// The URI of a target at `place`, to which the number of a logical unit is appended.
pub(super) fn uri(place: &Address, name: &TargetName) -> String {
    format!("iscsi://{}/{name}", portal(place))
}

/// `HOST:PORT`, with brackets around an IPv6 address.
pub(super) fn portal(place: &Address) -> String {
    let text = place.to_string();
    text.strip_prefix("tcp:").unwrap_or(&text).to_owned()
}
