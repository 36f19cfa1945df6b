//! Words for readers: sentences of the README, ARCHITECTURE.md and the guide are short, and comments begin with their
//! subject.

use std::fs;
use std::path::{Path, PathBuf};

/// Most words of a sentence. Raised, a sentence may hold more than one fact.
const SENTENCE_MAX: usize = 35;
/// Most words of the median sentence of a page. Raised, whole pages may be hard to read.
const MEDIAN_MAX: usize = 18;
/// Most words of a cell in the glossary. Raised, a meaning may need a meaning of its own.
const MEANING_MAX: usize = 20;
/// Most lines of README.md. Raised, fewer readers reach its end.
const README_LINES_MAX: usize = 200;
/// Most bytes of ARCHITECTURE.md. Raised, fewer people read it before they change the code.
const ARCHITECTURE_BYTES_MAX: usize = 20_480;
/// Beginnings of a comment whose subject is a clause, so that readers have to find the thing that it is about.
const BEGINNINGS: [&str; 7] = [
    "What",
    "Where",
    "Who",
    "Whoever",
    "Whatever",
    "Anything that",
    "Everything that",
];

/// A sentence of a page. A cell of a table and an item of a list are sentences of their own.
#[derive(Debug, PartialEq)]
struct Sentence {
    text: String,
    words: usize,
    is_cell: bool,
}

/// The sentences of a page so far, and the paragraph that is not yet cut.
#[derive(Default)]
struct Page {
    sentences: Vec<Sentence>,
    paragraph: String,
}

impl Page {
    /// Returns the sentences of Markdown, without headings, blocks of code and comments.
    fn read(markdown: &str) -> Vec<Sentence> {
        let mut page = Page::default();
        let (mut is_code, mut is_comment) = (false, false);
        for line in markdown.lines().map(str::trim) {
            if line.starts_with("```") {
                is_code = !is_code;
                page.flush(false);
                continue;
            }
            if is_code {
                continue;
            }
            if is_comment || line.starts_with("<!--") {
                is_comment = !line.contains("-->");
                page.flush(false);
            } else if line.is_empty() || line.starts_with('#') {
                page.flush(false);
            } else if let Some(row) = line.strip_prefix('|') {
                page.flush(false);
                for cell in row.replace("\\|", "/").split('|') {
                    cell.clone_into(&mut page.paragraph);
                    page.flush(true);
                }
            } else if let Some(item) = list_item(line) {
                page.flush(false);
                item.clone_into(&mut page.paragraph);
            } else {
                page.paragraph.push(' ');
                page.paragraph.push_str(line);
            }
        }
        page.flush(false);
        page.sentences
    }

    /// Cuts the paragraph into sentences.
    fn flush(&mut self, is_cell: bool) {
        let paragraph = without_code(&std::mem::take(&mut self.paragraph));
        let mut rest = paragraph.as_str();
        while !rest.is_empty() {
            let (sentence, after) = rest.split_at(end_of_sentence(rest));
            let text = without_addresses(sentence.trim());
            let words = text.split_whitespace();
            let words = words.filter(|it| it.contains(char::is_alphanumeric));
            let words = words.count();
            if words > 0 {
                self.sentences.push(Sentence {
                    text,
                    words,
                    is_cell,
                });
            }
            rest = after;
        }
    }
}

/// Returns the text of an item of a list: after `- `, `* ` or `1. `.
fn list_item(line: &str) -> Option<&str> {
    let bullet = (line.strip_prefix("- ")).or_else(|| line.strip_prefix("* "));
    let number = || {
        line.trim_start_matches(|it: char| it.is_ascii_digit())
            .strip_prefix(". ")
    };
    bullet.or_else(|| number().filter(|_| line.starts_with(|it: char| it.is_ascii_digit())))
}

/// Returns the text with one word in place of each span of code.
fn without_code(text: &str) -> String {
    let mut parts = text.split('`');
    let mut out = parts.next().unwrap_or_default().to_owned();
    while let (Some(_), Some(after)) = (parts.next(), parts.next()) {
        out.push_str("CODE");
        out.push_str(after);
    }
    out
}

/// Returns the text without the addresses of its links.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("](");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push(']');
        out.push_str(part.split_once(')').map_or("", |(_, after)| after));
    }
    out
}

/// Returns the length in bytes of the first sentence: up to a full stop, question mark or exclamation mark before a
/// space and the beginning of another sentence.
fn end_of_sentence(text: &str) -> usize {
    let begins = |it: char| it.is_uppercase() || it.is_ascii_digit() || "“\"(*[".contains(it);
    let ends = text.match_indices(['.', '!', '?']);
    let mut ends = ends.filter_map(|(at, _)| {
        let after = &text[at + 1..];
        let closed = after.trim_start_matches(['"', '”', ')', '*']);
        let next = closed.trim_start();
        (next.len() < closed.len() && next.starts_with(begins)).then(|| text.len() - next.len())
    });
    ends.next().unwrap_or(text.len())
}

/// Returns the paragraphs of comments, each with the number of its first line. A paragraph ends at a line of code, at
/// an empty line and at another kind of comment.
fn comments(source: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut open = None;
    for (line, number) in source.lines().map(str::trim).zip(1..) {
        let kinds = ["//!", "///", "//"];
        let kind = kinds.into_iter().find(|it| line.starts_with(it));
        let text = kind.map_or("", |kind| line[kind.len()..].trim());
        if text.is_empty() {
            open = None;
        } else if open == kind {
            let (_, paragraph) = found.last_mut().expect("an open paragraph");
            paragraph.push(' ');
            paragraph.push_str(text);
        } else {
            open = kind;
            found.push((number, text.to_owned()));
        }
    }
    found
}

/// Returns whether a comment begins with a clause in place of a thing. A question may.
fn begins_with_clause(comment: &str) -> bool {
    let begins = |beginning: &str| {
        (comment.strip_prefix(beginning))
            .is_some_and(|rest| !rest.starts_with(|it: char| it.is_alphanumeric() || it == '_'))
    };
    let first = comment[..end_of_sentence(comment)].trim_end();
    BEGINNINGS.iter().any(|it| begins(it)) && !first.ends_with('?')
}

/// Returns the files below a folder whose names end so, without those of builds.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == extension) {
                found.push(path);
            }
        }
    }
    found
}

/// Returns the root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the middle one of the numbers; 0 if there are none.
fn median(mut numbers: Vec<usize>) -> usize {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

#[test]
fn pages_have_short_sentences() {
    let root = root();
    let mut pages = files(&root.join("docs/guide/src"), "md");
    pages.extend([root.join("README.md"), root.join("ARCHITECTURE.md")]);
    let (mut wrong, mut sentences_read) = (Vec::new(), 0);
    for path in &pages {
        let sentences = Page::read(&fs::read_to_string(path).expect("a page"));
        let name = path.strip_prefix(&root).expect("below it").display();
        sentences_read += sentences.len();
        for sentence in sentences.iter().filter(|it| it.words > SENTENCE_MAX) {
            wrong.push(format!("{name}, {}: {}", sentence.words, sentence.text));
        }
        let prose = sentences.iter().filter(|it| !it.is_cell);
        let median = median(prose.map(|it| it.words).collect());
        if median > MEDIAN_MAX {
            wrong.push(format!("{name}: its median sentence has {median} words"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let pages = pages.len();
    assert!(pages >= 25, "only {pages} pages");
    assert!(sentences_read >= 1_500, "only {sentences_read} sentences");
}

#[test]
fn glossary_has_one_short_meaning_a_word() {
    let text = fs::read_to_string(root().join("docs/guide/src/glossary.md")).expect("a page");
    let rows = text.lines().filter_map(|it| it.strip_prefix("| "));
    let mut words: Vec<_> = rows.filter_map(|it| it.split(" |").next()).collect();
    words.retain(|it| *it != "word");
    words.sort_unstable();
    let twice = words.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None, "two meanings");
    assert!(words.len() >= 90, "only {} words", words.len());
    let mut cells = Page::read(&text).into_iter().filter(|it| it.is_cell);
    let long = cells.find(|it| it.words > MEANING_MAX);
    assert_eq!(long, None, "a long meaning");
}

#[test]
fn first_pages_are_short() {
    let read = |name| fs::read_to_string(root().join(name)).expect("a page");
    let (lines, bytes) = (
        read("README.md").lines().count(),
        read("ARCHITECTURE.md").len(),
    );
    assert!((50..=README_LINES_MAX).contains(&lines), "{lines} lines");
    assert!(
        (5_000..=ARCHITECTURE_BYTES_MAX).contains(&bytes),
        "{bytes} bytes"
    );
}

#[test]
fn comments_begin_with_their_subject() {
    let root = root();
    let sources = ["crates", "replay-tests", "fuzz"].map(|it| files(&root.join(it), "rs"));
    let (mut wrong, mut read) = (Vec::new(), 0);
    for path in sources.iter().flatten() {
        let comments = comments(&fs::read_to_string(path).expect("a source file"));
        let name = path.strip_prefix(&root).expect("below it").display();
        read += comments.len();
        let clauses = comments.iter().filter(|(_, it)| begins_with_clause(it));
        wrong.extend(clauses.map(|(line, text)| format!("{name}:{line}: {text}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(read >= 10_000, "only {read} comments");
}

#[test]
fn sentences_are_cut_and_counted() {
    let page = "# Not this heading\n\nFirst `a b c` here. [Second](a.md) of\ntwo lines (e.g. small)! Third.\n\
        - An item\n1. Another. With two\n\n| cell one | `x\\|y` |\n|---|---|\n```sh\nnot this\n```\n<!-- nor\nthis -->\nEnd";
    let read: Vec<_> = Page::read(page)
        .into_iter()
        .map(|it| (it.words, it.is_cell, it.text))
        .collect();
    let of = |words, is_cell, text: &str| (words, is_cell, text.to_owned());
    assert_eq!(
        read,
        [
            of(3, false, "First CODE here."),
            of(6, false, "[Second] of two lines (e.g. small)!"),
            of(1, false, "Third."),
            of(2, false, "An item"),
            of(1, false, "Another."),
            of(2, false, "With two"),
            of(2, true, "cell one"),
            of(1, true, "CODE"),
            of(1, false, "End"),
        ]
    );
    assert_eq!(median(vec![9, 1, 5]), 5);
}

#[test]
fn comments_are_parted_and_clauses_seen() {
    let source =
        "//! One\n//! line.\n//!\n//! Two.\n\n/// Three.\nfn f() {} // not this\n    // Four\n";
    let read = comments(source);
    let of = |line, text: &str| (line, text.to_owned());
    let parted = [
        of(1, "One line."),
        of(4, "Two."),
        of(6, "Three."),
        of(8, "Four"),
    ];
    assert_eq!(read, parted);
    for clause in [
        "What is next.",
        "Who asks? No. Really",
        "Anything that fits",
        "Where, if at all.",
    ] {
        let is_question = clause.starts_with("Who asks?");
        assert_eq!(begins_with_clause(clause), !is_question, "{clause}");
    }
    for fine in ["Whole files.", "The rest.", "Anything else", "What now?"] {
        assert!(!begins_with_clause(fine), "{fine}");
    }
}
