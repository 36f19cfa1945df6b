//! Rows of a page: cleaned text with its look, and the thing that Enter opens.

use crate::text;

/// The look of a piece of text. The drawing gives each a colour, or only bold and dim without colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Look {
    #[default]
    Plain,
    /// Details that are needed rarely: ids, times.
    Dim,
    Bold,
    /// The heading of a part.
    Heading,
    /// A topic, or the name of a thing.
    Name,
    Good,
    Warn,
    Bad,
    /// Words that an update took out.
    Gone,
    /// Words that an update brought.
    New,
}

/// A piece of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) look: Look,
}

/// The thing that a row is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A memory, by its id.
    Memory(String),
    /// An event, by its position.
    Event(u64),
    /// A topic, as a list takes it: with `/` at its end also all below it.
    Topic(String),
    /// A day, as `2026-11-02`.
    Day(String),
    /// A session, by its id.
    Session(String),
}

/// A row of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) spans: Vec<Span>,
    pub(crate) target: Option<Target>,
}

impl Row {
    pub(crate) fn new() -> Row {
        Row::default()
    }

    /// Returns a heading.
    pub(crate) fn heading(text: &str) -> Row {
        Row::new().with(text, Look::Heading)
    }

    /// Adds a text, cleaned.
    pub(crate) fn with(mut self, text: &str, look: Look) -> Row {
        if !text.is_empty() {
            let text = icm_guard::sanitize::clean_line(text).into_owned();
            self.spans.push(Span { text, look });
        }
        self
    }

    /// Adds a text without a look.
    pub(crate) fn plain(self, text: &str) -> Row {
        self.with(text, Look::Plain)
    }

    /// Adds a text that is `columns` wide, and two spaces.
    pub(crate) fn column(self, text: &str, columns: usize, look: Look) -> Row {
        if columns == 0 {
            return self;
        }
        let text = text::padded(&text::beginning(text, columns), columns);
        self.with(&text, look).plain("  ")
    }

    /// Adds a text at the right end of `columns` columns, and two spaces.
    pub(crate) fn right(self, text: &str, columns: usize, look: Look) -> Row {
        let text = text::beginning(text, columns);
        let missing = columns.saturating_sub(text::width(&text));
        self.plain(&" ".repeat(missing))
            .with(&text, look)
            .plain("  ")
    }

    /// Adds as much of a text as the row has room for.
    pub(crate) fn rest(self, text: &str, columns: usize, look: Look) -> Row {
        let room = columns.saturating_sub(self.width());
        self.with(&text::beginning(text, room), look)
    }

    pub(crate) fn to(mut self, target: Target) -> Row {
        self.target = Some(target);
        self
    }

    pub(crate) fn width(&self) -> usize {
        self.spans.iter().map(|span| text::width(&span.text)).sum()
    }

    /// Returns `true` if nothing of the row is seen.
    pub(crate) fn is_blank(&self) -> bool {
        self.spans.iter().all(|span| span.text.trim().is_empty())
    }

    /// Returns the text of the row.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.spans.iter().map(|span| &*span.text).collect()
    }
}

/// Returns a text as rows of its own, behind an indent.
pub(crate) fn paragraph(text: &str, columns: usize, indent: &str, look: Look) -> Vec<Row> {
    let lines = text::wrap(text, Some(columns.saturating_sub(text::width(indent))));
    let rows = lines.iter();
    rows.map(|line| Row::new().plain(indent).with(line, look))
        .collect()
}

/// Returns pieces of text as rows: words stay whole, pieces keep their looks.
pub(crate) fn flowing(pieces: &[(String, Look)], columns: usize, indent: &str) -> Vec<Row> {
    let room = columns.saturating_sub(text::width(indent)).max(8);
    let mut rows = Vec::new();
    let mut row = Row::new().plain(indent);
    let mut used = 0;
    for (piece, look) in pieces {
        for (at, line) in piece.split('\n').enumerate() {
            if at > 0 {
                rows.push(std::mem::replace(&mut row, Row::new().plain(indent)));
                used = 0;
            }
            for word in line.split_inclusive([' ', '\t']) {
                for part in text::wrap(word, Some(room)) {
                    // Wrapping drops the blank at the end of a line.
                    let blank = if word.ends_with([' ', '\t']) { " " } else { "" };
                    let part = format!("{}{blank}", part.trim_end());
                    let wide = text::width(part.trim_end());
                    if used > 0 && used + wide > room {
                        rows.push(std::mem::replace(&mut row, Row::new().plain(indent)));
                        used = 0;
                    }
                    used += text::width(&part);
                    row = row.with(&part, *look);
                }
            }
        }
    }
    rows.push(row);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_flow_over_rows_and_keep_their_looks() {
        let pieces = [
            ("Invoices live in ".to_owned(), Look::Plain),
            ("MySQL".to_owned(), Look::Gone),
            ("PostgreSQL".to_owned(), Look::New),
            (" now\nand here".to_owned(), Look::Plain),
        ];
        let rows = flowing(&pieces, 24, "  ");
        let texts: Vec<String> = rows
            .iter()
            .map(|row| row.text().trim_end().to_owned())
            .collect();
        assert_eq!(
            texts,
            ["  Invoices live in MySQL", "  PostgreSQL now", "  and here"]
        );
        assert_eq!(rows[1].spans[1].look, Look::New);
    }

    #[test]
    fn a_row_is_clean_whatever_it_is_made_of() {
        let row = Row::new().with("a\u{1b}[2Jb\u{202e}c\nd", Look::Name);
        assert_eq!(row.text(), "abc d");
        let row = Row::new()
            .column("日本語", 4, Look::Dim)
            .rest("long text", 10, Look::Plain);
        assert_eq!(row.text(), "日…   lon…");
        assert_eq!(row.width(), 10);
    }
}
