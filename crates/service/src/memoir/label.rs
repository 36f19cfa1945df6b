//! Labels of concepts: an add-wins set.

use icm_log::facts::{ConceptLabelled, ConceptUnlabelled, Removal};
use icm_log::{Kind, NewEvent, payload};
use icm_projections::fold::Version;

use super::{labels, receipt, unchanged};
use crate::command::RequestKeyOf;
use crate::command::secrets::Guard;
use crate::service::Service;
use icm_api::error::{Result, ServiceError};
use icm_api::limits;
use icm_api::limits::KEYWORDS_MAX;
use icm_api::{Action, Caller, GraphReceipt, LabelRequest};

impl Service {
    /// Adds labels to a concept, and removes others.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for more labels than a concept may have, for no label at all, and for a label that is to
    /// be added and removed.
    pub fn concept_label(&self, caller: &Caller, request: &LabelRequest) -> Result<GraphReceipt> {
        let mut add = checked_labels(&request.add)?;
        let remove = checked_labels(&request.remove)?;
        if add.is_empty() && remove.is_empty() {
            return Err(ServiceError::invalid_with(
                "no label was named",
                "give labels to add, or to take away",
            ));
        }
        if let Some(both) = add.iter().find(|label| remove.contains(label)) {
            return Err(ServiceError::invalid_with(
                format!("the label `{both}` is to be added and taken away"),
                "name it once",
            ));
        }
        let mut guard = Guard::new(&self.settings.secrets, request.allow_secret);
        guard.graph(&request.name, "definition", None, &mut add)?;
        let warnings = guard.warnings();
        self.refuse_no_memoirs(&request.memoir)?;
        let answer = self.command(caller, None, RequestKeyOf(None), |command, views| {
            let newest = views.tally().position;
            let memoir = self.memoir_at(views, &request.memoir, newest)?;
            let (_, known) = self.concept_at(views, &memoir, &request.name, newest)?;
            let mut there = labels(&known);
            there.retain(|label| !remove.contains(label));
            there.extend(
                add.iter()
                    .filter(|label| !there.contains(label))
                    .cloned()
                    .collect::<Vec<_>>(),
            );
            if there.len() > KEYWORDS_MAX {
                return Err(ServiceError::invalid_with(
                    format!(
                        "the concept would have {} labels, the limit is {KEYWORDS_MAX}",
                        there.len()
                    ),
                    "add fewer of them, or take others away",
                )
                .into());
            }
            let events = labelled(&known, &add, &remove);
            if events.is_empty() {
                return Ok(unchanged(&memoir.1, Some(&known)));
            }
            let appended = command.append(views, events)?;
            let event = (appended[0].event.to_string(), appended[0].position.0);
            Ok(receipt(&memoir.1, Some(&known), event, Action::Updated))
        })?;
        Ok(GraphReceipt { warnings, ..answer })
    }
}

/// Returns labels as they are kept: `namespace:value` without blanks around the colon, each once.
pub(super) fn checked_labels(given: &[String]) -> Result<Vec<String>> {
    let mut trimmed = Vec::with_capacity(given.len());
    for label in given {
        trimmed.push(match label.split_once(':') {
            None => label.trim().to_owned(),
            Some((namespace, value)) => {
                let (namespace, value) = (namespace.trim(), value.trim());
                if namespace.is_empty() || value.is_empty() {
                    return Err(ServiceError::invalid_with(
                        format!("`{}` is no label", label.trim()),
                        "write `namespace:value`, or a value alone",
                    ));
                }
                format!("{namespace}:{value}")
            }
        });
    }
    limits::words("label", &trimmed)
}

/// Returns the events that add the missing ones of `add` and remove the present ones of `remove`.
pub(super) fn labelled(known: &Version, add: &[String], remove: &[String]) -> Vec<NewEvent> {
    let there = labels(known);
    let new = add.iter().filter(|label| !there.contains(label));
    let new: Vec<&str> = new.map(String::as_str).collect();
    let refs = known.observed();
    let mut removed = Vec::new();
    for keyword in &known.keywords {
        let goes = keyword
            .text
            .as_ref()
            .is_some_and(|text| remove.contains(text));
        if goes && let Ok(reference) = refs.binary_search(&keyword.event) {
            removed.push(Removal {
                reference: reference as u16,
                index: keyword.index,
            });
        }
    }
    let mut events = Vec::new();
    if !removed.is_empty() {
        events.push(NewEvent {
            kind: Kind::CONCEPT_UNLABELLED,
            subject: known.id,
            refs: refs.clone(),
            facts: ConceptUnlabelled { removed }.encode(),
            payload: payload::encode(&payload::MemoryForgotten::default()),
        });
    }
    if !new.is_empty() {
        events.push(NewEvent {
            kind: Kind::CONCEPT_LABELLED,
            subject: known.id,
            refs,
            facts: ConceptLabelled {
                label_count: new.len() as u16,
            }
            .encode(),
            payload: payload::encode(&payload::ConceptLabelled { labels: new }),
        });
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_trimmed_and_half_ones_refused() {
        let given = [" kind : db ", "plain", "kind:db"].map(str::to_owned);
        assert_eq!(
            checked_labels(&given).expect("labels"),
            ["kind:db", "plain"]
        );
        for bad in [":db", "kind:", " : "] {
            assert!(checked_labels(&[bad.to_owned()]).is_err(), "{bad}");
        }
    }
}
