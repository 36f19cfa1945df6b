//! `icm pin` and `icm unpin`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_api::Receipt;
use icm_api::when::rfc3339;
use jiff::SignedDuration;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::memory_view;

/// Pin memories: every session sees them when it wakes up
///
/// A pin is an event: it appears in `icm history`, `icm undo` takes it back, and other machines receive it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm pin 01J9X4
  icm pin 01J9X4 --for 7d    # for a week")]
pub(crate) struct PinArgs {
    /// Ids or their beginnings
    #[arg(value_name = "ID", required = true, value_parser = NonEmptyStringValueParser::new())]
    ids: Vec<String>,
    /// Duration, for instance `7d`, `12h` or `2 weeks` [default: until unpinned]
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    time: Option<SignedDuration>,
}

/// Unpin memories
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm unpin 01J9X4
  icm unpin 01J9X4 01J9X7")]
pub(crate) struct UnpinArgs {
    /// Ids or their beginnings
    #[arg(value_name = "ID", required = true, value_parser = NonEmptyStringValueParser::new())]
    ids: Vec<String>,
}

pub(crate) fn pin(args: PinArgs, app: &App) -> Result<Outcome, CliError> {
    let service = app.service()?;
    let until_ms = args.time.map(|time| {
        let ms = u64::try_from(time.as_millis()).unwrap_or(0);
        service.now_ms().saturating_add(ms)
    });
    let outcome = report(&service.pin(&app.caller()?, &args.ids, until_ms)?, app)?;
    let until = match until_ms {
        Some(ms) => format!("until {}", rfc3339(ms)),
        None => "until `icm unpin`".to_owned(),
    };
    app.ui.remark(format_args!("pinned {until}"));
    Ok(outcome)
}

pub(crate) fn unpin(args: UnpinArgs, app: &App) -> Result<Outcome, CliError> {
    report(&app.service()?.unpin(&app.caller()?, &args.ids)?, app)
}

fn report(receipts: &[Receipt], app: &App) -> Result<Outcome, CliError> {
    if app.ui.json {
        app.ui.json(receipts)?;
        return Ok(Outcome::Fine);
    }
    for receipt in receipts {
        memory_view::print_receipt(&app.ui, receipt)?;
    }
    Ok(Outcome::Fine)
}

/// Parses a duration, in days of 24 hours, for instance `7d`.
fn duration(text: &str) -> Result<SignedDuration, String> {
    let wrong = || format!("`{text}` is no time span; write `7d`, `12h` or `2 weeks`");
    let span: jiff::Span = text.trim().parse().map_err(|_| wrong())?;
    let duration = span
        .to_duration(jiff::SpanRelativeTo::days_are_24_hours())
        .map_err(|_| format!("`{text}` has no fixed length; write days or weeks"))?;
    match duration.is_positive() {
        true => Ok(duration),
        false => Err(format!("`{text}` is not in the future")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_people_write_them() {
        for (text, hours) in [("7d", 168), ("12h", 12), ("2 weeks", 336), ("1d 2h", 26)] {
            assert_eq!(duration(text).map(|it| it.as_hours()), Ok(hours), "{text}");
        }
        for text in ["", "soon", "-3d", "0s", "1 month", "7"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
