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
        let row = Row::new()
            .right(&number(topic.with_below.memories), 7, Look::Plain)
            .right(&scene.clock.age(&topic.with_below.updated_at), 4, Look::Dim)
            .plain(&indent);
        // Nobody can ask for the memories of a topic without a name.
        rows.push(match name {
            "" => row.with("(withheld)", Look::Warn),
            name => row
                .rest(name, scene.columns, Look::Name)
                .to(Target::Topic(target)),
        });
    }
    let named = topics.topics.iter().filter(|topic| topic.memories > 0);
    let named = named.count() as u64;
    if rows.is_empty() {
        rows = empty(scene.columns, &["No topic has a memory at this moment."]);
    }
    Page {
        head: facts(
            scene.columns,
            &[
                ("", count(named, "topic", "topics")),
                ("", "Enter shows the memories of one".to_owned()),
            ],
        ),
        rows,
    }
}
