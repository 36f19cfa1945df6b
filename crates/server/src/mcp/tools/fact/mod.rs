//! The tools of facts: one current value for each subject and attribute.

pub(super) mod get;
pub(super) mod set;

use icm_api::{Fact, FactState};
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;
use serde_json::{Value, json};

use super::{
    ALLOW_SECRET, AS_OF, Call, Hints, Kind, Param, Reply, SCOPE_TO_STORE, Tool, clean_value, count,
    short,
};

const fn text(name: &'static str, required: bool, about: &'static str) -> Param {
    Param {
        name,
        kind: Kind::Text,
        required,
        about,
    }
}

/// Returns a value with the time in which it is valid, and the next planned one: `2.1 (from 2026-02-05T09:00:00Z)`.
fn told(fact: &Fact) -> String {
    let value = fact.value.as_deref().map(clean_line);
    let value = value.unwrap_or_else(|| "(withheld)".into());
    let time = match (&fact.corrected_by, &fact.valid_until) {
        (Some(_), _) => format!("from {}, corrected", fact.valid_from),
        (None, None) if fact.state == FactState::Planned => {
            format!("planned, from {}", fact.valid_from)
        }
        (None, Some(until)) if fact.state == FactState::Planned => {
            format!("planned, from {} until {until}", fact.valid_from)
        }
        (None, Some(until)) => format!("from {} until {until}", fact.valid_from),
        (None, None) => format!("from {}", fact.valid_from),
    };
    let next = fact.next.as_ref().map_or_else(String::new, |next| {
        let value = next.value.as_deref().map(clean_line);
        let value = value.unwrap_or_else(|| "(withheld)".into());
        format!("; next {value} (from {})", next.valid_from)
    });
    format!("{value} ({time}){next}")
}

/// Returns facts in a frame, one a line. Each may take `cap` bytes.
fn framed(facts: &[Fact], cap: usize) -> String {
    let mut frame = Frame::new();
    for fact in facts {
        let head = format!("{} [{}] ", fact.id, clean_line(&fact.scope));
        let (subject, attribute) = (clean_line(&fact.subject), clean_line(&fact.attribute));
        let line = format!("{subject} {attribute}: {}", told(fact));
        frame.item(&head, &line, "", cap);
    }
    frame.finish()
}

/// Returns facts as JSON, their texts cleaned.
fn structured(facts: &[Fact]) -> Value {
    let mut value = json!({ "facts": facts });
    clean_value(&mut value);
    value
}
