//! Power policies by name, with their keys in the table `[power]`.

use super::{Adaptive, Immediate, Never, Policy, Timeout};
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::units::Nanos;

/// A policy with its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerPolicySpec {
    /// [`Never`].
    Never,
    /// [`Immediate`].
    Immediate,
    /// [`Timeout`].
    Timeout(Nanos),
    /// [`Adaptive`].
    Adaptive {
        /// The timeout of the first period.
        first: Nanos,
        /// The shortest timeout.
        least: Nanos,
        /// The longest timeout.
        most: Nanos,
        /// The break-even time of an inactive period.
        break_even: Nanos,
    },
}

/// The kind of a policy.
#[derive(Clone, Copy, PartialEq)]
enum PolicyKind {
    Never,
    Immediate,
    Timeout,
    Adaptive,
}

/// The break-even time of an inactive period: `startup_mj` over the difference
/// of the powers. [`Nanos::MAX`] if the inactive state saves nothing.
pub fn break_even(startup_mj: f64, idle_mw: f64, inactive_mw: f64) -> Nanos {
    let saved_mw = idle_mw - inactive_mw;
    if saved_mw > 0.0 { Nanos::from_s(startup_mj / saved_mw) } else { Nanos::MAX }
}

impl PowerPolicySpec {
    /// Goes inactive after this timeout, or never.
    pub fn of_timeout(after: Option<Nanos>) -> Self {
        after.map_or(Self::Never, Self::Timeout)
    }

    /// Reads `policy` and its keys from the table `[power]`. `default` is the
    /// policy of a table without one, and its timeout the default of `timeout_ms`;
    /// `break_even` is the default of `break_even_ms`.
    ///
    /// # Errors
    /// A key that is not allowed, or missing.
    pub fn read(keys: &mut Keys, default: Self, break_even: Nanos) -> Result<Self> {
        let named = [
            ("never", PolicyKind::Never),
            ("immediate", PolicyKind::Immediate),
            ("timeout", PolicyKind::Timeout),
            ("adaptive", PolicyKind::Adaptive),
        ];
        let kind = keys.opt_choice("policy", &named)?;
        let needs = |key: &str, ok: bool, which: &str, keys: &Keys| -> Result<()> {
            if ok || !keys.has(key) {
                return Ok(());
            }
            Err(keys.refuse(key, format!("must come with policy = {which} only")))
        };
        let is_timed = matches!(kind, Some(PolicyKind::Timeout | PolicyKind::Adaptive));
        needs("timeout_ms", is_timed, "\"timeout\" or \"adaptive\"", keys)?;
        for key in ["timeout_least_ms", "timeout_most_ms", "break_even_ms"] {
            needs(key, kind == Some(PolicyKind::Adaptive), "\"adaptive\"", keys)?;
        }
        let Some(kind) = kind else {
            return Ok(default);
        };
        let ms = Range::at_least(0.0).at_most(1e9);
        let read = |keys: &mut Keys, key: &str| -> Result<Option<Nanos>> {
            Ok(keys.opt_f64(key, ms)?.map(Nanos::from_ms))
        };
        let timeout = read(keys, "timeout_ms")?;
        Ok(match kind {
            PolicyKind::Never => Self::Never,
            PolicyKind::Immediate => Self::Immediate,
            PolicyKind::Timeout => match (timeout, default) {
                (Some(after), _) => Self::Timeout(after),
                (None, Self::Timeout(after)) => Self::Timeout(after),
                _ => Self::Timeout(Nanos::from_ms(keys.f64("timeout_ms", ms)?)),
            },
            PolicyKind::Adaptive => {
                let break_even = read(keys, "break_even_ms")?.unwrap_or(break_even);
                let first = timeout.unwrap_or(break_even);
                let least = read(keys, "timeout_least_ms")?;
                let least = least.unwrap_or(Nanos((first.0 / 100).max(1)));
                let most = read(keys, "timeout_most_ms")?;
                let most = most.unwrap_or(Nanos(first.0.saturating_mul(100)));
                if least == Nanos::ZERO || least > first {
                    let must =
                        format!("must be above 0 and at most {} ms, the first timeout", first.ms());
                    return Err(keys.refuse("timeout_least_ms", must));
                }
                if most < first {
                    let must = format!("must be at least {} ms, the first timeout", first.ms());
                    return Err(keys.refuse("timeout_most_ms", must));
                }
                Self::Adaptive { first, least, most, break_even }
            }
        })
    }

    /// Makes a policy with no history.
    pub fn make(&self) -> Box<dyn Policy> {
        match *self {
            Self::Never => Box::new(Never),
            Self::Immediate => Box::new(Immediate),
            Self::Timeout(after) => Box::new(Timeout(after)),
            Self::Adaptive { first, least, most, break_even } => {
                Box::new(Adaptive { after: first, least, most, break_even })
            }
        }
    }
}
