//! The density of events under the slider.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::{Axis, local};
use crate::Explorer;
use crate::heads::{Column, FAMILIES};
use crate::show;

/// Size of the drawing, which is stretched to the width of the page.
const WIDTH: f64 = 1_200.0;
const HEIGHT: f64 = 40.0;

/// Returns the density with its legend.
pub(super) fn density(explorer: &Explorer, columns: &[Column], axis: &Axis, at_ms: u64) -> Markup {
    let sums = FAMILIES.map(|family| {
        let of = columns.iter().map(|column| column.counts[family as usize]);
        (family, of.sum::<u64>())
    });
    let day = |ms| local(explorer, ms, "%Y-%m-%d %H:%M");
    let (first, last) = (day(axis.first_ms()), day(axis.last_ms));
    let name = format!("Events by time, from {first} to {last}");
    let at = axis.place(at_ms, WIDTH);
    html! {
        svg.density viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none" role="img" aria-label=(name) {
            title { (name) ". A column that is twice as high has four times as many events." }
            @for ((family, sum), path) in sums.iter().zip(paths(columns, axis)) {
                @if *sum > 0 {
                    path class=(family.class()) d=(path) {
                        title { (family.name()) ": " (show::count(*sum, "event", "events")) }
                    }
                }
            }
            rect.later x=(format!("{at:.1}")) y="0" width=(format!("{:.1}", WIDTH - at)) height=(HEIGHT) {}
        }
        div.legend {
            span { (first) }
            ul aria-label="Families of events" {
                @for (family, sum) in sums {
                    @if sum > 0 {
                        li { span.swatch.(family.class()) aria-hidden="true" {} (family.name()) " " (show::number(sum)) }
                    }
                }
            }
            span { (last) }
        }
    }
}

/// Returns the columns of each family as the data of a path, stacked in the order of the families.
fn paths(columns: &[Column], axis: &Axis) -> [String; FAMILIES.len()] {
    let most = columns.iter().map(Column::total).max().unwrap_or(1).max(1);
    let mut paths = FAMILIES.map(|_| String::new());
    for column in columns {
        let (from, to) = (
            axis.place(column.from_ms, WIDTH),
            axis.place(column.to_ms, WIDTH),
        );
        let total = column.total().max(1) as f64;
        // The root leaves single events visible beside an import of thousands.
        let height = (HEIGHT * (total / most as f64).sqrt()).max(2.0);
        let width = (to - from - 1.0).max(2.0);
        let mut base = HEIGHT;
        for (path, count) in paths.iter_mut().zip(column.counts) {
            if count == 0 {
                continue;
            }
            let part = height * count as f64 / total;
            base -= part;
            // Writing to a string does not fail.
            let _ = write!(
                path,
                "M{from:.1} {base:.1}h{width:.1}v{part:.1}h-{width:.1}z"
            );
        }
    }
    paths
}
