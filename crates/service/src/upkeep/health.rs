//! What of the memories wants a look. Everything is counted; a few of each finding are named.
//!
//! What has to be held meanwhile is bounded by the largest topic (about 100 bytes a memory of it), by
//! what is found, and by 16 MiB of texts that are compared.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use icm_log::facts::{Importance, Relation};
use icm_log::{Position, SubjectId};
use icm_projections::fold::{Version, day_of};
use icm_projections::{ALL_IDS, Views, topic_fits};
use icm_text::{SIGNATURE_BANDS, Words};

use crate::service::{HINT_OVER, Service};
use crate::snapshot::QueryResult;
use icm_api::error::Result;
use icm_api::ids::id_text;
use icm_api::{
    Dedup, FindingKind, Found, Health, HealthFinding, HealthRequest, consolidate_command,
};

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
/// Days after which a memory that no recall ever showed is worth a word.
const NEVER_DAYS: u64 = 30;

/// Words of texts that are held to be compared, 8 bytes each.
const WORDS_MAX: usize = 2 * 1_024 * 1_024;

type Pair = (SubjectId, SubjectId);

/// What memories are compared by. Those that there is no room for are read again.
#[derive(Default)]
struct Texts {
    held: HashMap<SubjectId, Rc<Text>>,
    words: usize,
}

struct Text {
    scope: String,
    words: Words,
}

impl Texts {
    fn keep(&mut self, id: SubjectId, text: Text) -> Rc<Text> {
        let text = Rc::new(text);
        if self.words + text.words.count() > WORDS_MAX {
            *self = Texts::default();
        }
        self.words += text.words.count();
        self.held.insert(id, text.clone());
        text
    }
}

/// What a pass over the memories finds.
#[derive(Default)]
struct Pass {
    memories: u64,
    stale: Counted,
    never: Counted,
    /// Living memories by topic and scope.
    topics: BTreeMap<String, BTreeMap<String, u64>>,
    /// Those that another living one supersedes: what they repeat or contradict is settled.
    superseded: BTreeSet<SubjectId>,
    contradictions: BTreeSet<Pair>,
    /// With how alike they are, in parts per million, where that is known.
    similar: BTreeMap<Pair, Option<u32>>,
}

/// A number of memories, of which some are named.
#[derive(Default)]
struct Counted {
    count: u64,
    first: Vec<Found>,
}

impl Counted {
    fn add(&mut self, version: &Version, named: usize) {
        self.count += 1;
        if self.first.len() < named {
            self.first.push(Found {
                topic: version.topic.clone().unwrap_or_default(),
                ids: vec![id_text(version.id)],
                score: None,
                memories: None,
                scope: None,
            });
        }
    }
}

impl Service {
    /// Looks at every living memory, or at those of a topic, as of a moment.
    ///
    /// Costs a pass over them, and one over each topic of two or more for near-duplicates, of which it
    /// finds most and not all: those whose words share a hash (see [`Words::signature`]).
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
            let mut pass = self.pass(views, request, at.position, now_ms)?;
            // What is nearly the same is of one scope.
            let several = |scopes: &BTreeMap<_, u64>| scopes.values().any(|memories| *memories > 1);
            for topic in pass.topics.iter().filter(|(_, scopes)| several(scopes)) {
                self.near_in(
                    views,
                    topic.0,
                    at.position,
                    &pass.superseded,
                    &mut pass.similar,
                )?;
            }
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
        position: Position,
        now_ms: u64,
    ) -> QueryResult<Pass> {
        let mut pass = Pass::default();
        match &request.topic {
            Some(topic) => {
                for entity in views.members(topic)? {
                    if let Some(version) = views.version_at(entity, position)?
                        && topic_fits(topic, version.topic.as_deref().unwrap_or_default())
                    {
                        self.look_at(views, request, (position, now_ms), &version, &mut pass)?;
                    }
                }
            }
            None => {
                let mut failed = None;
                views.each_at(ALL_IDS, position, false, &mut |_, version| {
                    let looked =
                        self.look_at(views, request, (position, now_ms), version, &mut pass);
                    failed = looked.err();
                    Ok(failed.is_none())
                })?;
                if let Some(error) = failed {
                    return Err(error);
                }
            }
        }
        Ok(pass)
    }

    fn look_at(
        &self,
        views: &Views,
        request: &HealthRequest,
        (position, now_ms): (Position, u64),
        version: &Version,
        pass: &mut Pass,
    ) -> QueryResult<()> {
        if !version.is_alive() {
            return Ok(());
        }
        pass.memories += 1;
        if let Some(topic) = &version.topic {
            let scopes = pass.topics.entry(topic.clone()).or_default();
            *scopes.entry(version.scope_text()).or_default() += 1;
        }
        let entity = views.resolve(version.id)?;
        let before = |ms: u64, days: u64| ms.saturating_add(days * DAY_MS) < now_ms;
        let quiet = version.importance <= Importance::Medium
            && before(version.updated_ms, u64::from(request.stale_days));
        let old = before(version.created_ms, NEVER_DAYS);
        if quiet || old {
            let (recalls, last_ms) = views.accesses_at(&self.log, entity, position)?;
            if quiet && last_ms.is_none_or(|last| before(last, u64::from(request.stale_days))) {
                pass.stale.add(version, request.named);
            }
            if old && recalls == 0 {
                pass.never.add(version, request.named);
            }
        }
        if views.tally().links == 0 {
            return Ok(());
        }
        for link in views.links_at(entity, position)? {
            let (from, to) = (views.resolve(link.from)?, views.resolve(link.to)?);
            let other = if from == entity { to } else { from };
            let pair = (from.min(to), from.max(to));
            let there = |id| -> QueryResult<bool> {
                Ok(views
                    .version_at(id, position)?
                    .is_some_and(|it| it.is_alive()))
            };
            if from == to || !there(other)? {
                continue;
            }
            match link.relation {
                Relation::SUPERSEDES => _ = pass.superseded.insert(to),
                Relation::CONTRADICTS => _ = pass.contradictions.insert(pair),
                Relation::SIMILAR_TO => _ = pass.similar.insert(pair, link.score_ppm),
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds the pairs of a topic that are nearly the same. Each memory is compared with the first and
    /// with the last one before it that shares a number of its signature.
    fn near_in(
        &self,
        views: &Views,
        topic: &str,
        position: Position,
        superseded: &BTreeSet<SubjectId>,
        similar: &mut BTreeMap<Pair, Option<u32>>,
    ) -> QueryResult<()> {
        let mut bands: Vec<(u8, u64, SubjectId)> = Vec::new();
        let mut texts = Texts::default();
        for entity in views.members(topic)? {
            let Some(version) = views.version_at(entity, position)? else {
                continue;
            };
            let is_here = version.is_alive() && version.topic.as_deref() == Some(topic);
            if is_here
                && !superseded.contains(&entity)
                && let Some(text) = text_of(&version)
                && let Some(numbers) = text.words.signature()
            {
                texts.keep(entity, text);
                let numbers = (0..SIGNATURE_BANDS as u8).zip(numbers);
                bands.extend(numbers.map(|(band, number)| (band, number, entity)));
            }
        }
        bands.sort_unstable();
        let least_ppm = match self.settings.dedup.similar_ppm {
            0 => Dedup::default().similar_ppm,
            least => least,
        };
        let mut met: HashSet<Pair> = similar.keys().copied().collect();
        // Those that were found to repeat an older one: once is enough.
        let mut repeats: HashSet<SubjectId> = HashSet::new();
        for shared in bands.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            for at in 1..shared.len() {
                let newer = shared[at].2;
                for older in [shared[0].2, shared[at - 1].2] {
                    let pair = (older.min(newer), older.max(newer));
                    if repeats.contains(&newer) || !met.insert(pair) {
                        continue;
                    }
                    if let Some(score) = self.alike(views, &mut texts, pair, position)?
                        && score >= least_ppm
                    {
                        similar.insert(pair, Some(score));
                        repeats.insert(newer);
                    }
                }
            }
        }
        Ok(())
    }

    /// How alike two memories of one scope are.
    fn alike(
        &self,
        views: &Views,
        texts: &mut Texts,
        pair: Pair,
        position: Position,
    ) -> QueryResult<Option<u32>> {
        let mut text = |id| -> QueryResult<_> {
            if let Some(held) = texts.held.get(&id) {
                return Ok(Some(held.clone()));
            }
            let version = views.version_at(id, position)?;
            let text = version.as_ref().and_then(text_of);
            Ok(text.map(|text| texts.keep(id, text)))
        };
        let (Some(one), Some(other)) = (text(pair.0)?, text(pair.1)?) else {
            return Ok(None);
        };
        let alike = || one.words.similarity_ppm(&other.words);
        Ok((one.scope == other.scope).then(alike))
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
            // The newer of two that say the same, or the one that is right, stays.
            let command = match first.first() {
                Some(Found { ids, .. }) => format!("icm link {} {} -r supersedes", ids[1], ids[0]),
                None => "icm link NEWER OLDER -r supersedes".to_owned(),
            };
            pairs.push(HealthFinding {
                finding: kind,
                count: found.len() as u64,
                first,
                command,
            });
        }
        let over = match self.settings.hint_over {
            0 => HINT_OVER,
            over => over,
        };
        let mut full: Vec<Found> = Vec::new();
        for (topic, scopes) in pass.topics {
            let several = scopes.len() > 1;
            let crowded = scopes.into_iter().filter(|(_, memories)| *memories > over);
            full.extend(crowded.map(|(scope, memories)| Found {
                topic: topic.clone(),
                ids: Vec::new(),
                score: None,
                memories: Some(memories),
                scope: several.then_some(scope),
            }));
        }
        // Those of one size stay by topic and scope.
        full.sort_by_key(|found| std::cmp::Reverse(found.memories));
        let count = full.len() as u64;
        let command = match full.first() {
            Some(found) => consolidate_command(&found.topic, found.scope.as_deref()),
            None => "icm consolidate -t TOPIC".to_owned(),
        };
        let command = format!("{command} --dry-run");
        full.truncate(request.named);
        let over_full = HealthFinding {
            finding: FindingKind::OverFull,
            count,
            first: full,
            command,
        };
        let forget = match pass.never.first.first() {
            Some(Found { ids, .. }) => format!("icm forget {}", ids[0]),
            None => "icm forget ID".to_owned(),
        };
        let single = |finding, counted: Counted, command: &str| HealthFinding {
            finding,
            count: counted.count,
            first: counted.first,
            command: command.to_owned(),
        };
        // What never had a tick is as heavy as on its first day.
        let ticked = views.schedule_at(position)?.last_day();
        let stale = match ticked.is_some_and(|day| day >= day_of(now_ms)) {
            true => "icm prune --dry-run",
            false => "icm decay",
        };
        let mut findings = vec![
            single(FindingKind::Stale, pass.stale, stale),
            single(FindingKind::NeverRecalled, pass.never, &forget),
            over_full,
        ];
        findings.extend(pairs);
        findings.sort_by_key(|finding| finding.finding);
        Ok(findings)
    }

    fn named_pair(
        &self,
        views: &Views,
        pair: Pair,
        score_ppm: Option<u32>,
        position: Position,
    ) -> QueryResult<Option<Found>> {
        let (one, other) = (
            views.version_at(pair.0, position)?,
            views.version_at(pair.1, position)?,
        );
        let (Some(one), Some(other)) = (one, other) else {
            return Ok(None);
        };
        let mut both = [&one, &other];
        both.sort_by_key(|version| (version.created_ms, version.id));
        Ok(Some(Found {
            topic: both[1].topic.clone().unwrap_or_default(),
            ids: both.iter().map(|version| id_text(version.id)).collect(),
            score: score_ppm.map(|ppm| f64::from(ppm) / 1e6),
            memories: None,
            scope: None,
        }))
    }
}

fn text_of(version: &Version) -> Option<Text> {
    Some(Text {
        scope: version.scope_text(),
        words: Words::of(version.content.as_deref()?),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use icm_log::env::Env;

    use super::*;
    use crate::service::{Ground, OpenOptions};
    use crate::system::SystemEnv;
    use icm_api::{Caller, Importance, RecallRequest, StoreRequest};

    /// This machine with another clock.
    struct Clock(AtomicU64);

    impl Env for Clock {
        fn now_ms(&self) -> u64 {
            self.0.load(Ordering::Relaxed)
        }

        fn fill_random(&self, bytes: &mut [u8]) {
            SystemEnv.fill_random(bytes);
        }

        fn machine_id(&self) -> Option<String> {
            None
        }
    }

    #[test]
    fn what_nothing_changes_or_recalls_is_stale() {
        let folder = tempfile::tempdir().expect("a folder");
        let clock = Arc::new(Clock(AtomicU64::new(1_800_000_000_000)));
        let options = OpenOptions {
            dir: folder.path().join("store"),
            lock_wait: Duration::from_secs(10),
            read_only: false,
        };
        let ground = Ground {
            env: clock.clone(),
            ..Ground::system()
        };
        let service = Service::open_on(options, ground).expect("a store");
        let caller = Caller::default();
        for (content, importance) in [
            ("quorl", Importance::Medium),
            ("vimble", Importance::Low),
            ("snark", Importance::High),
        ] {
            let request = StoreRequest {
                topic: "t".to_owned(),
                content: content.to_owned(),
                importance: Some(importance),
                ..StoreRequest::default()
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
        assert_eq!(counts(), (Some(0), Some(3)));
        let request = RecallRequest {
            query: "quorl".to_owned(),
            limit: Some(1),
            record: true,
            ..RecallRequest::default()
        };
        let answer = service.recall(&caller, &request).expect("an answer");
        assert_eq!(answer.results.len(), 1);
        service.record_recalls();
        assert_eq!(counts(), (Some(0), Some(2)));
        // 91 days since they were stored, 60 since the one was recalled; the high one never is stale.
        pass(60);
        assert_eq!(counts(), (Some(1), Some(2)));
        pass(31);
        assert_eq!(counts(), (Some(2), Some(2)));
    }
}
