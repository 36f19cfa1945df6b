//! `icm stats`

use clap::Args;
use icm_agents::shown::{Tokens, token_stats};
use icm_api::Stats;

use super::sessions::Names;
use crate::app::App;
use crate::columns::{self, Cell};
use crate::error::{CliError, Outcome};
use crate::text::{bytes, count, one_line};
use crate::ui::{BOLD, DIM, Ui};
use crate::when;

/// Most rows of each part of `--tokens`; `--json` has all rows.
const TOKEN_ROWS: usize = 20;

/// Show the store in numbers: memories, events, bytes, state of each view
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm stats
  icm stats --tokens --since yesterday    # what agents were shown")]
pub(crate) struct StatsArgs {
    /// As this machine knew at that time; bytes and views are always the present ones
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Show the tokens of shown memories: by client, session, front and day
    #[arg(long, conflicts_with = "at")]
    tokens: bool,
    /// With `--tokens`: only since this time
    #[arg(long, value_name = "TIME", requires = "tokens")]
    since: Option<String>,
}

pub(crate) fn run(args: StatsArgs, app: &App) -> Result<Outcome, CliError> {
    if args.tokens {
        return tokens(args.since.as_deref(), app);
    }
    let stats = app.service()?.stats(args.at.as_deref())?;

    if app.ui.json {
        app.ui.json(&stats)?;
    } else {
        print(&app.ui, &stats, args.at.is_none())?;
    }
    Ok(Outcome::Fine)
}

fn tokens(since: Option<&str>, app: &App) -> Result<Outcome, CliError> {
    let stats = token_stats(app.service()?, since)?;
    if app.ui.json {
        app.ui.json(&stats)?;
        return Ok(Outcome::Fine);
    }
    let names = match stats.by_session.is_empty() {
        true => Names::default(),
        false => Names::read(app.service()?)?,
    };
    let mut rows = vec![token_row("all", &stats.total)];
    for (title, parts) in [
        ("by client", &stats.by_client),
        ("by front", &stats.by_front),
        ("by day", &stats.by_day),
        ("by session", &stats.by_session),
    ] {
        if !parts.is_empty() {
            rows.push(vec![Cell::new(title).style(BOLD)]);
        }
        let skipped = parts.len().saturating_sub(TOKEN_ROWS);
        let parts = parts.iter().skip(skipped);
        rows.extend(parts.map(|(name, tokens)| {
            // The name of a client, a front or a day is never a session's id, so it is returned unchanged.
            let name = one_line(names.of(name));
            token_row(&format!("  {name}"), tokens)
        }));
    }
    columns::print(&app.ui, &rows)?;
    Ok(Outcome::Fine)
}

fn token_row(name: &str, tokens: &Tokens) -> Vec<Cell> {
    vec![
        Cell::new(name),
        Cell::new(count(tokens.tokens, "token", "tokens")).right(),
        Cell::new(count(tokens.times, "time", "times"))
            .right()
            .style(DIM),
        Cell::new(count(tokens.memories, "memory", "memories"))
            .right()
            .style(DIM),
    ]
}

/// Names and values, in the order of printing.
type Rows = Vec<(&'static str, String)>;

fn print(ui: &Ui, stats: &Stats, now: bool) -> Result<(), CliError> {
    let mut rows: Rows = Vec::new();
    add(&mut rows, "store", stats.store.display().to_string());
    add(
        &mut rows,
        "origin",
        stats.origin.clone().unwrap_or_else(|| match stats.events {
            0 => "none before the first write".into(),
            _ => "unknown: store.toml cannot be read".into(),
        }),
    );
    add(&mut rows, "memories", stats.memories.to_string());
    add(&mut rows, "forgotten", stats.forgotten.to_string());
    if stats.expired > 0 {
        add(&mut rows, "expired", stats.expired.to_string());
    }
    if stats.memories > 0 {
        add_kinds(&mut rows, ui, stats);
    }
    add(&mut rows, "topics", stats.topics.to_string());
    add(&mut rows, "recalls", stats.recalls.to_string());
    if stats.memoirs > 0 {
        add(&mut rows, "memoirs", stats.memoirs.to_string());
        add(&mut rows, "concepts", stats.concepts.to_string());
    }
    add(&mut rows, "events", stats.events.to_string());
    let position = if now { "newest position" } else { "position" };
    add(&mut rows, position, format!("@{}", stats.positions));
    add(&mut rows, "first event", time(ui, &stats.first_event_at));
    add(&mut rows, "last event", time(ui, &stats.last_event_at));
    if !now {
        return columns::print_pairs(ui, &rows);
    }
    add_sizes(&mut rows, stats);
    columns::print_pairs(ui, &rows)
}

fn add(rows: &mut Rows, name: &'static str, value: String) {
    rows.push((name, value));
}

fn time(ui: &Ui, at: &Option<String>) -> String {
    match at {
        Some(at) => when::at_and_ago(ui.now, at),
        None => "never".into(),
    }
}

/// Returns the parts with a number above 0, each with its number.
fn split(parts: &[(&str, u64)]) -> String {
    let parts = parts.iter().filter(|(_, n)| *n > 0);
    let parts: Vec<_> = parts.map(|(name, n)| format!("{n} {name}")).collect();
    parts.join(", ")
}

/// Adds the memories by importance, scope and trust, and their weight and age.
fn add_kinds(rows: &mut Rows, ui: &Ui, stats: &Stats) {
    let it = &stats.by_importance;
    add(
        rows,
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
        rows,
        "scope",
        split(&[
            ("global", it.global),
            ("of projects", it.project),
            ("of sessions", it.session),
        ]),
    );
    let it = &stats.by_trust;
    add(
        rows,
        "trust",
        split(&[
            ("user", it.user),
            ("agent", it.agent),
            ("external", it.external),
        ]),
    );
    let weight = stats.mean_weight.unwrap_or_default();
    add(rows, "mean weight", format!("{weight:.2}"));
    add(rows, "oldest memory", time(ui, &stats.oldest_at));
    add(rows, "newest memory", time(ui, &stats.newest_at));
}

/// Adds the bytes on disk, and the state of each view.
fn add_sizes(rows: &mut Rows, stats: &Stats) {
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
        rows,
        "size",
        format!("{}, of it {}", bytes(stats.bytes), parts.join(", ")),
    );
    let on_disk = stats.views.iter().any(|view| view.bytes > 0);
    if !on_disk && stats.events > 0 {
        add(rows, "views", "in memory, read from the log".into());
    }
    for view in stats.views.iter().filter(|_| on_disk) {
        let state = match view.behind {
            0 => "up to date".to_string(),
            n => format!("{} behind", count(n, "event", "events")),
        };
        add(
            rows,
            match view.view.as_str() {
                "table" => "view table",
                "vectors" => "view vectors",
                _ => "view text",
            },
            format!("@{}, {state}, {}", view.position, bytes(view.bytes)),
        );
    }
}
