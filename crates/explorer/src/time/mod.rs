//! Time at the top of each page: the moment that the page shows, and the ways to another one.

mod chart;

use icm_api::error::Result;
use icm_api::when::{rfc3339, timestamp};
use jiff::Timestamp;
use maud::{Markup, html};

use crate::Explorer;
use crate::ask::Ask;
use crate::heads::{Column, Seen};
use crate::show;

/// Most columns of the density. Raised, they become narrower than a pixel of a phone.
const COLUMNS: u64 = 120;
/// Steps of the slider. Raised, a key moves it less far.
const STEPS: u64 = 1_000;

/// The field names of a form that chooses a moment. Other fields are parameters of the page to return to.
pub(crate) mod fields {
    /// The path to return to.
    pub(crate) const TO: &str = "moment-to";
    /// The parameter that gets the moment: `at`, or `with` for the other moment of a comparison.
    pub(crate) const PARAM: &str = "moment-param";
    /// The value that the parameter had.
    pub(crate) const WAS: &str = "moment-was";
    /// Seconds since the epoch.
    pub(crate) const SLIDER: &str = "moment-slider";
    /// The value of the slider as the page was made.
    pub(crate) const SLIDER_WAS: &str = "moment-slider-was";
    /// Local time.
    pub(crate) const FIELD: &str = "moment-field";
    /// The value of the field as the page was made.
    pub(crate) const FIELD_WAS: &str = "moment-field-was";
}

/// Returns the bar with the moment.
pub(crate) fn bar(explorer: &Explorer, ask: &Ask) -> Result<Markup> {
    let seen = explorer.heads.with(explorer.service.log_handle(), |seen| {
        let around = seen.around(ask.basis.position);
        let newest = seen.ends.last().copied().unwrap_or(0);
        (around, Some(Times::of(seen)), newest)
    });
    // A page of a damaged log is shown without its times.
    let ((before, after), times, newest) = seen.unwrap_or_else(|error| {
        tracing::warn!(%error, "the log cannot be walked");
        ((None, None), None, ask.basis.position)
    });
    let is_past = ask.at.is_some();
    let at = |position: u64| ask.link_at(Some(&format!("@{position}")));
    // The newest moment is now, which needs no address.
    let after = after.map(|position| match position >= newest {
        true => ask.link_at(None),
        false => at(position),
    });
    Ok(html! {
        section.time.past[is_past] aria-label="Moment" {
            div.moment {
                p.when {
                    @if is_past {
                        strong { "As of " (second(explorer, &ask.basis.at)) }
                        span.quiet { "event " (show::number(ask.basis.position)) " of " (show::number(newest)) }
                    } @else {
                        strong { "Now" }
                        span.quiet { (show::count(newest, "event", "events")) }
                    }
                }
                ul.steps {
                    li { (step(before.map(at).as_deref(), "prev", "One event back", "[", "‹")) }
                    li { (step(after.filter(|_| is_past).as_deref(), "next", "One event forward", "]", "›")) }
                    @if is_past { li { a.step.to-now href=(ask.link_at(None)) { "Now" } } }
                    li { a.step href=(ask.link("/compare", &[])) { "Compare with…" } }
                }
            }
            @if let Some(times) = &times {
                (choice(explorer, times, ask, "at", ask.at.as_deref(), &ask.basis.at))
            }
        }
    })
}

fn step(href: Option<&str>, rel: &str, name: &str, key: &str, sign: &str) -> Markup {
    html! {
        @match href {
            Some(href) => {
                a.step href=(href) rel=(rel) title={ (name) " (key " (key) ")" } aria-label=(name) data-step=(rel) { (sign) }
            },
            None => { span.step.off aria-hidden="true" { (sign) } },
        }
    }
}

/// Returns a form that sets `param` of this page to a moment: slider, density of events, field for a date.
///
/// `value` is the parameter as it is, `at` the time of the event that it means (RFC 3339).
pub(crate) fn choice(
    explorer: &Explorer,
    times: &Times,
    ask: &Ask,
    param: &'static str,
    value: Option<&str>,
    at: &str,
) -> Markup {
    let Some(axis) = Axis::of(times.span_ms) else {
        return html! {};
    };
    let at_ms = at.parse::<Timestamp>().map_or(axis.last_ms, |at| {
        u64::try_from(at.as_millisecond()).unwrap_or(0)
    });
    let is_now = value.is_none();
    let slider = match is_now {
        true => axis.max,
        false => axis.nearest(at_ms),
    };
    let field = local(explorer, at_ms, "%Y-%m-%dT%H:%M:%S");
    let (first, last) = (axis.min * 1_000, axis.last_ms);
    let local_of = |ms| local(explorer, ms, "%Y-%m-%dT%H:%M:%S");
    let label = local(explorer, at_ms, "%Y-%m-%d %H:%M:%S");
    let is_bar = param == "at";
    let slider_id = format!("{param}-slider");
    let field_id = format!("{param}-field");
    let hidden = |name: &str, value: &str| html! { input type="hidden" name=(name) value=(value); };
    let kept = ask.params().iter().filter(|(name, _)| name != param);
    html! {
        form.choose action="/moment" method="get" data-moment data-zone=(explorer.service.zone_name()) {
            (hidden(fields::TO, &ask.path))
            (hidden(fields::PARAM, param))
            @if let Some(value) = value { (hidden(fields::WAS, value)) }
            @for (name, value) in kept { (hidden(name, value)) }
            @if let (false, Some(at)) = (is_bar, &ask.at) { (hidden("at", at)) }
            div.axis {
                (chart::density(explorer, &times.columns, &axis, at_ms))
                label.unseen for=(slider_id) { @if is_bar { "Moment of this page" } @else { "The other moment" } }
                input id=(slider_id) type="range" name=(fields::SLIDER) min=(axis.min) max=(axis.max) step=(axis.step)
                    value=(slider) aria-valuetext=(if is_now { "now" } else { &label }) autocomplete="off";
                (hidden(fields::SLIDER_WAS, &slider.to_string()))
            }
            div.pick {
                label.unseen for=(field_id) { "Date and time" }
                input id=(field_id) type="datetime-local" name=(fields::FIELD) step="1" min=(local_of(first)) max=(local_of(last))
                    value=(field) autocomplete="off";
                (hidden(fields::FIELD_WAS, &field))
                button type="submit" { "Go" }
            }
        }
    }
}

/// The times of the log, as they are drawn.
pub(crate) struct Times {
    span_ms: Option<(u64, u64)>,
    columns: Vec<Column>,
}

impl Times {
    /// Takes the times from the counts, so that they can be drawn while other pages count.
    pub(crate) fn of(seen: &Seen) -> Times {
        Times {
            span_ms: seen.span_ms,
            columns: seen.density.columns(COLUMNS),
        }
    }
}

/// The range of a slider, in seconds since the epoch, and the last event.
pub(crate) struct Axis {
    min: u64,
    max: u64,
    step: u64,
    pub(crate) last_ms: u64,
}

impl Axis {
    /// Returns the axis of a log from the times of its first and its last own event; `None` if it is younger than two
    /// seconds.
    fn of(span_ms: Option<(u64, u64)>) -> Option<Axis> {
        let (first_ms, last_ms) = span_ms?;
        // The first second that holds an event, so that the slider never stands before the first event.
        let (min, last) = (first_ms.div_ceil(1_000), last_ms.div_ceil(1_000));
        let span = last.checked_sub(min).filter(|span| *span >= 2)?;
        let step = span.div_ceil(STEPS);
        Some(Axis {
            min,
            // A browser moves a slider to whole steps only.
            max: min + span.div_ceil(step) * step,
            step,
            last_ms,
        })
    }

    fn nearest(&self, ms: u64) -> u64 {
        let steps = (ms / 1_000).saturating_sub(self.min) / self.step;
        (self.min + steps * self.step).min(self.max)
    }

    /// Returns the place of a time, from 0 to `width`.
    fn place(&self, ms: u64, width: f64) -> f64 {
        let (min, max) = (self.min * 1_000, self.max * 1_000);
        let from_min = ms.clamp(min, max) - min;
        from_min as f64 / (max - min) as f64 * width
    }

    fn first_ms(&self) -> u64 {
        self.min * 1_000
    }
}

/// Returns the moment that a slider's seconds mean; `None` for now.
pub(crate) fn of_slider(seen: &Seen, seconds: u64) -> Option<String> {
    let axis = Axis::of(seen.span_ms)?;
    (seconds < axis.max).then(|| rfc3339(seconds.max(axis.min) * 1_000))
}

/// Returns a time (RFC 3339) as the local time with seconds.
pub(crate) fn second(explorer: &Explorer, at: &str) -> Markup {
    let ms = at.parse::<Timestamp>().map(Timestamp::as_millisecond);
    let ms = ms.ok().and_then(|ms| u64::try_from(ms).ok());
    html! { time datetime=(at) { (local(explorer, ms.unwrap_or(0), "%Y-%m-%d %H:%M:%S")) } }
}

fn local(explorer: &Explorer, ms: u64, format: &str) -> String {
    let at = timestamp(ms);
    at.to_zoned(explorer.service.zone())
        .strftime(format)
        .to_string()
}
