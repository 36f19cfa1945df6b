//! Passages of Markdown, code and plain text: lines under headings, separated by blank lines.

use std::ops::Range;
use std::rc::Rc;

use super::pieces::{Break, Path, Piece, add_line, step};

/// One in three lines of code, at least, ends or begins as no line of prose does. A larger value takes more texts for
/// code.
const CODE_SHARE: usize = 3;

/// Returns the lines of a text as pieces under their headings.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let has_headings = !is_code(text);
    let mut pieces = Vec::new();
    let mut headings: Vec<(usize, String)> = Vec::new();
    let mut path: Path = Rc::from([]);
    let mut fence: Option<&str> = None;
    let mut before = Break::Paragraph;
    let mut lines = lines(text).peekable();
    while let Some(place) = lines.next() {
        let line = &text[place.clone()];
        let trimmed = line.trim();
        if trimmed.is_empty() {
            before = Break::Paragraph;
            extend(&mut pieces, place);
            continue;
        }
        let next = lines.peek().map_or("", |place| text[place.clone()].trim());
        let level = match fence.is_none() && has_headings {
            true => level_of(trimmed, next, before),
            false => None,
        };
        if let Some((level, title)) = level {
            headings.retain(|(above, _)| *above < level);
            headings.push((level, title.to_owned()));
            let mut steps = Vec::new();
            for (_, title) in &headings {
                step(&mut steps, title);
            }
            path = steps.into();
            before = Break::Heading;
        }
        fence = match fence {
            Some(mark) if trimmed.starts_with(mark) => None,
            None => ["```", "~~~"]
                .into_iter()
                .find(|mark| trimmed.starts_with(mark)),
            open => open,
        };
        add_line(text, place, before, &path, &mut pieces);
        before = Break::Line;
    }
    pieces
}

/// Adds a blank line to the piece before it.
fn extend(pieces: &mut [Piece], place: Range<usize>) {
    if let Some(last) = pieces.last_mut() {
        last.place.end = place.end;
    }
}

/// Returns the bytes of each line, its end included.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        start..at
    })
}

/// Returns the level and the title of a heading of Markdown: `## Title`, or an underlined line.
fn level_of<'t>(line: &'t str, next: &str, before: Break) -> Option<(usize, &'t str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    if (1..=6).contains(&level) && title.starts_with([' ', '\t']) && !title.trim().is_empty() {
        return Some((level, title.trim().trim_end_matches('#').trim_end()));
    }
    let is_underline = |mark: char| next.len() >= 3 && next.chars().all(|c| c == mark);
    let stands_alone = before == Break::Paragraph && !line.starts_with(['-', '*', '|', '>']);
    match stands_alone {
        true if is_underline('=') => Some((1, line)),
        true if is_underline('-') => Some((2, line)),
        _ => None,
    }
}

/// Returns `true` if a text is code, in which `# …` is a comment.
fn is_code(text: &str) -> bool {
    let (mut code, mut all) = (0, 0);
    let mut is_fenced = false;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        }
        if is_fenced {
            continue;
        }
        all += 1;
        let is_indented = line.starts_with("    ") || line.starts_with('\t');
        let end = line.trim_end();
        let ends_so = end.ends_with([';', '{', '}', '(', ')', ',', '[', ']']);
        let is_item = line.trim_start().starts_with(['-', '*', '|', '>']);
        code += usize::from((is_indented || ends_so) && !is_item);
    }
    code * CODE_SHARE >= all
}
