//! The part of a long text that shows how it differs from another one.

use std::borrow::Cow;
use std::ops::Range;

use crate::frame::{end_within, framed_len, start_within, whole_word_from};

/// Mark in place of what is left out.
const LEFT_OUT: char = '…';

/// Returns `text` if it takes at most `cap_bytes` of a frame, else the lines around its first difference from `other`,
/// about `cap_bytes` of them. A line that alone is longer is cut to the words around the difference. `…` stands for what
/// is left out. Of equal texts it is the start.
pub fn around_difference<'t>(text: &'t str, other: &str, cap_bytes: usize) -> Cow<'t, str> {
    if framed_len(text) <= cap_bytes {
        return Cow::Borrowed(text);
    }
    let at = first_difference(text, other);
    let line = line_start(text, at)..line_end(text, at);
    let shown = match framed_len(&text[line.clone()]) <= cap_bytes {
        true => with_lines_around(text, line, cap_bytes),
        false => part_of_line(text, line, at, cap_bytes),
    };
    let mut excerpt = String::new();
    if shown.start > 0 {
        excerpt.push(LEFT_OUT);
        if text[..shown.start].ends_with('\n') {
            excerpt.push('\n');
        }
    }
    excerpt.push_str(&text[shown.clone()]);
    if shown.end < text.len() {
        if text[shown.end..].starts_with('\n') {
            excerpt.push('\n');
        }
        excerpt.push(LEFT_OUT);
    }
    Cow::Owned(excerpt)
}

/// Characters that are not worth a mark in their place.
const FEW_CHARS: usize = 80;

/// Returns the parts of an unchanged text that stand beside a change: its first `chars` characters if it `is_after` one,
/// its last ones if it `is_before` one. `None` if the text is short enough to be shown whole.
pub fn beside_change(
    text: &str,
    (is_after, is_before): (bool, bool),
    chars: usize,
) -> Option<[&str; 2]> {
    let [head, tail] = [is_after, is_before].map(|is| if is { chars } else { 0 });
    let count = text.chars().count();
    if count <= head + tail + FEW_CHARS || !(is_after || is_before) {
        return None;
    }
    let place = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
    Some([&text[..place(head)], &text[place(count - tail)..]])
}

/// Returns the first byte at which a text differs from another one; 0 if they are equal.
fn first_difference(text: &str, other: &str) -> usize {
    let mut chars = text.char_indices().zip(other.chars());
    match chars.find(|((_, one), other)| one != other) {
        Some(((at, _), _)) => at,
        None if text.len() == other.len() => 0,
        None => text.len().min(other.len()),
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// Returns the end of the line at a place, without its line break.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |len| at + len)
}

/// Returns the range of a line with as many whole lines before and behind it as fit.
fn with_lines_around(text: &str, line: Range<usize>, cap_bytes: usize) -> Range<usize> {
    let Range { mut start, mut end } = line;
    let fits = |start: usize, end: usize| framed_len(&text[start..end]) <= cap_bytes;
    loop {
        let known = start..end;
        if start > 0 {
            let before = line_start(text, start - 1);
            if fits(before, end) {
                start = before;
            }
        }
        if end < text.len() {
            let after = line_end(text, end + 1);
            if fits(start, after) {
                end = after;
            }
        }
        if known == (start..end) {
            return known;
        }
    }
}

/// Returns the range of about `cap_bytes` of a line around a place in it.
fn part_of_line(text: &str, line: Range<usize>, at: usize, cap_bytes: usize) -> Range<usize> {
    let from = |end: usize, room_bytes: usize| {
        line.start + start_within(&text[line.start..end], room_bytes)
    };
    let mut start = from(at, cap_bytes / 2);
    let mut end = start + end_within(&text[start..line.end], cap_bytes);
    if end == line.end {
        start = from(line.end, cap_bytes).min(at);
    }
    if start > line.start {
        start = whole_word_from(text, start, at);
    }
    end = end.max(start);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(count: usize, at: usize, other: &str) -> String {
        let step = |n: usize| match n == at {
            true => format!("{other}\n"),
            false => format!("step {n}\n"),
        };
        (1..=count).map(step).collect()
    }

    #[test]
    fn the_lines_around_the_first_difference_are_shown() {
        let text = steps(99, 50, "stop here");
        let other = steps(99, 50, "go on");
        let shown = around_difference(&text, &other, 60);
        assert_eq!(shown, "…\nstep 48\nstep 49\nstop here\nstep 51\nstep 52\n…");
        assert_eq!(around_difference("short", "other", 60), "short");
    }

    #[test]
    fn a_long_common_text_is_shown_beside_changes() {
        let long = "é".repeat(300);
        let some = "é".repeat(100);
        for (sides, shown) in [
            ((true, false), Some([&*some, ""])),
            ((false, true), Some(["", &*some])),
            ((true, true), Some([&*some, &*some])),
            ((false, false), None),
        ] {
            assert_eq!(beside_change(&long, sides, 100), shown, "{sides:?}");
        }
        assert_eq!(beside_change(&long, (true, true), 110), None);
        assert_eq!(beside_change("short", (true, true), 100), None);
    }

    #[test]
    fn a_difference_at_an_end_has_the_lines_on_its_other_side() {
        let text = steps(99, 1, "stop here");
        let shown = around_difference(&text, &steps(99, 1, "go on"), 40);
        assert_eq!(shown, "stop here\nstep 2\nstep 3\n…");
        let text = steps(99, 99, "stop here");
        let shown = around_difference(&text, &steps(99, 99, "go on"), 40);
        assert!(shown.starts_with("…\nstep 9"), "{shown}");
        assert!(shown.ends_with("\nstop here\n"), "{shown}");
        // One text goes on behind the end of the other.
        let (short, long) = (steps(90, 0, ""), steps(99, 0, ""));
        assert!(around_difference(&short, &long, 40).ends_with("step 90\n"));
        assert!(around_difference(&long, &short, 40).contains("step 91"));
        assert!(around_difference(&long, &long, 40).starts_with("step 1\n"));
    }

    #[test]
    fn a_long_line_is_cut_to_the_words_around_the_difference() {
        let words = "nothing to see here ".repeat(99);
        let of = |place: &str| format!("first\n{words}the office is in {place} now {words}\nlast");
        let shown = around_difference(&of("Rotterdam"), &of("Utrecht"), 100).into_owned();
        assert!(shown.contains("the office is in Rotterdam now"), "{shown}");
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        assert!(!shown.contains('\n') && shown.len() < 110, "{shown}");
    }

    #[test]
    fn an_excerpt_is_bounded_and_ends_between_characters() {
        for (text, other) in [
            ("é".repeat(500), format!("{}字", "é".repeat(250))),
            ("\n".repeat(500), "\n".repeat(250)),
            (format!("{}\n字", "é".repeat(500)), "é".repeat(500)),
            ("ab ".repeat(300), "ab ".repeat(100)),
            (steps(200, 0, ""), String::new()),
        ] {
            for cap in 0..120 {
                let shown = around_difference(&text, &other, cap);
                assert!(framed_len(&shown) <= cap + 20, "{cap}: {shown}");
            }
        }
    }
}
