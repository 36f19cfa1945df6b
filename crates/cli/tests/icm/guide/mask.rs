//! The parts of a line that differ between two runs.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// A kind of text that is masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An id of a memory, memoir or concept: 26 characters of Crockford's Base32.
    Id,
    /// An id of an event or origin, or another hash or time in digits.
    Hash,
    Time,
    Date,
    Age,
    Size,
    Duration,
    /// A count of tokens of a text that has ages in it.
    Tokens,
    Position,
}

const KINDS: [(Kind, &str, &str); 9] = [
    (Kind::Id, "ID", r"\b0[0-9A-HJKMNP-TV-Z]{25}\b"),
    (
        Kind::Time,
        "TIME",
        r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?\b",
    ),
    (Kind::Date, "DATE", r"\b\d{4}-\d\d-\d\d\b"),
    (
        Kind::Age,
        "AGE",
        r"\bjust now\b|\b\d+ (?:s|min|h|days?) ago\b",
    ),
    (Kind::Size, "SIZE", r"\b\d+(?:\.\d+)? (?:[kMGT]?B|bytes?)\b"),
    (
        Kind::Duration,
        "DURATION",
        r"\b\d+(?:\.\d+)? ?(?:µs|ms|s)\b",
    ),
    (Kind::Tokens, "TOKENS", r"\b\d+ (?:of \d+ )?tokens\b"),
    (Kind::Hash, "HASH", r"\b[0-9a-f]{8,64}\b"),
    (Kind::Position, "@N", r"@\d+\b"),
];

static MASKED: LazyLock<Regex> = LazyLock::new(|| {
    let groups: Vec<String> = KINDS.iter().map(|it| format!("({})", it.2)).collect();
    Regex::new(&groups.join("|")).unwrap()
});

static GAP: LazyLock<Regex> = LazyLock::new(|| Regex::new(" {2,}").unwrap());

/// A line with its masked texts, in order.
#[derive(Debug, PartialEq)]
pub(super) struct Masked {
    pub(super) line: String,
    pub(super) texts: Vec<(Kind, String)>,
}

fn kind(found: &Captures<'_>) -> (Kind, &'static str) {
    let group = (1..=KINDS.len()).find(|&n| found.get(n).is_some()).unwrap();
    (KINDS[group - 1].0, KINDS[group - 1].1)
}

/// Masks a line. Gaps of several blanks become two, because the width of a column depends on masked texts.
pub(super) fn mask(line: &str, any_position: bool) -> Masked {
    let mut texts = Vec::new();
    let masked = MASKED.replace_all(line, |found: &Captures<'_>| {
        let (kind, mask) = kind(found);
        if kind == Kind::Position && !any_position {
            return found[0].to_owned();
        }
        texts.push((kind, found[0].to_owned()));
        format!("<{mask}>")
    });
    let line = GAP.replace_all(masked.trim_end(), "  ").into_owned();
    Masked { line, texts }
}

/// Replaces the ids and hashes of a line.
pub(super) fn replace_names(line: &str, name: impl Fn(&str) -> String) -> String {
    let replaced = MASKED.replace_all(line, |found: &Captures<'_>| match kind(found).0 {
        Kind::Id | Kind::Hash => name(&found[0]),
        _ => found[0].to_owned(),
    });
    replaced.into_owned()
}

#[cfg(test)]
mod tests {
    use super::{mask, replace_names};

    #[test]
    fn texts_that_differ_between_runs_are_masked() {
        for (line, masked) in [
            ("01M8CA6D2RJ5T7N50XTXG2HXNM  a", "<ID>  a"),
            ("stored 01M8CA6D2RJ5T7N50XTXG2HXNM.", "stored <ID>."),
            (
                "01M8CA6D2RJ5T7N50XTXG2HXN  a",
                "01M8CA6D2RJ5T7N50XTXG2HXN  a",
            ),
            (
                "`icm undo ebb04ef326b1` 12345678…",
                "`icm undo <HASH>` <HASH>…",
            ),
            ("seq 9  abcdef1 beef", "seq 9  abcdef1 beef"),
            (
                "a  just now   b  3 min ago  1 day ago",
                "a  <AGE>  b  <AGE>  <AGE>",
            ),
            ("2026-11-26T16:17:06.816Z 2026-11-26 16:17", "<TIME> <TIME>"),
            ("of 2025-02-11", "of <DATE>"),
            ("(1.8 kB) 12 bytes 64 KiB", "(<SIZE>) <SIZE> 64 KiB"),
            (
                "in 12 ms, 1.5s, 5 s; 3 steps",
                "in <DURATION>, <DURATION>, <DURATION>; 3 steps",
            ),
            ("in 77 of 400 tokens, 65 tokens", "in <TOKENS>, <TOKENS>"),
            ("fit 0.99 @12  ", "fit 0.99 @12"),
        ] {
            assert_eq!(mask(line, false).line, masked);
        }
        assert_eq!(mask("@12 as of @3", true).line, "<@N> as of <@N>");
    }

    #[test]
    fn ids_and_hashes_are_replaced_alone() {
        let line = "01M8CA6D2RJ5T7N50XTXG2HXNM 92d712e9 just now @4";
        assert_eq!(replace_names(line, |_| "x".to_owned()), "x x just now @4");
    }
}
