//! `icm stats`

use clap::Args;
use icm_api::Stats;

use crate::app::App;
use crate::columns;
use crate::error::{CliError, Outcome};
use crate::text::{bytes, count};
use crate::ui::Ui;
use crate::when;

/// Show the store in numbers: memories, events, bytes, how far each view is
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// As this machine knew at that time; bytes and views are always those of now
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

pub(crate) fn run(args: StatsArgs, app: &App) -> Result<Outcome, CliError> {
    let stats = app.service()?.stats(args.at.as_deref())?;

    if app.ui.json {
        app.ui.json(&stats)?;
    } else {
        print(&app.ui, &stats, args.at.is_none())?;
    }
    Ok(Outcome::Fine)
}

fn print(ui: &Ui, stats: &Stats, now: bool) -> Result<(), CliError> {
    let time = |at: &Option<String>| match at {
        Some(at) => when::at_and_ago(ui.now, at),
        None => "never".into(),
    };
    let mut rows = Vec::new();
    let mut add = |name: &'static str, value: String| rows.push((name, value));
    add("store", stats.store.display().to_string());
    add(
        "origin",
        stats.origin.clone().unwrap_or_else(|| match stats.events {
            0 => "none before the first write".into(),
            _ => "unknown: store.toml cannot be read".into(),
        }),
    );
    add("memories", stats.memories.to_string());
    add("forgotten", stats.forgotten.to_string());
    let split = |parts: &[(&str, u64)]| {
        let parts = parts.iter().filter(|(_, n)| *n > 0);
        let parts: Vec<_> = parts.map(|(name, n)| format!("{n} {name}")).collect();
        parts.join(", ")
    };
    if stats.memories > 0 {
        let it = &stats.by_importance;
        add(
            "importance",
            split(&[
                ("critical", it.critical),
                ("high", it.high),
                ("medium", it.medium),
                ("low", it.low),
            ]),
        );
        let it = &stats.by_scope;
        add(
            "scope",
            split(&[
                ("global", it.global),
                ("of projects", it.project),
                ("of sessions", it.session),
            ]),
        );
        let it = &stats.by_trust;
        add(
            "trust",
            split(&[
                ("user", it.user),
                ("agent", it.agent),
                ("external", it.external),
            ]),
        );
        let weight = stats.mean_weight.unwrap_or_default();
        add("mean weight", format!("{weight:.2}"));
        add("oldest memory", time(&stats.oldest_at));
        add("newest memory", time(&stats.newest_at));
    }
    add("topics", stats.topics.to_string());
    add("recalls", stats.recalls.to_string());
    if stats.memoirs > 0 {
        add("memoirs", stats.memoirs.to_string());
        add("concepts", stats.concepts.to_string());
    }
    add("events", stats.events.to_string());
    let position = if now { "newest position" } else { "position" };
    add(position, format!("@{}", stats.positions));
    add("first event", time(&stats.first_event_at));
    add("last event", time(&stats.last_event_at));
    if !now {
        return columns::print_pairs(ui, &rows);
    }
    let it = &stats.sizes;
    let parts = [
        ("log", it.log),
        ("views", it.table + it.text + it.vectors),
        ("cache", it.cache),
        ("torn", it.torn),
        ("models", it.models),
    ];
    let parts = parts.iter().filter(|(_, n)| *n > 0);
    let parts: Vec<_> = parts
        .map(|(name, n)| format!("{name} {}", bytes(*n)))
        .collect();
    add(
        "size",
        format!("{}, of it {}", bytes(stats.bytes), parts.join(", ")),
    );
    let on_disk = stats.views.iter().any(|view| view.bytes > 0);
    if !on_disk && stats.events > 0 {
        add("views", "in memory, read from the log".into());
    }
    for view in stats.views.iter().filter(|_| on_disk) {
        let state = match view.behind {
            0 => "up to date".to_string(),
            n => format!("{} behind", count(n, "event", "events")),
        };
        add(
            match view.view.as_str() {
                "table" => "view table",
                "vectors" => "view vectors",
                _ => "view text",
            },
            format!("@{}, {state}, {}", view.position, bytes(view.bytes)),
        );
    }
    columns::print_pairs(ui, &rows)
}
