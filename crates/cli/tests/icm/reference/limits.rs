//! The table of sizes, from the constants of the code.

use std::fmt::Write as _;
use std::path::Path;

use crate::checked_in::{check, with_rows};

/// Rows of the table: the thing, its unit, and the constant with its file below `crates/`.
const ROWS: &str = "\
content | bytes | CONTENT_LEN_MAX | api/src/limits.rs
raw excerpt | bytes | RAW_EXCERPT_LEN_MAX | api/src/limits.rs
metadata, as JSON | bytes | METADATA_LEN_MAX | api/src/limits.rs
topic | bytes | TOPIC_LEN_MAX | api/src/limits.rs
key, attribute of a fact | bytes | KEY_LEN_MAX | api/src/limits.rs
keywords of a memory | number | KEYWORDS_MAX | api/src/limits.rs
keyword | bytes | KEYWORD_LEN_MAX | api/src/limits.rs
alert | bytes | ALERT_LEN_MAX | api/src/limits.rs
alerts that wait | number | ALERTS_PENDING_MAX | api/src/limits.rs
alerts of one answer | number | ALERTS_SHOWN_MAX | api/src/limits.rs
each text of feedback | bytes | FEEDBACK_LEN_MAX | api/src/limits.rs
name of the actor | bytes | ACTOR_LEN_MAX | api/src/limits.rs
part of the source, id of a scope | bytes | SOURCE_LEN_MAX | api/src/limits.rs
request id | bytes | REQUEST_ID_LEN_MAX | api/src/limits.rs
part of a query that counts | bytes | COUNTED_MAX | service/src/recall/question.rs
terms of a query that count, the rarest ones | number | SEARCH_TERMS_MAX | text/src/search/mod.rs
results of a recall | number | RECALL_LIMIT_MAX | api/src/limits.rs
line of an import | bytes | LINE_LEN_MAX | service/src/portable/import/lines.rs
memory in an import of Markdown | bytes | SECTION_LEN_MAX | api/src/markdown/read.rs
text for `icm extract` | bytes | TEXT_LEN_MAX | cli/src/commands/extract/material.rs
sources of a concept in one command | number | SOURCES_MAX | service/src/memoir/write/concept.rs
message over MCP | bytes | LINE_MAX_BYTES | server/src/mcp/transport.rs
answer over MCP, if `--answer-max` names no other size | bytes | ANSWER_MAX_BYTES | server/src/mcp.rs
request over HTTP | bytes | BODY_MAX_BYTES | server/src/http/mod.rs
connections over HTTP at once | number | CONNECTIONS_MAX | server/src/http/listen.rs
payload of an event | bytes | PAYLOAD_LEN_MAX | event/src/record.rs
facts of an event | bytes | FACTS_LEN_MAX | event/src/head.rs
events of a batch | number | BATCH_EVENTS_MAX | log/src/writer/batch.rs
batch | bytes | BATCH_LEN_MAX | log/src/writer/batch.rs
file in a backup | bytes | FILE_LEN_MAX | service/src/portable/backup/manifest.rs
segment of the log | bytes | SEGMENT_LEN_TARGET | event/src/segment.rs";

/// Returns the value of a constant in its source file.
fn value(name: &str, file: &str) -> u64 {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let source = std::fs::read_to_string(crates.join(file)).unwrap();
    let (_, constant) = source
        .split_once(&format!("const {name}: "))
        .unwrap_or_else(|| panic!("no {name} in {file}"));
    let (constant, _) = constant.split_once(';').unwrap();
    let (_, constant) = constant.split_once(" = ").unwrap();
    let number = |text: &str| -> u64 {
        let digits = text.trim().replace('_', "");
        digits
            .parse()
            .unwrap_or_else(|_| panic!("{name} is {constant}"))
    };
    match constant.split_once("<<") {
        Some((number_of, bits)) => number(number_of) << number(bits),
        None => constant.split('*').map(number).product(),
    }
}

/// Returns a number with commas between thousands.
fn grouped(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1_000), number % 1_000),
    }
}

/// Returns a number of bytes in the largest unit that divides it.
fn size(bytes: u64) -> String {
    let units = [(30_u32, "GiB"), (20, "MiB"), (10, "KiB")];
    let mut units = units.into_iter();
    match units.find(|(bits, _)| bytes.is_multiple_of(1_u64 << bits)) {
        Some((bits, unit)) => format!("{} {unit}", bytes >> bits),
        None => format!("{} bytes", grouped(bytes)),
    }
}

#[test]
fn the_sizes_are_as_checked_in() {
    let mut rows = String::new();
    for row in ROWS.lines() {
        let cells: Vec<&str> = row.split(" | ").collect();
        let [what, unit, name, file] = cells[..] else {
            panic!("not four cells: {row}");
        };
        let value = value(name, file);
        let most = match unit {
            "bytes" => size(value),
            _ => grouped(value),
        };
        let _ = writeln!(rows, "| {what} | {most} | `{name}` |");
    }
    check("limits.md", |page| with_rows(page, &rows));
}

#[test]
fn sizes_are_read_and_written() {
    let sizes = [256, 1_024, 25_000, 3_145_728, 1_073_741_824].map(size);
    assert_eq!(
        sizes,
        ["256 bytes", "1 KiB", "25,000 bytes", "3 MiB", "1 GiB"]
    );
    assert_eq!([64, 1_000, 16_384].map(grouped), ["64", "1,000", "16,384"]);
    // One is written as a shift, the other as a product.
    let body = value("BODY_MAX_BYTES", "server/src/http/mod.rs");
    let payload = value("PAYLOAD_LEN_MAX", "event/src/record.rs");
    assert_eq!((body, payload), (1_048_576, 1_048_576));
}
