//! A first draft of the key `columns`, from the names of columns and their first values.

use super::roles::Role;
use super::{DATE, word};
use crate::dates::date_ns;
use crate::number;
use crate::units::{Quantity, factor};

/// Words in the names of columns, by role. Of one column the first role counts; of
/// one role the column that has it with the least weight.
const WORDS: [(Role, u8, &[&str]); 11] = [
    (Role::Response, 0, &["response", "latency", "lat", "took", "elapsed", "rtt", "responsetime"]),
    (
        Role::Bytes,
        0,
        &[
            "bytes", "size", "length", "len", "nbytes", "sectors", "nsectors", "blocks", "nblocks",
            "bcount", "count", "iosize",
        ],
    ),
    (
        Role::Completion,
        0,
        &["completion", "completed", "complete", "done", "finish", "finished", "end"],
    ),
    (
        Role::Time,
        0,
        &["time", "timestamp", "ts", "arrival", "arrivaltime", "when", "tstamp", "clock"],
    ),
    (
        Role::Offset,
        0,
        &["offset", "lba", "lbn", "lsn", "sector", "address", "addr", "blkno", "blockno", "slba"],
    ),
    (
        Role::Op,
        0,
        &[
            "op",
            "rw",
            "operation",
            "opcode",
            "iotype",
            "rwbs",
            "opname",
            "cmd",
            "command",
            "direction",
            "readwrite",
            "write",
        ],
    ),
    (
        Role::Device,
        0,
        &["device", "dev", "disk", "volume", "vol", "drive", "lun", "devno", "asu", "diskno"],
    ),
    (Role::Time, 1, &["t", "issue", "issued", "submit", "date"]),
    (Role::Offset, 1, &["start", "block", "position", "pos", "place", "begin"]),
    (Role::Op, 1, &["type", "kind", "io", "flags"]),
    (Role::Device, 1, &["host", "hostname", "vm", "server"]),
];

/// Words in the names of columns of arrivals, as opposed to completions.
const ARRIVES: [&str; 10] = [
    "arrival",
    "arrivaltime",
    "arrive",
    "arrived",
    "begin",
    "issue",
    "issued",
    "queued",
    "start",
    "submit",
];

/// Units at the end of the names of columns.
const UNITS: [(&str, &[&str]); 8] = [
    ("ns", &["ns", "nsec", "nanos", "nanoseconds"]),
    ("us", &["us", "usec", "usecs", "micros", "microseconds"]),
    ("ms", &["ms", "msec", "msecs", "millis", "milliseconds"]),
    ("s", &["s", "sec", "secs", "seconds"]),
    ("B", &["b", "byte", "bytes", "nbytes"]),
    ("KiB", &["kb", "kib"]),
    ("MiB", &["mb", "mib"]),
    (
        "512B",
        &[
            "sectors", "nsectors", "sector", "blocks", "nblocks", "block", "lba", "lbn", "lsn",
            "blkno", "blockno", "slba",
        ],
    ),
];

/// The option `--columns` to start from, for columns called `names` whose first
/// values are `values`; what is not known is `?`. Without a header (`names` are none)
/// columns have numbers, and `skip` lines stand before them.
pub fn guess(names: Option<&[String]>, values: &[String], skip: u64) -> String {
    let found = names.map(roles).unwrap_or_default();
    let most = names.map_or(values.len(), <[String]>::len);
    let values = &values[..values.len().min(most)];
    let has = |role: Role| found.iter().find(|(known, _)| *known == role);
    let (responds, completes) = (has(Role::Response).is_some(), has(Role::Completion).is_some());
    // A time with a response beside it may be that of the completion.
    let unclear = |index: usize| {
        let words = names.map_or_else(Vec::new, |names| words(&names[index]));
        responds && !words.iter().any(|word| ARRIVES.contains(&&**word))
    };
    let mut asked = false;
    let mut entries = Vec::new();
    let clock = match has(Role::Time) {
        None if completes => Role::Completion,
        _ => Role::Time,
    };
    for role in [clock, Role::Offset, Role::Bytes, Role::Op, Role::Device, Role::Response] {
        let column = has(role);
        let place = match (column, names) {
            (Some((_, index)), Some(names)) => Some((*index, shown(&names[*index]))),
            _ if role == Role::Op => {
                let is_word = |value: &String| word(value.as_bytes()).is_some();
                let index = values.iter().position(is_word);
                index.map(|index| (index, number_or_name(index, names)))
            }
            _ => None,
        };
        let Some((index, place)) = place else {
            match role {
                Role::Time | Role::Offset | Role::Bytes => {
                    entries.push(format!("{}=?:?", role.name()));
                }
                Role::Response if clock == Role::Completion => {
                    entries.push("response=?:?".to_owned());
                }
                Role::Op => entries.push("op=?".to_owned()),
                _ => {}
            }
            continue;
        };
        let value = values.get(index).map_or("", |value| value.trim());
        let name = names.map_or("", |names| &names[index]);
        let unit = match role.quantity() {
            Some(quantity) => unit(name, value, role, quantity),
            None if role == Role::Op => operations(value),
            None => None,
        };
        let behind = unit.map(|unit| format!(":{unit}")).unwrap_or_default();
        if behind == ":?" && role == Role::Response && clock == Role::Time {
            continue; // the trace can be read without
        }
        let asks = role == Role::Time && unclear(index);
        asked |= asks;
        let key = if asks { "?" } else { role.name() };
        entries.push(format!("{key}={place}{behind}"));
        if role == clock && is_calendar(value, &behind) {
            entries.push("origin=first".to_owned());
        }
    }
    if skip > 0 {
        entries.push(format!("skip={skip}"));
    }
    let text = entries.join(", ");
    let quote = if text.contains('"') { '\'' } else { '"' };
    let open = match (asked, text.contains('?')) {
        (true, _) => {
            "; ?= is to be time= if it is the arrival, completion= if it is the completion"
        }
        (_, true) => "; ? is to be filled in",
        _ => "",
    };
    format!(
        "--columns {quote}{text}{quote} (guessed from names and first values; columns in Python and \
         in files{open})"
    )
}

/// The columns of roles, by index.
fn roles(names: &[String]) -> Vec<(Role, usize)> {
    let words: Vec<Vec<String>> = names.iter().map(|name| words(name)).collect();
    let mut found: Vec<(Role, usize)> = Vec::new();
    for weight in [0, 1] {
        for (index, words) in words.iter().enumerate() {
            if found.iter().any(|(_, taken)| *taken == index) {
                continue;
            }
            let mut known = WORDS.iter().filter(|(_, own, _)| *own == weight);
            let role = known.find(|(role, _, list)| {
                let free = found.iter().all(|(taken, _)| taken != role);
                free && words.iter().any(|word| list.contains(&&**word))
            });
            if let Some((role, ..)) = role {
                found.push((*role, index));
            }
        }
    }
    found
}

/// The words of a name in lower case: `startLBA_us` is start, lba, us.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for character in name.chars() {
        let rises = before.is_lowercase() && character.is_uppercase();
        if rises || !character.is_alphanumeric() {
            words.push(String::new());
        }
        if character.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
        before = character;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The unit of a column, by the last word of its name that is one, else by its value.
fn unit(name: &str, value: &str, role: Role, quantity: Quantity) -> Option<String> {
    let words = words(name);
    let named = words.iter().rev().find_map(|word| {
        let of = UNITS.iter().find(|(_, list)| list.contains(&&**word));
        let (unit, _) = of?;
        factor(unit, quantity).map(|_| *unit)
    });
    let whole = value.bytes().all(|byte| byte.is_ascii_digit());
    let unit = named.or(match (role, value.len()) {
        (Role::Bytes | Role::Offset, _) => Some("B"),
        (Role::Time | Role::Completion, _) if date_ns(value.as_bytes()).is_some() => Some(DATE),
        (Role::Time | Role::Completion, _) if value.contains('.') => Some("s"),
        (Role::Time | Role::Completion, 10) if whole => Some("s"),
        (Role::Time | Role::Completion, 13) if whole => Some("ms"),
        (Role::Time | Role::Completion, 16) if whole => Some("us"),
        (Role::Time | Role::Completion, 19) if whole => Some("ns"),
        _ => None,
    });
    Some(unit.unwrap_or("?").to_owned())
}

/// The values of operations, if they are not words.
fn operations(value: &str) -> Option<String> {
    if value.is_empty() || word(value.as_bytes()).is_some() {
        return None;
    }
    Some(match value.to_ascii_lowercase().as_str() {
        "0" | "1" => "0/1".to_owned(),
        "true" | "false" => match value.starts_with(char::is_uppercase) {
            true => "False/True".to_owned(),
            false => "false/true".to_owned(),
        },
        _ => "?/?".to_owned(),
    })
}

/// Whether a time is years after zero, so that the key needs an origin.
fn is_calendar(value: &str, behind: &str) -> bool {
    if date_ns(value.as_bytes()).is_some() {
        return true;
    }
    let unit = behind.trim_start_matches(':');
    let each = factor(unit, Quantity::Time).unwrap_or(0) as f64;
    value.parse::<f64>().is_ok_and(|time| time * each >= super::CALENDAR_NS as f64)
}

/// Whether a field is a value, not the name of a column.
pub fn is_value(field: &str) -> bool {
    let field = field.trim();
    let hexadecimal =
        || field.strip_prefix("0x").is_some_and(|x| number::hexadecimal(x.as_bytes()).is_some());
    field.parse::<f64>().is_ok() || hexadecimal() || date_ns(field.as_bytes()).is_some()
}

fn number_or_name(index: usize, names: Option<&[String]>) -> String {
    names.map_or_else(|| (index + 1).to_string(), |names| shown(&names[index]))
}

/// A name as the key takes it: in quotes where it would be read in another way.
fn shown(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    match plain && !name.bytes().all(|byte| byte.is_ascii_digit()) {
        true => name.to_owned(),
        false => format!("\"{name}\""),
    }
}
