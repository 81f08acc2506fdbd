//! Units: the suffixes of key names, and their spelling in messages.

/// The unit of a key, from the suffix of its name, as it is spelled in texts.
pub fn unit_of(key: &str) -> Option<&'static str> {
    match split_unit(key) {
        (stem, _) if stem.ends_with("_per") => None, // as in `cylinders_per_ms`
        (_, unit) => unit.map(spelled),
    }
}

/// A name without its unit suffix, and the unit: `travel_x_um` is `travel_x`
/// in `um`.
pub(super) fn split_unit(name: &str) -> (&str, Option<&'static str>) {
    const UNITS: [&str; 41] = [
        "mbit_per_s",
        "kbit_per_s",
        "mb_per_s",
        "kbit_s",
        "mbit_s",
        "m_per_s2",
        "mm_per_s",
        "m_per_s",
        "per_s",
        "mb_s",
        "m_s2",
        "mm_s",
        "m_s",
        "blocks",
        "bits",
        "bytes",
        "percent",
        "khz",
        "mhz",
        "hz",
        "kib",
        "mib",
        "gib",
        "kb",
        "mb",
        "gb",
        "rpm",
        "deg",
        "nm",
        "um",
        "mm",
        "ns",
        "us",
        "ms",
        "min",
        "mw",
        "nj",
        "m",
        "s",
        "w",
        "j",
    ];
    for unit in UNITS {
        if let Some(stem) = name.strip_suffix(unit)
            && let Some(stem) = stem.strip_suffix('_')
        {
            return (stem, Some(unit));
        }
    }
    (name, None)
}

/// The spelling of a unit, from the suffix of a key.
pub(super) fn spelled(unit: &'static str) -> &'static str {
    match unit {
        "mbit_per_s" | "mbit_s" => "Mbit/s",
        "kbit_per_s" | "kbit_s" => "kbit/s",
        "mb_per_s" | "mb_s" => "MB/s",
        "m_per_s2" | "m_s2" => "m/s2",
        "mm_per_s" | "mm_s" => "mm/s",
        "m_per_s" | "m_s" => "m/s",
        "per_s" => "1/s",
        "khz" => "kHz",
        "mhz" => "MHz",
        "hz" => "Hz",
        "kib" => "KiB",
        "mib" => "MiB",
        "gib" => "GiB",
        "kb" => "kB",
        "mb" => "MB",
        "gb" => "GB",
        "mw" => "mW",
        "nj" => "nJ",
        "w" => "W",
        "j" => "J",
        other => other,
    }
}
