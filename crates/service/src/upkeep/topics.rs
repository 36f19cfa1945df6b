//! Topics as a tree, with the numbers of each and of those below it.

use std::collections::BTreeMap;

use icm_projections::fold::Version;
use icm_projections::{ALL_IDS, Row, TopicCount, Views, topic_fits};
use rustc_hash::FxHashMap;

use super::weights::FULL_PPM;
use crate::history::basis::At;
use crate::memory::expiry::Expired;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::Result;
use icm_api::when::rfc3339;
use icm_api::{Basis, TopicNode, TopicSum, TopicSummary, Topics, TopicsRequest};

/// Numbers of the memories of one topic, or of many.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    topics: u64,
    memories: u64,
    weight_ppm: u64,
    changed_ms: u64,
}

impl Sum {
    fn of(topic: &TopicCount, weight_ppm: u64) -> Sum {
        Sum {
            topics: 1,
            memories: topic.memories,
            weight_ppm,
            changed_ms: topic.changed_ms,
        }
    }

    fn add(&mut self, other: Sum) {
        self.topics += other.topics;
        self.memories += other.memories;
        self.weight_ppm += other.weight_ppm;
        self.changed_ms = self.changed_ms.max(other.changed_ms);
    }

    fn mean_weight(self) -> Option<f64> {
        (self.memories > 0).then(|| self.weight_ppm as f64 / self.memories as f64 / 1e6)
    }
}

/// A topic, or a level above topics.
struct Node<'t> {
    /// Its name.
    topic: &'t str,
    /// The number of its levels.
    levels: usize,
    own: Sum,
    below: Sum,
    children: usize,
}

/// Living memories of a topic.
#[derive(Clone, Copy, Default)]
struct Members {
    /// Sum of the weights of those that are not expired.
    weight_ppm: u64,
    /// Those that are expired.
    hidden: u64,
}

impl Members {
    fn add(&mut self, other: Members) {
        self.weight_ppm += other.weight_ppm;
        self.hidden += other.hidden;
    }
}

/// Returns the bytes that topics are sorted by, so that each topic stands right behind the one above it. No topic holds
/// a zero.
fn order(topic: &str) -> impl Iterator<Item = u8> {
    topic
        .bytes()
        .map(|byte| if byte == b'/' { 0 } else { byte })
}

impl Service {
    /// Returns the topics that have a living memory, by name.
    pub fn topics(&self) -> Result<Vec<TopicSummary>> {
        self.with_views(|views| {
            let mut topics = views.topics()?;
            if views.tally().depends_on_moment() {
                // Without hidden memories.
                let sums = self.sums(views, None, self.now(views))?;
                let sums: BTreeMap<String, Sum> = sums.into_iter().collect();
                topics.retain_mut(|topic| {
                    let sum = sums.get(&topic.topic);
                    topic.memories = sum.map_or(0, |sum| sum.memories);
                    topic.memories > 0
                });
            }
            Ok(topics
                .into_iter()
                .map(|topic| TopicSummary {
                    topic: topic.topic,
                    memories: topic.memories,
                    updated_at: rfc3339(topic.changed_ms),
                })
                .collect())
        })
    }

    /// Returns the topics and the levels above them, with their weights, as of a moment. Reads the counts of topics.
    /// Reads the row facts of all memories, too, if memories fade or a topic is withheld; for an earlier moment, every
    /// memory asked about.
    pub fn topic_tree(&self, request: &TopicsRequest) -> Result<Topics> {
        self.with_views(|views| {
            let at = self.at(views, request.at.as_deref(), None)?;
            let prefix = request
                .prefix
                .as_deref()
                .map(|prefix| {
                    self.topic_filter(views, &format!("{}/", prefix.trim().trim_end_matches('/')))
                })
                .transpose()?;
            let prefix = prefix.as_deref().map(|it| it.trim_end_matches('/'));
            let sums = self.sums(views, prefix, at)?;
            Ok(tree(&sums, prefix, request, at.to_basis()))
        })
    }

    fn sums(&self, views: &Views, prefix: Option<&str>, at: At) -> QueryResult<Vec<(String, Sum)>> {
        let below = prefix.map(|prefix| format!("{prefix}/"));
        let fits = |topic: &str| below.as_ref().is_none_or(|below| topic_fits(below, topic));
        if at.is_now
            && let Some(sums) = self.sums_of_topics(views, &fits)?
        {
            return Ok(sums);
        }
        let sums = self.sums_of_memories(views, below.as_deref(), &fits, at)?;
        Ok(sums.into_iter().collect())
    }

    /// Returns the sums of the topics that fit, as of now; `None` if counts and row facts disagree.
    ///
    /// Reads row facts if memories fade, or some have a withheld topic; those count as one topic without a name. Two
    /// topics in some thousand millions share a tag. Only for the memories of such topics the table is read.
    fn sums_of_topics(
        &self,
        views: &Views,
        fits: &dyn Fn(&str) -> bool,
    ) -> QueryResult<Option<Vec<(String, Sum)>>> {
        let expired = Expired::now(self, views);
        let topics = views.topics()?;
        let named: u64 = topics.iter().map(|topic| topic.memories).sum();
        let full = |memories: u64| memories * u64::from(FULL_PPM);
        let is_counted = named == views.tally().memories && !expired.is_possible();
        if is_counted && self.all_weigh_full(views)? {
            let topics = topics.into_iter().filter(|topic| fits(&topic.topic));
            let sums = topics.map(|topic| {
                let sum = Sum::of(&topic, full(topic.memories));
                (topic.topic, sum)
            });
            return Ok(Some(sums.collect()));
        }
        // By tag: its living memories, and `true` if only one topic has the tag.
        let mut by_tag: FxHashMap<u32, (Members, bool)> = FxHashMap::default();
        for topic in &topics {
            let tag = by_tag.entry(topic.tag());
            tag.and_modify(|(_, is_one)| *is_one = false)
                .or_insert((Members::default(), true));
        }
        let mut withheld = Sum::default();
        let mut withheld_in_all = 0;
        let mut shared: Vec<(Row, Members)> = Vec::new();
        self.each_weighed(views, &mut |row, weight_ppm| {
            let of_row = match expired.hides_row(row) {
                true => Members {
                    weight_ppm: 0,
                    hidden: 1,
                },
                false => Members {
                    weight_ppm: u64::from(weight_ppm),
                    hidden: 0,
                },
            };
            if row.home.is_withheld() {
                withheld_in_all += 1;
                if of_row.hidden == 0 {
                    withheld.add(Sum {
                        topics: 0,
                        memories: 1,
                        weight_ppm: of_row.weight_ppm,
                        changed_ms: row.updated_ms,
                    });
                }
                return;
            }
            let (of_tag, is_one) = by_tag.entry(row.topic).or_default();
            match is_one {
                true => of_tag.add(of_row),
                false => shared.push((*row, of_row)),
            }
        })?;
        expired.checked()?;
        if named + withheld_in_all != views.tally().memories {
            return Ok(None);
        }
        let mut by_name: FxHashMap<String, Members> = FxHashMap::default();
        for (row, of_row) in shared {
            let topic = views.version_of_row(&row)?.topic.unwrap_or_default();
            by_name.entry(topic).or_default().add(of_row);
        }
        let mut sums = Vec::with_capacity(topics.len() + 1);
        if withheld.memories > 0 && fits("") {
            withheld.topics = 1;
            sums.push((String::new(), withheld));
        }
        for mut topic in topics {
            let members = match by_tag[&topic.tag()] {
                (members, true) => members,
                _ => by_name.get(&topic.topic).copied().unwrap_or_default(),
            };
            topic.memories = topic.memories.saturating_sub(members.hidden);
            if fits(&topic.topic) && topic.memories > 0 {
                let sum = Sum::of(&topic, members.weight_ppm);
                sums.push((topic.topic, sum));
            }
        }
        Ok(Some(sums))
    }

    fn sums_of_memories(
        &self,
        views: &Views,
        below: Option<&str>,
        fits: &dyn Fn(&str) -> bool,
        at: At,
    ) -> QueryResult<BTreeMap<String, Sum>> {
        let expired = Expired::at(self, views, &at);
        let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
        let mut add = |version: &Version| -> QueryResult<()> {
            let topic = version.topic.as_deref().unwrap_or_default();
            if !fits(topic) || version.hidden || expired.hides(version) {
                return Ok(());
            }
            let sum = match sums.get_mut(topic) {
                Some(sum) => sum,
                None => sums.entry(topic.to_owned()).or_insert(Sum {
                    topics: 1,
                    ..Sum::default()
                }),
            };
            sum.changed_ms = sum.changed_ms.max(version.stamp.time.ms());
            if version.is_alive() {
                sum.memories += 1;
                sum.weight_ppm += u64::from(self.weight_ppm_at(views, version, at.position)?);
            }
            Ok(())
        };
        match below {
            Some(below) => {
                for entity in views.members(below)? {
                    if let Some(version) = views.version_at(entity, at.position)? {
                        add(&version)?;
                    }
                }
            }
            None => {
                let mut failed = None;
                views.each_at(ALL_IDS, at.position, false, &mut |_, version| {
                    failed = add(version).err();
                    Ok(failed.is_none())
                })?;
                if let Some(error) = failed {
                    return Err(error);
                }
            }
        }
        expired.checked()?;
        if at.is_now {
            // A memory that moved elsewhere is a change of its old topic, too.
            for topic in views.topics()? {
                if let Some(sum) = sums.get_mut(&topic.topic) {
                    sum.changed_ms = topic.changed_ms;
                }
            }
        }
        sums.retain(|_, sum| sum.memories > 0);
        Ok(sums)
    }
}

/// Returns the topics and the levels above them, each right behind the one above it.
fn nodes(sums: &[(String, Sum)], top: usize) -> Vec<Node<'_>> {
    let mut sorted: Vec<&(String, Sum)> = sums.iter().collect();
    sorted.sort_by(|(a, _), (b, _)| order(a).cmp(order(b)));
    let mut nodes: Vec<Node<'_>> = Vec::with_capacity(sorted.len());
    // The places of the levels of the topic before.
    let mut open: Vec<usize> = Vec::new();
    for (topic, sum) in sorted {
        let is_above = |level: &str| {
            (topic.strip_prefix(level)).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        while open.last().is_some_and(|at| !is_above(nodes[*at].topic)) {
            open.pop();
        }
        let ends = topic.match_indices('/').map(|(at, _)| at);
        let ends = ends.chain([topic.len()]).enumerate();
        for (level, end) in ends.skip(top + open.len()) {
            if let Some(parent) = open.last() {
                nodes[*parent].children += 1;
            }
            open.push(nodes.len());
            nodes.push(Node {
                topic: &topic[..end],
                levels: level + 1,
                own: Sum::default(),
                below: Sum::default(),
                children: 0,
            });
        }
        for at in &open {
            nodes[*at].below.add(*sum);
        }
        if let Some(at) = open.last() {
            nodes[*at].own = *sum;
        }
    }
    nodes
}

fn tree(
    sums: &[(String, Sum)],
    prefix: Option<&str>,
    request: &TopicsRequest,
    basis: Basis,
) -> Topics {
    let top = prefix.map_or(0, |prefix| prefix.matches('/').count());
    let nodes = nodes(sums, top);
    let deepest = request.depth.map(|depth| top + depth as usize);
    let wanted = |node: &&Node<'_>| {
        // A level without memories is shown if it has several children, or nothing below it is shown.
        let says = !request.flat && (node.children > 1 || deepest == Some(node.levels));
        (node.own.memories > 0 || says) && deepest.is_none_or(|deepest| node.levels <= deepest)
    };
    let is_after = |node: &&Node<'_>| {
        let after = request.after.as_deref();
        after.is_none_or(|after| order(node.topic).gt(order(after)))
    };
    let all = || nodes.iter().filter(wanted);
    let mut left = all().filter(is_after);
    let limit = request.limit.unwrap_or(usize::MAX);
    let topics: Vec<TopicNode> = left.by_ref().take(limit).map(shown).collect();
    Topics {
        basis,
        more: left.next().is_some(),
        total: all().count() as u64,
        topics,
    }
}

fn shown(node: &Node<'_>) -> TopicNode {
    let (own, below) = (node.own, node.below);
    let below_at = rfc3339(below.changed_ms);
    TopicNode {
        topic: node.topic.to_owned(),
        memories: own.memories,
        updated_at: match own.memories > 0 && own.changed_ms != below.changed_ms {
            true => rfc3339(own.changed_ms),
            false => below_at.clone(),
        },
        mean_weight: own.mean_weight(),
        level: (node.levels - 1) as u32,
        with_below: TopicSum {
            topics: below.topics,
            memories: below.memories,
            mean_weight: below.mean_weight().unwrap_or_default(),
            updated_at: below_at,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use icm_api::{Caller, DecayRequest, RedactRequest, StoreRequest};
    use icm_projections::TopicTag;

    use crate::service::tests::{service_at, store_in};

    use super::*;

    fn sums(topics: &[&str]) -> Vec<(String, Sum)> {
        let sum = |memories: usize| Sum {
            topics: 1,
            memories: memories as u64,
            weight_ppm: memories as u64 * u64::from(FULL_PPM),
            changed_ms: memories as u64,
        };
        let topics = topics.iter().enumerate();
        topics
            .map(|(at, topic)| ((*topic).to_owned(), sum(at + 1)))
            .collect()
    }

    #[test]
    fn each_level_has_what_is_below_it() {
        // By name `a-b` stands between `a` and `a/x`.
        let sums = sums(&["a", "a-b", "a-b/c", "a/x", "a/x/y/z", "b c/d", "b/d"]);
        let nodes = nodes(&sums, 0);
        let told = |node: &Node<'_>| {
            let (own, below) = (node.own.memories, node.below);
            let below = (below.topics, below.memories, below.changed_ms);
            (
                node.topic.to_owned(),
                node.levels,
                own,
                below,
                node.children,
            )
        };
        let expected = [
            ("a", 1, 1, (3, 10, 5), 1),
            ("a/x", 2, 4, (2, 9, 5), 1),
            ("a/x/y", 3, 0, (1, 5, 5), 1),
            ("a/x/y/z", 4, 5, (1, 5, 5), 0),
            ("a-b", 1, 2, (2, 5, 3), 1),
            ("a-b/c", 2, 3, (1, 3, 3), 0),
            ("b", 1, 0, (1, 7, 7), 1),
            ("b/d", 2, 7, (1, 7, 7), 0),
            ("b c", 1, 0, (1, 6, 6), 1),
            ("b c/d", 2, 6, (1, 6, 6), 0),
        ];
        let expected = expected.map(|(topic, levels, own, below, children)| {
            (topic.to_owned(), levels, own, below, children)
        });
        assert_eq!(nodes.iter().map(told).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn levels_begin_below_those_that_all_share() {
        let sums = sums(&["a/b", "a/b/c"]);
        let nodes = nodes(&sums, 1);
        let told: Vec<_> = nodes.iter().map(|node| (node.topic, node.levels)).collect();
        assert_eq!(told, [("a/b", 2), ("a/b/c", 3)]);
    }

    type Told = Vec<(String, u64, u64, u64)>;

    /// Returns the sums by the counts of topics and row facts, and by every memory.
    fn both(service: &Service) -> (Told, Told) {
        let told = |(topic, sum): (String, Sum)| {
            assert_eq!(sum.topics, 1);
            (topic, sum.memories, sum.weight_ppm, sum.changed_ms)
        };
        let sums = service.with_views(|views| {
            let (at, all) = (service.at(views, None, None)?, |_: &str| true);
            let quick = service.sums_of_topics(views, &all)?;
            let quick = quick.expect("without a look at every memory");
            let slow = service.sums_of_memories(views, None, &all, at)?;
            Ok((
                quick.into_iter().map(told).collect(),
                slow.into_iter().map(told).collect(),
            ))
        });
        sums.expect("an answer")
    }

    #[test]
    fn topics_with_one_tag_are_told_apart() {
        let folder = tempfile::tempdir().expect("a folder");
        let (clock, service) = service_at(folder.path());
        let [one, other] = ["topic/ebblgkjwh", "topic/gjunzdtpb"];
        assert_eq!(TopicTag::named(one), TopicTag::named(other));
        for (topic, content) in [
            (one, "quorl"),
            ("elsewhere", "vimble"),
            (one, "snark"),
            (other, "grue"),
            (other, "boojum"),
        ] {
            store_in(&service, topic, content);
            clock.0.fetch_add(10 * 24 * 3_600_000, Ordering::Relaxed);
        }
        let decayed = service.decay(&Caller::default(), &DecayRequest::default());
        decayed.expect("it ticks");
        let (quick, slow) = both(&service);
        assert_eq!(quick, slow);
        let memories: Vec<_> = quick.iter().map(|(_, memories, ..)| *memories).collect();
        assert_eq!(memories, [1, 2, 2]);
        assert!(quick[1].2 < quick[2].2);
    }

    #[test]
    fn expired_memories_are_left_out_by_their_rows() {
        let folder = tempfile::tempdir().expect("a folder");
        let (clock, service) = service_at(folder.path());
        // The last two topics share a tag.
        let [one, other] = ["topic/ebblgkjwh", "topic/gjunzdtpb"];
        for (topic, content, expires) in [
            ("t", "quorl", Some("time 5d")),
            ("t", "vimble", None),
            ("gone", "snark", Some("time 5d")),
            (one, "grue", Some("time 5d")),
            (other, "boojum", None),
        ] {
            let request = StoreRequest {
                expires: expires.map(str::to_owned),
                ..StoreRequest::new(topic, content)
            };
            service
                .store(&Caller::default(), request)
                .expect("it stores");
        }
        let topics = || {
            let (quick, slow) = both(&service);
            assert_eq!(quick, slow);
            let told = quick
                .into_iter()
                .map(|(topic, memories, ..)| (topic, memories));
            told.collect::<Vec<_>>()
        };
        assert_eq!(topics().len(), 4);
        clock.0.fetch_add(10 * 24 * 3_600_000, Ordering::Relaxed);
        assert_eq!(topics(), [("t".to_owned(), 1), (other.to_owned(), 1)]);
        let stats = service.stats(None).expect("it counts");
        assert_eq!((stats.memories, stats.expired, stats.topics), (2, 3, 1 + 1));
    }

    #[test]
    fn memories_of_a_withheld_topic_are_counted_by_their_rows() {
        let folder = tempfile::tempdir().expect("a folder");
        let (clock, service) = service_at(folder.path());
        let stored = store_in(&service, "secret", "quorl");
        clock.0.fetch_add(10 * 24 * 3_600_000, Ordering::Relaxed);
        store_in(&service, "t", "vimble");
        // Only the event is redacted: the memory stays alive, without its words.
        let request = RedactRequest {
            targets: vec![format!("@{}", stored.position)],
            ..RedactRequest::default()
        };
        let redacted = service.redact(&Caller::default(), &request);
        redacted.expect("it redacts");
        let check = || {
            let (quick, slow) = both(&service);
            assert_eq!(quick, slow);
            let topics: Vec<_> = quick.iter().map(|(topic, ..)| &topic[..]).collect();
            assert_eq!(topics, ["", "t"]);
        };
        check();
        let decayed = service.decay(&Caller::default(), &DecayRequest::default());
        decayed.expect("it ticks");
        check();
    }
}
