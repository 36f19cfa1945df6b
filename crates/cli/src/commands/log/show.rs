//! `icm log show`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_api::EventDetail;
use serde_json::Value;

use crate::app::App;
use crate::columns;
use crate::error::{CliError, ErrorKind, Outcome};
use crate::ui::{DIM, Ui};
use crate::{text, when};

/// Items of a long list that are shown.
const FEW: usize = 10;

/// Show everything about one event
///
/// Long lists are cut after the first few items; `--json` shows all. Exits with 1 if there is no event with this id.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm log show @120
  icm log show 3fa9c2 --json    # long lists are complete")]
pub(crate) struct ShowArgs {
    /// The beginning of an event id, or a position (`@123`)
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    event: String,
}

pub(crate) fn run(args: ShowArgs, app: &App) -> Result<Outcome, CliError> {
    let detail = app.service()?.log_show(&args.event).map_err(CliError::from);
    let detail = match detail {
        Ok(detail) => detail,
        Err(error) => {
            if app.ui.json && error.kind == ErrorKind::NotFound {
                app.ui.json(&serde_json::Value::Null)?;
            }
            return Err(error);
        }
    };

    if app.ui.json {
        app.ui.json(&detail)?;
    } else {
        print(&app.ui, detail)?;
    }
    Ok(Outcome::Fine)
}

fn print(ui: &Ui, mut detail: EventDetail) -> Result<(), CliError> {
    let more = shorten(&mut detail.entry.facts) | shorten(&mut detail.entry.payload);
    let entry = &detail.entry;
    let mut rows = Vec::new();
    let mut add = |name: &'static str, value: String| {
        if !value.is_empty() {
            rows.push((name, value));
        }
    };
    add("event", entry.event.clone());
    add("kind", entry.kind.clone());
    add("position", format!("@{}", entry.position));
    add("at", when::at_and_ago(ui.now, &entry.at));
    add("subject", entry.subject.clone().unwrap_or_default());
    add("summary", entry.summary.clone());
    add("actor", entry.actor.clone());
    add("session", entry.session.clone().unwrap_or_default());
    add("command", entry.command.clone());
    add("origin", entry.origin.clone());
    add("seq", entry.seq.to_string());
    add("prev", detail.prev.clone());
    let mut refs = detail.refs[..detail.refs.len().min(FEW)].join(" ");
    let more = match detail.refs.len() - detail.refs.len().min(FEW) {
        0 => more,
        left => {
            refs.push_str(&format!(" … and {left} more"));
            true
        }
    };
    add("refs", refs);
    let (index, count) = detail.batch;
    add("batch", format!("{index} of {count}"));
    add("body", entry.body.clone());
    add("commitment", detail.commitment.clone());
    add(
        "length",
        format!(
            "head {} bytes, payload {} bytes",
            detail.head_len_bytes, detail.payload_len_bytes
        ),
    );
    add(
        "segment",
        format!("{}, offset {}", detail.segment, detail.offset_bytes),
    );
    columns::print_pairs(ui, &rows)?;
    print_json(ui, "facts", &entry.facts)?;
    print_json(ui, "payload", &entry.payload)?;
    if more {
        ui.remark(format_args!("long lists are cut; `--json` shows all items"));
    }
    Ok(())
}

/// Cuts each long list after the first few items and appends the number of the others. Returns `true` if a list was
/// cut.
fn shorten(value: &mut Value) -> bool {
    match value {
        Value::Array(items) => {
            let left = items.len() - items.len().min(FEW);
            if left > 0 {
                items.truncate(FEW);
                items.push(Value::from(format!("… and {left} more")));
            }
            items
                .iter_mut()
                .fold(left > 0, |cut, item| shorten(item) | cut)
        }
        Value::Object(fields) => fields.values_mut().fold(false, |cut, it| shorten(it) | cut),
        _ => false,
    }
}

fn print_json(ui: &Ui, name: &str, value: &serde_json::Value) -> Result<(), CliError> {
    if value.is_null() {
        return Ok(());
    }
    ui.line(format_args!("{}", ui.paint(DIM, name)))?;
    let json = serde_json::to_string_pretty(value).unwrap_or_default();
    for line in text::wrap(&json, ui.columns.map(|c| c.saturating_sub(2))) {
        ui.line(format_args!("  {line}"))?;
    }
    Ok(())
}
