//! Links between memories: adding, removing and showing them.

use std::collections::BTreeSet;

use icm_log::facts::{MemoryLinked, Relation};
use icm_log::head::REFS_MAX;
use icm_log::{EventId, Kind, NewEvent, Position, SubjectId, payload};
use icm_projections::Views;
use icm_projections::fold::{Family, Link, Version};

use crate::command::secrets::Guard;
use crate::command::{Author, Command, RequestKeyOf, receipt, unchanged};
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_text;
use icm_api::limits;
use icm_api::{
    Action, Caller, Direction, LinkReceipt, LinkRequest, Marks, Receipt, Related, Verdict,
};

/// A link after its check: relation, reason, and warnings for the receipt.
pub(crate) type CheckedLink = (Relation, Option<String>, Vec<String>);

/// Relations that a caller may give.
const GIVEN: [Relation; 5] = [
    Relation::RELATED,
    Relation::SUPERSEDES,
    Relation::CONTRADICTS,
    Relation::DERIVED_FROM,
    Relation::SIMILAR_TO,
];

impl Service {
    /// Links a memory to another one. A link that is there already stays as it is.
    ///
    /// # Errors
    /// `Invalid` for an unknown relation, for a memory and itself, and for ends that are forgotten or undone;
    /// `NotFound` and `Ambiguous` for ids.
    pub fn link(&self, caller: &Caller, request: &LinkRequest) -> Result<LinkReceipt> {
        let (relation, reason, warnings) = self.check_link(request)?;
        let mut answer = self.command(caller, None, RequestKeyOf(None), |command, views| {
            let from = self.living(views, &request.from)?;
            let to = self.living(views, &request.to)?;
            refuse_self(&from, &to)?;
            let there = self.links_between(views, &from, &to, relation)?;
            if let Some(link) = there.first() {
                let mut receipt = unchanged(&from);
                receipt.event = link.event.to_string();
                receipt.position = link.position.0;
                return Ok(link_receipt(receipt, &to, relation));
            }
            let event = NewEvent {
                refs: observed(&[&from, &to]),
                ..linked_event(from.id, to.id, relation, reason.as_deref(), None)
            };
            let appended = command.append(views, vec![event])?;
            let receipt = receipt(&from, appended[0], Action::Linked, None);
            Ok(link_receipt(receipt, &to, relation))
        })?;
        answer.receipt.warnings.extend(warnings);
        Ok(answer)
    }

    /// Removes the links of a relation from a memory to another one.
    ///
    /// # Errors
    /// As [`Service::link`], except that the ends may be forgotten.
    pub fn unlink(&self, caller: &Caller, request: &LinkRequest) -> Result<LinkReceipt> {
        let (relation, reason, warnings) = self.check_link(request)?;
        let mut answer = self.command(caller, None, RequestKeyOf(None), |command, views| {
            let from = self.newest(views, &request.from)?;
            let to = self.newest(views, &request.to)?;
            refuse_self(&from, &to)?;
            let there = self.links_between(views, &from, &to, relation)?;
            let named: Vec<EventId> = there.iter().map(|link| link.event).collect();
            if named.is_empty() {
                return Ok(link_receipt(unchanged(&from), &to, relation));
            }
            let events = named.chunks(REFS_MAX).map(|named| NewEvent {
                kind: Kind::MEMORY_UNLINKED,
                subject: from.id,
                refs: named.to_vec(),
                facts: Vec::new(),
                payload: payload::encode(&payload::MemoryForgotten {
                    reason: reason.as_deref(),
                }),
            });
            let appended = command.append(views, events.collect())?;
            let receipt = receipt(&from, appended[0], Action::Unlinked, None);
            Ok(link_receipt(receipt, &to, relation))
        })?;
        answer.receipt.warnings.extend(warnings);
        Ok(answer)
    }

    /// Returns the relation, the reason as it is written, and the warnings for the receipt.
    fn check_link(&self, request: &LinkRequest) -> Result<CheckedLink> {
        let given = request.relation.trim();
        let relation = Relation::parse(&given.replace('-', "_"));
        let Some(relation) = relation.filter(|relation| GIVEN.contains(relation)) else {
            let names: Vec<_> = GIVEN.iter().filter_map(|known| known.name()).collect();
            return Err(ServiceError::invalid_with(
                format!("`{given}` is no relation"),
                format!("relations: {}", names.join(", ")),
            ));
        };
        if let Some(reason) = &request.reason {
            limits::text("the reason", reason, limits::RAW_EXCERPT_LEN_MAX)?;
        }
        self.refuse_unknown(&request.from)?;
        let mut reason = request.reason.clone();
        let mut guard = Guard::new(&self.settings.secrets, request.allow_secret);
        guard.reason(reason.as_mut())?;
        Ok((relation, reason, guard.warnings()))
    }

    /// Returns the links in force from a memory to another one that have this relation, oldest first.
    fn links_between(
        &self,
        views: &Views,
        from: &Version,
        to: &Version,
        relation: Relation,
    ) -> QueryResult<Vec<Link>> {
        let (from, to) = (views.resolve(from.id)?, views.resolve(to.id)?);
        let mut links = Vec::new();
        for link in views.links_at(from, views.tally().position)? {
            let ends = (views.resolve(link.from)?, views.resolve(link.to)?);
            if ends == (from, to) && link.relation == relation {
                links.push(link);
            }
        }
        Ok(links)
    }

    /// Returns the links of a memory as of a position, sorted by the id of the other memory. Each other memory is named
    /// once a relation and direction, if it is alive and `sees` admits it. A forgotten memory shows no links.
    pub(crate) fn links_of(
        &self,
        views: &Views,
        version: &Version,
        position: Position,
        sees: &dyn Fn(&Version) -> bool,
    ) -> QueryResult<Links> {
        let (mut linked, mut again, mut marks) = (Vec::new(), Vec::new(), Vec::new());
        if views.tally().links == 0 || !version.is_alive() {
            return Ok(Links::default());
        }
        let entity = views.resolve(version.id)?;
        let mut shown = BTreeSet::new();
        let mut links = views.links_at(entity, position)?;
        // If several events say the same, every machine shows the same one.
        links.sort_unstable_by_key(|link| (link.origin, link.seq, link.event));
        for link in links {
            let (from, to) = (views.resolve(link.from)?, views.resolve(link.to)?);
            let (direction, other) = match from == entity {
                true => (Direction::Out, to),
                false => (Direction::In, from),
            };
            if from == to {
                let author = Author {
                    session: link.session,
                    actor: link.actor,
                };
                // The memory was judged, or stored once more, or two linked memories turned out to be one.
                if link.is_mark() {
                    marks.push(Mark::of(&link, author));
                } else if link.relation == Relation::SIMILAR_TO {
                    again.push(author);
                }
                continue;
            }
            let relation = relation_text(&link);
            if !shown.insert((from, to, relation.clone())) {
                continue;
            }
            let other = views.version_at(other, position)?;
            // A concept that is derived from the memory is left out.
            let fits = |other: &Version| {
                other.is_alive() && other.family() == Family::Memory && sees(other)
            };
            if let Some(other) = other.filter(fits) {
                linked.push(Linked {
                    related: Related {
                        id: id_text(other.id),
                        relation,
                        direction,
                        event: link.event.to_string(),
                    },
                    other,
                });
            }
        }
        linked.sort_by(|a: &Linked, b| {
            let (a, b) = (&a.related, &b.related);
            (&a.id, &a.relation, a.direction).cmp(&(&b.id, &b.relation, b.direction))
        });
        Ok(Links {
            others: linked,
            again,
            marks,
        })
    }

    /// Notes that another author stored the text of a memory again. That counts as a confirmation, once for each
    /// author; else nothing changes.
    pub(crate) fn confirmed(
        &self,
        command: &mut Command<'_>,
        views: &Views,
        version: &Version,
        request_digest: Option<&str>,
    ) -> QueryResult<Receipt> {
        let who = command.author();
        let links = self.links_of(views, version, views.tally().position, &|_| true)?;
        if !who.is_other_than(Author::of(version)) || links.again.iter().any(|it| it.is(who)) {
            return Ok(unchanged(version));
        }
        let id = version.id;
        let link = payload::MemoryLinked {
            request_digest,
            ..payload::MemoryLinked::default()
        };
        let event = NewEvent {
            refs: observed(&[version]),
            payload: payload::encode(&link),
            ..linked_event(id, id, Relation::SIMILAR_TO, None, None)
        };
        let appended = command.append(views, vec![event])?;
        Ok(Receipt {
            confirmed: true,
            ..receipt(version, appended[0], Action::Unchanged, None)
        })
    }
}

/// The links of a memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Links {
    /// The links to and from other memories.
    pub(crate) others: Vec<Linked>,
    /// The authors that stored the memory once more.
    again: Vec<Author>,
    /// The judgements of the memory.
    pub(crate) marks: Vec<Mark>,
}

/// A judgement of a memory: `feedback.applied`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) author: Author,
    pub(crate) verdict: Verdict,
    pub(crate) event: EventId,
    pub(crate) position: Position,
}

impl Mark {
    fn of(link: &Link, author: Author) -> Mark {
        Mark {
            author,
            verdict: match link.relation {
                Relation::USEFUL => Verdict::Useful,
                _ => Verdict::Wrong,
            },
            event: link.event,
            position: link.position,
        }
    }
}

/// A memory at the other end of a link.
#[derive(Debug, Clone)]
pub(crate) struct Linked {
    pub(crate) related: Related,
    pub(crate) other: Version,
}

impl Linked {
    /// Returns `true` if the link says how the memory stands to the one with this id. Then no rule guesses.
    pub(crate) fn settles(&self, other: &str) -> bool {
        self.related.id == other && self.related.relation != "similar_to"
    }

    /// Returns `true` if the other memory supersedes this one.
    pub(crate) fn is_superseding(&self) -> bool {
        self.related.relation == "supersedes" && self.related.direction == Direction::In
    }
}

impl Links {
    /// Returns `true` if a living memory supersedes this one.
    pub(crate) fn is_superseded(&self) -> bool {
        self.others.iter().any(Linked::is_superseding)
    }
}

/// Returns how many authors called a memory useful, and how many called it wrong.
pub(crate) fn marks(links: &Links) -> Marks {
    let count = |verdict| {
        let marks = links.marks.iter().filter(|mark| mark.verdict == verdict);
        let authors: BTreeSet<_> = marks.map(|mark| mark.author.key()).collect();
        authors.len() as u64
    };
    Marks {
        useful: count(Verdict::Useful),
        wrong: count(Verdict::Wrong),
    }
}

/// Returns how many other authors confirm a memory: they stored it once more, or their own memory says nearly the same
/// or was derived from it.
pub(crate) fn confirmations(version: &Version, links: &Links) -> u64 {
    let author = Author::of(version);
    let confirming = links.others.iter().filter(|linked| {
        let Related {
            relation,
            direction,
            ..
        } = &linked.related;
        relation == "similar_to" || (relation == "derived_from" && *direction == Direction::In)
    });
    let others = confirming.map(|linked| Author::of(&linked.other));
    let voices = others.chain(links.again.iter().copied());
    let voices: BTreeSet<_> = voices
        .filter(|voice| voice.is_other_than(author))
        .map(Author::key)
        .collect();
    voices.len() as u64
}

/// Returns the event that links one memory to another.
pub(crate) fn linked_event(
    from: SubjectId,
    to: SubjectId,
    relation: Relation,
    reason: Option<&str>,
    score_ppm: Option<u32>,
) -> NewEvent {
    NewEvent {
        kind: Kind::MEMORY_LINKED,
        subject: from,
        refs: Vec::new(),
        facts: MemoryLinked {
            other: to,
            relation,
        }
        .encode(),
        payload: payload::encode(&payload::MemoryLinked {
            relation: None,
            reason,
            score_ppm,
            request_digest: None,
        }),
    }
}

/// Returns the newest events about these memories.
pub(crate) fn observed(versions: &[&Version]) -> Vec<EventId> {
    let events: BTreeSet<_> = (versions.iter())
        .flat_map(|version| version.heads().iter().copied())
        .collect();
    events.into_iter().collect()
}

/// Returns the name of a relation, its words, or its number.
pub(crate) fn relation_text(link: &Link) -> String {
    if link.is_mark() {
        return match link.relation {
            Relation::USEFUL => "called useful".to_owned(),
            _ => "called wrong".to_owned(),
        };
    }
    match (link.relation.name(), &link.words) {
        (Some(name), _) => name.to_owned(),
        (None, Some(words)) => words.clone(),
        (None, None) if link.relation == Relation::IN_WORDS => "(withheld)".to_owned(),
        (None, None) => format!("relation {}", link.relation.0),
    }
}

fn refuse_self(from: &Version, to: &Version) -> Result<()> {
    match from.id == to.id {
        false => Ok(()),
        true => Err(ServiceError::invalid_with(
            format!("{} cannot be linked to itself", id_text(from.id)),
            "name two memories",
        )),
    }
}

fn link_receipt(receipt: icm_api::Receipt, to: &Version, relation: Relation) -> LinkReceipt {
    LinkReceipt {
        receipt,
        relation: relation.name().unwrap_or_default().to_owned(),
        to: id_text(to.id),
    }
}
