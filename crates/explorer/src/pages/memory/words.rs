//! The differences between two texts, word by word.

use icm_guard::sanitize::clean;
use maud::{Markup, html};
use similar::{ChangeTag, TextDiff};

/// Most words, or else lines, of two texts that are compared. Raised, two long texts that have nothing in common take
/// more than a fifth of a second.
const COMPARED_MAX: usize = 6_000;
/// Characters of an unchanged part that stand on each side of a change.
const AROUND_CHARS: usize = 160;

/// Returns what went and what came from one text to the next. Long parts that stayed are left out.
pub(super) fn differences(old: &str, new: &str) -> Markup {
    let (old, new) = (clean(old), clean(new));
    if old == new {
        return html! { p.quiet { "Only characters that cannot be seen changed." } };
    }
    let Some(pieces) = pieces(&old, &new) else {
        return html! {
            p.quiet { "Both texts are too long to be compared. This is the new one." }
            div.said { div.text dir="auto" { (new) } }
        };
    };
    let last = pieces.len() - 1;
    html! {
        div.said.difference {
            div.text dir="auto" {
                @for (at, (tag, text)) in pieces.iter().enumerate() {
                    @match tag {
                        ChangeTag::Equal => { (stayed(text, at == 0, at == last)) }
                        ChangeTag::Delete => { del { (text) } }
                        ChangeTag::Insert => { ins { (text) } }
                    }
                }
            }
        }
    }
}

/// Returns the parts of both texts in order, by words, or by lines if there are too many words; `None` if there are too
/// many lines, too.
fn pieces(old: &str, new: &str) -> Option<Vec<(ChangeTag, String)>> {
    let words = |text: &str| text.split_whitespace().count();
    let lines = |text: &str| text.lines().count();
    let diff = if words(old) + words(new) <= COMPARED_MAX {
        TextDiff::from_words(old, new)
    } else if lines(old) + lines(new) <= COMPARED_MAX {
        TextDiff::from_lines(old, new)
    } else {
        return None;
    };
    let (mut pieces, mut gone, mut came) = (Vec::new(), String::new(), String::new());
    for op in diff.ops() {
        let mut equal = String::new();
        for change in diff.iter_changes(op) {
            match change.tag() {
                ChangeTag::Equal => equal.push_str(change.value()),
                ChangeTag::Delete => gone.push_str(change.value()),
                ChangeTag::Insert => came.push_str(change.value()),
            }
        }
        // A blank between two changed words changes with them.
        let is_between = !gone.is_empty() && !came.is_empty() && equal.trim().is_empty();
        if is_between && !equal.contains('\n') {
            gone.push_str(&equal);
            came.push_str(&equal);
        } else if !equal.is_empty() {
            settle(&mut pieces, &mut gone, &mut came);
            pieces.push((ChangeTag::Equal, equal));
        }
    }
    settle(&mut pieces, &mut gone, &mut came);
    Some(pieces)
}

/// Adds what went and what came since the last part that stayed.
fn settle(pieces: &mut Vec<(ChangeTag, String)>, gone: &mut String, came: &mut String) {
    for (tag, text) in [(ChangeTag::Delete, gone), (ChangeTag::Insert, came)] {
        if !text.is_empty() {
            pieces.push((tag, std::mem::take(text)));
        }
    }
}

/// Returns a part that stayed; of a long one only what stands beside a change.
fn stayed(text: &str, is_first: bool, is_last: bool) -> Markup {
    let head = if is_first { 0 } else { AROUND_CHARS };
    let tail = if is_last { 0 } else { AROUND_CHARS };
    let chars = text.chars().count();
    if chars <= head + tail + 80 {
        return html! { (text) };
    }
    let place = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
    let (start, end) = (place(head), place(chars - tail));
    html! {
        (text[..start])
        span.left-out { " … " (show_bytes(end - start)) " the same … " }
        (text[end..])
    }
}

fn show_bytes(bytes: usize) -> String {
    crate::show::count(bytes as u64, "byte", "bytes")
}

#[cfg(test)]
mod tests {
    use super::differences;

    fn shown(old: &str, new: &str) -> String {
        let html = differences(old, new).into_string();
        let start = html.find("auto\">").map_or(0, |at| at + 6);
        html[start..].trim_end_matches("</div>").to_owned()
    }

    #[test]
    fn words_that_went_and_came_are_marked() {
        for (old, new, expected) in [
            ("a b c", "a x c", "a <del>b</del><ins>x</ins> c"),
            ("a b c d", "a x y d", "a <del>b c</del><ins>x y</ins> d"),
            ("a", "a b", "a<ins> b</ins>"),
            ("<b>", "<i>", "<del>&lt;b&gt;</del><ins>&lt;i&gt;</ins>"),
            ("", "new", "<ins>new</ins>"),
        ] {
            assert_eq!(shown(old, new), expected);
        }
        assert!(shown("a", "\u{202e}a").contains("cannot be seen"));
    }

    #[test]
    fn long_texts_show_what_is_near_a_change() {
        let long = "word ".repeat(500);
        let html = shown(&format!("{long}old"), &format!("{long}new"));
        assert!(html.contains("the same") && html.len() < 400, "{html}");
        let (old, new) = ("a b\n".repeat(4_000), "c d\n".repeat(4_000));
        assert!(differences(&old, &new).into_string().contains("too long"));
    }
}
