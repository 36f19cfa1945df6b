//! The passages of various texts.

use proptest::prelude::*;

use super::*;

const SENTENCE: &str =
    "The old mill beside the river was rebuilt by four brothers from the next village. ";

fn shown(text: &str) -> Vec<(String, &str)> {
    let parts = passages(text).into_iter();
    parts
        .map(|part| (part.path.join("/"), &text[part.place]))
        .collect()
}

/// Returns the passage that contains `words`.
fn with<'t>(text: &'t str, words: &str) -> (String, &'t str) {
    let found = shown(text)
        .into_iter()
        .find(|(_, part)| part.contains(words));
    found.expect("no passage has the words")
}

#[test]
fn a_short_text_is_one_passage() {
    for text in ["", "a", "# Title\n\nOne line.\n", &SENTENCE.repeat(13)] {
        let whole = Passage {
            place: 0..text.len(),
            path: Vec::new(),
        };
        assert_eq!(passages(text), [whole]);
    }
}

#[test]
fn plain_text_is_parted_at_sentences() {
    let text = SENTENCE.repeat(60);
    let parts = shown(&text);
    assert!(parts.len() >= 8, "{}", parts.len());
    for (_, part) in &parts {
        assert!(
            part.starts_with("The old") && part.ends_with("village. "),
            "{part}"
        );
        assert!((WORDS_MIN..=WORDS_MAX).contains(&count_words(part, usize::MAX)));
    }
}

#[test]
fn markdown_is_parted_at_headings_with_their_path() {
    let body = SENTENCE.repeat(5);
    let text = format!(
        "# Guide\n\n{body}\n\n## Deploy\n\n{body}\n\n### Rollback\n\nSay zebra first. {body}\n\nOther\n-----\n\n{body}\n"
    );
    let (path, part) = with(&text, "zebra");
    assert_eq!(path, "Guide/Deploy/Rollback");
    assert!(part.starts_with("### Rollback"));
    let paths: Vec<String> = shown(&text).into_iter().map(|(path, _)| path).collect();
    let expected = [
        "Guide",
        "Guide/Deploy",
        "Guide/Deploy/Rollback",
        "Guide/Other",
    ];
    assert_eq!(paths, expected);
}

#[test]
fn lines_in_a_fence_are_no_heading() {
    let body = SENTENCE.repeat(5);
    let text = format!("# Guide\n\n{body}\n\n```sh\n# a comment\n{body}\n```\n\n{body}\n");
    assert!(shown(&text).iter().all(|(path, _)| path == "Guide"));
}

#[test]
fn code_is_parted_at_blank_lines() {
    let body = "    let sum = first.value + second.value;\n    check(sum, limit);\n".repeat(8);
    let function = |name: &str| format!("# not a heading\nfn {name}() {{\n{body}}}\n\n");
    let names = ["one", "two", "three", "four", "five", "six"];
    let text: String = names.iter().map(|name| function(name)).collect();
    let parts = shown(&text);
    assert!(parts.len() > 2, "{}", parts.len());
    for (path, part) in parts {
        assert!(
            path.is_empty() && part.starts_with("# not") && part.ends_with("}\n\n"),
            "{part}"
        );
    }
}

#[test]
fn json_is_parted_by_its_paths() {
    let notes = SENTENCE.repeat(4);
    let service =
        |name: &str| format!(r#"{{"name":"{name}","db":{{"port":5432,"notes":"{notes}"}}}}"#);
    let names = ["billing", "search", "mail"];
    let services: Vec<String> = names.iter().map(|name| service(name)).collect();
    let text = format!(
        r#"{{"services":[{}],"owner":"Ada \"the\" Great"}}"#,
        services.join(",")
    );
    let (path, part) = with(&text, "search");
    assert!(path.starts_with("services/1"), "{path}");
    assert!(part.contains("5432"));
    let lines = services.join("\n").repeat(2);
    assert!(
        shown(&lines)
            .iter()
            .all(|(_, part)| part.starts_with(['{', '\n']))
    );
    // A text that only begins like JSON is read as any other.
    let broken = format!("{{ {}", SENTENCE.repeat(40));
    assert!(shown(&broken).len() > 3);
}

#[test]
fn yaml_is_parted_by_its_keys_and_a_talk_is_none() {
    let service = |name: &str| {
        let ports = (0..30).map(|at| format!("      - port: {at}\n        use: for {name}\n"));
        format!("  {name}:\n    ports:\n{}", ports.collect::<String>())
    };
    let text = format!("services:\n{}{}", service("billing"), service("search"));
    let (path, _) = with(&text, "use: for search");
    assert!(path.starts_with("services"), "{path}");
    let talk = format!("Ada: {SENTENCE}\nBen: {SENTENCE}\n").repeat(20);
    assert!(data::pieces(&talk).is_none());
    for (_, part) in shown(&talk) {
        assert!(part.starts_with("Ada: ") || part.starts_with("Ben: "));
    }
}

#[test]
fn texts_without_blanks_are_parted_and_so_are_ideographs() {
    for text in ["x".repeat(20_000), "数据库的端口是五四三二。".repeat(200)] {
        let parts = shown(&text);
        assert!(parts.len() > 4, "{}", parts.len());
        for (_, part) in parts {
            assert!(count_words(part, usize::MAX) <= WORDS_MAX);
        }
    }
}

#[test]
fn hostile_texts_are_parted_in_a_moment() {
    // Each of these takes seconds if the work grows with the square of the text.
    let words = "word ".repeat(201) + "end.";
    let lists = "[".to_owned() + &"[],".repeat(200_000) + &"1,".repeat(201) + "1]";
    for text in [
        words.clone() + &"\"".repeat(300_000),
        words.clone() + &" ".repeat(300_000),
        words + &")".repeat(300_000),
        lists,
        "\n".repeat(300_000) + &SENTENCE.repeat(20),
        "# a\n".repeat(100_000),
    ] {
        assert!(passages(&text).len() > 1);
    }
}

#[test]
fn headings_count_beside_code_in_fences() {
    let code = format!("```\n{}```\n\n", "call(one, two);\n".repeat(30));
    let text = format!(
        "# Guide\n\n{code}## Deploy\n\n{code}Say zebra. {}\n",
        SENTENCE.repeat(8)
    );
    assert_eq!(with(&text, "zebra").0, "Guide/Deploy");
}

#[test]
fn a_short_section_at_the_end_has_no_heading_of_the_one_before() {
    let text = format!(
        "# Guide\n\n## Deploy\n\n{0}\n\n## Backup\n\n{0}\n\n## Rollback\n\nSay zebra.\n",
        SENTENCE.repeat(8)
    );
    assert_eq!(with(&text, "zebra").0, "Guide");
}

#[test]
fn deep_nesting_is_read_as_a_plain_text() {
    let text = "[".repeat(100_000) + &SENTENCE.repeat(30);
    assert!(data::pieces(&text).is_none());
    assert!(!passages(&text).is_empty());
}

proptest! {
    #[test]
    fn passages_leave_nothing_out(
        parts in prop::collection::vec("(\\PC{0,60}|\n|\n\n|# a\n|- b: c\n|\\{\"a\":\\[1,\"|\"\\]\\}|```\n|[a-z ]{400})", 0..60)
    ) {
        let text = parts.concat();
        let passages = passages(&text);
        let mut at = 0;
        for passage in &passages {
            prop_assert_eq!(passage.place.start, at);
            prop_assert!(text.is_char_boundary(passage.place.end));
            at = passage.place.end;
        }
        prop_assert_eq!(at, text.len());
        for passage in &passages {
            prop_assert!(count_words(&text[passage.place.clone()], usize::MAX) <= 2 * WORDS_MAX);
        }
    }
}
