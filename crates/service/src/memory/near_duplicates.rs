//! Decides at a store whether the same or nearly the same text is already there. Every text is kept.
//!
//! A text that its topic and scope already have is not stored again: the importance or keywords given with it are added
//! to the memory that has it. The same text with another time, excerpt or metadata says something new, and so does the
//! text of a memory that is out of date. A text that is nearly the same is stored and linked to the other memory, so that
//! the author can choose.

use icm_log::SubjectId;
use icm_log::facts::Relation;
use icm_projections::Views;
use icm_projections::fold::Version;
use icm_text::{Sought, Words, similarity_ppm};

use crate::command::{Change, Command, ValidatedStore, receipt, stored_receipt};
use crate::memory::expiry::Expired;
use crate::memory::link::{linked_event, observed};
use crate::memory::store_over::store_in;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::ServiceError;
use icm_api::ids::{id_range, id_text};
use icm_api::{Action, Dedup, OnSimilar, Receipt, Similar};

/// Memories of the topic, the most similar ones, that are looked up in the table. Raised, a store reads more; one is
/// named.
const CANDIDATES: usize = 5;
/// A similarity of one, in parts per million.
const ONE_PPM: u32 = 1_000_000;

/// A memory with nearly the same text.
struct Near {
    version: Version,
    score_ppm: u32,
}

/// The result of the search for a text that is to be stored.
pub(crate) struct TextLookup {
    found: Found,
    /// `true` if a memory of the topic and scope has the text, out of date or with another time, excerpt or metadata.
    pub(crate) was_said: bool,
}

impl From<Found> for TextLookup {
    fn from(found: Found) -> TextLookup {
        TextLookup {
            found,
            was_said: false,
        }
    }
}

enum Found {
    /// A memory that has all of it.
    Same(Box<Version>),
    /// A memory with nearly the same text.
    Near(Box<Near>),
    Nothing,
}

impl Service {
    /// Sets how a store treats a text that is already there. By default similar memories are linked.
    pub fn with_dedup(mut self, dedup: Dedup) -> Service {
        self.settings.dedup = dedup;
        self
    }

    /// Stores a checked memory, unless it is there already.
    pub(crate) fn store_once(
        &self,
        command: &mut Command<'_>,
        views: &Views,
        checked: &ValidatedStore,
        looked: TextLookup,
    ) -> QueryResult<Receipt> {
        let keyed = checked.key.is_some();
        let near = match looked.found {
            Found::Nothing => return store_in(command, views, checked),
            Found::Same(version) => return self.store_again(command, views, &version, checked),
            Found::Near(near) => near,
        };
        // A memory with a key is one of its own.
        if self.settings.dedup.on_similar == OnSimilar::Update && !keyed {
            let change = self.counted(views, Change::of_store(checked), &near.version)?;
            let event = change.event(&near.version);
            let event = event.ok_or_else(|| ServiceError::Internal("nothing changes".into()))?;
            let appended = command.append(views, vec![event])?;
            return Ok(Receipt {
                similar: Some(similar(&near.version, near.score_ppm)),
                ..receipt(&near.version, appended[0], Action::Updated, None)
            });
        }
        let id = command.new_id();
        let mut link = linked_event(
            id,
            near.version.id,
            Relation::SIMILAR_TO,
            None,
            Some(near.score_ppm),
        );
        link.refs = observed(&[&near.version]);
        let appended = command.append(views, vec![checked.stored(id), link])?;
        Ok(Receipt {
            similar: Some(similar(&near.version, near.score_ppm)),
            ..stored_receipt(id, appended[0], &checked.topic)
        })
    }

    /// Adds what came with the same words to the memory that has them: the importance, and keywords that it lacks.
    fn store_again(
        &self,
        command: &mut Command<'_>,
        views: &Views,
        there: &Version,
        checked: &ValidatedStore,
    ) -> QueryResult<Receipt> {
        let change = Change::of_same_words(checked, there)?;
        match self.counted(views, change, there)?.event(there) {
            Some(event) => {
                let appended = command.append(views, vec![event])?;
                Ok(receipt(there, appended[0], Action::Updated, None))
            }
            None => self.confirmed(command, views, there, checked.request_digest.as_deref()),
        }
    }

    /// Looks for the living memory of the topic and scope that has the same or nearly the same text. A memory that has
    /// the same text and is out of date is passed over.
    pub(crate) fn look_for(
        &self,
        views: &Views,
        checked: &ValidatedStore,
    ) -> QueryResult<TextLookup> {
        let Dedup {
            similar_ppm,
            on_similar,
        } = self.settings.dedup;
        if on_similar == OnSimilar::Off || views.named(checked.name())?.is_some() {
            return Ok(Found::Nothing.into());
        }
        let content = &checked.content;
        let scope = checked.scope.to_text();
        let sought = Sought::of(content);
        // Without a limit for similar texts, only the same text is sought.
        let least_ppm = match similar_ppm {
            0 => ONE_PPM,
            ppm => ppm,
        };
        let newest = views.tally().position;
        let mut nearest: Option<Near> = None;
        let mut was_said = false;
        // Among several with the same words, one that would not change is preferred, then the oldest.
        let mut same_words: Option<Box<Version>> = None;
        let home = (&checked.topic[..], &scope[..]);
        // An expired memory is no memory that has the text already.
        let expired = Expired::now(self, views);
        let moment = expired.moment();
        let mut found = views.near(&sought, home, (CANDIDATES, least_ppm), moment)?;
        expired.checked()?;
        // Among equally near memories the oldest is named.
        found.sort_by_key(|version| version.from);
        for hit in found {
            let there = hit.content.as_deref().unwrap_or_default();
            let same = there == content;
            let score_ppm = match same {
                true => ONE_PPM,
                false => Words::of(there).similarity_ppm(sought.words()),
            };
            let best = nearest.as_ref().map_or(0, |near| near.score_ppm);
            let near = similar_ppm > 0 && score_ppm >= similar_ppm && score_ppm > best;
            if !same && !near {
                continue;
            }
            // The text index only says which rows to look up: the table decides.
            let version = views.version_at(views.resolve(hit.id)?, newest)?;
            let Some(version) = version.filter(|version| {
                version.is_alive()
                    && version.topic.as_ref() == Some(&checked.topic)
                    && version.scope_text() == scope
                    && version.content == hit.content
            }) else {
                continue;
            };
            was_said |= same && checked.key.is_none();
            if same && checked.key.is_none() && !says_more(checked, &version) {
                if self.is_out_of_date(views, checked, &version)? {
                    continue;
                }
                if Change::of_same_words(checked, &version)?
                    .event(&version)
                    .is_none()
                {
                    return Ok(Found::Same(Box::new(version)).into());
                }
                same_words.get_or_insert_with(|| Box::new(version.clone()));
            }
            if near {
                nearest = Some(Near { version, score_ppm });
            }
        }
        let found = match (same_words, nearest) {
            (Some(version), _) => Found::Same(version),
            (None, Some(near)) => Found::Near(Box::new(near)),
            (None, None) => Found::Nothing,
        };
        Ok(TextLookup { found, was_said })
    }

    /// Returns the near memory that the first receipt of a store named.
    pub(crate) fn similar_of_first(
        &self,
        views: &Views,
        checked: &ValidatedStore,
        receipt: &Receipt,
    ) -> QueryResult<Option<Similar>> {
        let Some((id, _)) = id_range(&receipt.id) else {
            return Ok(None);
        };
        let entity = views.resolve(id)?;
        let before = |entity: SubjectId| {
            let position = icm_log::Position(receipt.position.saturating_sub(1));
            views.version_at(entity, position)
        };
        if receipt.action == Action::Updated && checked.key.is_none() {
            let Some(version) = before(entity)? else {
                return Ok(None);
            };
            let content = version.content.as_deref().unwrap_or_default();
            return Ok(match content == checked.content {
                true if !says_more(checked, &version) => None,
                true => Some(similar(&version, ONE_PPM)),
                false => Some(similar(&version, similarity_ppm(content, &checked.content))),
            });
        }
        let position = icm_log::Position(receipt.position + 1);
        for link in views.links_at(entity, position)? {
            if let (true, Some(score_ppm)) = (link.position == position, link.score_ppm)
                && let Some(version) = before(views.resolve(link.to)?)?
            {
                return Ok(Some(similar(&version, score_ppm)));
            }
        }
        Ok(None)
    }
}

/// Returns `true` if a store of the same words adds a time, an excerpt or metadata that the memory does not have.
fn says_more(checked: &ValidatedStore, there: &Version) -> bool {
    fn differs<T: PartialEq>(given: &Option<T>, there: &Option<T>) -> bool {
        given.is_some() && given != there
    }
    differs(&checked.raw_excerpt, &there.raw_excerpt)
        || differs(&checked.occurred_at_ms, &there.occurred_at_ms)
        || differs(&checked.metadata, &there.metadata)
}

fn similar(version: &Version, score_ppm: u32) -> Similar {
    Similar {
        id: id_text(version.id),
        score: f64::from(score_ppm) / f64::from(ONE_PPM),
        content: version.content.clone(),
    }
}

#[cfg(test)]
mod tests {
    use crate::service::tests::service;
    use icm_api::{Action, Caller, Importance, ListRequest, Receipt, StoreRequest};

    const WORDS: [&str; 24] = [
        "the", "deploy", "of", "each", "service", "waits", "for", "its", "health", "check", "and",
        "then", "moves", "traffic", "over", "in", "three", "steps", "with", "ten", "minutes",
        "between", "them", "all",
    ];

    /// Returns [`WORDS`] as a text, some of them replaced.
    fn text(other: &[(usize, &str)]) -> String {
        let mut words = WORDS;
        for (at, word) in other {
            words[*at] = word;
        }
        words.join(" ")
    }

    #[test]
    fn the_same_words_with_another_importance_change_the_importance() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path());
        let request = |importance, keywords: &[&str]| StoreRequest {
            importance,
            keywords: keywords.iter().map(|word| (*word).to_owned()).collect(),
            ..StoreRequest::new("t", "tests run on stable")
        };
        let store = |request: StoreRequest| {
            let receipt = service.store(&Caller::default(), request);
            receipt.expect("it stores")
        };
        let first = store(request(None, &["ci"]));
        let positions = |after: &Receipt| after.position - first.position;
        for (importance, keywords, action, events) in [
            (Some(Importance::High), &[][..], Action::Updated, 1),
            (Some(Importance::High), &[], Action::Unchanged, 1),
            (None, &[], Action::Unchanged, 1),
            (Some(Importance::Low), &["rust"], Action::Updated, 2),
            (None, &["tests", "ci"], Action::Updated, 3),
            (None, &["rust", "tests"], Action::Unchanged, 3),
        ] {
            let again = store(request(importance, keywords));
            assert_eq!(
                (again.action, &again.id),
                (action, &first.id),
                "{keywords:?}"
            );
            assert_eq!(positions(&again), events, "{importance:?} {keywords:?}");
            assert!(again.similar.is_none());
        }
        let kept = service.list(&ListRequest::default()).expect("it lists");
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].importance, Importance::Low);
        assert_eq!(kept[0].keywords, ["ci", "rust", "tests"]);
    }

    #[test]
    fn the_same_words_with_a_time_of_their_own_are_another_memory() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path());
        let store = |occurred_at: &str, importance| {
            let request = StoreRequest {
                occurred_at: Some(occurred_at.to_owned()),
                importance,
                ..StoreRequest::new("t", "met Ann at the lake")
            };
            let receipt = service.store(&Caller::default(), request);
            receipt.expect("it stores")
        };
        let first = store("2026-01-05", None);
        let second = store("2026-02-05", None);
        assert_eq!(
            (first.action, second.action),
            (Action::Stored, Action::Stored)
        );
        // Two memories have the words; the one of that day is meant.
        let again = store("2026-02-05", Some(Importance::High));
        assert_eq!((again.action, &again.id), (Action::Updated, &second.id));
    }

    #[test]
    fn a_retried_store_of_the_same_words_has_its_first_receipt() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path());
        let store = |importance, request_id: Option<&str>| {
            let request = StoreRequest {
                importance,
                request_id: request_id.map(str::to_owned),
                ..StoreRequest::new("t", "tests run on stable")
            };
            let receipt = service.store(&Caller::default(), request);
            receipt.expect("it stores")
        };
        store(None, None);
        let first = store(Some(Importance::High), Some("once"));
        let again = store(Some(Importance::High), Some("once"));
        assert_eq!(first.action, Action::Updated);
        assert_eq!(format!("{first:?}"), format!("{again:?}"));
    }

    #[test]
    fn of_many_that_may_be_near_the_nearest_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path());
        let store = |content: String| {
            let request = StoreRequest::new("t", content);
            let stored = service.store(&Caller::default(), request);
            stored.expect("it stores")
        };
        // More than [`CANDIDATES`], and all of them near.
        let others = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];
        let stored = others.map(|other| store(text(&[(3, other), (9, other)])));
        assert!(stored.iter().all(|it| it.action == Action::Stored));
        for (at, other) in others.into_iter().enumerate() {
            let near = store(text(&[(3, other), (9, other), (20, "hours")]));
            let named = near.similar.expect("it is near");
            assert_eq!(named.id, stored[at].id, "{other}");
        }
    }
}
