//! Errors as pages tell them: the message, cut if it repeats a long text, and advice that a page can follow.

use icm_api::error::ServiceError;
use icm_guard::sanitize::clean_line;
use maud::{Markup, html};

/// Characters of a message, and of advice. Raised, a message that repeats a long text takes more lines.
const CHARS: usize = 600;
/// Characters at the end of a message that was cut. They often name the limit.
const LAST_CHARS: usize = 150;

/// Advice that names a command or an option, by a part of it, and what to do on a page instead. The first one that fits
/// counts. Other advice is told as it is: most of it only the command line can do.
const ON_A_PAGE: [(&str, &str); 23] = [
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
    (
        "`icm feedback list`",
        "the page Log lists corrections: choose the kind feedback.recorded",
    ),
    ("`icm revive", "open the memory, and revive it there"),
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
        "`icm history ",
        "its page shows its versions, and all events about it",
    ),
    (
        "`icm forget` and `icm update`",
        "its memory can still be changed and forgotten, on its page",
    ),
    (
        "`icm fact ",
        "look for it in the list of memories, in the topics below facts/",
    ),
    (
        "`icm list`",
        "search for it, or look for it in the list of memories",
    ),
    ("`icm topics`", "the page Memories lists the topics"),
    ("list memoirs", "the page Graph lists the memoirs"),
    ("list concepts", "the page of the memoir lists its concepts"),
    ("`icm memoir show ", "the page Graph shows memoirs"),
    (
        "`icm memoir inspect ",
        "the page Graph shows the memoir with its concepts",
    ),
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
    Some(row_of(&hint).map_or_else(|| cut(&hint), |row| ON_A_PAGE[row].1.to_owned()))
}

/// Returns the row of [`ON_A_PAGE`] that fits the advice.
fn row_of(hint: &str) -> Option<usize> {
    ON_A_PAGE.iter().position(|(part, _)| hint.contains(part))
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
    use std::collections::BTreeSet;
    use std::time::Duration;

    use icm_api::{
        Caller, ConceptRequest, FactQuery, MemoirRequest, RedactRequest, SettleRequest,
        StoreRequest, UndoRequest, UpdateRequest,
    };
    use icm_service::{OpenOptions, Service};

    use super::*;

    fn not_found(what: &'static str, id: &str) -> ServiceError {
        let (id, nearest) = (id.to_owned(), Vec::new());
        ServiceError::NotFound { what, id, nearest }
    }

    /// Returns an error of the service for each row.
    fn errors(service: &Service) -> Vec<ServiceError> {
        let caller = Caller::default();
        let forgotten = service.store(&caller, StoreRequest::new("t", "the gate is open"));
        let forgotten = forgotten.expect("it stores").id;
        let forget = service.forget(&caller, std::slice::from_ref(&forgotten));
        forget.expect("it forgets");
        let change = UpdateRequest {
            id: forgotten.clone(),
            content: Some("the gate is shut".to_owned()),
            ..UpdateRequest::default()
        };
        let undone = service.store(&caller, StoreRequest::new("t", "the door is open"));
        let undo = UndoRequest {
            events: vec![undone.expect("it stores").event],
            ..UndoRequest::default()
        };
        service.undo(&caller, &undo).expect("an undo");
        let secret = service.store(&caller, StoreRequest::new("t", "the roof leaks"));
        let secret = secret.expect("it stores");
        let redact = RedactRequest {
            targets: vec![secret.id],
            ..RedactRequest::default()
        };
        service.redact(&caller, &redact).expect("a redaction");
        let undo_redacted = UndoRequest {
            events: vec![secret.event],
            ..UndoRequest::default()
        };
        let settle = SettleRequest {
            id: forgotten.clone(),
            ..SettleRequest::default()
        };
        let fact = FactQuery::new("deploy", Some("port"));
        let mut errors = vec![
            service.update(&caller, change).expect_err("forgotten"),
            service.undo(&caller, &undo).expect_err("undone"),
            service.redact(&caller, &redact).expect_err("redacted"),
            service.undo(&caller, &undo_redacted).expect_err("redacted"),
            (service.undo(&caller, &UndoRequest::default())).expect_err("no choice"),
            service.settle_conflict(&caller, &settle).expect_err("none"),
            service.log_show(&forgotten).expect_err("a memory"),
            service.fact_history(&caller, &fact).expect_err("no fact"),
        ];
        let memoir = MemoirRequest {
            name: "works".to_owned(),
            description: "all works".to_owned(),
            ..MemoirRequest::default()
        };
        let memoir = service.memoir_create(&caller, &memoir).expect("a memoir");
        let concept = ConceptRequest {
            memoir: "works".to_owned(),
            name: "gate".to_owned(),
            definition: Some("a large door".to_owned()),
            ..ConceptRequest::default()
        };
        let concept = service.concept_add(&caller, &concept).expect("a concept");
        errors.push(service.get(&memoir.id, None).expect_err("a memoir"));
        errors.push(service.get(&concept.id, None).expect_err("a concept"));
        let undo = UndoRequest {
            memoir: Some("works".to_owned()),
            ..UndoRequest::default()
        };
        service.undo(&caller, &undo).expect("an undo");
        errors.push(service.memoir_graph("works", None).expect_err("undone"));
        errors
    }

    #[test]
    fn advice_of_the_command_line_is_told_for_a_page() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = Service::open(OpenOptions {
            dir: folder.path().join("store"),
            lock_wait: Duration::from_secs(10),
            read_only: false,
        });
        let mut errors = errors(&service.expect("a store"));
        errors.extend([
            not_found("memory", "01"),
            not_found("memory", "@3"),
            not_found("memory or event", "01"),
            not_found("event", "0d"),
            not_found("topic", "t"),
            not_found("origin", "0d"),
            not_found("memoir", "m"),
            not_found("concept", "c"),
            not_found("correction", "01"),
            ServiceError::OtherPlan,
            ServiceError::Conflict {
                request_id: "explorer-1".to_owned(),
            },
            ServiceError::Secret {
                field: "content".to_owned(),
                rule: "a key",
            },
        ]);
        let mut met = BTreeSet::new();
        for error in &errors {
            let hint = error.hint().expect("a hint");
            let row = row_of(&hint).unwrap_or_else(|| panic!("no row for {hint}"));
            met.insert(row);
            let advice = advice(error).expect("advice");
            assert!(
                !advice.contains("`icm") && !advice.contains("--"),
                "{advice}"
            );
        }
        for (row, (part, _)) in ON_A_PAGE.iter().enumerate() {
            assert!(met.contains(&row), "no error has {part}");
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
