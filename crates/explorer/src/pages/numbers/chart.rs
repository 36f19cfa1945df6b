//! Charts: SVG that plotters draws. Colours are those of a light page; the style replaces them by their values.

use std::fmt::Display;

use icm_api::error::{Result, ServiceError};
use maud::{Markup, PreEscaped, html};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::show;

/// The colours of series. `explorer.css` has a rule for each.
pub(super) const SERIES: [RGBColor; 13] = [
    RGBColor(0x2f, 0x5d, 0x9b),
    RGBColor(0xc2, 0x50, 0x0c),
    RGBColor(0x1c, 0x7a, 0x4f),
    RGBColor(0x8e, 0x3a, 0x9d),
    RGBColor(0x96, 0x69, 0x0a),
    RGBColor(0x0e, 0x7f, 0x96),
    RGBColor(0xc0, 0x2a, 0x68),
    RGBColor(0x86, 0x8d, 0x98),
    // The families of events, as in the bar of time.
    RGBColor(0x2f, 0x6d, 0xb5),
    RGBColor(0x9a, 0xa3, 0xb0),
    RGBColor(0xb0, 0x65, 0x1d),
    RGBColor(0x2c, 0x8a, 0x57),
    RGBColor(0x8a, 0x4f, 0xa3),
];
/// The colour of the first family in [`SERIES`].
pub(super) const FAMILY: usize = 8;
/// The colour of a sum of others in [`SERIES`].
pub(super) const OTHERS: usize = 7;
/// Colour of texts.
pub(super) const TEXT: RGBColor = RGBColor(0x1c, 0x1f, 0x24);
/// Colour of grid lines.
pub(super) const GRID: RGBColor = RGBColor(0xe3, 0xe6, 0xea);
/// Colour of axes.
pub(super) const AXIS: RGBColor = RGBColor(0x86, 0x8d, 0x99);

/// Sizes of a chart over time: for a wide page and for a phone.
const SIZES: [(&str, (u32, u32)); 2] = [("large", (1_000, 260)), ("small", (400, 240))];
/// Size of letters. Plotters divides it by 1.24.
const LETTER: i32 = 16;
/// Width of a column, of which its bars take a share.
const COLUMN: i64 = 100;
/// Width of a chart of bars, and the height of one bar with its name.
const BAR_SIZE: (u32, u32) = (440, 40);

/// One row of numbers over the columns of a chart.
pub(super) struct Series<'a> {
    pub(super) name: &'a str,
    /// Place in [`SERIES`].
    pub(super) colour: usize,
    pub(super) values: Vec<u64>,
}

/// Columns beside or upon one another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Columns {
    Stacked,
    Grouped,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Returns columns over time, once for a wide page and once for a phone. `names` are the columns' names.
pub(super) fn over_time(
    title: &str,
    (x_unit, y_unit): (&str, &str),
    names: &[&str],
    series: &[Series<'_>],
    columns: Columns,
) -> Result<Markup> {
    let mut drawn = Vec::new();
    for (class, size) in SIZES {
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            draw_over_time(&area, (x_unit, y_unit), names, series, columns).map_err(internal)?;
            area.present().map_err(internal)?;
        }
        drawn.push(whole(&svg, class, title));
    }
    Ok(html! {
        ul.chart-legend {
            @for row in series {
                li {
                    svg.dot.{ "series-" (row.colour + 1) } viewBox="0 0 10 10" width="10" height="10" aria-hidden="true" { rect width="10" height="10" rx="2" {} }
                    (row.name) " " span.quiet { (show::number(row.values.iter().sum())) }
                }
            }
        }
        @for svg in drawn { (svg) }
    })
}

fn draw_over_time(
    area: &Area<'_>,
    (x_unit, y_unit): (&str, &str),
    names: &[&str],
    series: &[Series<'_>],
    columns: Columns,
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let count = names.len();
    let of_column = |column: usize| series.iter().map(move |row| row.values[column]);
    let most = (0..count).map(|column| match columns {
        Columns::Stacked => of_column(column).sum::<u64>(),
        Columns::Grouped => of_column(column).max().unwrap_or(0),
    });
    let steps = steps(most.max().unwrap_or(0));
    let top = steps.last().copied().unwrap_or(1);
    let (width, _) = area.dim_in_pixel();
    let widest = names.iter().map(|name| name.len()).max().unwrap_or(1);
    // A name needs about seven pixels a letter, and some room.
    let fitting = (width as usize - 70) / (widest * 8 + 14);
    let every = count.div_ceil(fitting.clamp(1, count.max(1))).max(1);
    // Counted from the newest column, whose name is always there.
    let ticks = (0..count).filter(|at| (count - 1 - at).is_multiple_of(every));
    let ticks = ticks.map(|at| at as i64 * COLUMN + COLUMN / 2).collect();
    let mut chart = ChartBuilder::on(area)
        .margin_top(8)
        .margin_right(22)
        .x_label_area_size(44)
        .y_label_area_size(58)
        .build_cartesian_2d(
            (0..count as i64 * COLUMN).with_key_points(ticks),
            (0..top as i64).with_key_points(steps.iter().map(|step| *step as i64).collect()),
        )?;
    let letters = ("sans-serif", LETTER).into_font().color(&TEXT);
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(AXIS)
        .label_style(letters.clone())
        .axis_desc_style(letters)
        .x_desc(x_unit)
        .y_desc(y_unit)
        .x_label_formatter(&|at| {
            names
                .get((*at / COLUMN) as usize)
                .map_or_else(String::new, |name| (*name).to_owned())
        })
        .y_label_formatter(&|value| short(*value as u64))
        .draw()?;
    for column in 0..count {
        let mut low = 0;
        for (place, row) in series.iter().enumerate() {
            let value = row.values[column];
            if value == 0 {
                continue;
            }
            let (left, right, from) = match columns {
                Columns::Stacked => (12, 88, low),
                Columns::Grouped => {
                    let each = 80 / series.len() as i64;
                    let left = 10 + each * place as i64;
                    (left, left + each, 0)
                }
            };
            let corner = |x: i64, y: u64| (column as i64 * COLUMN + x, y as i64);
            let bar = [corner(left, from), corner(right, from + value)];
            chart.draw_series([Rectangle::new(bar, SERIES[row.colour].filled())])?;
            low += value;
        }
    }
    Ok(())
}

/// A bar with its name above it, and its value behind it.
#[derive(Debug, Clone)]
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) value: u64,
    /// The value as it is shown.
    pub(super) told: String,
    /// Place in [`SERIES`].
    pub(super) colour: usize,
}

/// Returns bars, the longest as wide as the chart.
pub(super) fn bars(title: &str, values: &[Bar]) -> Result<Markup> {
    let (width, each) = BAR_SIZE;
    let mut svg = String::new();
    {
        let size = (width, each * values.len().max(1) as u32 + 4);
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        draw_bars(&area, values).map_err(internal)?;
        area.present().map_err(internal)?;
    }
    Ok(whole(&svg, "bars", title))
}

fn draw_bars(
    area: &Area<'_>,
    values: &[Bar],
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (width, each) = (BAR_SIZE.0 as i32, BAR_SIZE.1 as i32);
    let most = values.iter().map(|bar| bar.value).max();
    let most = most.unwrap_or(0).max(1);
    let letters = ("sans-serif", LETTER).into_font().color(&TEXT);
    let at_left = letters.pos(Pos::new(HPos::Left, VPos::Bottom));
    let at_right = letters.pos(Pos::new(HPos::Right, VPos::Bottom));
    for (row, bar) in values.iter().enumerate() {
        let base = row as i32 * each + 22;
        area.draw(&Text::new(bar.name.as_str(), (0, base), at_left.clone()))?;
        area.draw(&Text::new(
            bar.told.as_str(),
            (width, base),
            at_right.clone(),
        ))?;
        let ground = [(0, base + 3), (width, base + 13)];
        area.draw(&Rectangle::new(ground, GRID.filled()))?;
        let share = (u128::from(bar.value) * width as u128 / u128::from(most)) as i32;
        let length = if bar.value > 0 { share.max(2) } else { 0 };
        if length > 0 {
            let corners = [(0, base + 3), (length, base + 13)];
            area.draw(&Rectangle::new(corners, SERIES[bar.colour].filled()))?;
        }
    }
    Ok(())
}

/// Returns what plotters drew as a part of a page: it takes the width of its place, and has a name. Plotters escapes each
/// text and each attribute.
fn whole(svg: &str, class: &str, title: &str) -> Markup {
    let opened = svg.find("viewBox").filter(|_| svg.starts_with("<svg "));
    let rest = opened.map_or("", |at| &svg[at..]);
    let name = html! { (title) }.into_string().replace('"', "&quot;");
    PreEscaped(format!(
        "<svg class=\"drawn {class}\" role=\"img\" aria-label=\"{name}\" {rest}"
    ))
}

/// Returns the marks of an axis from 0 to a value: five or six round numbers.
fn steps(most: u64) -> Vec<u64> {
    let most = most.max(1);
    let mut step = 1;
    while most.div_ceil(step) > 5 {
        let first = step.to_string().starts_with('2');
        step = if first { step / 2 * 5 } else { step * 2 };
    }
    (0..=most.div_ceil(step)).map(|at| at * step).collect()
}

/// Returns a number for an axis: `1,500`, `20k`, `3M`.
fn short(value: u64) -> String {
    let of = |value: u64, unit: u64, name: &str| {
        let tenths = value * 10 / unit;
        match tenths % 10 {
            0 => format!("{}{name}", tenths / 10),
            rest => format!("{}.{rest}{name}", tenths / 10),
        }
    };
    match value {
        0..10_000 => show::number(value),
        10_000..1_000_000 => of(value, 1_000, "k"),
        _ => of(value, 1_000_000, "M"),
    }
}

fn internal(error: impl Display) -> ServiceError {
    ServiceError::Internal(format!("a chart cannot be drawn: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_marks() {
        for (most, marks) in [
            (0, vec![0, 1]),
            (3, vec![0, 1, 2, 3]),
            (7, vec![0, 2, 4, 6, 8]),
            (23, vec![0, 5, 10, 15, 20, 25]),
            (60, vec![0, 20, 40, 60]),
            (9_400, vec![0, 2_000, 4_000, 6_000, 8_000, 10_000]),
        ] {
            assert_eq!(steps(most), marks, "{most}");
        }
        assert_eq!(
            [short(9_999), short(12_500), short(3_000_000)],
            ["9,999", "12.5k", "3M"]
        );
    }

    #[test]
    fn hostile_names_stay_text() {
        let hostile = r#"</text><script>alert(1)</script>"onload='x' & <b>"#;
        let rows = [Bar {
            name: hostile.to_owned(),
            value: 3,
            told: hostile.to_owned(),
            colour: OTHERS,
        }];
        let drawn = bars(hostile, &rows).expect("it draws").into_string();
        let series = [Series {
            name: hostile,
            colour: 1,
            values: vec![2],
        }];
        let units = (hostile, hostile);
        let over = over_time(hostile, units, &[hostile], &series, Columns::Stacked);
        let drawn = drawn + &over.expect("it draws").into_string();
        assert!(
            drawn.matches("&lt;/text&gt;&lt;script&gt;").count() >= 8,
            "{drawn}"
        );
        assert!(
            !drawn.contains("<script") && !drawn.contains("<b>"),
            "{drawn}"
        );
        assert!(!drawn.contains("\"onload"), "{drawn}");
        assert!(!drawn.contains(" style="), "{drawn}");
    }

    #[test]
    fn each_colour_has_a_rule() {
        let css = include_str!("../../../assets/explorer.css");
        let hex = |colour: RGBColor| format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2);
        for colour in SERIES.into_iter().chain([TEXT]) {
            assert!(
                css.contains(&format!("svg.drawn [fill=\"{}\"]", hex(colour))),
                "{colour:?}"
            );
        }
        for colour in [GRID, AXIS] {
            assert!(
                css.contains(&format!("svg.drawn [stroke=\"{}\"]", hex(colour))),
                "{colour:?}"
            );
        }
        assert!(css.contains(&format!("svg.drawn [fill=\"{}\"]", hex(GRID))));
    }
}
