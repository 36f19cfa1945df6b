//! The keys, for the page of help and for the line at the bottom.

use super::{Page, Scene};
use crate::row::{Look, Row, paragraph};

/// All keys, in groups.
const KEYS: [(&str, &[(&str, &str)]); 4] = [
    (
        "Pages",
        &[
            ("1 2 3 4", "Now, Memories, Log, Time; Tab goes to the next"),
            ("/", "search memories as a recall does; on the log: filter"),
            ("Enter", "open the thing of the row"),
            ("Esc", "back; takes a search, a topic or a filter away"),
            ("t", "topics"),
            ("s", "sort memories: newest, heaviest, last shown"),
            ("q", "end"),
        ],
    ),
    (
        "Moving",
        &[
            ("j k ↓ ↑", "one row"),
            ("PgDn PgUp", "one page; Space and b, too"),
            ("g G", "first row, last row; Home and End, too"),
        ],
    ),
    (
        "Time",
        &[
            ("[ ]", "one event back, on"),
            ("{ }", "one day back, on"),
            ("@", "go to a date, `yesterday`, `2h ago`, `@120`"),
            ("a", "as of the event of the row"),
            ("n", "back to now"),
        ],
    ),
    (
        "Changing",
        &[
            (
                "u",
                "undo the event of the row: shows the changes, then asks",
            ),
            ("o c", "in the preview: only the event; later changes, too"),
            ("y", "in the preview: do it"),
        ],
    ),
];

/// Makes the page.
pub(crate) fn page(scene: &Scene<'_>, read_only: bool) -> Page {
    let mut rows = Vec::new();
    for (title, keys) in KEYS {
        if read_only && title == "Changing" {
            continue;
        }
        rows.push(Row::heading(title));
        for (key, deed) in keys {
            let mut name = Some(*key);
            for line in paragraph(deed, scene.columns.saturating_sub(14), "", Look::Plain) {
                let mut row = Row::new().plain("  ");
                row = row.column(name.take().unwrap_or(""), 10, Look::Name);
                row.spans.extend(line.spans);
                rows.push(row);
            }
        }
        rows.push(Row::new());
    }
    for line in [
        "Looking is no access of an agent: no recall of this view is recorded.",
        "If a terminal is left in disorder, `reset` mends it.",
    ] {
        rows.extend(paragraph(line, scene.columns, "", Look::Dim));
    }
    Page {
        head: vec![Row::new().with("Keys", Look::Bold), Row::new()],
        rows,
    }
}

/// Returns as many keys as fit into a line, the last two always.
pub(crate) fn line(keys: &[(&str, &str)], columns: usize) -> Row {
    let last = [("?", "help"), ("q", "end")];
    let add = |row: Row, (key, deed): (&str, &str)| {
        let row = match row.spans.is_empty() {
            true => row.plain(" "),
            false => row.plain("  "),
        };
        row.with(key, Look::Bold)
            .with(&format!(" {deed}"), Look::Dim)
    };
    let reserved = last.into_iter().fold(Row::new(), add).width() + 1;
    let mut row = Row::new();
    for key in keys {
        let longer = add(row.clone(), *key);
        if longer.width() + reserved > columns {
            break;
        }
        row = longer;
    }
    last.into_iter().fold(row, add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Row;

    #[test]
    fn the_line_of_keys_fits_and_always_names_help() {
        let keys = [("j k", "move"), ("Enter", "open"), ("/", "search")];
        let wide: Row = line(&keys, 80);
        assert_eq!(
            wide.text(),
            " j k move  Enter open  / search  ? help  q end"
        );
        for columns in 20..80 {
            let row = line(&keys, columns);
            assert!(row.width() <= columns, "{columns}: {}", row.text());
            assert!(row.text().ends_with("? help  q end"), "{}", row.text());
        }
    }
}
