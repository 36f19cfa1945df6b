//! Near duplicates: pairs of one topic and scope that say nearly the same, found by signatures, then compared.

use std::cmp::Reverse;
use std::rc::Rc;

use icm_log::SubjectId;
use icm_projections::{Row, Views};
use icm_text::{BANDS, Likely, Words};
use rustc_hash::FxHashMap;

use crate::snapshot::QueryResult;

/// Older memories that share a number of a signature and are looked at, the newest first. Raised, more pairs are found
/// in topics of more than 100,000 memories, at some nanoseconds each.
const LOOKED_AT_MAX: usize = 128;
/// Older memories that a memory is compared with, the most similar signatures first. Raised, more pairs just above the
/// threshold are found, at some 10 µs each.
const COMPARED_MAX: usize = 16;
/// Words of texts that are kept for comparison, 8 bytes each: 16 MiB. Lowered, texts are read more than once.
const WORDS_MAX: usize = 2 * 1_024 * 1_024;
/// A similarity of one, in parts per million.
const ONE_PPM: u32 = 1_000_000;
/// The end of a chain: no memory.
const NONE: u32 = u32::MAX;

/// The words of memories that were compared. Without room for more, texts are read again.
#[derive(Default)]
struct Texts {
    held: FxHashMap<u64, Rc<Words>>,
    words: usize,
}

impl Texts {
    fn of(&mut self, views: &Views, (ordinal, row): (u64, &Row)) -> QueryResult<Rc<Words>> {
        if let Some(words) = self.held.get(&ordinal) {
            return Ok(Rc::clone(words));
        }
        let version = views.version_of_row(row)?;
        let words = Rc::new(Words::of(version.content.as_deref().unwrap_or_default()));
        if self.words + words.count() > WORDS_MAX {
            *self = Texts::default();
        }
        self.words += words.count();
        self.held.insert(ordinal, Rc::clone(&words));
        Ok(words)
    }
}

/// Calls `take` for pairs of memories of one topic and scope that are at least `least_ppm` similar: with the older one,
/// the newer one, and their similarity in parts per million. `members` are the ordinals and rows of all memories, the
/// oldest first.
///
/// Each memory is compared with older ones that share a number of its signature ([`BANDS`]), until one of them is near.
/// Most pairs are found, not all. Newer memories for which `is_told` returns `true` are skipped. Memory: about 350
/// bytes a member.
pub(super) fn near_pairs(
    views: &Views,
    members: &[(u64, Row)],
    least_ppm: u32,
    is_told: &dyn Fn(SubjectId) -> bool,
    take: &mut dyn FnMut(&Row, &Row, u32),
) -> QueryResult<()> {
    let likely = Likely::at_least(least_ppm);
    let mut texts = Texts::default();
    // The newest member with a number, and for each member the one before it with the same number.
    let mut newest: FxHashMap<(u8, u16), u32> = FxHashMap::default();
    let mut before: Vec<[u32; BANDS]> = Vec::with_capacity(members.len());
    let mut candidates: Vec<(Reverse<u32>, u32)> = Vec::new();
    for (at, (ordinal, row)) in members.iter().enumerate() {
        before.push([NONE; BANDS]);
        if row.signature.is_empty() {
            continue;
        }
        candidates.clear();
        let numbers = || (0..BANDS as u8).zip(row.signature.bands());
        for number in numbers() {
            let band = usize::from(number.0);
            let mut older = newest.get(&number).copied().unwrap_or(NONE);
            before[at][band] = older;
            for _ in 0..LOOKED_AT_MAX {
                let Some((_, other)) = members.get(older as usize) else {
                    break;
                };
                // Two facts of one subject have two attributes.
                let are_facts = row.facts.is_fact && other.facts.is_fact;
                if !are_facts && likely.may_be(row.signature, other.signature) {
                    let agreement = row.signature.agreement(other.signature);
                    candidates.push((Reverse(agreement), older));
                }
                older = before[older as usize][band];
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        let mut is_repeat = false;
        // The text is read once, and only if there is an older text to compare it with.
        if !candidates.is_empty() && !is_told(row.entity) {
            let one = texts.of(views, (*ordinal, row))?;
            for (_, older) in candidates.iter().take(COMPARED_MAX) {
                let (older_ordinal, other) = &members[*older as usize];
                let older = texts.of(views, (*older_ordinal, other))?;
                let alike = older.similarity_ppm(&one);
                if alike >= least_ppm {
                    take(other, row, alike);
                    is_repeat = alike == ONE_PPM;
                    break;
                }
            }
        }
        // A memory that is near a repetition is as near to the original.
        if !is_repeat {
            newest.extend(numbers().map(|number| (number, at as u32)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use icm_api::{
        Caller, Dedup, FindingKind, HealthRequest, LinkRequest, NoProgress, OnSimilar,
        RedactRequest, StoreRequest,
    };
    use icm_projections::Views;
    use icm_text::similarity_ppm;

    use super::*;
    use crate::service::Service;
    use crate::service::tests::service;

    const LEAST_PPM: u32 = 850_000;

    /// Returns a service that stores near texts without linking them.
    fn quiet(folder: &std::path::Path) -> Service {
        service(folder).with_dedup(Dedup {
            on_similar: OnSimilar::Off,
            ..Dedup::default()
        })
    }

    fn store(service: &Service, content: &str, scope: Option<&str>) -> String {
        let request = StoreRequest {
            scope: scope.map(str::to_owned),
            ..StoreRequest::new("t", content)
        };
        let stored = service.store(&Caller::default(), request);
        stored.expect("it stores").id
    }

    /// Returns twenty words of number `n`, some of them replaced.
    fn text(n: usize, others: &[(usize, &str)]) -> String {
        let mut words: Vec<String> = (0..20).map(|at| format!("word{}", n * 20 + at)).collect();
        for (at, other) in others {
            words[*at] = (*other).to_owned();
        }
        words.join(" ")
    }

    /// Returns the texts of the pairs that are found, the older one first.
    fn pairs(service: &Service) -> Vec<(String, String)> {
        let found = service.with_views(|views| {
            let mut members = Vec::new();
            views.each_living_at(views.tally().position, &mut |ordinal, row| {
                members.push((ordinal, *row));
                QueryResult::Ok(())
            })?;
            members.sort_by_key(|(ordinal, row)| (row.home, *ordinal));
            let mut found = Vec::new();
            let mut rows = Vec::new();
            for home in members.chunk_by(|(_, a), (_, b)| a.home == b.home) {
                near_pairs(
                    views,
                    home,
                    LEAST_PPM,
                    &|_| false,
                    &mut |one, other, alike| {
                        rows.push((*one, *other, alike));
                    },
                )?;
            }
            for (one, other, alike) in rows {
                let [one, other] = [one, other].map(|row| content(views, &row));
                assert_eq!(similarity_ppm(&one, &other), alike);
                found.push((one, other));
            }
            Ok(found)
        });
        found.expect("an answer")
    }

    fn content(views: &Views, row: &Row) -> String {
        let version = views.version_of_row(row).expect("it is there");
        version.content.expect("a text")
    }

    #[test]
    fn near_texts_of_a_scope_are_found_in_files_and_tail() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = quiet(folder.path());
        let mut expected = BTreeSet::new();
        for n in 0..40 {
            store(&service, &text(n, &[]), None);
            // A similar text of another scope; a text too far from the first; and the same words in another order.
            store(&service, &text(n, &[(3, "other")]), Some("project:p"));
            store(
                &service,
                &text(n, &[(1, "a"), (2, "b"), (3, "c"), (4, "d")]),
                None,
            );
            if n == 30 {
                service.rebuild(&NoProgress).expect("it builds");
            }
            if n % 2 == 0 {
                let words = text(n, &[]);
                let mut words: Vec<&str> = words.split(' ').collect();
                words.reverse();
                store(&service, &words.join(" "), None);
                expected.insert((text(n, &[]), words.join(" ")));
            }
        }
        for n in [5, 35] {
            store(&service, &text(n, &[(7, "seven")]), None);
            expected.insert((text(n, &[]), text(n, &[(7, "seven")])));
        }
        let found = pairs(&service);
        assert_eq!(found.len(), expected.len());
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
    }

    #[test]
    fn each_of_many_near_ones_is_told_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = quiet(folder.path());
        for n in 0..300 {
            store(&service, &text(0, &[(7, &format!("nth{n}"))]), None);
        }
        let found = pairs(&service);
        let newer: BTreeSet<_> = found.iter().map(|(_, newer)| newer).collect();
        assert_eq!((found.len(), newer.len()), (299, 299));
    }

    /// Returns how many near duplicates the health of the store counts.
    fn counted(service: &Service) -> u64 {
        let health = service.health(&HealthRequest::default());
        let findings = health.expect("an answer").findings;
        let mut near = findings.iter();
        let near = near.find(|it| it.finding == FindingKind::NearDuplicates);
        near.expect("it is counted").count
    }

    #[test]
    fn two_facts_are_no_near_duplicates() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = quiet(folder.path());
        for attribute in ["primary", "deputy"] {
            let request = icm_api::FactRequest::new("billing", attribute, text(0, &[]));
            let set = service.set_fact(&Caller::default(), request);
            set.expect("it is set");
        }
        assert_eq!(counted(&service), 0);
        // A memory that says the same is one.
        let same = format!("billing deputy: {} again", text(0, &[]));
        let stored = service.store(&Caller::default(), StoreRequest::new("facts/billing", same));
        stored.expect("it stores");
        assert_eq!(counted(&service), 1);
    }

    #[test]
    fn linked_memories_are_not_counted_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path()).with_dedup(Dedup::default());
        for n in 0..300 {
            store(&service, &text(0, &[(7, &format!("nth{n}"))]), None);
        }
        assert_eq!(counted(&service), 299);
    }

    #[test]
    fn a_link_to_what_is_superseded_leaves_the_others_to_be_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path()).with_dedup(Dedup::default());
        let [first, ..] =
            ["a", "b", "c"].map(|other| store(&service, &text(0, &[(7, other)]), None));
        assert_eq!(counted(&service), 2);
        let newer = store(&service, &text(1, &[]), None);
        let request = LinkRequest {
            from: newer,
            to: first,
            relation: "supersedes".to_owned(),
            ..LinkRequest::default()
        };
        let linked = service.link(&Caller::default(), &request);
        linked.expect("it links");
        assert_eq!(counted(&service), 1);
    }

    /// Returns the row facts of every version.
    fn rows(service: &Service) -> Vec<Row> {
        let rows = service.with_views(|views| {
            let rows = (0..views.tally().next_ordinal).map(|ordinal| views.row(ordinal));
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        });
        rows.expect("an answer")
    }

    #[test]
    fn a_rebuild_writes_the_rows_that_the_tail_had() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = quiet(folder.path());
        for n in 0..20 {
            store(&service, &text(n, &[]), None);
            store(&service, &text(n, &[(3, "other")]), Some("project:p"));
        }
        store(&service, "...", None);
        let before = rows(&service);
        service.rebuild(&NoProgress).expect("it builds");
        assert_eq!(rows(&service), before);
        let empty = before.iter().filter(|row| row.signature.is_empty());
        assert_eq!((before.len(), empty.count()), (41, 1));
    }

    #[test]
    fn a_text_that_was_redacted_leaves_no_signature() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path());
        let secret = text(0, &[]);
        let id = store(&service, &secret, None);
        store(&service, &text(1, &[]), None);
        service.rebuild(&NoProgress).expect("it builds");
        let signatures = || {
            let signature = |row: Row| row.signature;
            rows(&service)
                .into_iter()
                .map(signature)
                .collect::<Vec<_>>()
        };
        let before = signatures();
        assert!(before.iter().all(|signature| !signature.is_empty()));
        let request = RedactRequest {
            targets: vec![id],
            ..RedactRequest::default()
        };
        let redacted = service.redact(&Caller::default(), &request);
        redacted.expect("it redacts");
        assert!(!signatures().contains(&before[0]));
        assert!(signatures().contains(&before[1]));
        // No memory is near it any more.
        let request = StoreRequest::new("t", text(0, &[(7, "seven")]));
        let again = service.store(&Caller::default(), request);
        assert_eq!(again.expect("it stores").similar, None);
    }
}
