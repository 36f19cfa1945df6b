//! Redaction: the plan, words to type again, then exactly that plan.

use icm_api::error::{Result, ServiceError};
use icm_api::{RedactAnswer, RedactRequest};
use icm_guard::sanitize::clean_line;
use maud::html;

use super::form::{Fields, form};
use super::{Done, only_now};
use crate::Explorer;
use crate::answer::Page;
use crate::ask::Ask;
use crate::show::{count, event_id_path, memory_path};

/// Most memories and events that a plan names.
const NAMED: usize = 50;

/// Returns `true` if a redaction may take a text out. If the plan fails, its page tells the error.
pub(super) fn reaches(explorer: &Explorer, target: &str) -> bool {
    let plan = (explorer.service).redact(&explorer.caller, &request(target, None, true));
    match plan {
        Ok(plan) => !is_idle(&plan),
        Err(ServiceError::Nothing { .. }) => false,
        Err(_) => true,
    }
}

fn is_idle(plan: &RedactAnswer) -> bool {
    plan.events == 0 && plan.torn.is_empty()
}

/// The page that shows what a redaction takes out, before it is done.
pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    if ask.at.is_some() {
        return Ok(Page::new("Redact", only_now(ask)));
    }
    let target = ask.get("target").unwrap_or_default();
    let plan = explorer
        .service
        .redact(&explorer.caller, &request(target, None, true))?;
    if is_idle(&plan) {
        let main =
            html! { p.notice { "Nothing is left to redact: the text was taken out already." } };
        return Ok(Page::new("Redact", main));
    }
    let words = words(&plan);
    let form = form(
        explorer,
        "redact",
        &html! {
            input type="hidden" name="target" value=(target);
            input type="hidden" name="plan" value=(plan.plan);
            label { "Reason, kept in the log" input name="reason" maxlength="1024"; }
            label { "Type " strong { (words) } " to go on" input name="words" required autocomplete="off"; }
            button.danger type="submit" { "Redact for good" }
        },
    )?;
    let main = html! {
        p.warn { strong { "This cannot be undone." } " The text is taken out of every byte of the store, also at earlier moments." }
        p { "It takes the text out of " (count(plan.events, "event", "events")) "." }
        ul {
            @for memory in plan.memories.iter().take(NAMED) {
                li {
                    a href=(memory_path(ask, &memory.id)) { (memory.id) } " in " bdi { (clean_line(&memory.topic)) } ": "
                    @if memory.whole { "all of it" } @else { (count(memory.events, "event", "events")) }
                }
            }
            @for event in plan.single_events.iter().take(NAMED) {
                li { a href=(event_id_path(ask, &event.event)) { "Event " (event.position) } " " (event.kind) }
            }
        }
        @let named = plan.memories.len().min(NAMED) + plan.single_events.len().min(NAMED);
        @let more = plan.memories.len() + plan.single_events.len() - named;
        @if more > 0 { p.quiet { "… and " (more) " more." } }
        @if !plan.out_of_reach.is_empty() {
            h2 { "Not within reach" }
            ul { @for place in &plan.out_of_reach { li { (place) } } }
        }
        (form)
    };
    Ok(Page::new("Redact", main))
}

pub(super) fn redact(explorer: &Explorer, fields: &Fields) -> Result<Done> {
    let target = fields.needed("target")?;
    let look = explorer
        .service
        .redact(&explorer.caller, &request(target, None, true))?;
    let wanted = words(&look);
    if fields.get("words").map(str::trim) != Some(&wanted) {
        return Err(ServiceError::invalid_with(
            "the words that were typed are not those of the page, so nothing was redacted",
            format!("go back and type `{wanted}`"),
        ));
    }
    let plan = fields.needed("plan")?.to_owned();
    let request = RedactRequest {
        reason: fields.get("reason").map(str::to_owned),
        ..request(target, Some(plan), false)
    };
    let done = explorer.service.redact(&explorer.caller, &request)?;
    Ok(match done.event {
        Some(event) => Done::Event(event),
        None => Done::Nothing("/log".to_owned()),
    })
}

/// Returns the words that confirm a plan.
fn words(plan: &RedactAnswer) -> String {
    format!("redact {}", count(plan.events, "event", "events"))
}

fn request(target: &str, plan: Option<String>, dry_run: bool) -> RedactRequest {
    RedactRequest {
        targets: vec![target.to_owned()],
        pattern: None,
        reason: None,
        dry_run,
        plan,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use icm_api::{Caller, StoreRequest};
    use icm_service::{OpenOptions, Service};

    use super::*;

    #[test]
    fn a_redaction_is_offered_unless_nothing_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = Service::open(OpenOptions {
            dir: folder.path().join("store"),
            lock_wait: Duration::from_secs(10),
            read_only: false,
        });
        let service = Arc::new(service.expect("a store"));
        let explorer = Explorer::new(service, Caller::default(), false).expect("an explorer");
        let stored = StoreRequest::new("t", "the gate is open");
        let stored = explorer.service.store(&explorer.caller, stored);
        let id = stored.expect("it stores").id;
        assert!(reaches(&explorer, &id));
        let request = request(&id, None, false);
        let redacted = explorer.service.redact(&explorer.caller, &request);
        redacted.expect("a redaction");
        assert!(!reaches(&explorer, &id));
        // The page of the redaction tells the error.
        assert!(reaches(&explorer, "no id"));
    }
}
