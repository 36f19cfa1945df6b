//! Text that a program put into a conversation: recalled memories, reminders, contexts of hooks.

use std::borrow::Cow;

/// Names of the tags around injected text. What stands between them was said by nobody, and a memory must not be
/// extracted again from its own injection.
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

/// Returns the text without what stands between the tags of injected text. Line ends stay, so that lines keep their
/// numbers. A tag that is not closed takes the rest of the text with it. A tag behind a backtick is a word about the
/// tag, and stays. Linear in the text.
pub(crate) fn without_frames(text: &str) -> Cow<'_, str> {
    if !text.contains('<') {
        return Cow::Borrowed(text);
    }
    let lower = text.to_ascii_lowercase();
    let mut kept = String::new();
    let mut done = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'<', &lower.as_bytes()[at..]) {
        let open = at + found;
        at = open + 1;
        let Some(tag) = tag_at(&lower[at..]) else {
            continue;
        };
        if lower[..open].ends_with('`') {
            continue;
        }
        let closing = format!("</{tag}");
        let end = match memchr::memmem::find(&lower.as_bytes()[at..], closing.as_bytes()) {
            Some(close) => {
                let after = at + close + closing.len();
                let shut = memchr::memchr(b'>', &lower.as_bytes()[after..]);
                shut.map_or(text.len(), |shut| after + shut + 1)
            }
            None => text.len(),
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

/// Returns the tag of injected text that begins here, behind the `<`.
fn tag_at(rest: &str) -> Option<&'static str> {
    let name_len = rest
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        .count();
    let after = rest.as_bytes().get(name_len);
    let ends = after.is_none_or(|byte| matches!(byte, b'>' | b' ' | b'\n' | b'\t' | b'\r' | b'/'));
    let name = &rest[..name_len];
    TAGS.iter().find(|tag| **tag == name && ends).copied()
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
            ("a <hook_context>never\nclosed", "a \n"),
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
}
