//! The topics of a store, as a list and as a tree.

use serde::{Deserialize, Serialize};

use super::basis::Basis;

/// A request for topics.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopicsRequest {
    /// Only this topic and those below it.
    pub prefix: Option<String>,
    /// Levels to show below `prefix`, from 1; memories of deeper levels are still counted.
    pub depth: Option<u32>,
    /// `true` for topics with memories of their own only, without the levels above them.
    pub flat: bool,
    /// Start of the page: the last topic of the page before.
    pub after: Option<String>,
    /// Most topics; `None` for all.
    pub limit: Option<usize>,
    /// The moment to answer for, as `--at`.
    pub at: Option<String>,
}

/// A page of topics, or of levels: each stands right behind the level above it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Topics {
    /// The basis of the answer.
    pub basis: Basis,
    /// The page.
    pub topics: Vec<TopicNode>,
    /// Number of all topics or levels, on all pages.
    pub total: u64,
    /// `true` if more pages follow.
    pub more: bool,
}

impl Topics {
    /// Returns each topic with the number of topics of the page that it is below, and the rest of its name. A level that
    /// holds one topic only has no node, so [`TopicNode::level`] does not tell that number.
    pub fn nested(&self) -> Vec<(&TopicNode, usize, &str)> {
        // The chain of topics above the current one.
        let mut above: Vec<&str> = Vec::new();
        let mut nested = Vec::with_capacity(self.topics.len());
        for node in &self.topics {
            let topic = node.topic.as_str();
            let below = |above: &str| topic.strip_prefix(above)?.strip_prefix('/');
            while above.last().is_some_and(|last| below(last).is_none()) {
                above.pop();
            }
            let name = above.last().and_then(|last| below(last));
            nested.push((node, above.len(), name.unwrap_or(topic)));
            above.push(topic);
        }
        nested
    }
}

/// A topic, or a level above several topics or above topics that are not shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopicNode {
    /// Its whole name.
    pub topic: String,
    /// Living memories in it; 0 for a level that only has others below it.
    pub memories: u64,
    /// Newest change of a memory in it, or else below it, RFC 3339.
    pub updated_at: String,
    /// Mean weight of the memories in it, 0 to 1; `None` without memories.
    pub mean_weight: Option<f64>,
    /// Number of levels above it.
    pub level: u32,
    /// Sums over this topic and all below it.
    pub with_below: TopicSum,
}

/// Sums over a topic and all topics below it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopicSum {
    /// Topics with memories.
    pub topics: u64,
    /// Their living memories.
    pub memories: u64,
    /// Mean weight of these memories, 0 to 1.
    pub mean_weight: f64,
    /// Newest change, RFC 3339.
    pub updated_at: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_nested_below_the_nearest_one_of_the_page() {
        let names = [
            "a",
            "a/b/c",
            "a/b/c/d",
            "a/e",
            "ab",
            "x/y/z",
            "x/y/z/1/2",
            "",
        ];
        let topics = names.map(|topic| TopicNode {
            topic: topic.to_owned(),
            memories: 1,
            updated_at: String::new(),
            mean_weight: None,
            level: 0,
            with_below: TopicSum {
                topics: 1,
                memories: 1,
                mean_weight: 1.0,
                updated_at: String::new(),
            },
        });
        let expected = [
            (0, "a"),
            (1, "b/c"),
            (2, "d"),
            (1, "e"),
            (0, "ab"),
            (0, "x/y/z"),
            (1, "1/2"),
            (0, ""),
        ];
        let page = Topics {
            basis: Basis {
                position: 1,
                event: String::new(),
                at: String::new(),
                moment: None,
            },
            topics: topics.to_vec(),
            total: 8,
            more: false,
        };
        let nested = page.nested().into_iter();
        let nested = nested.map(|(_, above, name)| (above, name));
        assert_eq!(nested.collect::<Vec<_>>(), expected);
    }
}
