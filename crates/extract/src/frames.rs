//! Removes text that programs put into a conversation: recalled memories, reminders, contexts of hooks.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::speakers::speaker_of;

/// Names of the tags around injected text. Nobody said that text, and a memory must not be extracted again from its own
/// injection.
const TAGS: &[&str] = &[
    "memories",
    "memory",
    "icm",
    "system-reminder",
    "system_reminder",
    "system-notice",
    "hook_context",
    "hook-context",
    "user-prompt-submit-hook",
    "session-start-hook",
    "additional_context",
    "environment_context",
    "environment_details",
    "user_instructions",
    "instructions",
    "permissions",
    "skills_instructions",
    "apps_instructions",
    "collaboration_mode",
    "turn_aborted",
    "session_context",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "command-name",
    "command-message",
    "command-args",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "task-notification",
    "tool_use_error",
    "current_datetime",
    "reminder",
    "reminders",
    "thinking",
    "think",
];

/// Most bytes of a tag with its attributes. Raised, hostile texts cost more time.
const TAG_LEN_MAX: usize = 2_048;
/// Most bytes from the start of a line to a tag behind the name of a speaker. Raised, hostile texts cost more time.
const SPEAKER_LEN_MAX: usize = 64;

/// Returns the text without the text between tags of injection. Line ends stay, so that lines keep their numbers.
///
/// A tag without a closing tag removes the rest of the text if it has attributes or begins a line. Elsewhere it is a
/// word, as in `set <memory> to 4 GB`, and stays. A tag behind a backtick stays, too, and so does a tag in the middle
/// of a line that is opened again before it is closed. A self-closed tag is removed alone. Linear in the text.
pub(crate) fn without_frames(text: &str) -> Cow<'_, str> {
    if !text.contains('<') {
        return Cow::Borrowed(text);
    }
    let lower = text.to_ascii_lowercase();
    let mut closings = Closings::default();
    let mut kept = String::new();
    let mut done = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'<', &lower.as_bytes()[at..]) {
        let open = at + found;
        at = open + 1;
        let Some(name) = name_at(&lower[at..]) else {
            continue;
        };
        if lower[..open].ends_with('`') {
            continue;
        }
        let tag = Tag {
            name,
            rest: &lower[at + name.len()..],
            begins_line: lower[done..open].trim_end().is_empty() || begins_line(&lower, open),
        };
        let Some(end) = tag.frame_end(&lower, at, &mut closings) else {
            continue;
        };
        kept.push_str(&text[done..open]);
        kept.extend(text[open..end].matches('\n'));
        done = end;
        at = end;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(&text[done..]);
    Cow::Owned(kept)
}

/// An opening tag of injected text, in lower case.
struct Tag<'t> {
    name: &'static str,
    /// The text behind the name.
    rest: &'t str,
    begins_line: bool,
}

impl Tag<'_> {
    /// Returns the end of the frame, in bytes; `None` if the tag is a word. `at` is the byte behind the `<`.
    fn frame_end(&self, text: &str, at: usize, closings: &mut Closings) -> Option<usize> {
        let behind = at + self.name.len();
        if let Some(len) = self.self_closed_len() {
            return Some(behind + len);
        }
        let is_framed = self.begins_line || self.has_attribute();
        let Some((close, end)) = closings.next(text, at, self.name) else {
            return self.takes_rest().then_some(text.len());
        };
        let again = format!("<{}", self.name);
        let between = text.as_bytes().get(behind..close).unwrap_or_default();
        let is_word = !is_framed && memchr::memmem::find(between, again.as_bytes()).is_some();
        (!is_word).then_some(end)
    }

    /// Returns the bytes from behind the name to the end of a self-closed tag such as `<reminder/>`.
    fn self_closed_len(&self) -> Option<usize> {
        let bytes = &self.rest.as_bytes()[..self.rest.len().min(TAG_LEN_MAX)];
        let end = memchr::memchr(b'>', bytes)?;
        let inside = &bytes[..end];
        // A `/>` inside quotes does not end the tag.
        let quotes = memchr::memchr_iter(b'"', inside).count();
        (inside.ends_with(b"/") && quotes.is_multiple_of(2)).then_some(end + 1)
    }

    /// Returns `true` if an attribute with a quoted value follows the name.
    fn has_attribute(&self) -> bool {
        let rest = self.rest.trim_start();
        let name_len = name_len(rest);
        let value = rest[name_len..].strip_prefix('=');
        name_len > 0
            && rest.len() < self.rest.len()
            && value.is_some_and(|value| value.starts_with(['"', '\'']))
    }

    /// Returns `true` if the tag removes the rest of the text when no closing tag follows.
    fn takes_rest(&self) -> bool {
        if self.has_attribute() {
            return true;
        }
        if !self.begins_line {
            return false;
        }
        let line = self.rest.split('\n').next().unwrap_or_default();
        match line.split_once('>') {
            // A sentence may begin with a word in angle brackets: `<think> is not shown`.
            Some((_, said)) => {
                let mut said = said.chars();
                let goes_on =
                    said.next() == Some(' ') && said.next().is_some_and(|c| c.is_ascii_lowercase());
                !goes_on || self.name.contains(['-', '_'])
            }
            // The text was cut off in the tag.
            None => self.rest.trim().is_empty(),
        }
    }
}

/// The next closing tag of each name, so that a text with many tags is searched once per name.
#[derive(Default)]
struct Closings {
    next: HashMap<&'static str, Option<(usize, usize)>>,
}

impl Closings {
    /// Returns start and end of the next closing tag behind `at`, in bytes. `at` never decreases.
    fn next(&mut self, text: &str, at: usize, name: &'static str) -> Option<(usize, usize)> {
        match self.next.get(name) {
            Some(None) => return None,
            Some(Some((begin, end))) if *begin >= at => return Some((*begin, *end)),
            _ => {}
        }
        let closing = format!("</{name}");
        let found = memchr::memmem::find(&text.as_bytes()[at..], closing.as_bytes());
        let found = found.map(|found| {
            let begin = at + found;
            let behind = begin + closing.len();
            let shut = memchr::memchr(b'>', &text.as_bytes()[behind..]);
            (begin, shut.map_or(text.len(), |shut| behind + shut + 1))
        });
        self.next.insert(name, found);
        found
    }
}

/// Returns `true` if only blanks, marks of a quotation and the name of a speaker stand before a byte in its line.
fn begins_line(text: &str, byte: usize) -> bool {
    let before = text[..byte].trim_end_matches([' ', '\t', '>']);
    if before.is_empty() || before.ends_with('\n') {
        return true;
    }
    let mut begin = byte.saturating_sub(SPEAKER_LEN_MAX);
    while !text.is_char_boundary(begin) {
        begin += 1;
    }
    let line = match text[begin..byte].rfind('\n') {
        Some(line_end) => &text[begin + line_end + 1..byte],
        None if begin == 0 => &text[..byte],
        None => return false,
    };
    speaker_of(line).is_some_and(|(_, said)| said.is_empty())
}

/// Returns the name of the injection tag that begins here, behind the `<`.
fn name_at(rest: &str) -> Option<&'static str> {
    let name = &rest[..name_len(rest)];
    let after = rest.as_bytes().get(name.len());
    let ends = after.is_none_or(|byte| matches!(byte, b'>' | b' ' | b'\n' | b'\t' | b'\r' | b'/'));
    TAGS.iter().find(|tag| **tag == name && ends).copied()
}

/// Returns the length of the tag name at the start of a text, in bytes.
fn name_len(text: &str) -> usize {
    text.bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn injected_text_is_taken_out_and_lines_stay() {
        for (text, left) in [
            ("plain a < b", "plain a < b"),
            (
                "a <memories nonce=\"1\" note=\"x\">\n- one\n</memories> b",
                "a \n\n b",
            ),
            ("<system-reminder>x</system-reminder>b", "b"),
            ("<System-Reminder>x</SYSTEM-REMINDER >b", "b"),
            ("a\n <hook_context>never\nclosed", "a\n \n"),
            ("<think>never\nclosed", "\n"),
            ("<permissions instructions>\nnever closed", "\n"),
            ("> <system-reminder> never closed", "> "),
            (
                "user: a\nassistant: <think>never closed",
                "user: a\nassistant: ",
            ),
            ("a <memories nonce=\"1\">never\nclosed", "a \n"),
            ("a <memories nonce=\"1", "a "),
            ("<icm>x</icm> <think>never closed", " "),
            ("a <icm>x</icm> b <icm>y</icm> c", "a  b  c"),
            ("a <reminder note=\"/>\">x</reminder> b", "a  b"),
            (
                "the tag `<memories>` is known",
                "the tag `<memories>` is known",
            ),
            ("<memoriesx>stays", "<memoriesx>stays"),
            ("<memories", ""),
            ("é<icm>x</icm", "é"),
        ] {
            assert_eq!(without_frames(text), left, "{text:?}");
        }
    }

    #[test]
    fn tags_in_prose_are_words() {
        for text in [
            "Set <memory> to 4 GB in the manifest. We decided to keep invoices in PostgreSQL 16.\nNext line.",
            "Add <permissions> to it.\nMore.",
            "The <instructions> tag is empty.",
            "A model writes <think> first.",
            "<think> is not shown. We decided so.",
            "if size <memory and x = 3 we stop",
            "<memory and disk are scarce",
            "Set <memory limit> to 4 GB.",
            "a </memories> b",
        ] {
            assert_eq!(without_frames(text), text);
        }
        for (text, left) in [
            ("a <reminder/> b <reminder x=\"1\" /> c", "a  b  c"),
            (
                "Set <memory> to 4 GB.\n<memory>\nx\n</memory>\nb",
                "Set <memory> to 4 GB.\n\n\n\nb",
            ),
        ] {
            assert_eq!(without_frames(text), left, "{text:?}");
        }
    }

    #[test]
    fn many_tags_are_read_in_one_pass() {
        // Each of these would take minutes if every tag searched the rest of the text.
        let long = 512 * 1_024;
        for piece in [
            "a <memory> ",
            "a <memory ",
            "<",
            "<memory>",
            "\n<think> a",
            "  <icm/>",
        ] {
            let text = piece.repeat(long / piece.len());
            assert!(without_frames(&text).len() <= text.len());
            let closed = format!("{text}</memory>");
            assert!(without_frames(&closed).len() <= closed.len());
        }
    }
}
