//! The page *Numbers*: what happened a day, what agents were shown, and sizes, as charts with a table behind each.

mod chart;
mod days;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use axum::routing::get;
use icm_api::error::Result;
use icm_api::when::timestamp;
use icm_api::{Stats, TopicsRequest};
use maud::{Markup, html};

use self::chart::{Bar, Columns, FAMILY, OTHERS, Series};
use self::days::{Column, Width, columns, number_of};
use crate::Explorer;
use crate::answer::{Page, alone, html_answer, in_background};
use crate::ask::Ask;
use crate::heads::{Day, FAMILIES, Shown, Sums};
use crate::show;

/// Numbers of days that can be chosen; the last choice is all days.
const RANGES: [(&str, i32, &str); 4] = [
    ("30", 30, "30 days"),
    ("90", 90, "90 days"),
    ("365", 365, "A year"),
    ("all", i32::MAX, "All"),
];
/// Days that a chart has at least.
const DAYS_MIN: i32 = 14;
/// Topics and clients with a bar of their own.
const BARS: usize = 10;
/// Characters of a name beside a bar.
const NAME: usize = 36;
/// Most events of a log whose memories of an earlier moment are counted before the page is sent. The count passes later
/// versions of memories, too. Raised, a step to an earlier moment takes longer.
const COUNTED_AT_ONCE: u64 = 20_000;

pub(crate) fn routes() -> Router<Arc<Explorer>> {
    Router::new().route("/numbers/store", get(store))
}

pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let is_later = is_later(explorer, ask)?;
    let (tiles, more) = match is_later {
        true => later(ask),
        false => counts(explorer, ask)?,
    };
    let (chosen, days, sums) = counted(explorer, ask)?;
    let (width, columns) = columns(&days);
    let unit = width.word();
    let x_unit = format!("{unit}, {}", explorer.service.zone_name());
    let over_time = OverTime {
        width,
        columns: &columns,
        x_unit: &x_unit,
        sums: &sums,
    };
    let main = html! {
        div #numbers-tiles hx-get=[is_later.then(|| ask.link("/numbers/store", &[]))] hx-trigger="load" hx-swap="outerHTML" { (tiles) }
        nav aria-label="Days" {
            ul.ranges {
                @for (value, _, name) in RANGES {
                    li { a href=(ask.link_with(&[("days", value)])) aria-current=[(value == chosen).then_some("true")] { (name) } }
                }
            }
        }
        h2 { "Activity" }
        (events(&over_time)?)
        (stores(&over_time)?)
        h2 { "Shown to agents" }
        p.quiet { "Tokens are estimated. Injections are what a hook or a wake-up pack showed unasked." }
        div.charts {
            (shown("Tokens by client", "Client", &sums.clients, 0)?)
            (shown("Tokens by hook and command", "Shown by", &fronts(&sums), 1)?)
        }
        div #numbers-more { (more) }
    };
    Ok(Page::new("Numbers", main))
}

/// Returns `true` if the memories of the moment are counted behind the page: that takes a second in a large store.
fn is_later(explorer: &Explorer, ask: &Ask) -> Result<bool> {
    let is_asked = ask.get("counted").is_some();
    let is_large = explorer.service.newest_position()? > COUNTED_AT_ONCE;
    Ok(ask.at.is_some() && is_large && !is_asked)
}

/// Returns the tiles and the charts of the store as it is at the moment of the page.
fn counts(explorer: &Explorer, ask: &Ask) -> Result<(Markup, Markup)> {
    let stats = explorer.service.stats(ask.at.as_deref())?;
    let more = html! {
        h2 { "Memories" }
        div.charts {
            (topics(explorer, ask)?)
            (importance(&stats)?)
        }
        h2 { "Sizes" }
        div.charts { (sizes(&stats, ask.at.is_some())?) }
    };
    Ok((tiles(&stats), more))
}

/// Returns what stands there until the browser has the counts. Without script, a link counts them.
fn later(ask: &Ask) -> (Markup, Markup) {
    let tiles = html! {
        dl.tiles { div { dt { "Events" } dd { (show::number(ask.basis.position)) } } }
        p.quiet {
            "The memories of this moment are counted behind the page. "
            a href=(ask.link_with(&[("counted", "1")])) { "Count them first" }
        }
    };
    (tiles, html! {})
}

/// The counts of a moment, which take the places of what [`later`] returned.
async fn store(
    State(explorer): State<Arc<Explorer>>,
    Query(params): Query<Vec<(String, String)>>,
    uri: Uri,
) -> Response {
    in_background(move || {
        let made = Ask::of(&explorer, &uri, params).and_then(|ask| counts(&explorer, &ask));
        match made {
            Ok((tiles, more)) => {
                let parts = html! {
                    div #numbers-tiles { (tiles) }
                    div #numbers-more hx-swap-oob="true" { (more) }
                };
                html_answer(StatusCode::OK, parts)
            }
            Err(error) => alone(&error),
        }
    })
    .await
}

/// Returns the chosen range, its days, and the counts of these days at the moment of the page.
fn counted(explorer: &Explorer, ask: &Ask) -> Result<(&'static str, RangeInclusive<i32>, Sums)> {
    let service = &explorer.service;
    let wanted = ask.get("days").unwrap_or("30");
    let (chosen, length, _) = RANGES
        .into_iter()
        .find(|(value, ..)| *value == wanted)
        .unwrap_or(RANGES[0]);
    let moment = match ask.at {
        Some(_) => ask.basis.at.clone(),
        None => icm_api::when::rfc3339(service.now_ms()),
    };
    let last = service.day(&moment).parse().map_or(0, number_of);
    let range = last.saturating_sub(length.saturating_sub(1))..=last;
    let zone = service.zone();
    let day_of = |ms| number_of(timestamp(ms).to_zoned(zone.clone()).date());
    let sums = explorer.heads.with(service.log_handle(), |seen| {
        seen.tally.sums(ask.basis.position, &range, day_of)
    })?;
    // No more days than there are, but a few.
    let first = sums.first.unwrap_or(last).min(last - DAYS_MIN + 1);
    Ok((chosen, first.max(*range.start())..=last, sums))
}

/// The parts of the page that charts over time share.
struct OverTime<'a> {
    width: Width,
    columns: &'a [Column],
    x_unit: &'a str,
    sums: &'a Sums,
}

impl OverTime<'_> {
    /// Returns a number of each column.
    fn values(&self, of: impl Fn(&Day) -> u64) -> Vec<u64> {
        let sum = |column: &Column| {
            let days = self.sums.days.range(column.days.clone());
            days.map(|(_, day)| of(day)).sum()
        };
        self.columns.iter().map(sum).collect()
    }

    fn figure(
        &self,
        what: &str,
        unit: &str,
        series: &[Series<'_>],
        columns: Columns,
    ) -> Result<Markup> {
        let title = format!("{what} a {}", self.width.word());
        let names: Vec<&str> = self.columns.iter().map(|it| it.short.as_str()).collect();
        let drawn = chart::over_time(&title, (self.x_unit, unit), &names, series, columns)?;
        let first = match self.width {
            Width::Day => "Day",
            Width::Week => "Week from",
            Width::Month => "Month from",
        };
        let heads: Vec<&str> = std::iter::once(first)
            .chain(series.iter().map(|row| row.name))
            .collect();
        let rows = self.columns.iter().enumerate().rev().map(|(at, column)| {
            let values = series.iter().map(|row| show::number(row.values[at]));
            (column.first.clone(), values.collect())
        });
        Ok(figure(
            &title,
            None,
            &drawn,
            &heads,
            &rows.collect::<Vec<_>>(),
        ))
    }
}

fn events(over_time: &OverTime<'_>) -> Result<Markup> {
    let series: Vec<Series<'_>> = FAMILIES
        .iter()
        .enumerate()
        .map(|(place, family)| Series {
            name: family.name(),
            colour: FAMILY + place,
            values: over_time.values(|day| day.families[place]),
        })
        .collect();
    over_time.figure("Events", "events", &series, Columns::Stacked)
}

fn stores(over_time: &OverTime<'_>) -> Result<Markup> {
    let series = [
        Series {
            name: "Memories stored",
            colour: 0,
            values: over_time.values(|day| day.stored),
        },
        Series {
            name: "Recalls",
            colour: 1,
            values: over_time.values(|day| day.recalled),
        },
        Series {
            name: "Injections",
            colour: 5,
            values: over_time.values(|day| day.injected),
        },
    ];
    over_time.figure("Stores and recalls", "times", &series, Columns::Grouped)
}

/// Returns a chart with its title, and a table with the same numbers.
fn figure(
    title: &str,
    note: Option<&str>,
    drawn: &Markup,
    heads: &[&str],
    rows: &[(String, Vec<String>)],
) -> Markup {
    html! {
        figure.chart {
            figcaption { (title) @if let Some(note) = note { " " span { (note) } } }
            @if rows.is_empty() { p.quiet { "Nothing to show." } }
            @else {
                (drawn)
                details {
                    summary { "As a table" }
                    div.wide tabindex="0" role="region" aria-label=(title) {
                        table {
                            caption.unseen { (title) }
                            thead { tr { @for (at, head) in heads.iter().enumerate() { th.figure[at > 0] scope="col" { (head) } } } }
                            tbody {
                                @for (name, values) in rows {
                                    tr { th scope="row" { bdi { (name) } } @for value in values { td.figure { (value) } } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the name of each front for people.
fn fronts(sums: &Sums) -> BTreeMap<String, Shown> {
    let named = sums.fronts.iter().map(|(front, shown)| {
        let name = match *front {
            "recall" => "A recall",
            "context" => "Context of a prompt",
            "wake-up" => "Wake-up pack",
            "hook" => "Hook",
            _ => "Not recorded",
        };
        (name.to_owned(), *shown)
    });
    named.collect()
}

fn shown(
    title: &str,
    head: &str,
    counts: &BTreeMap<String, Shown>,
    colour: usize,
) -> Result<Markup> {
    let mut sorted: Vec<_> = counts.iter().collect();
    sorted.sort_by(|a, b| b.1.tokens.cmp(&a.1.tokens).then(a.0.cmp(b.0)));
    let bars = sorted.iter().take(BARS);
    let bars = bars.map(|(name, shown)| bar(&(show::start_of(name, NAME), shown.tokens), colour));
    let drawn = chart::bars(title, &bars.collect::<Vec<_>>())?;
    let rows = sorted.iter().map(|(name, shown)| {
        let name = show::start_of(name, 128);
        (
            name,
            vec![show::number(shown.times), show::number(shown.tokens)],
        )
    });
    Ok(figure(
        title,
        Some("in the chosen days"),
        &drawn,
        &[head, "Times", "Tokens"],
        &rows.collect::<Vec<_>>(),
    ))
}

fn topics(explorer: &Explorer, ask: &Ask) -> Result<Markup> {
    let request = TopicsRequest {
        flat: true,
        at: ask.at.clone(),
        ..TopicsRequest::default()
    };
    let mut topics = explorer.service.topic_tree(&request)?.topics;
    topics.sort_by(|a, b| {
        b.memories
            .cmp(&a.memories)
            .then_with(|| a.topic.cmp(&b.topic))
    });
    let named = topics.iter().map(|topic| match topic.topic.is_empty() {
        true => ("(withheld)".to_owned(), topic.memories),
        false => (show::start_of(&topic.topic, NAME), topic.memories),
    });
    let named: Vec<(String, u64)> = named.collect();
    let mut bars: Vec<_> = named.iter().take(BARS).map(|it| bar(it, 2)).collect();
    let (others, rest) = named.split_at_checked(BARS).map_or((0, 0), |(_, rest)| {
        (rest.len(), rest.iter().map(|(_, count)| count).sum())
    });
    if others > 0 {
        let name = show::count(others as u64, "other topic", "other topics");
        bars.push(bar(&(name, rest), OTHERS));
    }
    let drawn = chart::bars("Memories by topic", &bars)?;
    let rows = named.into_iter().take(200);
    let rows = rows.map(|(name, count)| (name, vec![show::number(count)]));
    Ok(figure(
        "Memories by topic",
        None,
        &drawn,
        &["Topic", "Memories"],
        &rows.collect::<Vec<_>>(),
    ))
}

fn bar((name, value): &(String, u64), colour: usize) -> Bar {
    Bar {
        name: name.clone(),
        value: *value,
        told: show::number(*value),
        colour,
    }
}

fn importance(stats: &Stats) -> Result<Markup> {
    let of = &stats.by_importance;
    let named = [
        ("Critical", of.critical),
        ("High", of.high),
        ("Medium", of.medium),
        ("Low", of.low),
    ];
    let named = named.map(|(name, count)| (name.to_owned(), count));
    let drawn = chart::bars(
        "Memories by importance",
        &named.each_ref().map(|it| bar(it, 3)),
    )?;
    let rows = named.map(|(name, count)| (name, vec![show::number(count)]));
    Ok(figure(
        "Memories by importance",
        None,
        &drawn,
        &["Importance", "Memories"],
        &rows,
    ))
}

fn sizes(stats: &Stats, is_past: bool) -> Result<Markup> {
    let sizes = &stats.sizes;
    let parts = [
        ("Log", sizes.log),
        ("View: table", sizes.table),
        ("View: full text", sizes.text),
        ("View: vectors", sizes.vectors),
        ("Models", sizes.models),
        ("Cache", sizes.cache),
        ("Torn tails", sizes.torn),
        ("Other", sizes.other),
    ];
    let parts = parts.into_iter().filter(|(_, size)| *size > 0);
    let parts: Vec<(String, u64)> = parts.map(|(name, size)| (name.to_owned(), size)).collect();
    let bars: Vec<_> = parts
        .iter()
        .map(|part| Bar {
            told: bytes(part.1),
            ..bar(part, 5)
        })
        .collect();
    let drawn = chart::bars("Bytes of the store's folder", &bars)?;
    let rows = parts
        .iter()
        .map(|(name, size)| (name.clone(), vec![show::number(*size)]));
    Ok(figure(
        "Bytes of the store's folder",
        is_past.then_some("now, not at the moment of this page"),
        &drawn,
        &["Part", "Bytes"],
        &rows.collect::<Vec<_>>(),
    ))
}

fn tiles(stats: &Stats) -> Markup {
    let tile = |name: &str, value: String, more: String| {
        html! { div { dt { (name) } dd { (value) @if !more.is_empty() { small { (more) } } } } }
    };
    html! {
        dl.tiles {
            (tile("Memories", show::number(stats.memories), format!("{} forgotten", show::number(stats.forgotten))))
            (tile("Topics", show::number(stats.topics), String::new()))
            (tile("Concepts", show::number(stats.concepts), show::count(stats.memoirs, "memoir", "memoirs")))
            (tile("Events", show::number(stats.events), String::new()))
            (tile("Recalls", show::number(stats.recalls), "injections count, too".to_owned()))
            (tile("Store", bytes(stats.bytes), "on disk now".to_owned()))
        }
    }
}

/// Returns a number of bytes for people: `940 B`, `12.3 MB`.
fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1_000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1_000.0;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1_000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests;
