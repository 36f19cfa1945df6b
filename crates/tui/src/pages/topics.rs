//! The topics as a tree, to choose one.

use icm_api::Topics;

use super::{Page, Scene, empty, facts};
use crate::row::{Look, Row, Target};
use crate::text::{count, number};

/// Makes the page.
pub(crate) fn page(scene: &Scene<'_>, topics: &Topics) -> Page {
    let mut rows: Vec<Row> = Vec::new();
    for (topic, above, name) in topics.nested() {
        let indent = "  ".repeat(above.min(12));
        // Only a topic with others below it is chosen with all of them.
        let has_below = topic.with_below.memories > topic.memories;
        let target = match has_below {
            true => format!("{}/", topic.topic),
            false => topic.topic.clone(),
        };
        let columns = scene.columns.saturating_sub(18).max(8);
        rows.push(
            Row::new()
                .right(&number(topic.with_below.memories), 7, Look::Plain)
                .right(&scene.clock.age(&topic.with_below.updated_at), 4, Look::Dim)
                .plain(&indent)
                .with(&crate::text::beginning(name, columns), Look::Name)
                .to(Target::Topic(target)),
        );
    }
    if rows.is_empty() {
        rows = empty(scene.columns, &["No topic has a memory at this moment."]);
    }
    Page {
        head: facts(
            scene.columns,
            &[
                ("", count(topics.total, "topic", "topics")),
                ("", "Enter shows the memories of one".to_owned()),
            ],
        ),
        rows,
    }
}
