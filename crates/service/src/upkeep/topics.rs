//! The topics with what is in each and below it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

use icm_projections::fold::Version;
use icm_projections::{ALL_IDS, Views, topic_fits};

use crate::history::basis::At;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::Result;
use icm_api::when::rfc3339;
use icm_api::{Basis, TopicNode, TopicSum, TopicSummary, Topics, TopicsRequest};

/// Numbers of the memories of a topic, or of many.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    topics: u64,
    memories: u64,
    weight_ppm: u64,
    changed_ms: u64,
}

impl Sum {
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

/// A topic, or a level above some.
#[derive(Default)]
struct Node {
    own: Sum,
    below: Sum,
    children: usize,
}

/// A topic's levels: their order puts each right behind the one above it, as that of names does not.
type Levels<'t> = Vec<&'t str>;

fn levels(topic: &str) -> Levels<'_> {
    topic.split('/').collect()
}

impl Service {
    /// Topics that have a living memory, by name.
    pub fn topics(&self) -> Result<Vec<TopicSummary>> {
        self.with_views(|views| {
            let topics = views.topics()?;
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

    /// Topics and the levels above them, with their weights, as of a moment. Reads the row facts of all memories; of an
    /// earlier moment, every memory asked about.
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

    fn sums(
        &self,
        views: &Views,
        prefix: Option<&str>,
        at: At,
    ) -> QueryResult<BTreeMap<String, Sum>> {
        let below = prefix.map(|prefix| format!("{prefix}/"));
        let fits = |topic: &str| below.as_ref().is_none_or(|below| topic_fits(below, topic));
        if at.is_now
            && let Some(sums) = self.sums_of_rows(views, &fits)?
        {
            return Ok(sums);
        }
        self.sums_of_memories(views, below.as_deref(), &fits, at)
    }

    /// The sums of the topics that fit, as of now. `None` where the row facts do not tell all topics apart, as they do
    /// but for one chance in some thousand millions.
    fn sums_of_rows(
        &self,
        views: &Views,
        fits: &dyn Fn(&str) -> bool,
    ) -> QueryResult<Option<BTreeMap<String, Sum>>> {
        let topics = views.topics()?;
        let mut by_tag: HashMap<u32, Sum> = HashMap::new();
        for topic in &topics {
            let changed_ms = topic.changed_ms;
            let sum = Sum {
                topics: 1,
                changed_ms,
                ..Sum::default()
            };
            if by_tag.insert(topic.tag(), sum).is_some() {
                return Ok(None);
            }
        }
        let mut is_known = true;
        self.each_weighed(
            views,
            &mut |row, weight_ppm| match by_tag.get_mut(&row.topic) {
                Some(sum) => {
                    sum.memories += 1;
                    sum.weight_ppm += u64::from(weight_ppm);
                }
                None => is_known = false,
            },
        )?;
        if !is_known {
            return Ok(None);
        }
        let topics = topics.into_iter().filter(|topic| fits(&topic.topic));
        let sums = topics.map(|topic| {
            let sum = by_tag[&topic.tag()];
            (topic.topic, sum)
        });
        Ok(Some(sums.filter(|(_, sum)| sum.memories > 0).collect()))
    }

    fn sums_of_memories(
        &self,
        views: &Views,
        below: Option<&str>,
        fits: &dyn Fn(&str) -> bool,
        at: At,
    ) -> QueryResult<BTreeMap<String, Sum>> {
        let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
        let mut add = |version: &Version| -> QueryResult<()> {
            let topic = version.topic.as_deref().unwrap_or_default();
            if !fits(topic) || version.hidden {
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
        if at.is_now {
            // What moved elsewhere was a change, too.
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

fn tree(
    sums: &BTreeMap<String, Sum>,
    prefix: Option<&str>,
    request: &TopicsRequest,
    basis: Basis,
) -> Topics {
    let mut nodes: BTreeMap<Levels<'_>, Node> = BTreeMap::new();
    let top = prefix.map_or(0, |prefix| levels(prefix).len() - 1);
    for (topic, sum) in sums {
        let levels = levels(topic);
        for above in top + 1..=levels.len() {
            let node = nodes.entry(levels[..above].to_vec());
            let new = matches!(node, Entry::Vacant(_));
            node.or_default().below.add(*sum);
            if new && let Some(parent) = nodes.get_mut(&levels[..above - 1]) {
                parent.children += 1;
            }
        }
        nodes.entry(levels).or_default().own = *sum;
    }
    let deepest = request.depth.map(|depth| top + depth as usize);
    let wanted = |levels: &Levels<'_>, node: &Node| {
        let len = levels.len();
        // A level of its own says something where ways part, or where nothing below it is shown.
        let says = !request.flat && (node.children > 1 || deepest == Some(len));
        (node.own.memories > 0 || says) && deepest.is_none_or(|deepest| len <= deepest)
    };
    let after = request.after.as_deref().map(levels);
    let all = nodes.iter().filter(|(levels, node)| wanted(levels, node));
    let total = all.clone().count();
    let mut left = all.filter(|(levels, _)| after.as_ref().is_none_or(|after| *levels > after));
    let limit = request.limit.unwrap_or(usize::MAX);
    let topics: Vec<TopicNode> = left
        .by_ref()
        .take(limit)
        .map(|(levels, Node { own, below, .. })| TopicNode {
            topic: levels.join("/"),
            memories: own.memories,
            updated_at: rfc3339(match own.memories {
                0 => below.changed_ms,
                _ => own.changed_ms,
            }),
            mean_weight: own.mean_weight(),
            level: (levels.len() - 1) as u32,
            with_below: TopicSum {
                topics: below.topics,
                memories: below.memories,
                mean_weight: below.mean_weight().unwrap_or_default(),
                updated_at: rfc3339(below.changed_ms),
            },
        })
        .collect();
    Topics {
        basis,
        more: left.next().is_some(),
        total: total as u64,
        topics,
    }
}
