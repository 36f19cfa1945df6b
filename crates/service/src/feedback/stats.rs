//! The numbers of feedback.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use icm_projections::Views;
use icm_projections::fold::{EntityId, FEEDBACK, Family, MARKED, Version};

use super::row::row;
use crate::history::basis::At;
use crate::memory::link::marks;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::Result;
use icm_api::ids::id_text;
use icm_api::{FeedbackDiff, FeedbackStats, FeedbackTopic, MarkedMemory, Marks};
use icm_guard::sanitize::clean_line;

/// Memories that are named of each judgement, 10. Raised, an answer names more.
const NAMED_MAX: usize = 10;
/// Characters of a memory's text that are shown, 80. Raised, an answer is longer.
const EXCERPT_CHARS: usize = 80;

impl Service {
    /// Returns how much feedback there is, by topic, and the memories that were called wrong or useful most often.
    ///
    /// Cost: reads every feedback, and the links of every memory that was ever judged.
    ///
    /// # Errors
    /// As [`Service::stats`].
    pub fn feedback_stats(&self, at: Option<&str>) -> Result<FeedbackStats> {
        self.with_views(|views| {
            let at = self.at(views, at, None)?;
            let topics = feedback_by_topic(views, &at)?;
            let mut marked = self.marked(views, &at)?;
            let sum = |of: fn(&Marks) -> u64| marked.iter().map(|it| of(&it.marks)).sum();
            let all = Marks {
                useful: sum(|marks| marks.useful),
                wrong: sum(|marks| marks.wrong),
            };
            let total = marked.len() as u64;
            let mut most = |of: fn(&Marks) -> u64| -> Vec<MarkedMemory> {
                marked.sort_by_key(|it| (Reverse(of(&it.marks)), it.id.clone()));
                let most = marked.iter().filter(|it| of(&it.marks) > 0);
                most.take(NAMED_MAX).cloned().collect()
            };
            let most_wrong = most(|marks| marks.wrong);
            let most_useful = most(|marks| marks.useful);
            Ok(FeedbackStats {
                basis: at.to_basis(),
                feedback: topics.iter().map(|topic| topic.feedback).sum(),
                by_topic: topics,
                marks: all,
                marked: total,
                most_wrong,
                most_useful,
            })
        })
    }

    /// Returns the changes of feedback and of marks between two moments.
    pub(crate) fn feedback_diff(
        &self,
        views: &Views,
        [from, to]: [&At; 2],
    ) -> QueryResult<FeedbackDiff> {
        let mut diff = FeedbackDiff::default();
        for entity in views.members(FEEDBACK)? {
            let [then, now] = [
                living_feedback(views, entity, from)?,
                living_feedback(views, entity, to)?,
            ];
            match (then, now) {
                (None, Some(now)) => diff.recorded.push(row(&now)),
                (Some(then), None) => diff.gone.push(row(&then)),
                _ => {}
            }
        }
        let [then, now] = [self.marked(views, from)?, self.marked(views, to)?];
        diff.judged = judged_between(then, now);
        Ok(diff)
    }

    /// Returns the living memories with a mark, with their marks.
    fn marked(&self, views: &Views, at: &At) -> QueryResult<Vec<MarkedMemory>> {
        let mut entities = BTreeSet::new();
        for id in views.members(MARKED)? {
            entities.insert(views.resolve(id)?);
        }
        let mut marked = Vec::new();
        for entity in entities {
            let Some(version) = views.version_at(entity, at.position)? else {
                continue;
            };
            let marks = marks(&self.links_of(views, &version, at.position, &|_| true)?);
            if marks.is_empty() {
                continue;
            }
            let content = version.content.as_deref().map(|content| {
                let line = clean_line(content);
                line.chars().take(EXCERPT_CHARS).collect()
            });
            marked.push(MarkedMemory {
                id: id_text(version.id),
                topic: version.topic.clone().unwrap_or_default(),
                content,
                marks,
            });
        }
        Ok(marked)
    }
}

/// Returns the memories whose marks differ: those with marks now in their order, then those that have none any more.
fn judged_between(then: Vec<MarkedMemory>, now: Vec<MarkedMemory>) -> Vec<MarkedMemory> {
    let marks_then: BTreeMap<&str, Marks> = then.iter().map(|it| (&*it.id, it.marks)).collect();
    let still: BTreeSet<String> = now.iter().map(|it| it.id.clone()).collect();
    let differs = |memory: &MarkedMemory| {
        let before = marks_then.get(&*memory.id).copied();
        before.unwrap_or_default() != memory.marks
    };
    let mut judged: Vec<MarkedMemory> = now.into_iter().filter(differs).collect();
    let gone = then.into_iter().filter(|it| !still.contains(&it.id));
    judged.extend(gone.map(|memory| MarkedMemory {
        marks: Marks::default(),
        ..memory
    }));
    judged
}

/// Returns feedback as of a moment, if it is alive then.
pub(super) fn living_feedback(
    views: &Views,
    entity: EntityId,
    at: &At,
) -> QueryResult<Option<Version>> {
    let version = views.version_at(entity, at.position)?;
    Ok(version.filter(|it| it.is_alive() && it.family() == Family::Feedback))
}

/// Returns the number of living feedback of each topic, largest first.
fn feedback_by_topic(views: &Views, at: &At) -> QueryResult<Vec<FeedbackTopic>> {
    let mut topics: BTreeMap<Option<String>, u64> = BTreeMap::new();
    for entity in views.members(FEEDBACK)? {
        if let Some(version) = living_feedback(views, entity, at)? {
            *topics.entry(version.key).or_default() += 1;
        }
    }
    let topics = topics.into_iter();
    let mut topics: Vec<_> = topics
        .map(|(topic, feedback)| FeedbackTopic { topic, feedback })
        .collect();
    topics.sort_by_key(|topic| Reverse(topic.feedback));
    Ok(topics)
}
