//! Results that a newer statement seems to replace: the newer one stands before the older one and says so.
//!
//! The rules of `icm-replaces` guess; no link is written. A link between two memories wins: then no rule speaks of
//! them. A `similar_to` link says nothing of time, and does not count.

use std::collections::BTreeMap;

use icm_projections::fold::Version;
use icm_replaces::{Reason, Verdict};

use crate::memory::dated_statement::{DatedStatement, moment, newest_of};
use crate::recall::link_expansion::{LinkExpansion, Shown};
use crate::snapshot::QueryResult;
use icm_api::{RecallHit, Via};

/// The relation by which a guessed memory came into an answer. No link has it.
pub(crate) const SEEMS_TO_REPLACE: &str = "seems_to_replace";
/// First results that are compared with one another. Raised, corrections are seen further down; each pair costs some 10
/// µs.
const COMPARED: usize = 5;
/// First results that are compared with the newest of their topics. Raised, a recall reads 8 memories more for each.
const LOOKED_BEYOND: usize = 1;

/// Milliseconds below which two statements count as noted in one go. Then only a sure rule makes one replace the other.
/// Raised, later corrections are no longer seen.
const APART_MS: i64 = 60_000;
/// Share of an older result's score from which on a newer one that may replace it stands before it. Lowered, results
/// pass that the search hardly found.
const CLOSE: f64 = 0.6;
/// The same share for a newer result of the topic about which no rule says anything. Lowered, results pass that are about
/// something else.
const TIE: f64 = 0.95;
/// Fit by which an older result is clearly the better answer: a newer one is named then, and stays behind it. Raised, a
/// wrong guess puts the right answer second.
const CLEARLY: f64 = 0.2;

/// A function that returns how much of the question a result has in its words; `None` for a result that the search did
/// not find.
pub(crate) type Covers<'a> = &'a dyn Fn(&Shown) -> Option<f64>;

/// The guess of the rules about two results.
#[derive(PartialEq)]
enum Guess {
    Replaces,
    /// The order stays: the older result fits the question clearly better.
    IsNamed,
    /// Only the order changes: nothing is said.
    StandsBefore,
}

/// Puts newer statements before the older ones that they seem to replace, `limit` results at most. With `beyond`, newer
/// memories that the search did not find are brought in.
pub(crate) fn apply(
    from: &LinkExpansion<'_>,
    shown: Vec<Shown>,
    covers: Covers<'_>,
    beyond: bool,
) -> QueryResult<Vec<Shown>> {
    let mut results = Results::of(shown, covers);
    results.compare();
    if beyond {
        results.look_beyond(from)?;
    }
    Ok(match results.guesses.is_empty() {
        true => results.shown,
        false => results.ordered(from.limit),
    })
}

struct Results<'a> {
    covers: Covers<'a>,
    shown: Vec<Shown>,
    /// The statements of the first results.
    said: Vec<Option<DatedStatement>>,
    /// The places of the newer results by the place of the older one.
    guesses: BTreeMap<usize, Vec<usize>>,
}

impl<'a> Results<'a> {
    fn of(shown: Vec<Shown>, covers: Covers<'a>) -> Results<'a> {
        let first = shown.iter().take(COMPARED);
        let said = first.map(|shown| DatedStatement::of_memory(&shown.hit.memory));
        Results {
            covers,
            said: said.collect(),
            shown,
            guesses: BTreeMap::new(),
        }
    }

    /// Compares the first results with one another.
    fn compare(&mut self) {
        for older in 0..self.said.len() {
            for newer in 0..self.said.len() {
                let Some(guess) = self.guess(older, newer) else {
                    continue;
                };
                if guess != Guess::StandsBefore {
                    self.say(older, newer);
                }
                if guess != Guess::IsNamed {
                    self.guesses.entry(older).or_default().push(newer);
                }
            }
        }
    }

    fn guess(&self, older: usize, newer: usize) -> Option<Guess> {
        let (of, by) = (self.said[older].as_ref()?, self.said[newer].as_ref()?);
        let (old, new) = (&self.shown[older], &self.shown[newer]);
        let settled = old.linked.iter().any(|linked| linked.settles(&by.id))
            || old.hit.superseded_by.is_some()
            || new.hit.superseded_by.is_some();
        if settled || !by.may_replace(of) {
            return None;
        }
        let judged = by.statement.judge(&of.statement);
        match judged.verdict {
            Verdict::Yes
                if of.topic == by.topic
                    || judged.reason == Reason::AnotherValue && by.is_near(of) =>
            {
                Some(match old.hit.fit - new.hit.fit >= CLEARLY {
                    true => Guess::IsNamed,
                    false => Guess::Replaces,
                })
            }
            // The question decides: it asks for words that only the older one has, or for words that both have.
            verdict if older < newer && of.topic == by.topic => {
                let share = match verdict {
                    Verdict::Doubtful => CLOSE,
                    _ => TIE,
                };
                let fits = by.valid_ms - of.valid_ms >= APART_MS
                    && new.hit.score >= share * old.hit.score
                    && (self.covers)(new)? >= (self.covers)(old)?;
                fits.then_some(Guess::StandsBefore)
            }
            _ => None,
        }
    }

    fn say(&mut self, older: usize, newer: usize) {
        let (old, new) = (
            self.shown[older].hit.memory.id.clone(),
            self.shown[newer].hit.memory.id.clone(),
        );
        self.shown[newer].hit.seems_to_replace.push(old);
        // Among several newer results, the newest is named.
        let valid = |shown: &Shown| {
            let memory = &shown.hit.memory;
            moment(memory.occurred_at.as_deref().unwrap_or(&memory.created_at))
        };
        let named = self.shown[older].hit.seems_replaced_by.as_ref();
        let named = named.and_then(|id| self.shown.iter().find(|it| it.hit.memory.id == *id));
        if named.is_none_or(|named| valid(&self.shown[newer]) > valid(named)) {
            self.shown[older].hit.seems_replaced_by = Some(new);
        }
    }

    /// Brings in a memory that replaces one of the best results and was not found: an old fact alone misleads.
    fn look_beyond(&mut self, from: &LinkExpansion<'_>) -> QueryResult<()> {
        let mut room = from.limit.div_ceil(3);
        let mut topics: BTreeMap<(String, String), Vec<(DatedStatement, Version)>> =
            BTreeMap::new();
        for older in 0..self.said.len().min(LOOKED_BEYOND) {
            let hit = &self.shown[older].hit;
            let is_settled = hit.seems_replaced_by.is_some() || hit.superseded_by.is_some();
            let Some(of) = self.said[older]
                .as_ref()
                .filter(|_| !is_settled && room > 0)
            else {
                continue;
            };
            let place = (of.topic.clone(), of.scope.clone());
            if !topics.contains_key(&place) {
                let newest = newest_of(from.views, (&of.topic, &of.scope), from.position)?;
                topics.insert(place.clone(), newest);
            }
            let mut best: Option<&(DatedStatement, Version)> = None;
            for candidate in topics.get(&place).into_iter().flatten() {
                let (by, version) = candidate;
                let is_shown = self.shown.iter().any(|it| it.hit.memory.id == by.id);
                let linked = &self.shown[older].linked;
                let is_settled = linked.iter().any(|linked| linked.settles(&by.id));
                let is_newer = best.is_none_or(|(best, _)| best.valid_ms < by.valid_ms);
                if !is_shown
                    && (from.passes)(version)
                    && !is_settled
                    && is_newer
                    && by.may_replace(of)
                    && by.statement.judge(&of.statement).verdict == Verdict::Yes
                {
                    best = Some(candidate);
                }
            }
            let Some((_, version)) = best else {
                continue;
            };
            if let Some(newer) = self.bring(from, older, version)? {
                self.say(older, newer);
                self.guesses.entry(older).or_default().push(newer);
                room -= 1;
            }
        }
        Ok(())
    }

    fn bring(
        &mut self,
        from: &LinkExpansion<'_>,
        older: usize,
        version: &Version,
    ) -> QueryResult<Option<usize>> {
        let links = from.links(version)?;
        if links.is_superseded() {
            return Ok(None);
        }
        let memory = from
            .service
            .memory_with(from.views, version, &links, from.position)?;
        self.shown.push(Shown {
            hit: RecallHit {
                elsewhere: from.scopes.is_elsewhere(&memory.scope),
                via: Some(Via {
                    relation: SEEMS_TO_REPLACE.to_owned(),
                    from: self.shown[older].hit.memory.id.clone(),
                }),
                ..RecallHit::of(memory)
            },
            id: version.id,
            linked: links.others,
            found: None,
        });
        Ok(Some(self.shown.len() - 1))
    }

    /// Returns the results, each behind the results that the guesses put before it.
    fn ordered(self, limit: usize) -> Vec<Shown> {
        let mut order = Vec::with_capacity(self.shown.len());
        let mut begun = vec![false; self.shown.len()];
        for at in 0..self.shown.len() {
            place(at, &self.guesses, &mut begun, &mut order);
        }
        self.fit(&mut order, limit);
        let mut shown: Vec<Option<Shown>> = self.shown.into_iter().map(Some).collect();
        order
            .into_iter()
            .filter_map(|at| shown[at].take())
            .collect()
    }

    /// Keeps `limit` results at most. A result that was brought in takes no place from the found result that it is
    /// about, which would then be on no page.
    fn fit(&self, order: &mut Vec<usize>, limit: usize) {
        let is_alone = |kept: &[usize], at: usize| {
            let via = self.shown[at].hit.via.as_ref();
            via.filter(|via| via.relation == SEEMS_TO_REPLACE)
                .is_some_and(|via| {
                    let mut ids = kept.iter().map(|at| &self.shown[*at].hit.memory.id);
                    !ids.any(|id| *id == via.from)
                })
        };
        loop {
            let kept = &order[..limit.min(order.len())];
            let Some(alone) = kept.iter().position(|at| is_alone(kept, *at)) else {
                break;
            };
            order.remove(alone);
        }
        order.truncate(limit);
    }
}

fn place(
    at: usize,
    guesses: &BTreeMap<usize, Vec<usize>>,
    begun: &mut [bool],
    order: &mut Vec<usize>,
) {
    if std::mem::replace(&mut begun[at], true) {
        return;
    }
    for newer in guesses.get(&at).into_iter().flatten() {
        place(*newer, guesses, begun, order);
    }
    order.push(at);
}
