//! The paragraphs and list items of plain text and Markdown, without code.

use crate::dates::{DayMonth, is_month_of_day};
use crate::stamps::{Stamp, after_date, heading_of, is_around_date, is_level, order_of, stamp_of};

/// Least characters of a line that counts as wrapped, so that the next line continues it. Raised, wrapped lines are
/// split.
const WRAPPED_LEN: usize = 50;
/// Least characters of a line with a date that counts as wrapped; shorter ones are entries of a list of dates. Raised,
/// wrapped entries are split.
const DATED_WRAPPED_LEN: usize = 70;
/// Most bytes of words that introduce a list; longer ones are no heading of it. Raised, sentences become introductions.
const INTRO_LEN_MAX: usize = 100;
/// Most bytes of a line that is read; longer lines are data.
const LINE_LEN_MAX: usize = 64 * 1_024;

/// A paragraph or a list item on one line.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) text: String,
    /// `true` if the block is an item of a list.
    pub(crate) item: bool,
    /// For an item: the words that introduce its list, or the heading above.
    pub(crate) intro: Option<String>,
    /// The date that its first line begins with, and the speaker behind the date. Without a date, the time is that of the
    /// heading above.
    pub(crate) stamp: Stamp,
    /// For each line, its first byte in `text` and its number.
    lines: Vec<(usize, u64)>,
}

impl Block {
    /// Returns the number of the line with this byte of the text.
    pub(crate) fn line_of(&self, byte: usize) -> u64 {
        let after = self.lines.partition_point(|(begin, _)| *begin <= byte);
        self.lines[after.saturating_sub(1)].1
    }

    fn push(&mut self, line: &str, number: u64) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.lines.push((self.text.len(), number));
        self.text.push_str(line);
    }
}

/// Reads blocks line by line.
struct Reader {
    blocks: Vec<Block>,
    open: Block,
    /// The fence of the open code block: its character and length.
    fence: Option<(char, usize)>,
    comment: bool,
    heading: Option<String>,
    /// The date of the heading above, in UTC: milliseconds since the epoch.
    at_ms: Option<i64>,
    intro: Option<String>,
    /// `true` after an empty line or at the beginning: an indented line is then code.
    after_blank: bool,
    in_list: bool,
    /// Characters of the previous line, if it may continue.
    before_len: usize,
    /// `true` if the open block begins with a date.
    dated: bool,
    /// The blanks in front of the open block, in bytes.
    indent: usize,
    dates: DayMonth,
}

/// Returns the blocks of a text whose first line has number `first_line`. Left out are fenced and indented code,
/// quotations, tables, comments, front matter, and lines that look like code or logs. A line that begins with a date begins
/// a block, and neither the date nor the name of a messenger's speaker is part of its text. A line with nothing but a
/// date is left out. Linear in the text.
pub(crate) fn blocks(text: &str, first_line: u64) -> Vec<Block> {
    let mut reader = Reader {
        blocks: Vec::new(),
        open: Block::default(),
        fence: None,
        comment: false,
        heading: None,
        at_ms: None,
        intro: None,
        after_blank: true,
        in_list: false,
        before_len: 0,
        dated: false,
        indent: 0,
        dates: order_of(text),
    };
    for (number, line) in (first_line..).zip(text.lines()) {
        reader.line(line, number);
    }
    reader.close();
    reader.blocks
}

impl Reader {
    fn close(&mut self) {
        self.before_len = 0;
        let block = std::mem::take(&mut self.open);
        if block.text.is_empty() {
            return;
        }
        let words = block.text.trim_end_matches(['*', '_']);
        let introduces = words.ends_with(':')
            && block.text.len() <= INTRO_LEN_MAX
            && after_date(words).is_none();
        if !block.item {
            self.intro = introduces.then(|| plain(words));
        }
        self.blocks.push(block);
    }

    fn line(&mut self, line: &str, number: u64) {
        let trimmed = line.trim();
        if self.is_in_code(trimmed) {
            return;
        }
        if trimmed.is_empty() {
            self.close();
            self.after_blank = true;
            return;
        }
        let indent = line.len() - line.trim_start().len();
        let indented_code =
            (indent >= 4 || line.starts_with('\t')) && self.after_blank && !self.in_list;
        let continues_code = self.after_blank && indented_code;
        if continues_code || trimmed.len() > LINE_LEN_MAX {
            self.close();
            return;
        }
        self.after_blank = false;
        if let Some(heading) = heading(trimmed) {
            self.close();
            let (at_ms, words) = heading_of(&heading, self.dates);
            self.at_ms = at_ms;
            self.heading = words.map(str::to_owned);
            self.intro = None;
            self.in_list = false;
            return;
        }
        let item = item(trimmed);
        let text = item.unwrap_or(trimmed);
        let after = after_date(text);
        if after.is_some_and(is_around_date) {
            self.close();
            self.in_list |= item.is_some();
            // The lines below are hardly of the date of the heading.
            self.at_ms = None;
            return;
        }
        let stamped = stamp_of(text, self.dates);
        let text = stamped.as_ref().map_or(text, |(_, text)| *text);
        // A quotation is somebody else's words, or was read where it was said.
        if trimmed.starts_with(['>', '|']) || is_rule(trimmed) || is_code(text) {
            self.close();
            return;
        }
        // A short line is complete, unless the next line continues in lower case.
        let goes_on =
            trimmed.starts_with(|c: char| c.is_lowercase() || matches!(c, '`' | '(' | '"'));
        let dated = after.is_some();
        if item.is_some() || stamped.is_some() || self.is_parted(dated, goes_on, indent) {
            self.close();
        }
        if item.is_some() {
            self.begin(stamped.map(|(stamp, _)| stamp), dated, indent);
            self.in_list = true;
            self.open.item = true;
            self.open.intro = self.intro.clone().or_else(|| self.heading.clone());
            self.open.push(text, number);
            self.before_len = WRAPPED_LEN;
            return;
        }
        if indent == 0 && self.open.text.is_empty() {
            self.in_list = false;
        }
        if !self.open.text.is_empty() && self.before_len < WRAPPED_LEN && !goes_on {
            self.close();
        }
        if self.open.text.is_empty() {
            self.begin(stamped.map(|(stamp, _)| stamp), dated, indent);
        }
        self.before_len = trimmed.chars().count();
        self.open.push(text, number);
    }

    /// Begins a block with the stamp of its first line, or else with the date of the heading.
    fn begin(&mut self, stamp: Option<Stamp>, dated: bool, indent: usize) {
        self.open.stamp = stamp.unwrap_or_else(|| Stamp {
            at_ms: self.at_ms.filter(|_| !dated),
            ..Stamp::default()
        });
        (self.dated, self.indent) = (dated, indent);
    }

    /// Returns `true` if a date parts a line from the open block: the date of the line, or the date of the block, which
    /// is not the date of the lines below. The sentence of a date may go on in the next line, and so may a message.
    fn is_parted(&self, dated: bool, goes_on: bool, indent: usize) -> bool {
        let ended = ends_sentence(&self.open.text);
        let deeper = indent > self.indent;
        match (self.dated, dated) {
            (true, true) => true,
            (false, true) => ended || (self.open.item && !deeper),
            (true, false) => {
                let complete = !goes_on && self.before_len < DATED_WRAPPED_LEN;
                self.open.stamp.name.is_none() && !deeper && (ended || complete)
            }
            (false, false) => false,
        }
    }

    /// Returns `true` if a line belongs to a code block or a comment, or begins or ends one.
    fn is_in_code(&mut self, line: &str) -> bool {
        if self.comment {
            self.comment = !line.contains("-->");
            return true;
        }
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'));
        let run = mark.map_or(0, |mark| line.chars().take_while(|c| *c == mark).count());
        if let Some((open, len)) = self.fence {
            let ends = mark == Some(open) && run >= len && line.chars().all(|c| c == open);
            if ends {
                self.fence = None;
            }
            return true;
        }
        if run >= 3 && !line[run..].contains('`') {
            self.close();
            self.fence = mark.map(|mark| (mark, run));
            self.after_blank = false;
            return true;
        }
        if line.starts_with("<!--") {
            self.close();
            self.comment = !line.contains("-->");
            return true;
        }
        false
    }
}

/// Returns `true` if the last sentence of a text has its end.
fn ends_sentence(text: &str) -> bool {
    /// Most closing marks behind an end. Raised, hostile texts cost more time.
    const CLOSING_MAX: usize = 8;
    let closing = |c: &char| "*_`\"')]”“»".contains(*c);
    let last = text.chars().rev().take(CLOSING_MAX).find(|c| !closing(c));
    last.is_some_and(|c| ".!?:…。！？".contains(c))
}

/// Returns the words of a heading; `None` for other lines.
fn heading(line: &str) -> Option<String> {
    let words = line.trim_start_matches('#');
    let level = line.len() - words.len();
    let bold = line
        .strip_prefix("**")
        .and_then(|rest| rest.strip_suffix("**"));
    match (level, bold) {
        (1..=6, _) if words.starts_with(' ') => Some(plain(words)),
        (0, Some(words))
            if !words.contains("**") && words.len() <= INTRO_LEN_MAX && !words.ends_with('.') =>
        {
            Some(plain(words))
        }
        _ => None,
    }
}

/// Returns words without emphasis and without a colon at the end.
fn plain(words: &str) -> String {
    let words = words.replace("**", "").replace("__", "");
    words.trim().trim_end_matches(':').trim().to_owned()
}

/// Returns the text of a list item, without mark and check box; `None` for other lines. The number of a day is no mark:
/// `14. Februar`.
fn item(line: &str) -> Option<&str> {
    let bullet = line.strip_prefix(['-', '*', '+', '•', '–']);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = (1..=3).contains(&digits).then(|| &line[digits..]);
    let numbered = numbered.filter(|rest| {
        let day = digits <= 2 && rest.strip_prefix(". ").is_some_and(is_month_of_day);
        !day
    });
    let numbered = numbered.and_then(|rest| rest.strip_prefix(['.', ')']));
    let rest = bullet.or(numbered)?;
    let text = rest
        .strip_prefix(' ')
        .or_else(|| rest.strip_prefix('\t'))?
        .trim_start();
    let box_of = |mark: &str| text.strip_prefix(mark).map(str::trim_start);
    let text = box_of("[ ]")
        .or_else(|| box_of("[x]"))
        .or_else(|| box_of("[X]"))
        .unwrap_or(text);
    (!text.is_empty()).then_some(text)
}

/// Returns `true` if a line is a drawn rule: `---`, `====`.
fn is_rule(line: &str) -> bool {
    line.len() >= 3
        && line
            .chars()
            .all(|c| matches!(c, '-' | '=' | '*' | '_' | '+' | '|' | ' ' | '─' | '━'))
}

/// Beginnings of lines that are not prose.
const CODE_BEGINS: &[&str] = &[
    "$ ",
    "% ",
    "@@ ",
    "diff --git",
    "+++ ",
    "--- ",
    "Traceback",
    "File \"",
    "{",
    "}",
    "[{",
    "<",
    "//",
    "/*",
    "#!",
    "#include",
    "error[",
    "error: ",
    "warning: ",
    "warning[",
    "test result:",
    "Compiling ",
    "npm ERR",
    "npm WARN",
];

/// Beginnings of code and of stack traces if a symbol of [`CODE_SYMBOLS`] follows.
const CODE_MAY_BEGIN: &[&str] = &[
    "at ", "import ", "fn ", "pub ", "let ", "const ", "var ", "def ", "class ", "return ", "if ",
    "for ", "while ", "SELECT ", "INSERT ", "from ",
];

/// Symbols of code; see [`CODE_MAY_BEGIN`].
const CODE_SYMBOLS: &[char] = &['{', '}', '=', ';', '*'];

/// Returns `true` if a line looks like code, a command, a log, a diff or a stack trace.
fn is_code(line: &str) -> bool {
    /// Least percentage of symbols in a line that is not prose. Raised, more code is read as prose.
    const SYMBOLS_PERCENT: usize = 8;
    let outside = without_code(line);
    let begins = |all: &[&str]| all.iter().any(|begin| line.starts_with(begin));
    let stack = line.starts_with("at ") && line.ends_with(')');
    let symbol = |c: &char| "{};=<>|&\\$+~^".contains(*c);
    let symbols = outside.chars().filter(symbol).count();
    begins(CODE_BEGINS)
        || stack
        || (begins(CODE_MAY_BEGIN) && (outside.contains(CODE_SYMBOLS) || line.ends_with(',')))
        || outside.contains(" // ")
        || outside.contains(|c: char| matches!(c, '\u{2500}'..='\u{257f}'))
        || line.ends_with(['{', ';', '}', '\\'])
        || begins_log(line)
        || symbols * 100 > outside.chars().count() * SYMBOLS_PERCENT
}

/// Returns `true` if a line begins with a time or a level, as in logs.
fn begins_log(line: &str) -> bool {
    let line = line.trim_start_matches('[');
    let mut word = line.split([' ', ']']);
    let first = word.next().unwrap_or_default();
    if is_level(first.trim_end_matches(':')) {
        return true;
    }
    let digits = first.bytes().filter(u8::is_ascii_digit).count();
    let clock = first.contains(':')
        && digits >= 4
        && first
            .bytes()
            .all(|b| b.is_ascii_digit() || b":.,TZ+-/".contains(&b));
    let next = word.next().unwrap_or_default();
    clock
        || (digits == 8
            && first.matches('-').count() == 2
            && next.starts_with(|c: char| c.is_ascii_digit())
            && next.contains(':'))
}

/// Returns a line without the text between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        blocks(text, 1)
            .into_iter()
            .map(|block| block.text)
            .collect()
    }

    #[test]
    fn code_tables_comments_and_logs_are_left_out() {
        let text = "Before.\n\n```rust\nlet x = 1; // we decided\n```\n\n    indented code we decided\n\n| a | b |\n|---|---|\n\
                    <!-- we decided\nmore -->\n$ cargo build\n2026-01-02T10:00:00Z INFO started\n\
                    ERROR: it broke\npub id: String,\nDependsOn, // we decided\n└── we decided\n+++ b/file\nlet x = vec![1, 2];\nAfter.\n~~~\nopen";
        assert_eq!(texts(text), ["Before.", "After."]);
    }

    #[test]
    fn quotations_are_left_out() {
        let text = "Before > all.\n> We decided on pnpm.\n>> - nested\n  > indented\nAfter.\n- the arrow from here to there is ->";
        assert_eq!(
            texts(text),
            [
                "Before > all.",
                "After.",
                "the arrow from here to there is ->"
            ]
        );
    }

    #[test]
    fn wrapped_lines_are_joined_and_short_ones_are_not() {
        let text = "This line is long enough to have been wrapped by an editor\nAnd goes on.\nuse pnpm\nTests run with vitest\n\
                    and nothing else";
        assert_eq!(
            texts(text),
            [
                "This line is long enough to have been wrapped by an editor And goes on. use pnpm",
                "Tests run with vitest and nothing else"
            ]
        );
    }

    #[test]
    fn items_know_what_introduces_them() {
        let text = "# Decisions\n- one\n  goes on\n1. two\n\nWe agreed on:\n* [x] three";
        let found: Vec<_> = blocks(text, 10)
            .into_iter()
            .map(|block| {
                (
                    block.line_of(0),
                    block.item,
                    block.intro.clone().unwrap_or_default(),
                    block.text,
                )
            })
            .collect();
        let expected = [
            (11, true, "Decisions", "one goes on"),
            (13, true, "Decisions", "two"),
            (15, false, "", "We agreed on:"),
            (16, true, "We agreed on", "three"),
        ];
        let expected = expected
            .map(|(line, item, intro, text)| (line, item, intro.to_owned(), text.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_date_is_no_introduction() {
        for text in [
            "10/02/2026:\n- one",
            "10/02/2026 we agreed on:\n- one",
            "## 10/02/2026\n- one",
            "**2026-02-10:**\n- one",
        ] {
            let last = blocks(text, 1).pop().expect("an item");
            assert_eq!((last.text.as_str(), last.intro), ("one", None), "{text}");
        }
        assert_eq!(texts("10/02/2026\nwe agreed"), ["we agreed"]);
        assert_eq!(
            texts("It was on\n10/02/2026."),
            ["It was on", "10/02/2026."]
        );
    }

    #[test]
    fn a_date_parts_lines() {
        let long = "2026-02-10: This line is long enough to have been wrapped by an editor and";
        let (undated, dated) = (format!("{long}\nTwo"), format!("{long}\n2026-02-11 two"));
        for (text, count) in [
            ("2026-02-10: One is here.\nTwo", 2),
            ("2026-02-10: One is here.\ntwo", 2),
            ("2026-02-10: One is here and\ntwo", 1),
            (
                "2026-02-10: This line was long enough to be wrapped.\n  Two",
                1,
            ),
            ("- 2026-02-10: One is here\nTwo", 2),
            ("- 2026-02-10: One is here\n  Two", 1),
            ("2026-02-10 one is here\n2026-02-11 two is here", 2),
            (
                "2026-02-10, 10:14 - Ada: One is here and this is long enough.\nTwo",
                1,
            ),
            (undated.as_str(), 1),
            (dated.as_str(), 2),
        ] {
            assert_eq!(texts(text).len(), count, "{text}");
        }
    }
}
