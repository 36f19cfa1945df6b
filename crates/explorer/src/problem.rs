//! Errors as pages tell them: the message, cut if it repeats a long text, and advice that a page can follow.

use icm_api::error::ServiceError;
use icm_guard::sanitize::clean_line;
use maud::{Markup, html};

/// Characters of a message, and of advice. Raised, a message that repeats a long text takes more lines.
const CHARS: usize = 600;
/// Characters at the end of a message that was cut. They often name the limit.
const LAST_CHARS: usize = 150;

/// Advice that names a command or an option, by a part of it, and what to do on a page instead. The first one that fits
/// counts. What only the command line can do is not here.
const ON_A_PAGE: [(&str, &str); 18] = [
    (
        "`--dry-run`",
        "go back, load the page again, and look at what would be done now",
    ),
    (
        "`--request-id`",
        "go back, load the page again, and repeat it there",
    ),
    (
        "`--allow-secret`",
        "the log would keep it: say where it is kept instead",
    ),
    (
        "or give `--last`",
        "name an event: its page offers the undo",
    ),
    ("`icm undo ", "open the undo in the log, and undo it there"),
    (
        "`icm log --kind log.undone`",
        "open the undo in the log, and undo it there",
    ),
    (
        "`icm log --kind log.redacted`",
        "the page Log lists redactions: choose the kind log.redacted",
    ),
    ("`icm log show ", "the page Log shows events"),
    ("`icm log heads`", "the page Machines lists the origins"),
    (
        "`icm list`, events",
        "the page Memories lists memories, the page Log events",
    ),
    ("`icm log`", "the page Log lists the events"),
    (
        "`icm forget` and `icm update`",
        "its memory can still be changed and forgotten, on its page",
    ),
    ("`icm revive", "open the memory, and revive it there"),
    (
        "`icm list`",
        "search for it, or look for it in the list of memories",
    ),
    ("`icm topics`", "the page Memories lists the topics"),
    ("list memoirs", "the page Graph lists the memoirs"),
    ("list concepts", "the page of the memoir lists its concepts"),
    ("`icm conflicts", "the page Machines lists the conflicts"),
];

/// Returns an error with its advice.
pub(crate) fn shown(error: &ServiceError) -> Markup {
    html! {
        p.error role="alert" { (message(error)) }
        @if let Some(advice) = advice(error) { p.hint { (advice) } }
    }
}

/// Returns the message of an error in one line.
pub(crate) fn message(error: &ServiceError) -> String {
    cut(&error.to_string())
}

/// Returns what to do next, as a page says it.
pub(crate) fn advice(error: &ServiceError) -> Option<String> {
    let hint = error.hint()?;
    let on_a_page = ON_A_PAGE.iter().find(|(part, _)| hint.contains(part));
    Some(on_a_page.map_or_else(|| cut(&hint), |(_, words)| (*words).to_owned()))
}

/// Returns a text in one line; of a long one its start and its end.
fn cut(text: &str) -> String {
    let line = clean_line(text);
    let chars = line.chars().count();
    if chars <= CHARS {
        return line.into_owned();
    }
    let start: String = line.chars().take(CHARS - LAST_CHARS).collect();
    let end: String = line.chars().skip(chars - LAST_CHARS).collect();
    format!("{start} … {end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_of_the_command_line_is_told_for_a_page() {
        let no_memory = ServiceError::NotFound {
            what: "memory",
            id: "01".to_owned(),
            nearest: Vec::new(),
        };
        let used = ServiceError::Conflict {
            request_id: "explorer-1".to_owned(),
        };
        let undone = ServiceError::nothing("undone", "bring it back with `icm undo 12345678`");
        let secret = ServiceError::Secret {
            field: "content".to_owned(),
            rule: "a key",
        };
        for error in [no_memory, used, undone, secret, ServiceError::OtherPlan] {
            let advice = advice(&error).expect("advice");
            assert!(
                !advice.contains("`icm") && !advice.contains("--"),
                "{advice}"
            );
        }
        let damaged = ServiceError::Damaged {
            what: "a segment".to_owned(),
        };
        // Only the command line repairs.
        assert!(advice(&damaged).is_some_and(|advice| advice.contains("`icm log repair`")));
    }

    #[test]
    fn a_message_that_repeats_a_long_text_is_cut() {
        let id = "é".repeat(60_000);
        let error = ServiceError::invalid_with(format!("no memory {id}: too long"), id);
        let shown = shown(&error).into_string();
        assert!(shown.chars().count() < 2 * CHARS + 100, "{shown}");
        assert!(
            shown.contains("no memory é") && shown.contains("é: too long"),
            "{shown}"
        );
    }
}
