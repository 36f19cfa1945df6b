//! Aligned columns.
//!
//! No table library is used: those measure escape codes as text or bring their own styling, and only padding is needed
//! here.

use anstyle::Style;

use crate::error::CliError;
use crate::text;
use crate::ui::{DIM, PLAIN, Ui};

/// One field of a row.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    /// The text for a narrow terminal.
    short: Option<String>,
    style: Style,
    right: bool,
}

/// A way to narrow the columns before the last one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// Cut a column to this width.
    Cut(usize, usize),
    /// Show the short texts of a column.
    Short(usize),
    /// Leave a column out.
    Drop(usize),
}

/// Least width of the last column, in terminal columns. Raised, the other columns are narrowed sooner.
const LAST_MIN: usize = 30;

impl Cell {
    /// Makes a cell. Control characters are removed and the text is put on one line.
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Cell {
            text: text::one_line(text.as_ref()),
            short: None,
            style: PLAIN,
            right: false,
        }
    }

    pub(crate) fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// Indents the cell, for rows below a heading.
    pub(crate) fn indented(mut self) -> Self {
        self.text.insert_str(0, "  ");
        self
    }

    /// Returns the width in terminal columns.
    pub(crate) fn width(&self) -> usize {
        text::width(&self.text)
    }

    /// Aligns the cell to the right, for numbers.
    pub(crate) fn right(mut self) -> Self {
        self.right = true;
        self
    }

    /// Cuts the text to this width.
    pub(crate) fn at_most(mut self, columns: usize) -> Self {
        self.text = text::cut(&self.text, columns);
        self
    }

    /// Sets the text that [`Step::Short`] shows.
    pub(crate) fn or_short(mut self, short: &str) -> Self {
        self.short = Some(text::one_line(short));
        self
    }
}

/// Applies the steps one by one, until the last column has its least width. In a pipe nothing is narrowed.
pub(crate) fn fit(ui: &Ui, rows: &mut [Vec<Cell>], steps: &[Step]) {
    if let Some(columns) = ui.columns {
        fit_into(columns, rows, steps);
    }
}

fn fit_into(columns: usize, rows: &mut [Vec<Cell>], steps: &[Step]) {
    // Steps name columns by their original index.
    let mut here: Vec<usize> = (0..rows.first().map_or(0, Vec::len)).collect();
    for step in steps {
        let widths = widths_of(rows);
        let Some((last, others)) = widths.split_last() else {
            return;
        };
        let used: usize = others.iter().map(|wide| wide + 2).sum();
        if used + LAST_MIN.min(*last) <= columns {
            return;
        }
        let (Step::Cut(column, _) | Step::Short(column) | Step::Drop(column)) = step;
        let Some(at) = here.iter().position(|there| there == column) else {
            continue;
        };
        for row in rows.iter_mut().filter(|row| at < row.len()) {
            match step {
                Step::Cut(_, wide) => row[at].text = text::cut(&row[at].text, *wide),
                Step::Short(_) => {
                    if let Some(short) = row[at].short.take() {
                        row[at].text = short;
                    }
                }
                Step::Drop(_) => {
                    row.remove(at);
                }
            }
        }
        if let Step::Drop(_) = step {
            here.remove(at);
        }
    }
}

/// Writes names and values, one pair a line; a value that is wider than the terminal is wrapped.
pub(crate) fn print_pairs(ui: &Ui, pairs: &[(&str, String)]) -> Result<(), CliError> {
    let wide = pairs.iter().map(|(name, _)| text::width(name)).max();
    let wide = wide.unwrap_or(0);
    let room = ui.columns.map(|columns| columns.saturating_sub(wide + 2));
    for (name, value) in pairs {
        let mut name = *name;
        for line in text::wrap(&text::one_line(value), room) {
            let pad = " ".repeat(wide - text::width(name));
            ui.line(format_args!("{}{pad}  {line}", ui.paint(DIM, name)))?;
            name = "";
        }
    }
    Ok(())
}

/// Writes the rows, every column as wide as its widest cell. The last cell is cut at the edge of the terminal, and
/// never in a pipe.
pub(crate) fn print(ui: &Ui, rows: &[Vec<Cell>]) -> Result<(), CliError> {
    let widths = widths_of(rows);
    for row in rows {
        print_row(ui, row, &widths)?;
    }
    Ok(())
}

fn widths_of(rows: &[Vec<Cell>]) -> Vec<usize> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (i, cell) in row.iter().enumerate() {
            let wide = text::width(&cell.text);
            match widths.get_mut(i) {
                Some(widest) => *widest = wide.max(*widest),
                None => widths.push(wide),
            }
        }
    }
    widths
}

/// Writes one row with given widths, for rows that come one by one.
pub(crate) fn print_row(ui: &Ui, row: &[Cell], widths: &[usize]) -> Result<(), CliError> {
    let mut line = String::new();
    let mut used = 0;
    for (i, cell) in row.iter().enumerate() {
        let last = i + 1 == row.len();
        let wide = widths.get(i).copied().unwrap_or(0);
        let shown = match ui.columns {
            Some(columns) if last => text::cut(&cell.text, columns.saturating_sub(used).max(10)),
            _ => cell.text.clone(),
        };
        let pad = wide.saturating_sub(text::width(&shown));
        if cell.right {
            line.extend(std::iter::repeat_n(' ', pad));
        }
        line.push_str(&ui.paint(cell.style, &shown));
        if !last {
            if !cell.right {
                line.extend(std::iter::repeat_n(' ', pad));
            }
            line.push_str("  ");
        }
        used += wide.max(text::width(&shown)) + 2;
    }
    ui.line(format_args!("{}", line.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: [Step; 4] = [
        Step::Cut(1, 10),
        Step::Short(2),
        Step::Drop(2),
        Step::Drop(1),
    ];

    fn fitted(columns: usize) -> Vec<String> {
        let mut rows = vec![vec![
            Cell::new("01ABCDEF"),
            Cell::new("architecture/decisions"),
            Cell::new("memory.stored").or_short("stored"),
            Cell::new("x".repeat(100)),
        ]];
        fit_into(columns, &mut rows, &STEPS);
        rows[0].iter().map(|cell| cell.text.clone()).collect()
    }

    #[test]
    fn columns_give_way_in_order() {
        let all = ["01ABCDEF", "architecture/decisions", "memory.stored"];
        assert_eq!(fitted(200)[..3], all);
        assert_eq!(fitted(79)[..3], all, "8 + 22 + 13 + 3 * 2 and 30 more");
        assert_eq!(fitted(78)[..3], ["01ABCDEF", "architect…", "memory.stored"]);
        assert_eq!(fitted(66)[..3], ["01ABCDEF", "architect…", "stored"]);
        assert_eq!(fitted(55)[..2], ["01ABCDEF", "architect…"]);
        assert_eq!(fitted(45).len(), 2);
        assert_eq!(fitted(20).len(), 2);
    }

    #[test]
    fn short_texts_need_no_room() {
        let mut rows = vec![vec![Cell::new("a topic"), Cell::new("short")]];
        fit_into(14, &mut rows, &[Step::Drop(0)]);
        assert_eq!(rows[0].len(), 2);
    }
}
