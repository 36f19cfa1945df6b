//! Tests of the whole view over a store, without a terminal.

mod looks;
mod moving;
mod time;
mod undo;
mod world;

/// Keys that show each page from the first one.
const PAGES: [(&str, &str); 10] = [
    ("now", "1"),
    ("memories", "2"),
    ("search", "2/invoices<Enter>"),
    ("topics", "2t"),
    ("log", "3"),
    ("filtered", "3/memory actor:user<Enter>"),
    ("event", "3jj<Enter>"),
    ("memory", "2/live<Enter><Enter>"),
    ("time", "4"),
    ("help", "?"),
];
