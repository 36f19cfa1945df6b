use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::read::Section;
use super::{Sections, document_start, front_matter, memory, topic_start};

fn read(text: &[u8]) -> (Vec<Section>, Vec<String>) {
    let mut input = text;
    let mut sections = Sections::of(&mut input);
    let mut all = Vec::new();
    while let Some(section) = sections.next_section().expect("it reads") {
        all.push(section);
    }
    (all, sections.ignored)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

/// Line and fields of each section; panics at an error.
fn good(text: &str) -> Vec<(u64, Value)> {
    let (sections, _) = read(text.as_bytes());
    let all = sections.into_iter();
    all.map(|section| {
        (
            section.line,
            Value::Object(section.fields.expect("they are fields")),
        )
    })
    .collect()
}

/// Line and reason of each error.
fn wrong(text: &[u8]) -> Vec<(u64, String)> {
    let (sections, _) = read(text);
    let all = sections.into_iter();
    all.filter_map(|section| Some((section.line, section.fields.err()?)))
        .collect()
}

#[test]
fn this_is_how_a_file_looks() {
    let fields = object(json!({
        "topic": "decisions", "content": "# Invoices\n\n- live in *PostgreSQL*\n***\n<!-- icm", "id": "01M808CE1SY8BT80PQ65V1F1TJ",
        "key": "database", "importance": "high", "trust": "user", "keywords": ["billing"],
        "source": {"client": "icm-cli/0.1.0"}, "metadata": {"arrow": "-->", "null": null},
        "created_at": "2026-03-01T12:00:00.000Z",
    }));
    let other = object(json!({
        "topic": "decisions", "content": "ends with a line end\r\n", "importance": "low", "source": {},
    }));
    let text = front_matter("decisions", 2) + &memory(fields, true) + &memory(other, false);
    assert_eq!(
        text,
        r##"---
topic: "decisions"
memories: 2
---

# decisions

<!-- icm
id: "01M808CE1SY8BT80PQ65V1F1TJ"
key: "database"
importance: high
keywords: ["billing"]
trust: user
created_at: "2026-03-01T12:00:00.000Z"
source: {"client":"icm-cli/0.1.0"}
metadata: {"arrow":"--\u003e","null":null}
-->

# Invoices

- live in *PostgreSQL*
\***
\<!-- icm

***

<!-- icm
importance: low
source: {}
content: "ends with a line end\r\n"
-->
"##
    );
}

#[test]
fn people_write_otherwise() {
    // No quotes, CR LF, lists in lines, a comment on one line, a memory without fields.
    let text = "\u{feff}---\r\ntopic: decisions\r\ntags: [a]\r\n---\r\n\r\n# decisions\r\n\r\n\r\nJust a text,\r\nof two lines  \r\n\r\n***\r\n\
                <!-- icm key: money -->\r\nCents\r\n***\r\n***\r\n<!-- icm\r\nkeywords:\r\n- a\r\n- b c\r\nimportance: high # really\r\n-->\r\n\\\\***\r\n\\x\r\n<!-- icmp -->";
    assert_eq!(
        good(text),
        [
            (
                9,
                json!({"topic": "decisions", "content": "Just a text,\nof two lines  "})
            ),
            (
                13,
                json!({"topic": "decisions", "content": "Cents", "key": "money"})
            ),
            (
                17,
                json!({
                    "topic": "decisions", "content": "\\***\n\\x\n<!-- icmp -->",
                    "keywords": ["a", "b c"], "importance": "high",
                })
            ),
        ]
    );
    assert_eq!(read(text.as_bytes()).1, ["tags"]);
    assert_eq!(good(""), []);
    assert_eq!(good("---\ntopic: x\n---\n"), []);
    // A comment with only a topic counts from there on; a topic among the fields counts for its memory alone.
    assert_eq!(
        good("<!-- icm topic: a -->\n# a\none\n<!-- icm\ntopic: b\nkey: k\n-->\ntwo\n***\nthree"),
        [
            (3, json!({"topic": "a", "content": "one"})),
            (4, json!({"topic": "b", "key": "k", "content": "two"})),
            (10, json!({"topic": "a", "content": "three"})),
        ]
    );
}

#[test]
fn mistakes_are_named_and_the_rest_is_kept() {
    let text = b"---\ntopic: t\n---\n<!-- icm\nkey: a\nkey: b\n-->\ntwice\n\n***\ngood one\n\n<!-- icm key: c\n\n***\ngood two\n\
                 <!-- icm\ncontent: here\n-->\nand here\n<!-- icm key: d -->\n<!-- icm key: e --> behind\nx\n***\n\xff\n***\n<!-- icm\n- a list\n-->\nx\n***\ngood three\n";
    let (sections, _) = read(text);
    let contents: Vec<_> = (sections.iter())
        .filter_map(|section| section.fields.as_ref().ok())
        .map(|fields| fields["content"].as_str().expect("a text").to_owned())
        .collect();
    assert_eq!(contents, ["good one", "good two", "good three"]);
    let wrong = wrong(text);
    let lines: Vec<u64> = wrong.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [4, 13, 17, 21, 22, 25, 27], "{wrong:#?}");
    for (at, words) in [
        "the name `key` stands twice",
        "no end",
        "stands twice",
        "no text",
        "behind",
        "not UTF-8",
        "name: value",
    ]
    .iter()
    .enumerate()
    {
        assert!(wrong[at].1.contains(words), "{wrong:#?}");
    }
}

#[test]
fn a_file_without_a_topic_or_with_bad_front_matter() {
    let no_topic = wrong(b"# A note\n\ntext\n");
    assert_eq!(no_topic.len(), 1, "{no_topic:?}");
    assert!(no_topic[0].1.contains("topic: NAME"), "{no_topic:?}");
    let bad = wrong(b"---\ntopic: x\n: [\n---\none\n***\ntwo\n");
    assert_eq!(bad.len(), 1, "{bad:?}");
    let unended = wrong(b"---\ntopic: x\none\n");
    assert_eq!(unended.len(), 1, "{unended:?}");
    assert!(unended[0].1.contains("no end"), "{unended:?}");
}

#[test]
fn lines_that_are_too_long_are_passed_over() {
    let long = "x".repeat(3 * 1_024 * 1_024);
    let text = format!(
        "---\ntopic: t\n---\n{long}\n***\ngood\n***\n{}",
        "a line\n".repeat(400_000)
    );
    let (sections, _) = read(text.as_bytes());
    let ok: Vec<bool> = sections
        .iter()
        .map(|section| section.fields.is_ok())
        .collect();
    assert_eq!(ok, [false, true, false]);
}

fn text() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just("***"),
        Just("---"),
        Just("<!-- icm"),
        Just("-->"),
        Just("\\"),
        Just("# t"),
        Just("```"),
        Just("topic: x"),
        Just("\n"),
        Just("\n\n"),
        Just("\r\n"),
        Just("\r"),
        Just(" "),
        Just("\t"),
        Just("é — 😀"),
        Just("\u{2028}\u{85}\u{7f}\u{feff}\u{fffe}\u{1}\u{1b}[0m"),
        Just("null"),
        Just("1e5"),
        Just("'\""),
    ];
    let words = prop_oneof![pieces.prop_map(str::to_owned), "[a-z]{1,6}", "\\PC{1,8}"];
    prop::collection::vec(words, 1..12).prop_map(|words| words.concat().replace('\0', ""))
}

fn metadata() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        // Numbers that JSON reads back to the bit.
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 1024.0)),
        text().prop_map(Value::from),
    ];
    let tree = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    prop::collection::btree_map(text(), tree, 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
}

fn fields() -> impl Strategy<Value = Map<String, Value>> {
    let some = |of: BoxedStrategy<Value>| prop::option::of(of);
    (
        text(),
        some(text().prop_map(Value::from).boxed()),
        some(text().prop_map(Value::from).boxed()),
        some(metadata().boxed()),
        prop::collection::vec(text(), 0..4),
        some(text().prop_map(|text| json!({ "agent": text })).boxed()),
    )
        .prop_map(|(content, key, raw_excerpt, metadata, keywords, source)| {
            let mut fields = object(json!({
                "content": content, "keywords": keywords, "importance": "high", "trust": "agent",
            }));
            let optional = [
                ("key", key),
                ("raw_excerpt", raw_excerpt),
                ("metadata", metadata),
                ("source", source),
            ];
            for (name, value) in optional {
                if let Some(value) = value {
                    fields.insert(name.to_owned(), value);
                }
            }
            fields
        })
}

proptest! {
    /// Texts come back byte for byte, from a file and from a document.
    #[test]
    fn written_files_are_read(memories in prop::collection::vec(fields(), 1..5)) {
        let mut file = front_matter("t", memories.len());
        let mut document = document_start(12, "2026-03-01T00:00:00.000Z", memories.len());
        document.push_str(&topic_start("t"));
        for (nth, fields) in memories.iter().enumerate() {
            let text = memory(fields.clone(), nth == 0);
            file.push_str(&text);
            document.push_str(&text);
        }
        for text in [file, document] {
            let (sections, _) = read(text.as_bytes());
            let back: Vec<_> = sections.into_iter().map(|section| section.fields).collect();
            let expected: Vec<_> = memories
                .iter()
                .map(|fields| {
                    let mut fields = fields.clone();
                    fields.insert("topic".to_owned(), json!("t"));
                    Ok(fields)
                })
                .collect();
            prop_assert_eq!(back, expected, "{}", text);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in text()) {
        read(&bytes);
        read(text.as_bytes());
        let (sections, _) = read(format!("---\ntopic: t\n---\n<!-- icm\n{text}\n-->\n{text}").as_bytes());
        prop_assert!(sections.len() < 100);
    }
}
