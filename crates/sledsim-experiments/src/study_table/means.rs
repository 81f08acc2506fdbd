//! Means over rows with equal parameters.

use super::{Column, Table};
use crate::stats::student_t;
use sledsim_base::error::{Error, Result};
use std::ops::Range;

/// The confidence of the intervals.
const LEVEL: f64 = 0.95;

impl Table {
    /// One row for each run of consecutive rows that agree in the columns
    /// `parameters`.
    ///
    /// It has these columns; `rows`, the number of rows; for each other column of
    /// numbers its mean over the rows that have a value, and the limits of the 95 %
    /// confidence interval of the mean (`NAME.low`, `NAME.high`; none below two
    /// values), by Student's t of independent replications; and for each other column
    /// of text its distinct texts, separated by `; `. The columns `left_out` are left
    /// out.
    ///
    /// # Errors
    /// A parameter that is no column.
    pub fn means(&self, parameters: &[String], left_out: &[String]) -> Result<Self> {
        for name in parameters {
            if self.column(name).is_none() {
                return Err(Error::Key(format!("column '{name}': is missing")));
            }
        }
        let keys = self.arranged(parameters);
        let groups = keys.groups();
        let firsts: Vec<usize> = groups.iter().map(|group| group.start).collect();
        let mut columns = keys.take(&firsts).columns;
        let rows = groups.iter().map(|group| Some(group.len() as f64));
        columns.push(("rows".to_owned(), Column::Number(rows.collect())));
        for (name, column) in &self.columns {
            if parameters.contains(name) || left_out.contains(name) {
                continue;
            }
            match column {
                Column::Number(cells) => columns.extend(of_numbers(name, cells, &groups)),
                Column::Text(cells) => {
                    let joined = groups.iter().map(|group| joined(&cells[group.clone()]));
                    columns.push((name.clone(), Column::Text(joined.collect())));
                }
                Column::Truth(_) => {}
            }
        }
        Self::new(columns)
    }

    /// Runs of rows with equal cells.
    fn groups(&self) -> Vec<Range<usize>> {
        let mut groups: Vec<Range<usize>> = Vec::new();
        for row in 0..self.rows {
            let same = |(_, column): &(String, Column)| column.is_same(row - 1, row);
            match groups.last_mut() {
                Some(group) if self.columns.iter().all(same) => group.end = row + 1,
                _ => groups.push(row..row + 1),
            }
        }
        groups
    }
}

/// The mean of each group and its limits.
fn of_numbers(name: &str, cells: &[Option<f64>], groups: &[Range<usize>]) -> [(String, Column); 3] {
    let (mut means, mut lows, mut highs) = (Vec::new(), Vec::new(), Vec::new());
    for group in groups {
        let values: Vec<f64> = cells[group.clone()].iter().copied().flatten().collect();
        let mean = mean(&values);
        let half = mean.and_then(|mean| half_width(&values, mean));
        means.push(mean);
        lows.push(mean.zip(half).map(|(mean, half)| mean - half));
        highs.push(mean.zip(half).map(|(mean, half)| mean + half));
    }
    [
        (name.to_owned(), Column::Number(means)),
        (format!("{name}.low"), Column::Number(lows)),
        (format!("{name}.high"), Column::Number(highs)),
    ]
}

fn mean(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    // The sum of equal values may round; their mean is the value.
    let first = *values.first()?;
    let rest: f64 = values.iter().map(|value| value - first).sum();
    Some(first + rest / count)
}

/// Half the confidence interval of the mean of independent values.
fn half_width(values: &[f64], mean: f64) -> Option<f64> {
    let freedom = values.len().checked_sub(1).filter(|freedom| *freedom > 0)?;
    let squares: f64 = (values.iter()).map(|value| (value - mean) * (value - mean)).sum();
    let error = (squares / freedom as f64 / values.len() as f64).sqrt();
    Some(student_t(LEVEL, freedom as u64) * error)
}

/// The distinct texts of a group, in order of appearance.
fn joined(cells: &[Option<String>]) -> Option<String> {
    let mut texts: Vec<&str> = Vec::new();
    for text in cells.iter().flatten() {
        if !text.is_empty() && !texts.contains(&&**text) {
            texts.push(text);
        }
    }
    (!texts.is_empty()).then(|| texts.join("; "))
}
