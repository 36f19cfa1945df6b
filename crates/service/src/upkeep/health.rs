//! Memories that want a look. Every finding is counted; a few memories of each are named.
//!
//! Needs 16 bytes a memory, some hundred bytes a memory of the largest topic, the findings, and 16 MiB of texts that
//! are compared.

use std::collections::{BTreeMap, BTreeSet};

use icm_log::facts::{Importance, Relation};
use icm_log::{Position, SubjectId};
use icm_projections::fold::day_of;
use icm_projections::{HomeTag, Row, TopicTag, Views, topic_fits};
use rustc_hash::{FxHashMap, FxHashSet};

use super::near_pairs::near_pairs;
use crate::command::condition_text;
use crate::history::basis::At;
use crate::memory::expiry::Expired;
use crate::service::{HINT_OVER, Service};
use crate::snapshot::QueryResult;
use icm_api::error::Result;
use icm_api::ids::id_text;
use icm_api::{
    Dedup, FindingItem, FindingKind, Health, HealthFinding, HealthRequest, consolidate_command,
};

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
/// Days after which a memory of medium or low importance that no recall ever showed is reported. Raised, fewer are.
const NEVER_DAYS: u64 = 30;
/// Days before a memory expires in which it is named: 7. Raised, it is named earlier.
const SOON_DAYS: u64 = 7;

type Pair = (SubjectId, SubjectId);

/// The findings of a pass over the memories.
#[derive(Default)]
struct Pass {
    memories: u64,
    stale: Counted,
    never: Counted,
    /// Memories that a time makes expire soon; `None` in a store without conditions.
    soon: Option<Counted>,
    /// Living memories by topic and scope, those of each in the order of ordinals. Memories of a withheld topic are
    /// left out.
    homes: Vec<(HomeTag, u64)>,
    /// Memories that another living one supersedes: their repeats and contradictions are settled.
    superseded: BTreeSet<SubjectId>,
    contradictions: BTreeSet<Pair>,
    /// Pairs with their similarity in parts per million, if it is known.
    similar: BTreeMap<Pair, Option<u32>>,
    /// Linked pairs: from the first to the second.
    linked: Vec<Pair>,
}

/// A number of memories, of which those with the smallest ids are named.
#[derive(Default)]
struct Counted {
    count: u64,
    first: BTreeMap<SubjectId, u64>,
}

impl Counted {
    fn add(&mut self, (ordinal, row): (u64, &Row), named: usize) {
        self.count += 1;
        self.first.insert(row.entity, ordinal);
        if self.first.len() > named {
            self.first.pop_last();
        }
    }

    fn named(&self, views: &Views) -> QueryResult<Vec<FindingItem>> {
        let found = |ordinal: &u64| {
            let version = views.version_of_row(&views.row(*ordinal)?)?;
            Ok(FindingItem {
                ids: vec![id_text(version.id)],
                topic: version.topic.unwrap_or_default(),
                ..FindingItem::default()
            })
        };
        self.first.values().map(found).collect()
    }

    /// Returns the named memories with their conditions and texts.
    fn with_conditions(&self, views: &Views) -> QueryResult<Vec<FindingItem>> {
        let found = |(ordinal, item): (&u64, FindingItem)| {
            let version = views.version_of_row(&views.row(*ordinal)?)?;
            Ok(FindingItem {
                expires: condition_text(&version),
                content: version.content,
                ..item
            })
        };
        let named = self.named(views)?;
        self.first.values().zip(named).map(found).collect()
    }
}

/// A link of a memory to another one.
struct PairLink {
    position: Position,
    pair: Pair,
    relation: Relation,
    score_ppm: Option<u32>,
}

/// Links between memories that bear on the findings.
struct Links {
    /// The links, by position.
    links: Vec<PairLink>,
    /// The memories at their ends: `None` until seen alive, then `true` if the pass looks at it.
    ends: FxHashMap<SubjectId, Option<bool>>,
}

impl Links {
    fn of(views: &Views, position: Position) -> QueryResult<Links> {
        let (mut links, mut ends) = (Vec::new(), FxHashMap::default());
        let says = [
            Relation::SUPERSEDES,
            Relation::CONTRADICTS,
            Relation::SIMILAR_TO,
        ];
        views.each_link_at(position, &mut |link| {
            if says.contains(&link.relation) {
                links.push(PairLink {
                    position: link.position,
                    pair: (link.from, link.to),
                    relation: link.relation,
                    score_ppm: link.score_ppm,
                });
            }
        })?;
        for link in &mut links {
            link.pair = (views.resolve(link.pair.0)?, views.resolve(link.pair.1)?);
        }
        links.retain(|link| link.pair.0 != link.pair.1);
        links.sort_unstable_by_key(|link| link.position);
        ends.extend(links.iter().flat_map(
            |PairLink {
                 pair: (from, to), ..
             }| [(*from, None), (*to, None)],
        ));
        Ok(Links { links, ends })
    }

    /// Notes that a memory is alive.
    fn meet(&mut self, entity: SubjectId, is_looked_at: bool) {
        if let Some(end) = self.ends.get_mut(&entity) {
            *end = Some(is_looked_at);
        }
    }

    /// Adds the findings from the links to a pass.
    fn tell(self, pass: &mut Pass) {
        for link in self.links {
            let (from, to) = link.pair;
            let (Some(one), Some(other)) = (self.ends[&from], self.ends[&to]) else {
                continue;
            };
            let pair = (from.min(to), from.max(to));
            match link.relation {
                _ if !one && !other => {}
                Relation::SUPERSEDES => _ = pass.superseded.insert(to),
                Relation::CONTRADICTS => _ = pass.contradictions.insert(pair),
                _ => {
                    pass.similar.insert(pair, link.score_ppm);
                    pass.linked.push((from, to));
                }
            }
        }
    }
}

impl Service {
    /// Looks at every living memory, or at those of a topic, as of a moment.
    ///
    /// Costs a pass over the row facts of all memories, and reads the texts that are named or may be near duplicates.
    /// Most near duplicates are found, not all: see [`Signature::bands`](icm_text::Signature::bands).
    pub fn health(&self, request: &HealthRequest) -> Result<Health> {
        self.with_views(|views| {
            let at = self.at(views, request.at.as_deref(), None)?;
            let now_ms = match at.is_now {
                true => self.now_ms(),
                false => at.time_ms,
            };
            let topic = self.topic_filter_if_any(views, request.topic.as_deref())?;
            let request = &HealthRequest {
                topic,
                ..request.clone()
            };
            let mut pass = self.pass(views, request, &at, now_ms)?;
            self.add_near(views, &mut pass)?;
            let open = |pair: &Pair| {
                !pass.superseded.contains(&pair.0) && !pass.superseded.contains(&pair.1)
            };
            pass.contradictions.retain(open);
            pass.similar.retain(|pair, _| open(pair));
            Ok(Health {
                basis: at.to_basis(),
                memories: pass.memories,
                findings: self.findings(views, request, (at.position, now_ms), pass)?,
            })
        })
    }

    fn pass(
        &self,
        views: &Views,
        request: &HealthRequest,
        at: &At,
        now_ms: u64,
    ) -> QueryResult<Pass> {
        let position = at.position;
        let expired = Expired::at(self, views, at);
        let soon_ms = at.moment_ms.saturating_add(SOON_DAYS * DAY_MS);
        let mut pass = Pass {
            soon: (views.tally().conditions > 0).then(Counted::default),
            ..Pass::default()
        };
        let mut links = Links::of(views, position)?;
        // A topic that is withheld has the tag of the empty topic.
        let topics: Option<FxHashSet<TopicTag>> = match &request.topic {
            Some(asked) => {
                let all = views.topics_ever()?;
                let all = all.iter().map(|topic| &topic.topic[..]).chain([""]);
                Some(
                    all.filter(|topic| topic_fits(asked, topic))
                        .map(TopicTag::named)
                        .collect(),
                )
            }
            None => None,
        };
        let before = |ms: u64, days: u64| ms.saturating_add(days * DAY_MS) < now_ms;
        let stale_days = u64::from(request.stale_days);
        let mut shown = None;
        views.each_living_at(position, &mut |ordinal, row| {
            if expired.hides_row(row) {
                return Ok(());
            }
            let is_asked = topics
                .as_ref()
                .is_none_or(|tags| tags.contains(&row.topic_tag()));
            links.meet(row.entity, is_asked);
            if !is_asked {
                return Ok(());
            }
            pass.memories += 1;
            if let Some(soon) = pass
                .soon
                .as_mut()
                .filter(|_| row.facts.expires_ms <= soon_ms)
            {
                soon.add((ordinal, row), request.named);
            }
            if !row.home.is_withheld() {
                pass.homes.push((row.home, ordinal));
            }
            // Sessions are shown pinned, critical and high memories at their start, which counts as no recall.
            let fades = row.facts.importance <= Importance::Medium;
            let quiet = fades && before(row.updated_ms, stale_days);
            let old = fades && before(row.created_ms, NEVER_DAYS);
            if !quiet && !old {
                return Ok(());
            }
            if row.facts.is_pinned && views.version_of_row(row)?.is_pinned_at(now_ms) {
                return Ok(());
            }
            let shown = match &mut shown {
                Some(shown) => shown,
                none => none.insert(views.shown_by_recalls()?),
            };
            let (recalls, last_ms) = match shown.contains(&row.entity) {
                true => views.accesses_at(&self.log, row.entity, position)?,
                false => (0, None),
            };
            if quiet && last_ms.is_none_or(|last| before(last, stale_days)) {
                pass.stale.add((ordinal, row), request.named);
            }
            if old && recalls == 0 {
                pass.never.add((ordinal, row), request.named);
            }
            QueryResult::Ok(())
        })?;
        expired.checked()?;
        links.tell(&mut pass);
        pass.homes.sort_unstable();
        Ok(pass)
    }

    /// Adds the near duplicates of each topic and scope, each newer memory once. A memory that is linked to a near one
    /// is already counted.
    fn add_near(&self, views: &Views, pass: &mut Pass) -> QueryResult<()> {
        let least_ppm = match self.settings.dedup.similar_ppm {
            0 => Dedup::default().similar_ppm,
            least => least,
        };
        // A link to a superseded memory is not reported.
        let open = |to: &SubjectId| !pass.superseded.contains(to);
        let linked = pass.linked.iter().filter(|(_, to)| open(to));
        let linked: FxHashSet<SubjectId> = linked.map(|(from, _)| *from).collect();
        let is_told = |newer: SubjectId| linked.contains(&newer);
        let mut members = Vec::new();
        for home in pass.homes.chunk_by(|a, b| a.0 == b.0) {
            if home.len() < 2 {
                continue;
            }
            members.clear();
            for (_, ordinal) in home {
                let row = views.row(*ordinal)?;
                if !pass.superseded.contains(&row.entity) {
                    members.push((*ordinal, row));
                }
            }
            let similar = &mut pass.similar;
            near_pairs(
                views,
                &members,
                least_ppm,
                &is_told,
                &mut |one, other, alike| {
                    let pair = (one.entity.min(other.entity), one.entity.max(other.entity));
                    similar.entry(pair).or_insert(Some(alike));
                },
            )?;
        }
        Ok(())
    }

    /// Returns the number of topics with too many memories of one scope, and the largest of them.
    fn crowded_topics(
        &self,
        views: &Views,
        homes: &[(HomeTag, u64)],
        named: usize,
    ) -> QueryResult<(u64, Vec<FindingItem>)> {
        let over = match self.settings.hint_over {
            0 => HINT_OVER,
            over => over,
        };
        let homes = || homes.chunk_by(|a, b| a.0 == b.0);
        let mut full: Vec<_> = homes()
            .map(|home| (home.len() as u64, home[0].1))
            .filter(|(memories, _)| *memories > over)
            .collect();
        full.sort_unstable_by_key(|(memories, _)| std::cmp::Reverse(*memories));
        let count = full.len() as u64;
        // Topics of one size are named by topic and scope.
        if let Some((least, _)) = full.get(named.saturating_sub(1)).copied() {
            full.truncate(full.partition_point(|(memories, _)| *memories >= least));
        }
        let mut found = Vec::with_capacity(full.len());
        for (memories, ordinal) in full {
            let version = views.version_of_row(&views.row(ordinal)?)?;
            found.push(FindingItem {
                scope: Some(version.scope_text()),
                topic: version.topic.unwrap_or_default(),
                memories: Some(memories),
                ..FindingItem::default()
            });
        }
        found.sort_by(|a, b| {
            let by_size = b.memories.cmp(&a.memories);
            by_size.then_with(|| (&a.topic, &a.scope).cmp(&(&b.topic, &b.scope)))
        });
        found.truncate(named);
        let tags = found
            .iter()
            .map(|found| (TopicTag::named(&found.topic), 0_u64));
        let mut scopes: FxHashMap<TopicTag, u64> = tags.collect();
        for home in homes().filter(|_| !found.is_empty()) {
            if let Some(scopes) = scopes.get_mut(&views.row(home[0].1)?.topic_tag()) {
                *scopes += 1;
            }
        }
        for found in &mut found {
            if scopes[&TopicTag::named(&found.topic)] < 2 {
                found.scope = None;
            }
        }
        Ok((count, found))
    }

    fn findings(
        &self,
        views: &Views,
        request: &HealthRequest,
        (position, now_ms): (Position, u64),
        pass: Pass,
    ) -> QueryResult<Vec<HealthFinding>> {
        let mut pairs = Vec::new();
        for (kind, found) in [
            (
                FindingKind::NearDuplicates,
                pass.similar
                    .iter()
                    .map(|(pair, score)| (*pair, *score))
                    .collect::<Vec<_>>(),
            ),
            (
                FindingKind::Contradictions,
                pass.contradictions
                    .iter()
                    .map(|pair| (*pair, None))
                    .collect(),
            ),
        ] {
            let mut first = Vec::new();
            for (pair, score) in found.iter().take(request.named) {
                first.extend(self.named_pair(views, *pair, *score, position)?);
            }
            // If two memories say the same, the newer one stays; if they contradict each other, the right one.
            let command = match first.first() {
                Some(FindingItem { ids, .. }) => {
                    format!("icm link {} {} -r supersedes", ids[1], ids[0])
                }
                None => "icm link NEWER OLDER -r supersedes".to_owned(),
            };
            pairs.push(HealthFinding {
                finding: kind,
                count: found.len() as u64,
                first,
                command,
            });
        }
        let (count, full) = self.crowded_topics(views, &pass.homes, request.named)?;
        let command = match full.first() {
            Some(found) => consolidate_command(&found.topic, found.scope.as_deref()),
            None => "icm consolidate -t TOPIC".to_owned(),
        };
        let command = format!("{command} --dry-run");
        let crowded = HealthFinding {
            finding: FindingKind::Crowded,
            count,
            first: full,
            command,
        };
        let never = pass.never.named(views)?;
        let forget = match never.first() {
            Some(FindingItem { ids, .. }) => format!("icm forget {}", ids[0]),
            None => "icm forget ID".to_owned(),
        };
        let single = |finding, count, first, command: &str| HealthFinding {
            finding,
            count,
            first,
            command: command.to_owned(),
        };
        // Without any tick every memory has its first weight.
        let ticked = views.schedule_at(position)?.last_day();
        let stale = match ticked.is_some_and(|day| day >= day_of(now_ms)) {
            true => "icm prune --dry-run",
            false => "icm decay",
        };
        let mut findings = vec![
            single(
                FindingKind::Stale,
                pass.stale.count,
                pass.stale.named(views)?,
                stale,
            ),
            single(FindingKind::NeverRecalled, pass.never.count, never, &forget),
            crowded,
        ];
        findings.extend(pairs);
        if let Some(soon) = &pass.soon {
            let named = soon.with_conditions(views)?;
            let id = named.first().map_or("ID", |found| &*found.ids[0]);
            let command = format!("icm update {id} --expires 'time 30d'");
            findings.push(single(FindingKind::ExpireSoon, soon.count, named, &command));
        }
        findings.sort_by_key(|finding| finding.finding);
        Ok(findings)
    }

    fn named_pair(
        &self,
        views: &Views,
        pair: Pair,
        score_ppm: Option<u32>,
        position: Position,
    ) -> QueryResult<Option<FindingItem>> {
        let (one, other) = (
            views.version_at(pair.0, position)?,
            views.version_at(pair.1, position)?,
        );
        let (Some(one), Some(other)) = (one, other) else {
            return Ok(None);
        };
        let mut both = [&one, &other];
        both.sort_by_key(|version| (version.created_ms, version.id));
        Ok(Some(FindingItem {
            topic: both[1].topic.clone().unwrap_or_default(),
            ids: both.iter().map(|version| id_text(version.id)).collect(),
            score: score_ppm.map(|ppm| f64::from(ppm) / 1e6),
            ..FindingItem::default()
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::service::tests::service_at;
    use icm_api::{Caller, Importance, RecallRequest, StoreRequest};

    #[test]
    fn memories_that_nothing_changes_or_recalls_are_stale() {
        let folder = tempfile::tempdir().expect("a folder");
        let (clock, service) = service_at(folder.path());
        let caller = Caller::default();
        for (content, importance) in [
            ("quorl", Importance::Medium),
            ("vimble", Importance::Low),
            ("snark", Importance::High),
        ] {
            let request = StoreRequest {
                importance: Some(importance),
                ..StoreRequest::new("t", content)
            };
            service.store(&caller, request).expect("it stores");
        }
        let counts = || {
            let health = service.health(&HealthRequest::default());
            let health = health.expect("an answer");
            let of = |kind| {
                let mut found = health.findings.iter().filter(|it| it.finding == kind);
                found.next().map(|it| it.count)
            };
            (of(FindingKind::Stale), of(FindingKind::NeverRecalled))
        };
        let pass = |days: u64| clock.0.fetch_add(days * DAY_MS, Ordering::Relaxed);
        assert_eq!(counts(), (Some(0), Some(0)));
        pass(31);
        assert_eq!(counts(), (Some(0), Some(2)));
        let request = RecallRequest {
            limit: Some(1),
            record: true,
            ..RecallRequest::new("quorl")
        };
        let answer = service.recall(&caller, &request).expect("an answer");
        assert_eq!(answer.results.len(), 1);
        service.record_recalls();
        assert_eq!(counts(), (Some(0), Some(1)));
        // The memories were stored 91 days ago and one was recalled 60 days ago; the one of high importance is never
        // stale.
        pass(60);
        assert_eq!(counts(), (Some(1), Some(1)));
        pass(31);
        assert_eq!(counts(), (Some(2), Some(1)));
    }

    #[test]
    fn a_session_sees_pinned_and_critical_memories_without_a_recall() {
        let folder = tempfile::tempdir().expect("a folder");
        let (clock, service) = service_at(folder.path());
        let caller = Caller::default();
        let store = |content: &str, importance| {
            let request = StoreRequest {
                topic: "t".to_owned(),
                content: content.to_owned(),
                importance: Some(importance),
                ..StoreRequest::default()
            };
            let receipt = service.store(&caller, request);
            receipt.expect("it stores").id
        };
        store("quorl", Importance::Critical);
        let pinned = store("vimble", Importance::Medium);
        let for_a_time = store("snark", Importance::Low);
        let pin = |id: &String, until_ms| {
            let ids = std::slice::from_ref(id);
            service.pin(&caller, ids, until_ms).expect("it pins");
        };
        pin(&pinned, None);
        let day = |days: u64| clock.0.load(Ordering::Relaxed) + days * DAY_MS;
        pin(&for_a_time, Some(day(120)));
        let named = || {
            let health = service.health(&HealthRequest::default());
            let findings = health.expect("an answer").findings.into_iter();
            let wanted = [FindingKind::Stale, FindingKind::NeverRecalled];
            let found = findings.filter(|it| wanted.contains(&it.finding));
            let ids = found.flat_map(|it| it.first).flat_map(|it| it.ids);
            ids.collect::<Vec<_>>()
        };
        clock.0.fetch_add(100 * DAY_MS, Ordering::Relaxed);
        assert_eq!(named(), Vec::<String>::new());
        // A pin that has run out protects no longer.
        clock.0.fetch_add(100 * DAY_MS, Ordering::Relaxed);
        assert_eq!(named(), [for_a_time.clone(), for_a_time]);
    }
}
