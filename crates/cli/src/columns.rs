//! Aligned columns.
//!
//! Not a table library: those measure escape codes as text or bring their own styling, and all
//! that is needed here is padding.

use anstyle::Style;

use crate::error::CliError;
use crate::text;
use crate::ui::{PLAIN, Ui};

/// One field of a row.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
    right: bool,
}

impl Cell {
    /// Text of a memory or an event is cleaned here and put on one line.
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Cell {
            text: text::one_line(text.as_ref()),
            style: PLAIN,
            right: false,
        }
    }

    pub(crate) fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// For numbers.
    pub(crate) fn right(mut self) -> Self {
        self.right = true;
        self
    }

    /// At most this wide.
    pub(crate) fn at_most(mut self, columns: usize) -> Self {
        self.text = text::cut(&self.text, columns);
        self
    }
}

/// Writes the rows, every column as wide as its widest cell; the last one is cut where the
/// terminal ends and not cut in a pipe.
pub(crate) fn print(ui: &Ui, rows: &[Vec<Cell>]) -> Result<(), CliError> {
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
    for row in rows {
        print_row(ui, row, &widths)?;
    }
    Ok(())
}

/// Writes one row with the widths given beforehand, for rows that come one by one.
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
