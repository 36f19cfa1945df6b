//! Consolidation: one summary in place of the memories of a topic, which stay in history.

use std::collections::BTreeSet;

use icm_log::facts::{Covered, MemoryConsolidated};
use icm_log::{Kind, NewEvent};
use icm_projections::fold::Version;

use super::Service;
use super::write::{RequestKeyOf, Scope, digest_of, first_receipt, newest_of_topic, next_length};
use crate::api::{Caller, ConsolidateReceipt, ConsolidateRequest, StoreRequest};
use crate::error::{Result, ServiceError};
use crate::ids::id_text;
use crate::limits::KEYWORDS_MAX;

impl Service {
    /// Stores a summary that stands for the living memories of a topic. They are covered by it:
    /// forgotten, restorable, and back when the consolidation is undone.
    ///
    /// # Errors
    /// `Invalid` for a topic with fewer than two living memories, or more than one event can name.
    pub fn consolidate(
        &self,
        caller: &Caller,
        request: &ConsolidateRequest,
    ) -> Result<ConsolidateReceipt> {
        let mut store = StoreRequest {
            topic: request.topic.trim_end_matches('/').to_owned(),
            content: request.summary.clone(),
            importance: request.importance,
            keywords: request.keywords.clone(),
            trust: request.trust,
            allow_secret: request.allow_secret,
            ..StoreRequest::default()
        };
        let warnings = self.guard_store(&mut store)?;
        let mut checked = self.check_store(caller, &store)?;
        let scope = request.scope.as_deref();
        let scope = scope.map(|scope| Scope::parse(Some(scope))).transpose()?;
        let shape = (
            "consolidate",
            &request.topic,
            &store.content,
            &request.scope,
            request.keep_originals,
        );
        checked.request_digest = digest_of(&request.request_id, &shape)?;
        if self.is_empty()? {
            return Err(too_few(&request.topic, 0));
        }
        let request_id = RequestKeyOf(request.request_id.as_deref());
        self.command(caller, None, request_id, |command, views| {
            if let Some(first) = first_receipt(command, views, &checked.request_digest, request_id)?
            {
                return Ok(ConsolidateReceipt {
                    receipt: first,
                    originals: Vec::new(),
                });
            }
            let mut originals = newest_of_topic(views, &request.topic)?;
            originals.retain(Version::is_alive);
            if let Some(scope) = &scope {
                originals.retain(|version| version.scope_text() == scope.to_text());
            }
            let scopes: BTreeSet<_> = originals.iter().map(Version::scope_text).collect();
            if scopes.len() > 1 {
                let scopes: Vec<_> = scopes.into_iter().collect();
                return Err(ServiceError::invalid_with(
                    format!(
                        "the memories of `{}` are of several scopes: {}",
                        request.topic,
                        scopes.join(", ")
                    ),
                    "consolidate those of one scope: give it with `--scope`",
                )
                .into());
            }
            originals.sort_by_key(|version| version.id);
            if originals.len() < 2 {
                return Err(too_few(&request.topic, originals.len()).into());
            }
            if originals.len() > MemoryConsolidated::COVERS_MAX {
                return Err(ServiceError::invalid_with(
                    format!(
                        "`{}` has {} memories, more than the {} that one summary can stand for",
                        request.topic,
                        originals.len(),
                        MemoryConsolidated::COVERS_MAX
                    ),
                    "consolidate the topics below it one by one",
                )
                .into());
            }
            let mut summary = checked.clone();
            inherit(&mut summary, &originals);
            let facts = MemoryConsolidated {
                stored: summary.stored_facts(),
                covers: originals
                    .iter()
                    .map(|version| Covered {
                        id: version.id,
                        causal_length: match request.keep_originals {
                            true => 0,
                            false => next_length(version),
                        },
                    })
                    .collect(),
            };
            let observed: BTreeSet<_> = originals
                .iter()
                .flat_map(|original| original.heads().iter().copied())
                .collect();
            let id = command.new_id();
            let event = NewEvent {
                kind: Kind::MEMORY_CONSOLIDATED,
                subject: id,
                refs: observed.into_iter().take(icm_log::head::REFS_MAX).collect(),
                facts: facts.encode(),
                payload: summary.stored_payload(),
            };
            let appended = command.append(views, vec![event])?;
            Ok(ConsolidateReceipt {
                receipt: crate::api::Receipt {
                    id: id_text(id),
                    event: appended[0].event.to_string(),
                    position: appended[0].position.0,
                    action: crate::api::Action::Stored,
                    topic: summary.topic.clone(),
                    similar: None,
                    warnings: warnings.clone(),
                },
                originals: originals
                    .iter()
                    .map(|original| id_text(original.id))
                    .collect(),
            })
        })
    }
}

/// What is not said of the summary it has from what it stands for: the highest importance, the
/// scope that all share, and their keywords, the commonest first.
fn inherit(summary: &mut super::write::Checked, originals: &[Version]) {
    if summary.importance.is_none() {
        summary.importance = originals.iter().map(|version| version.importance).max();
    }
    let scope = originals.first().map(Version::scope_text);
    if let Some(Ok(scope)) = scope.map(|scope| Scope::parse(Some(&scope))) {
        summary.scope = scope;
    }
    if summary.keywords.is_empty() {
        let mut words: Vec<(usize, String)> = Vec::new();
        for word in originals.iter().flat_map(Version::keyword_texts) {
            match words.iter_mut().find(|(_, known)| *known == word) {
                Some((count, _)) => *count += 1,
                None => words.push((1, word)),
            }
        }
        words.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        words.truncate(KEYWORDS_MAX);
        summary.keywords = words.into_iter().map(|(_, word)| word).collect();
    }
}

fn too_few(topic: &str, living: usize) -> ServiceError {
    let what = match living {
        0 => "no living memory".to_owned(),
        _ => "only one living memory".to_owned(),
    };
    ServiceError::Nothing {
        message: format!("topic `{topic}` has {what}: there is nothing to consolidate"),
        hint: "`icm topics` lists topics; `a/` means `a` and everything below it".to_owned(),
    }
}
