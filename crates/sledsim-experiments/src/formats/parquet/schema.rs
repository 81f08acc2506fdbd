//! Finds the columns of a file, and the decoder of each.

use super::cells::Decoded;
use arrow_schema::{DataType, Schema, TimeUnit};
use sledsim_base::error::{Error, Result};
use sledsim_traces::columns::{ColumnName, Columns, DATE, Quantity, Role, guess};
use sledsim_traces::writers::{COLUMNS, HEADER, UNLINKED_COLUMNS, UNLINKED_HEADER};
use std::path::Path;

/// The columns of the rows of a run; the response is computed.
const ROWS_COLUMNS: &str =
    "time=arrival_ns:ns, offset=lbn:512B, bytes=blocks:512B, op=op, device=stream, origin=zero";

/// The roles of the columns of a file.
pub struct ColumnRoles {
    pub columns: Columns,
    /// Whether it holds the rows of a run.
    pub of_run: bool,
}

impl ColumnRoles {
    /// As the key `columns` says, or as their names say if they are sledsim's.
    pub fn of(schema: &Schema, wanted: Option<Columns>, shown: &Path) -> Result<Self> {
        let has = |name: &str| schema.column_with_name(name).is_some();
        let of_run = ["arrival_ns", "completion_ns", "lbn", "blocks", "stream", "parent"];
        let of_run = wanted.is_none() && of_run.into_iter().all(has);
        let columns = match wanted {
            Some(columns) => columns,
            None if HEADER.split(',').all(has) => Columns::parse(COLUMNS)?,
            None if UNLINKED_HEADER.split(',').all(has) => Columns::parse(UNLINKED_COLUMNS)?,
            None if of_run => Columns::parse(ROWS_COLUMNS)?,
            None => {
                let fields = schema.fields().iter();
                let of: Vec<String> = fields.map(|field| field.name().clone()).collect();
                let (names, draft) = (names(schema), guess(Some(&of), &[], 0));
                let problem = format!(
                    "the columns are not sledsim's: give roles and units of the columns by \
                     {draft}; its columns are {names}"
                );
                return Err(Error::trace(shown, problem));
            }
        };
        Ok(Self { columns, of_run })
    }
}

/// Finds a column, by name or by number.
pub fn find<'a>(
    schema: &'a Schema,
    place: &ColumnName,
    path: &Path,
) -> Result<(String, &'a DataType)> {
    let fields = schema.fields();
    let found = match place {
        ColumnName::Name(name) => fields.iter().find(|field| field.name() == name),
        ColumnName::Number(number) => fields.get(number - 1),
    };
    if let Some(field) = found {
        return Ok((field.name().clone(), field.data_type()));
    }
    let names = names(schema);
    let problem = format!("no column '{place}': the file has {names}");
    Err(Error::trace(path, problem))
}

/// The names of the columns, for messages.
fn names(schema: &Schema) -> String {
    let names = schema.fields().iter().map(|field| field.name().as_str());
    names.collect::<Vec<_>>().join(", ")
}

pub fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

pub fn is_dictionary(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Dictionary(_, values) if is_text(values))
}

/// The decoder of a column of this type.
pub fn decoder(
    columns: &Columns,
    role: Role,
    name: &str,
    data_type: &DataType,
    path: &Path,
) -> Result<Decoded> {
    let refuse = |must: &str| {
        let role = role.name();
        let problem = format!("column '{name}' ({role}) has the type {data_type}: must be {must}");
        Err(Error::trace(path, problem))
    };
    let Some(quantity) = role.quantity() else {
        return match role {
            Role::Op if data_type.is_integer() && columns.ops.is_empty() => {
                refuse("text, or its values given, as in op=COLUMN:0/1 for 0 read and 1 write")
            }
            Role::Op if *data_type == DataType::Boolean && columns.ops.is_empty() => {
                refuse("text, or its values given, as in op=COLUMN:false/true")
            }
            Role::Op if data_type.is_integer() || *data_type == DataType::Boolean => {
                Ok(Decoded::Ops(Vec::new()))
            }
            Role::Op if is_text(data_type) || is_dictionary(data_type) => {
                Ok(Decoded::Ops(Vec::new()))
            }
            Role::Op => refuse("text, whole numbers or true and false"),
            Role::Device | Role::Linked if data_type.is_integer() => Ok(Decoded::numbers(1, None)),
            Role::Linked if *data_type == DataType::Boolean => Ok(Decoded::Plain),
            _ if is_dictionary(data_type) => Ok(Decoded::names()),
            _ if is_text(data_type) => Ok(Decoded::Plain),
            Role::Device => refuse("whole numbers or text"),
            Role::Linked => refuse("true and false, whole numbers or text"),
            _ => refuse("text"),
        };
    };
    let stated = columns.get(role).and_then(|column| column.unit.as_ref());
    if stated.is_some_and(|unit| unit.name == DATE) {
        return refuse(
            "a timestamp, and columns must give no unit: the unit date is for the text of csv",
        );
    }
    let time_unit = match data_type {
        DataType::Timestamp(unit, _) | DataType::Duration(unit) => Some(unit),
        _ => None,
    };
    if let (Some(unit), Quantity::Time) = (time_unit, quantity) {
        let (factor, called) = match unit {
            TimeUnit::Second => (1_000_000_000, "s"),
            TimeUnit::Millisecond => (1_000_000, "ms"),
            TimeUnit::Microsecond => (1_000, "us"),
            TimeUnit::Nanosecond => (1, "ns"),
        };
        if let Some(stated) = stated.filter(|stated| stated.factor != factor) {
            let (role, text, stated) = (role.name(), &stated.name, stated.factor);
            let problem = format!(
                "columns: {role}={name}:{text} ({stated} ns): the file says that column '{name}' \
                 is in {called}; leave out the unit"
            );
            return Err(Error::trace(path, problem));
        }
        return Ok(Decoded::numbers(factor, Some(quantity)));
    }
    let numeric = data_type.is_integer()
        || matches!(data_type, DataType::Float32 | DataType::Float64 | DataType::Decimal128(..));
    if !numeric {
        return refuse(match quantity {
            Quantity::Time => "a number, a timestamp or a duration",
            Quantity::Size => "a number",
        });
    }
    Ok(Decoded::numbers(columns.need_unit(role)?, Some(quantity)))
}
