//! Tags: short hashes of topics and scopes, by which rows are told apart without their texts.

use xxhash_rust::xxh3::xxh3_64;

use crate::fold::Version;

/// The tag of a topic in the row facts; see [`super::Row::topic`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TopicTag(pub(crate) u32);

impl TopicTag {
    /// Returns the tag of a topic by its name.
    pub fn named(topic: &str) -> TopicTag {
        TopicTag(topic_tag(Some(topic)))
    }

    /// Returns the tag of a version's topic (or memoir).
    pub fn of(version: &Version) -> TopicTag {
        TopicTag(topic_tag(version.topic.as_deref()))
    }
}

/// A tag of a topic and a scope. Two different pairs share a tag with a chance of 1 in 2^64.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HomeTag(pub(super) u64);

impl HomeTag {
    /// Returns the tag of a version; the default if its topic is withheld.
    pub(super) fn of(version: &Version) -> HomeTag {
        let Some(topic) = &version.topic else {
            return HomeTag::default();
        };
        // Topics have no line breaks.
        HomeTag(xxh3_64(
            format!("{topic}\n{}", version.scope_text()).as_bytes(),
        ))
    }

    /// Returns `true` if the topic is withheld.
    pub fn is_withheld(self) -> bool {
        self == HomeTag::default()
    }
}

/// Returns the tag of a topic.
pub(crate) fn topic_tag(topic: Option<&str>) -> u32 {
    crc32c::crc32c(topic.unwrap_or_default().as_bytes())
}
