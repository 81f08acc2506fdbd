//! Keys: what a device, workload or scenario file says, read strictly.
//!
//! A file is flattened to dotted keys (`front.base`). Every key is asked for
//! by name with what it may be; a key nobody asked for is an error. Each value
//! knows where it came from (`g2.toml:12`, `--set rate`), and that is how
//! every message begins.

use crate::error::{Error, Result};
use std::fmt;
use std::ops::RangeInclusive;
use toml_edit::{Document, TableLike, Value};

/// The keys of one table: values with their origins, in file order.
#[derive(Clone, Debug)]
pub struct Keys {
    /// What a missing key is missing from: a file or a description.
    what: String,
    /// Leading comment of the file.
    about: String,
    /// What precedes the names of this table in the whole: `""` or `front.`.
    prefix: String,
    entries: Vec<Entry>,
    /// Every table that was written, with its origin, dotted.
    tables: Vec<(String, String)>,
    /// Names asked for so far: keys, then tables.
    known: Vec<String>,
    known_tables: Vec<String>,
}

#[derive(Clone, Debug)]
struct Entry {
    key: String,
    value: Value,
    comment: Option<String>,
    origin: String,
    /// Byte offset in its file, 0 without one.
    at: usize,
    /// Line in its file, 0 without one.
    line: usize,
}

impl Keys {
    /// Reads TOML; `file` is the name messages use.
    ///
    /// # Errors
    /// Syntax errors and duplicate keys, with the line.
    pub fn parse(text: &str, file: &str) -> Result<Self> {
        let document = Document::parse(text).map_err(|error| {
            let at = error.span().unwrap_or(0..0);
            let line = line_of(text, at.start);
            let problem = error.message().replace('\n', ", ");
            let found = excerpt(text.get(at).unwrap_or(""));
            let found = if found.is_empty() {
                String::new()
            } else {
                format!(" at '{found}'")
            };
            Error::Key(format!("{file}:{line}: {problem}{found}"))
        })?;
        let mut keys = Self::empty(file);
        keys.about = text
            .lines()
            .map_while(|line| line.strip_prefix('#'))
            .map(str::trim)
            .collect::<Vec<_>>()
            .join("\n");
        keys.walk("", document.as_table(), Place::File(text, file), None)?;
        // A table may be continued further down: iteration order is not file order.
        keys.entries.sort_by_key(|entry| entry.at);
        Ok(keys)
    }

    /// No keys yet; `what` is what a missing key will be missing from.
    #[must_use]
    pub fn empty(what: &str) -> Self {
        Self {
            what: what.to_owned(),
            about: String::new(),
            prefix: String::new(),
            entries: Vec::new(),
            tables: Vec::new(),
            known: Vec::new(),
            known_tables: Vec::new(),
        }
    }

    /// Sets a key, in place if it is there; an inline table sets the keys it
    /// holds, a list of inline tables replaces the list that was there.
    /// `origin` says who asked: `--set device.rate`, `argument spring_factor`.
    ///
    /// # Errors
    /// A table with a dot or a bracket inside a name.
    pub fn set(&mut self, key: &str, value: Value, origin: &str) -> Result<()> {
        self.add(key, value, None, Place::Said(origin), None)
    }

    /// As [`Keys::set`] from text: `text` is a TOML value; a word, or a number
    /// with a unit, is a string, so that `scheduler=sptf` needs no quotes and a
    /// key that wants a number says so of `8KiB`.
    ///
    /// # Errors
    /// Text that is neither.
    pub fn set_text(&mut self, key: &str, text: &str, origin: &str) -> Result<()> {
        let text = text.trim();
        let value = match text.parse::<Value>() {
            Ok(value) => value,
            Err(_) if is_word(text) || starts_with_number(text) => Value::from(text),
            Err(error) => {
                let problem = error.message().replace('\n', ", ");
                return Err(Error::Key(format!(
                    "{}: not a TOML value ({problem}); put a string in quotes",
                    said(origin, key, &excerpt(text))
                )));
            }
        };
        self.set(key, value, origin)
    }

    /// These keys laid over `base`, key by key; a list of tables stands for
    /// the whole list of the base. What is missing then is missing from
    /// `base`, which stands on its own.
    #[must_use]
    pub fn over(self, mut base: Self) -> Self {
        for (table, _) in &self.tables {
            if let Some(list) = table.strip_suffix("[0]") {
                base.forget_list(list);
            }
        }
        for entry in self.entries {
            base.put(entry);
        }
        base.tables.extend(self.tables);
        base.prefix = self.prefix;
        if !self.about.is_empty() {
            base.about = self.about;
        }
        base
    }

    /// Takes the table `[name]` out as keys of its own.
    pub fn take_table(&mut self, name: &str) -> Option<Self> {
        remember(&mut self.known_tables, name);
        let inside = format!("{name}.");
        let mut table = Self::empty(&self.what);
        table.prefix = format!("{}{inside}", self.prefix);
        let mut there = false;
        for (other, origin) in std::mem::take(&mut self.tables) {
            if other == name {
                there = true;
            } else if let Some(rest) = other.strip_prefix(&inside) {
                table.tables.push((rest.to_owned(), origin));
            } else {
                self.tables.push((other, origin));
            }
        }
        for entry in std::mem::take(&mut self.entries) {
            match entry.key.strip_prefix(&inside) {
                Some(rest) => {
                    let key = rest.to_owned();
                    table.entries.push(Entry { key, ..entry });
                }
                None => self.entries.push(entry),
            }
        }
        (there || !table.entries.is_empty()).then_some(table)
    }

    /// The names of this table's tables and keys, each once: tables in the order
    /// in which they were written, then keys.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let keys = self.entries.iter().map(|entry| &*entry.key);
        let tables = self.tables.iter().map(|(name, _)| &**name);
        let mut names = Vec::new();
        for name in tables.chain(keys) {
            remember(&mut names, name.split('.').next().unwrap_or_default());
        }
        names
    }

    /// Takes the tables of the list `[[name]]` out, in their order; none if it
    /// was not given. In messages they are `name[0]`, `name[1]` and so on.
    ///
    /// # Errors
    /// Something else of that name.
    pub fn take_tables(&mut self, name: &str) -> Result<Vec<Self>> {
        remember(&mut self.known_tables, name);
        if self.has(name) {
            let must = format!("must be a list of tables, as in [[{name}]]");
            return Err(self.refuse(name, must));
        }
        let mut tables = Vec::new();
        while let Some(table) = self.take_table(&format!("{name}[{}]", tables.len())) {
            tables.push(table);
        }
        self.known_tables.retain(|known| !known.ends_with(']'));
        Ok(tables)
    }

    /// Whether the key, or a table of that name, was given.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        let inside = format!("{key}.");
        self.tables.iter().any(|(name, _)| name == key)
            || (self.entries.iter()).any(|e| e.key == key || e.key.starts_with(&inside))
    }

    /// A number; integers are taken too.
    ///
    /// # Errors
    /// Missing, not a number, or not allowed.
    pub fn f64(&mut self, key: &str, allowed: Range) -> Result<f64> {
        let value = self.opt_f64(key, allowed)?;
        self.need(key, value, || allowed.wanted())
    }

    /// A number, if given; integers are taken too.
    ///
    /// # Errors
    /// Not a number, or not allowed.
    pub fn opt_f64(&mut self, key: &str, allowed: Range) -> Result<Option<f64>> {
        let Some(number) = self.read(key, || allowed.wanted(), number)? else {
            return Ok(None);
        };
        if allowed.contains(number) {
            Ok(Some(number))
        } else if number == f64::INFINITY && allowed.high == f64::MAX {
            Err(self.refuse(key, format_args!("must be {allowed} and finite")))
        } else {
            Err(self.refuse(key, format_args!("must be {allowed}")))
        }
    }

    /// An integer.
    ///
    /// # Errors
    /// Missing, not an integer, or not allowed.
    pub fn u64(&mut self, key: &str, allowed: RangeInclusive<u64>) -> Result<u64> {
        let value = self.opt_u64(key, allowed.clone())?;
        self.need(key, value, || integer(&allowed))
    }

    /// An integer, if given.
    ///
    /// # Errors
    /// Not an integer, or not allowed.
    pub fn opt_u64(&mut self, key: &str, allowed: RangeInclusive<u64>) -> Result<Option<u64>> {
        self.read(
            key,
            || integer(&allowed),
            |value| integer_in(value, &allowed),
        )
    }

    /// An integer of 32 bits.
    ///
    /// # Errors
    /// Missing, not an integer, or not allowed.
    pub fn u32(&mut self, key: &str, allowed: RangeInclusive<u32>) -> Result<u32> {
        let wide = u64::from(*allowed.start())..=u64::from(*allowed.end());
        self.u64(key, wide).map(|number| number as u32)
    }

    /// An integer of 32 bits, if given.
    ///
    /// # Errors
    /// Not an integer, or not allowed.
    pub fn opt_u32(&mut self, key: &str, allowed: RangeInclusive<u32>) -> Result<Option<u32>> {
        let wide = u64::from(*allowed.start())..=u64::from(*allowed.end());
        Ok(self.opt_u64(key, wide)?.map(|number| number as u32))
    }

    /// The name of something that may be named by a number: a string, or an
    /// integer of 32 bits, if given.
    ///
    /// # Errors
    /// Neither.
    pub fn opt_name(&mut self, key: &str) -> Result<Option<String>> {
        let wanted = || format!("an integer from 0 to {}, or {TEXT}", u32::MAX);
        let read = |value: &Value| match value.as_integer() {
            Some(number) => Some(u32::try_from(number).ok()?.to_string()),
            None => value.as_str().map(str::to_owned),
        };
        self.read(key, wanted, read)
    }

    /// An integer of 32 bits or one of several names, if given.
    ///
    /// # Errors
    /// Neither.
    pub fn opt_u32_or_choice<T: Clone>(
        &mut self,
        key: &str,
        allowed: RangeInclusive<u32>,
        number: fn(u32) -> T,
        choices: &[(&str, T)],
    ) -> Result<Option<T>> {
        let wide = u64::from(*allowed.start())..=u64::from(*allowed.end());
        let wanted = || format!("{}, or {}", integer(&wide), either(choices));
        let read = |value: &Value| {
            if let Some(name) = value.as_str() {
                let found = choices.iter().find(|choice| choice.0 == name)?;
                return Some(found.1.clone());
            }
            integer_in(value, &wide).map(|given| number(given as u32))
        };
        self.read(key, wanted, read)
    }

    /// A list, if given, each item read by `read`; `wanted` says what an item
    /// may be, as in `an integer`.
    ///
    /// # Errors
    /// Not a list, or the first item that is something else, with its line.
    pub fn opt_list<T>(
        &mut self,
        key: &str,
        wanted: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<Vec<T>>> {
        let list = || format!("a list; an item is {wanted}");
        let items = |value: &Value| Some(value.as_array()?.iter().map(&read).collect());
        let Some(items): Option<Vec<Option<T>>> = self.read(key, list, items)? else {
            return Ok(None);
        };
        let item = |(index, item): (usize, Option<T>)| {
            item.ok_or_else(|| self.refuse_item(key, index, format_args!("must be {wanted}")))
        };
        items
            .into_iter()
            .enumerate()
            .map(item)
            .collect::<Result<_>>()
            .map(Some)
    }

    /// A list of numbers, if given; integers are taken too.
    ///
    /// # Errors
    /// Not a list, or an item that is not a number or not allowed.
    pub fn opt_f64s(&mut self, key: &str, allowed: Range) -> Result<Option<Vec<f64>>> {
        self.opt_list(key, &allowed.wanted(), |value| allowed.number(value))
    }

    /// A list of integers, if given.
    ///
    /// # Errors
    /// Not a list, or an item that is not an integer or not allowed.
    pub fn opt_u64s(
        &mut self,
        key: &str,
        allowed: RangeInclusive<u64>,
    ) -> Result<Option<Vec<u64>>> {
        self.opt_list(key, &integer(&allowed), |value| integer_in(value, &allowed))
    }

    /// A list of lists of one number for each of `allowed`, if given; integers
    /// are taken too.
    ///
    /// # Errors
    /// Not a list, or an item that is something else.
    pub fn opt_f64_rows<const N: usize>(
        &mut self,
        key: &str,
        allowed: [Range; N],
    ) -> Result<Option<Vec<[f64; N]>>> {
        let wanted = allowed.map(|range| range.wanted()).join(", ");
        self.opt_list(key, &format!("a list of {N}: {wanted}"), |value| {
            let row = value.as_array().filter(|row| row.len() == N)?;
            let mut numbers = [0.0; N];
            for ((number, value), range) in numbers.iter_mut().zip(row).zip(allowed) {
                *number = range.number(value)?;
            }
            Some(numbers)
        })
    }

    /// A list of lists of `N` integers, if given.
    ///
    /// # Errors
    /// Not a list, or an item that is something else.
    pub fn opt_u64_rows<const N: usize>(
        &mut self,
        key: &str,
        allowed: RangeInclusive<u64>,
    ) -> Result<Option<Vec<[u64; N]>>> {
        let wanted = format!("a list of {N}, each {}", integer(&allowed));
        self.opt_list(key, &wanted, |value| {
            let row = value.as_array().filter(|row| row.len() == N)?;
            let mut numbers = [0; N];
            for (number, value) in numbers.iter_mut().zip(row) {
                *number = integer_in(value, &allowed)?;
            }
            Some(numbers)
        })
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// Missing or something else.
    pub fn bool(&mut self, key: &str) -> Result<bool> {
        let value = self.opt_bool(key)?;
        self.need(key, value, || BOOL.to_owned())
    }

    /// `true` or `false`, if given.
    ///
    /// # Errors
    /// Something else.
    pub fn opt_bool(&mut self, key: &str) -> Result<Option<bool>> {
        self.read(key, || BOOL.to_owned(), Value::as_bool)
    }

    /// A string.
    ///
    /// # Errors
    /// Missing or something else.
    pub fn text(&mut self, key: &str) -> Result<String> {
        let value = self.opt_text(key)?;
        self.need(key, value, || TEXT.to_owned())
    }

    /// A string, if given.
    ///
    /// # Errors
    /// Something else.
    pub fn opt_text(&mut self, key: &str) -> Result<Option<String>> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        self.read(key, || TEXT.to_owned(), text)
    }

    /// One of several names, each standing for a value.
    ///
    /// # Errors
    /// Missing or none of the names.
    pub fn choice<T: Clone>(&mut self, key: &str, choices: &[(&str, T)]) -> Result<T> {
        let value = self.opt_choice(key, choices)?;
        self.need(key, value, || either(choices))
    }

    /// One of several names, if given.
    ///
    /// # Errors
    /// None of the names.
    pub fn opt_choice<T: Clone>(&mut self, key: &str, choices: &[(&str, T)]) -> Result<Option<T>> {
        self.read(
            key,
            || either(choices),
            |value| {
                let name = value.as_str()?;
                let found = choices.iter().find(|choice| choice.0 == name)?;
                Some(found.1.clone())
            },
        )
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// The first key that was never asked for, with the names that come near
    /// or the list of known ones.
    pub fn finish(self) -> Result<()> {
        let asked = |table: &str| {
            let inside = format!("{table}.");
            let mut names = self.known.iter().chain(&self.known_tables);
            names.any(|name| name.starts_with(&inside))
        };
        if let Some((name, origin)) = self.tables.iter().find(|(name, _)| !asked(name)) {
            let prefix = &self.prefix;
            let list = name.split('[').next().unwrap_or(name);
            let mut known = self.known.iter().chain(&self.known_tables);
            if list != name && known.any(|known| known == list) {
                return Err(Error::Key(format!(
                    "{origin}: {prefix}{list}: must not be a list of tables ([[..]])"
                )));
            }
            let hint = did_you_mean(list, self.known_tables.iter().map(String::as_str));
            return Err(Error::Key(format!(
                "{origin}: unknown table '{prefix}{list}'{hint}"
            )));
        }
        let known = |key: &str| self.known.iter().any(|name| name == key);
        match self.entries.iter().find(|entry| !known(&entry.key)) {
            Some(entry) => Err(self.unknown(entry)),
            None => Ok(()),
        }
    }

    /// An error about the value of a key, for rules between keys: `must` says
    /// what was allowed, as in `must divide tips (6400)`.
    #[must_use]
    pub fn refuse(&self, key: &str, must: impl fmt::Display) -> Error {
        let name = format!("{}{key}", self.prefix);
        Error::Key(match self.entries.iter().find(|entry| entry.key == key) {
            Some(entry) => {
                let value = excerpt(&entry.value.to_string());
                format!("{}: {must}", said(&entry.origin, &name, &value))
            }
            None => format!("{}: {name}: {must}", self.what),
        })
    }

    /// As [`Keys::refuse`] about one item of a list, with the line of the item.
    #[must_use]
    pub fn refuse_item(&self, key: &str, index: usize, must: impl fmt::Display) -> Error {
        let Some(entry) = self.entries.iter().find(|entry| entry.key == key) else {
            return self.refuse(key, must);
        };
        let name = format!("{}{key}[{index}]", self.prefix);
        let text = format!("x={}", entry.value);
        let document = Document::parse(&*text).ok();
        let item = document.as_ref().and_then(|document| {
            let item = document.get("x")?.as_array()?.get(index)?;
            Some((item.to_string(), line_of(&text, item.span()?.start) - 1))
        });
        let (value, below) = item.unwrap_or_default();
        let origin = match entry.origin.strip_suffix(&format!(":{}", entry.line)) {
            Some(file) if entry.line > 0 => format!("{file}:{}", entry.line + below),
            _ => entry.origin.clone(),
        };
        Error::Key(format!("{origin}: {name} = {}: {must}", excerpt(&value)))
    }

    /// Key, value, trailing comment of its line (its source) and origin of
    /// every value: in file order, after [`Keys::over`] in the order of the
    /// base, then what is new. A value inside an inline table has the comment
    /// behind the table.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Value, Option<&str>, &str)> {
        (self.entries.iter()).map(|e| (&*e.key, &e.value, e.comment.as_deref(), &*e.origin))
    }

    /// Every table and key but the top-level `but`, as TOML that [`Keys::parse`]
    /// reads again.
    #[must_use]
    pub fn to_toml(&self, but: &str) -> String {
        let mut document = toml_edit::DocumentMut::new();
        for (table, _) in &self.tables {
            make_table(document.as_table_mut(), table);
        }
        for entry in self.entries.iter().filter(|entry| entry.key != but) {
            let (table, name) = entry.key.rsplit_once('.').unwrap_or(("", &entry.key));
            let table = make_table(document.as_table_mut(), table);
            table.insert(name, toml_edit::value(entry.value.clone()));
        }
        document.to_string()
    }

    /// The comment lines at the top of the file.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.about
    }

    /// What the keys were read from: the name given to [`Keys::parse`] or
    /// [`Keys::empty`].
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }

    fn walk(
        &mut self,
        prefix: &str,
        table: &dyn TableLike,
        place: Place<'_>,
        comment: Option<&str>,
    ) -> Result<()> {
        for (name, item) in table.iter() {
            let key = format!("{prefix}{name}");
            let at = || place.origin(item.span());
            if name.contains(['.', '[', ']']) || name.is_empty() {
                let problem = "must not be empty or contain a dot or a bracket inside its quotes";
                return Err(Error::Key(format!("{}: key '{key}': {problem}", at())));
            }
            if let Some(value) = item.as_value() {
                self.add(&key, value.clone(), value.span(), place, comment)?;
            } else if let Some(table) = item.as_table_like() {
                self.add_table(key, table, at(), place, comment)?;
            } else if let Some(tables) = item.as_array_of_tables() {
                for (index, table) in tables.iter().enumerate() {
                    let at = place.origin(table.span());
                    self.add_table(format!("{key}[{index}]"), table, at, place, None)?;
                }
            }
        }
        Ok(())
    }

    fn add_table(
        &mut self,
        key: String,
        table: &dyn TableLike,
        origin: String,
        place: Place<'_>,
        comment: Option<&str>,
    ) -> Result<()> {
        let inside = format!("{key}.");
        self.tables.push((key, origin));
        self.walk(&inside, table, place, comment)
    }

    fn add(
        &mut self,
        key: &str,
        mut value: Value,
        span: Option<std::ops::Range<usize>>,
        place: Place<'_>,
        outer: Option<&str>,
    ) -> Result<()> {
        let origin = place.origin(span.clone());
        let comment = place.comment(span.clone()).or(outer.map(str::to_owned));
        if let Value::InlineTable(table) = &value {
            return self.add_table(key.to_owned(), table, origin, place, comment.as_deref());
        }
        self.forget_list(key);
        let tables = value
            .as_array()
            .map(|list| list.iter().map(Value::as_inline_table));
        let tables: Option<Vec<_>> = tables.and_then(Iterator::collect);
        if let Some(tables) = tables.filter(|tables| !tables.is_empty()) {
            self.entries.retain(|entry| entry.key != key);
            for (index, table) in tables.into_iter().enumerate() {
                let own = place.comment(table.span()).or_else(|| comment.clone());
                let key = format!("{key}[{index}]");
                self.add_table(
                    key,
                    table,
                    place.origin(table.span()),
                    place,
                    own.as_deref(),
                )?;
            }
            return Ok(());
        }
        let (mut at, mut line) = (0, 0);
        if let (Place::File(text, _), Some(span)) = (place, span) {
            (at, line) = (span.start, line_of(text, span.start));
            // Parsed on its own the value owns its text.
            if let Ok(owned) = text[span].parse() {
                value = owned;
            }
        }
        value.decor_mut().clear();
        self.put(Entry {
            key: key.to_owned(),
            value,
            comment,
            origin,
            at,
            line,
        });
        Ok(())
    }

    /// Drops the tables of the list `name`, and what is in them.
    fn forget_list(&mut self, name: &str) {
        let inside = format!("{name}[");
        self.tables.retain(|(table, _)| !table.starts_with(&inside));
        self.entries.retain(|entry| !entry.key.starts_with(&inside));
    }

    fn put(&mut self, entry: Entry) {
        match self.entries.iter_mut().find(|other| other.key == entry.key) {
            Some(other) => *other = entry,
            None => self.entries.push(entry),
        }
    }

    fn read<T>(
        &mut self,
        key: &str,
        wanted: impl Fn() -> String,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>> {
        remember(&mut self.known, key);
        match self.entries.iter().find(|entry| entry.key == key) {
            None => Ok(None),
            Some(entry) => match read(&entry.value) {
                Some(value) => Ok(Some(value)),
                None => {
                    let without = without_unit(key, &entry.value);
                    Err(self.refuse(key, format_args!("must be {}{without}", wanted())))
                }
            },
        }
    }

    fn need<T>(&self, key: &str, value: Option<T>, wanted: impl Fn() -> String) -> Result<T> {
        value.ok_or_else(|| {
            let (what, prefix) = (&self.what, &self.prefix);
            Error::Key(format!(
                "{what}: missing key '{prefix}{key}' ({})",
                wanted()
            ))
        })
    }

    fn unknown(&self, entry: &Entry) -> Error {
        let Entry { key, origin, .. } = entry;
        if self.known_tables.contains(key) {
            return self.refuse(key, format_args!("must be a table, as in [{key}]"));
        }
        let prefix = &self.prefix;
        let full = |names: &[String]| names.iter().map(|name| format!("{prefix}{name}")).collect();
        let (names, tables): (Vec<String>, Vec<String>) =
            (full(&self.known), full(&self.known_tables));
        let (key, names) = (format!("{prefix}{key}"), || {
            names.iter().map(String::as_str)
        });
        let tables = || tables.iter().map(String::as_str);
        let bare = &key[prefix.len()..];
        let stem = split_unit(&key).0;
        let other_unit = names().find_map(|name| match split_unit(name) {
            (other, Some(unit)) if other == stem => Some((name, unit)),
            _ => None,
        });
        let other_name = OTHER_NAMES.iter().find_map(|(other, name)| {
            let name = format!("{prefix}{name}");
            (*other == bare && names().any(|known| known == name)).then_some(name)
        });
        let head = (bare.find('.')).map(|dot| &key[..prefix.len() + dot]);
        let hint = match (other_unit, other_name, head) {
            (Some((name, unit)), ..) => {
                format!("; did you mean '{name}' (in {})?", spelled(unit))
            }
            (None, Some(name), _) => format!("; did you mean '{name}'?"),
            // Not a known table either: then that is the mistake.
            (None, None, Some(head))
                if nearest(&key, names()).is_empty()
                    && !names().any(|name| name.starts_with(&format!("{head}."))) =>
            {
                let hint = did_you_mean(head, tables().chain(names()));
                return Error::Key(format!("{origin}: unknown table '{head}'{hint}"));
            }
            _ => did_you_mean(&key, names().chain(tables())),
        };
        let origin = origin.clone();
        Error::UnknownKey { origin, key, hint }
    }
}

const BOOL: &str = "true or false";
const TEXT: &str = "a string in quotes";

/// Where a value is written.
#[derive(Clone, Copy)]
enum Place<'a> {
    /// The text of a file, and its name.
    File(&'a str, &'a str),
    /// A flag or argument.
    Said(&'a str),
}

impl Place<'_> {
    fn origin(self, span: Option<std::ops::Range<usize>>) -> String {
        match self {
            Place::File(text, file) => {
                let line = line_of(text, span.map_or(0, |span| span.start));
                format!("{file}:{line}")
            }
            Place::Said(origin) => origin.to_owned(),
        }
    }

    /// The comment behind a value, on its last line.
    fn comment(self, span: Option<std::ops::Range<usize>>) -> Option<String> {
        let (Place::File(text, _), Some(span)) = (self, span) else {
            return None;
        };
        let rest = text[span.end..].lines().next().unwrap_or("").trim_start();
        let rest = rest.strip_prefix(',').unwrap_or(rest).trim();
        rest.strip_prefix('#').map(|rest| rest.trim().to_owned())
    }
}

/// The values allowed for a number: an interval, `nan` never.
///
/// `Range::at_least(0.0).below(1.0)`. Without an upper bound every finite
/// number is below it; infinity must be allowed by name
/// (`.at_most(f64::INFINITY)`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    low: f64,
    low_inside: bool,
    high: f64,
    high_inside: bool,
}

impl Range {
    /// Any finite number.
    #[must_use]
    pub const fn any() -> Self {
        Self::at_least(f64::MIN)
    }

    /// `low` or more.
    #[must_use]
    pub const fn at_least(low: f64) -> Self {
        Self {
            low,
            low_inside: true,
            high: f64::MAX,
            high_inside: true,
        }
    }

    /// More than `low`.
    #[must_use]
    pub const fn above(low: f64) -> Self {
        Self {
            low_inside: false,
            ..Self::at_least(low)
        }
    }

    /// And `high` or less.
    #[must_use]
    pub const fn at_most(self, high: f64) -> Self {
        Self {
            high,
            high_inside: true,
            ..self
        }
    }

    /// And less than `high`.
    #[must_use]
    pub const fn below(self, high: f64) -> Self {
        Self {
            high,
            high_inside: false,
            ..self
        }
    }

    /// Whether `number` is allowed.
    #[must_use]
    pub fn contains(&self, number: f64) -> bool {
        (number > self.low || self.low_inside && number == self.low)
            && (number < self.high || self.high_inside && number == self.high)
    }

    /// The number a value is, if allowed.
    fn number(&self, value: &Value) -> Option<f64> {
        number(value).filter(|number| self.contains(*number))
    }

    fn wanted(&self) -> String {
        if *self == Self::any() {
            "a finite number".to_owned()
        } else {
            format!("a number {self}")
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let low = if self.low_inside { "at least" } else { "above" };
        let high = if self.high_inside { "at most" } else { "below" };
        match (self.low, self.high) {
            (f64::MIN, f64::MAX) => write!(f, "a finite number"),
            (f64::MIN, end) => write!(f, "{high} {end}"),
            (start, f64::MAX) => write!(f, "{low} {start}"),
            (start, f64::INFINITY) => write!(f, "{low} {start}, or inf"),
            (start, end) => write!(f, "{low} {start} and {high} {end}"),
        }
    }
}

/// Those of `candidates` a mistyped `name` may have meant, nearest first, at
/// most three.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let reach = (name.chars().count() / 3).max(1);
    let mut found: Vec<(usize, &str)> = (candidates.into_iter())
        .filter_map(|candidate| {
            let other = candidate.to_lowercase();
            let distance = strsim::osa_distance(&name, &other);
            let part = name.len() > 2 && other.contains(&name);
            (distance <= reach || part).then_some((distance, candidate))
        })
        .collect();
    found.sort_by_key(|&(distance, _)| distance);
    found.dedup();
    found.truncate(3);
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The end of a message about an unknown name: `; did you mean 'g2'?`, or what
/// there is.
#[must_use]
pub fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    let near = nearest(name, candidates.clone());
    if !near.is_empty() {
        return format!("; did you mean '{}'?", near.join("' or '"));
    }
    let all: Vec<&str> = candidates.into_iter().collect();
    match all.len() {
        0 => "; there are none here".to_owned(),
        _ => format!("; known are {}", all.join(", ")),
    }
}

/// The table at a dotted path from `table`, made if it is not there.
fn make_table<'a>(table: &'a mut toml_edit::Table, path: &str) -> &'a mut toml_edit::Table {
    let mut table = table;
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let (name, index) = match part.strip_suffix(']').and_then(|p| p.split_once('[')) {
            Some((name, index)) => (name, index.parse::<usize>().ok()),
            None => (part, None),
        };
        let item = table.entry(name);
        table = match index {
            None => {
                let item = item.or_insert_with(toml_edit::table);
                item.as_table_mut().expect("a key is a table or none")
            }
            Some(index) => {
                let item = item.or_insert_with(toml_edit::array);
                let tables = item.as_array_of_tables_mut();
                let tables = tables.expect("a key is a list of tables or none");
                while tables.len() <= index {
                    tables.push(toml_edit::Table::new());
                }
                tables.get_mut(index).expect("just made")
            }
        };
    }
    table
}

/// What others call a key: fio, and books on queues.
const OTHER_NAMES: [(&str, &str); 14] = [
    ("alpha", "zipf_exponent"),
    ("exponent", "zipf_exponent"),
    ("skew", "zipf_exponent"),
    ("theta", "zipf_exponent"),
    ("bs", "mean_size_kib"),
    ("block_size", "mean_size_kib"),
    ("request_size", "mean_size_kib"),
    ("size_kib", "mean_size_kib"),
    ("iodepth", "queue_depth"),
    ("outstanding", "queue_depth"),
    ("iops", "rate"),
    ("lambda", "rate"),
    ("rwmixread", "read_fraction"),
    ("count", "requests"),
];

/// A name without its unit suffix, and the unit: `travel_x_um` is `travel_x`
/// in `um`.
fn split_unit(name: &str) -> (&str, Option<&str>) {
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

/// A unit as one writes it, from how it ends a key.
fn spelled(unit: &str) -> &str {
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

fn said(origin: &str, name: &str, value: &str) -> String {
    if origin.ends_with(name) {
        format!("{origin} = {value}")
    } else {
        format!("{origin}: {name} = {value}")
    }
}

/// The number a value is; integers are taken too.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(integer) => Some(*integer.value() as f64),
        _ => value.as_float(),
    }
}

/// The integer a value is, if allowed. `1e6` is one.
fn integer_in(value: &Value, allowed: &RangeInclusive<u64>) -> Option<u64> {
    let number = match value {
        Value::Float(float) => exactly(*float.value())?,
        _ => u64::try_from(value.as_integer()?).ok()?,
    };
    allowed.contains(&number).then_some(number)
}

/// The integer that a number is exactly.
fn exactly(number: f64) -> Option<u64> {
    const INEXACT: f64 = 9_007_199_254_740_992.0; // 2^53 + 1 is written so, too
    let whole = number.fract() == 0.0 && (0.0..INEXACT).contains(&number);
    whole.then_some(number as u64)
}

fn integer(allowed: &RangeInclusive<u64>) -> String {
    match (*allowed.start(), *allowed.end()) {
        (low, high) if high >= i64::MAX as u64 => format!("an integer of at least {low}"),
        (low, high) => format!("an integer from {low} to {high}"),
    }
}

fn either<T>(choices: &[(&str, T)]) -> String {
    let quoted: Vec<String> = choices.iter().map(|c| format!("\"{}\"", c.0)).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

fn remember(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || "_./~".contains(c)) && is_bare(text)
}

/// Whether text begins as a number does: `8KiB`, `-5%`, `500/s`.
fn starts_with_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    digits.starts_with(|c: char| c.is_ascii_digit()) && is_bare(text)
}

fn is_bare(text: &str) -> bool {
    !text.contains(|c: char| c.is_control() || "\"'#".contains(c))
}

/// What to add to a refusal of a number that was given with a unit.
fn without_unit(key: &str, value: &Value) -> String {
    match (value.as_str(), split_unit(key).1) {
        (Some(text), unit) if starts_with_number(text) => match unit {
            Some(unit) => format!(", without a unit: the key is in {}", spelled(unit)),
            None => ", without a unit".to_owned(),
        },
        _ => String::new(),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    1 + before.iter().filter(|&&byte| byte == b'\n').count()
}

/// At most 60 characters of a value, on one line.
fn excerpt(text: &str) -> String {
    let text = text
        .trim()
        .escape_debug()
        .to_string()
        .replace("\\\"", "\"")
        .replace("\\'", "'");
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
