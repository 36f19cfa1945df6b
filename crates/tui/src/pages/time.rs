//! The page *Time*: the days with events, to go to one.

use super::{Page, Scene, empty, facts};
use crate::row::{Look, Row, Target};
use crate::text::{count, number};
use crate::timeline::Timeline;

/// Makes the page.
pub(crate) fn page(scene: &Scene<'_>, timeline: &Timeline) -> Page {
    let days = timeline.days(scene.clock);
    let most = days.iter().map(|day| day.events()).max().unwrap_or(0);
    let wide = match scene.columns {
        ..60 => 8,
        60..100 => 16,
        _ => 40,
    };
    let mut rows: Vec<Row> = Vec::with_capacity(days.len());
    for day in &days {
        let events = day.events();
        let filled = (events as f64 / most.max(1) as f64 * wide as f64).ceil() as usize;
        let bar = "▇".repeat(filled.min(wide));
        let mut parts = Vec::new();
        // The families of events, by the first word of their kinds.
        for (n, what) in [
            (day.memory, "memory"),
            (day.recall, "recall"),
            (day.graph, "memoir"),
            (day.session, "session"),
            (day.other, "other"),
        ] {
            if n > 0 {
                parts.push(format!("{what} {}", number(n)));
            }
        }
        rows.push(
            Row::new()
                .column(
                    &day.date.strftime("%Y-%m-%d %a").to_string(),
                    14,
                    Look::Plain,
                )
                .right(&number(events), 7, Look::Bold)
                .column(&bar, wide, Look::Name)
                .rest(&parts.join(", "), scene.columns, Look::Dim)
                .to(Target::Day(day.date.to_string())),
        );
    }
    let events: u64 = days.iter().map(|day| day.events()).sum();
    if rows.is_empty() {
        rows = match timeline.is_empty() {
            true => empty(scene.columns, &["Reading the log …"]),
            false => Vec::new(),
        };
    }
    Page {
        head: facts(
            scene.columns,
            &[
                ("", count(events, "event", "events")),
                ("on", count(days.len() as u64, "day", "days")),
                ("", "Enter goes to the end of a day".to_owned()),
            ],
        ),
        rows,
    }
}
