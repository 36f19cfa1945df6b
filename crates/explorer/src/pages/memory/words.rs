//! The differences between two texts, word by word, or line by line if they are long.

use icm_api::DiffOp;
use icm_guard::difference::beside_change;
use icm_guard::sanitize::clean;
use icm_service::shown_difference;
use maud::{Markup, html};

use crate::show;

/// Characters of an unchanged part that stand on each side of a change.
const AROUND_CHARS: usize = 160;

/// Returns what went and what came from one text to the next. Long parts that stayed are left out.
pub(super) fn differences(old: &str, new: &str) -> Markup {
    let (old, new) = (clean(old), clean(new));
    if old == new {
        return html! { p.quiet { "Only characters that cannot be seen changed." } };
    }
    let pieces = shown_difference(&old, &new);
    let last = pieces.len() - 1;
    html! {
        div.said.difference {
            div.text dir="auto" {
                @for (at, piece) in pieces.iter().enumerate() {
                    @match piece.op {
                        DiffOp::Equal => { (stayed(&piece.text, at > 0, at < last)) }
                        DiffOp::Delete => { del { (piece.text) } }
                        DiffOp::Insert => { ins { (piece.text) } }
                    }
                }
            }
        }
    }
}

/// Returns a part that stayed; of a long one only what stands beside a change.
fn stayed(text: &str, is_after: bool, is_before: bool) -> Markup {
    let Some([head, tail]) = beside_change(text, (is_after, is_before), AROUND_CHARS) else {
        return html! { (text) };
    };
    let left_out = (text.len() - head.len() - tail.len()) as u64;
    html! {
        (head)
        span.left-out { " … " (show::count(left_out, "byte", "bytes")) " the same … " }
        (tail)
    }
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
            ("<b>", "<i>", "&lt;<del>b</del><ins>i</ins>&gt;"),
            (
                "東京に住む",
                "大阪に住む",
                "<del>東京</del><ins>大阪</ins>に住む",
            ),
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
    }
}
