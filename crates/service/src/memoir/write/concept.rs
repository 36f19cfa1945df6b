//! Commands that change concepts.

use icm_log::facts::{
    CONFIDENCE_MAX_PPM, ConceptAdded, ConceptRefined, MemoryLinked, Relation, fields,
};
use icm_log::{Kind, Name, NewEvent, SubjectId, hash, payload};
use icm_projections::Views;
use icm_projections::fold::{EntityId, Version};

use super::{place, source_of, turn};
use crate::command::secrets::Guard;
use crate::command::{RequestKeyOf, turned};
use crate::memoir::label::{checked_labels, labelled};
use crate::memoir::{Place, confidence, receipt, receipt_of, shown, unchanged};
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::limits;
use icm_api::limits::{CONTENT_LEN_MAX, KEY_LEN_MAX};
use icm_api::{Action, Caller, ConceptRequest, GraphReceipt};

/// Confidence of a new concept, in parts per million.
const CONFIDENCE_FIRST_PPM: u32 = 500_000;
/// Confidence that a refinement adds, in parts per million.
const CONFIDENCE_STEP_PPM: u32 = 100_000;
/// Sources that one command may name.
const SOURCES_MAX: usize = 100;

/// A request about a concept, checked.
struct CheckedConcept {
    memoir: String,
    name: String,
    definition: Option<String>,
    labels: Vec<String>,
    confidence_ppm: Option<u32>,
}

impl Service {
    /// Adds a concept to a memoir. A deleted concept comes back with the new definition.
    ///
    /// # Errors
    /// `Invalid` if the memoir already has the concept; `NotFound`; `Secret`.
    pub fn concept_add(&self, caller: &Caller, request: &ConceptRequest) -> Result<GraphReceipt> {
        let (checked, warnings) = self.check_concept(request)?;
        if checked.definition.is_none() {
            return Err(ServiceError::invalid_with(
                "no definition was given",
                "say what the concept means",
            ));
        }
        self.refuse_no_memoirs(&checked.memoir)?;
        let answer = self.command(caller, None, RequestKeyOf(None), |command, views| {
            let memoir = self.memoir_at(views, &checked.memoir, views.tally().position)?;
            let known = match self.concept_named(views, &memoir, &checked.name)? {
                Some(entity) => views.version_at(entity, views.tally().position)?,
                None => None,
            };
            let sources = self.sources(views, &request.sources)?;
            match known {
                Some(known) if known.is_alive() => Err(known_already(&memoir.1, &known).into()),
                Some(known) if known.is_forgotten() => {
                    let mut events = vec![turned(&known, Kind::CONCEPT_REVIVED)];
                    events.push(refined(caller, &known, &checked, CONFIDENCE_FIRST_PPM));
                    events.extend(labelled(&known, &checked.labels, &[]));
                    events.extend(self.links_to(views, &known, &sources)?);
                    let appended = command.append(views, events)?;
                    Ok(after(
                        &memoir.1,
                        &known,
                        &checked,
                        place(&appended[0]),
                        Action::Revived,
                    ))
                }
                known => {
                    let id = known
                        .as_ref()
                        .map_or_else(|| command.new_id(), |known| known.id);
                    let refs = known.as_ref().map_or_else(Vec::new, Version::observed);
                    let confidence_ppm = checked.confidence_ppm.unwrap_or(CONFIDENCE_FIRST_PPM);
                    let mut events =
                        vec![added(caller, &memoir.1, &checked, confidence_ppm, id, refs)];
                    events.extend(sources.iter().map(|source| taken_from(id, *source)));
                    let appended = command.append(views, events)?;
                    let place = place(&appended[0]);
                    let names = (shown(memoir.1.topic.as_ref()), Some(checked.name.clone()));
                    Ok(GraphReceipt {
                        revision: Some(1),
                        confidence: Some(confidence(confidence_ppm)),
                        ..receipt_of(id, names.0, names.1, place, Action::Stored)
                    })
                }
            }
        })?;
        Ok(GraphReceipt { warnings, ..answer })
    }

    /// Gives a concept another definition, more labels and sources, another confidence, or some of these. The earlier
    /// definition stays in its history.
    ///
    /// # Errors
    /// `NotFound`, `Nothing` for a deleted concept, `Invalid` if nothing is given; `Secret`.
    pub fn concept_refine(
        &self,
        caller: &Caller,
        request: &ConceptRequest,
    ) -> Result<GraphReceipt> {
        let (checked, warnings) = self.check_concept(request)?;
        let says = checked.definition.is_some() || checked.confidence_ppm.is_some();
        if !says && checked.labels.is_empty() && request.sources.is_empty() {
            return Err(ServiceError::invalid_with(
                "nothing to refine is named",
                "give at least one of definition, labels, sources and confidence",
            ));
        }
        self.refuse_no_memoirs(&checked.memoir)?;
        let answer = self.command(caller, None, RequestKeyOf(None), |command, views| {
            let newest = views.tally().position;
            let memoir = self.memoir_at(views, &checked.memoir, newest)?;
            let (_, known) = self.concept_at(views, &memoir, &checked.name, newest)?;
            let sources = self.sources(views, &request.sources)?;
            let sources = self.links_to(views, &known, &sources)?;
            let labels = labelled(&known, &checked.labels, &[]);
            let was = known.graph.map_or(0, |row| row.confidence_ppm);
            let given = checked.definition.as_deref();
            let same = given.is_none() || given == known.content.as_deref();
            let sure = checked.confidence_ppm.unwrap_or(match same {
                true => was,
                false => (was + CONFIDENCE_STEP_PPM).min(CONFIDENCE_MAX_PPM),
            });
            let mut events = Vec::new();
            if !same || sure != was {
                events.push(refined(caller, &known, &checked, sure));
            }
            events.extend(labels.into_iter().chain(sources));
            if events.is_empty() {
                return Ok(unchanged(&memoir.1, Some(&known)));
            }
            let defined = !same || sure != was;
            let appended = command.append(views, events)?;
            let first = place(&appended[0]);
            let receipt = receipt(&memoir.1, Some(&known), first, Action::Updated);
            let revision = known.graph.map_or(0, |row| row.revision);
            Ok(GraphReceipt {
                revision: Some(revision + u32::from(defined)),
                confidence: Some(confidence(sure)),
                ..receipt
            })
        })?;
        Ok(GraphReceipt { warnings, ..answer })
    }

    /// Deletes a concept. Its links are hidden with it until it is revived.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn concept_forget(
        &self,
        caller: &Caller,
        memoir: &str,
        name: &str,
    ) -> Result<GraphReceipt> {
        self.turn_concept(caller, memoir, name, Kind::CONCEPT_FORGOTTEN)
    }

    /// Brings a deleted concept back.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn concept_revive(
        &self,
        caller: &Caller,
        memoir: &str,
        name: &str,
    ) -> Result<GraphReceipt> {
        self.turn_concept(caller, memoir, name, Kind::CONCEPT_REVIVED)
    }

    fn turn_concept(
        &self,
        caller: &Caller,
        memoir: &str,
        name: &str,
        kind: Kind,
    ) -> Result<GraphReceipt> {
        self.refuse_no_memoirs(memoir)?;
        self.command(caller, None, RequestKeyOf(None), |command, views| {
            let newest = views.tally().position;
            let memoir = self.memoir_at(views, memoir, newest)?;
            let (_, concept) = self.any_concept_at(views, &memoir, name, newest)?;
            Ok(match turn(command, views, &concept, kind)? {
                Some((event, action)) => receipt(&memoir.1, Some(&concept), event, action),
                None => unchanged(&memoir.1, Some(&concept)),
            })
        })
    }

    fn check_concept(&self, request: &ConceptRequest) -> Result<(CheckedConcept, Vec<String>)> {
        let name = limits::visible_name("the concept's name", &request.name, KEY_LEN_MAX)?;
        let mut definition = request.definition.clone();
        if let Some(definition) = &definition {
            limits::text("the definition", definition, CONTENT_LEN_MAX)?;
        }
        let mut labels = checked_labels(&request.labels)?;
        let mut guard = Guard::new(&self.settings.secrets, request.allow_secret);
        let text = definition.as_mut();
        guard.graph(&name, "definition", text, &mut labels)?;
        let confidence_ppm = match request.confidence {
            None => None,
            Some(given) if (0.0..=1.0).contains(&given) => {
                Some((given * f64::from(CONFIDENCE_MAX_PPM)).round() as u32)
            }
            Some(given) => {
                return Err(ServiceError::invalid(format!(
                    "the confidence is {given}, it must be from 0 to 1"
                )));
            }
        };
        if request.sources.len() > SOURCES_MAX {
            return Err(ServiceError::invalid_with(
                format!(
                    "{} sources were given, the limit is {SOURCES_MAX}",
                    request.sources.len()
                ),
                "leave some of them out",
            ));
        }
        let checked = CheckedConcept {
            memoir: request.memoir.clone(),
            name,
            definition,
            labels,
            confidence_ppm,
        };
        Ok((checked, guard.warnings()))
    }

    /// Returns the living memories that are named as sources.
    fn sources(&self, views: &Views, given: &[String]) -> QueryResult<Vec<SubjectId>> {
        let mut sources = Vec::new();
        for id in given {
            let id = self.living(views, id)?.id;
            if !sources.contains(&id) {
                sources.push(id);
            }
        }
        Ok(sources)
    }

    /// Returns the events that add sources which a concept does not have yet.
    fn links_to(
        &self,
        views: &Views,
        concept: &Version,
        sources: &[SubjectId],
    ) -> QueryResult<Vec<NewEvent>> {
        let entity = views.resolve(concept.id)?;
        let known = self.source_ids(views, entity, views.tally().position)?;
        let mut events = Vec::new();
        for source in sources {
            if !known.contains(&views.resolve(*source)?) {
                events.push(taken_from(concept.id, *source));
            }
        }
        Ok(events)
    }

    /// Returns the memories that a concept is derived from, living or not.
    pub(in crate::memoir) fn source_ids(
        &self,
        views: &Views,
        concept: EntityId,
        position: icm_log::Position,
    ) -> QueryResult<Vec<EntityId>> {
        let mut sources = Vec::new();
        for link in views.links_at(concept, position)? {
            if link.relation == Relation::DERIVED_FROM && views.resolve(link.from)? == concept {
                sources.push(views.resolve(link.to)?);
            }
        }
        sources.sort_unstable();
        sources.dedup();
        Ok(sources)
    }
}

fn after(
    memoir: &Version,
    known: &Version,
    checked: &CheckedConcept,
    event: Place,
    action: Action,
) -> GraphReceipt {
    let sure = checked.confidence_ppm.unwrap_or(CONFIDENCE_FIRST_PPM);
    GraphReceipt {
        revision: known.graph.map(|row| row.revision + 1),
        confidence: Some(confidence(sure)),
        ..receipt(memoir, Some(known), event, action)
    }
}

fn added(
    caller: &Caller,
    memoir: &Version,
    checked: &CheckedConcept,
    confidence_ppm: u32,
    id: SubjectId,
    refs: Vec<icm_log::EventId>,
) -> NewEvent {
    let memoir_name = memoir.topic.as_deref().unwrap_or_default();
    NewEvent {
        kind: Kind::CONCEPT_ADDED,
        subject: id,
        refs,
        facts: ConceptAdded {
            fields: fields::TOPIC
                | fields::KEY
                | fields::CONTENT
                | fields::SOURCE
                | fields::CONFIDENCE,
            causal_length: 1,
            confidence_ppm,
            label_count: checked.labels.len() as u16,
            memoir: memoir.id,
            name: match memoir_name {
                "" => Name::ZERO,
                _ => hash::concept_name(memoir_name, &checked.name),
            },
        }
        .encode(),
        payload: payload::encode(&payload::ConceptAdded {
            memoir: memoir_name,
            name: &checked.name,
            definition: checked.definition.as_deref().unwrap_or_default(),
            labels: checked.labels.iter().map(String::as_str).collect(),
            source: source_of(caller),
        }),
    }
}

fn refined(
    caller: &Caller,
    known: &Version,
    checked: &CheckedConcept,
    default_ppm: u32,
) -> NewEvent {
    NewEvent {
        kind: Kind::CONCEPT_REFINED,
        subject: known.id,
        refs: known.observed(),
        facts: ConceptRefined {
            fields: match checked.definition {
                Some(_) => fields::CONTENT | fields::SOURCE | fields::CONFIDENCE,
                None => fields::CONFIDENCE,
            },
            confidence_ppm: checked.confidence_ppm.unwrap_or(default_ppm),
        }
        .encode(),
        payload: payload::encode(&payload::ConceptRefined {
            definition: checked.definition.as_deref(),
            source: match checked.definition {
                Some(_) => source_of(caller),
                None => payload::SourceText::default(),
            },
        }),
    }
}

/// Returns the event that derives a concept from a memory.
fn taken_from(concept: SubjectId, memory: SubjectId) -> NewEvent {
    NewEvent {
        kind: Kind::CONCEPT_LINKED,
        subject: concept,
        refs: Vec::new(),
        facts: MemoryLinked {
            other: memory,
            relation: Relation::DERIVED_FROM,
        }
        .encode(),
        payload: payload::encode(&payload::MemoryLinked::default()),
    }
}

fn known_already(memoir: &Version, known: &Version) -> ServiceError {
    let (memoir, name) = (shown(memoir.topic.as_ref()), shown(known.key.as_ref()));
    ServiceError::invalid_with(
        format!("memoir `{memoir}` has a concept `{name}` already"),
        format!("`icm memoir refine -m '{memoir}' -n '{name}' -d …` changes its definition"),
    )
}
