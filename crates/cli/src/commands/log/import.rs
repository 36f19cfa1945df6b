//! `icm log import`

use std::path::PathBuf;

use clap::Args;
use icm_api::LogImportAnswer;

use crate::app::App;
use crate::commands::conflicts;
use crate::error::{CliError, Outcome};
use crate::input;
use crate::progress::Bar;
use crate::text::{self, count, places};
use crate::ui::{BOLD, DIM, WARN};

/// Take in the events of another machine, as `icm log export` wrote them
///
/// The whole file is checked before any event is taken in. Known events are left unchanged; events that were lost here
/// come back; text that was redacted on either machine is withheld on both. The origin of each event and the time of
/// its import stay known: `--at` a time before the import answers without these events.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm log import laptop.icmx --dry-run
  ssh desk icm log export - | icm log import -")]
pub(crate) struct LogImportArgs {
    /// The file to read, or `-` for stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only show what the import would add
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: LogImportArgs, app: &App) -> Result<Outcome, CliError> {
    let file = input::export_file(&args.file)?;
    let bar = Bar::new(&app.ui);
    let service = app.service()?;
    let answer = service.import_log(&app.caller()?, &file, args.dry_run, &bar)?;
    drop(bar);

    if app.ui.json {
        app.ui.json(&answer)?;
        return Ok(Outcome::Fine);
    }
    print(app, &answer)?;
    Ok(Outcome::Fine)
}

fn print(app: &App, answer: &LogImportAnswer) -> Result<(), CliError> {
    let ui = &app.ui;
    let verb = match answer.dry_run {
        true => "would import",
        false => "imported",
    };
    let position = match answer.position {
        Some(position) => ui.paint(DIM, &format!(" @{position}")),
        None => String::new(),
    };
    ui.line(format_args!(
        "{} {}, {} here already{position}",
        ui.paint(BOLD, verb),
        count(answer.added, "event", "events"),
        answer.unchanged,
    ))?;
    if answer.refilled_events + answer.refilled_payloads > 0 {
        ui.line(format_args!(
            "  back from it, lost here before: {} and {}",
            count(answer.refilled_events, "event", "events"),
            count(answer.refilled_payloads, "text", "texts"),
        ))?;
    }
    if answer.left_out > 0 {
        ui.line(format_args!(
            "  left out: {} that a redaction names",
            count(answer.left_out, "text", "texts"),
        ))?;
    }
    if answer.redacted > 0 {
        ui.line(format_args!(
            "  {}",
            ui.paint(
                WARN,
                &format!(
                    "a redaction came along: {} of this store {}taken out",
                    count(answer.redacted, "text", "texts"),
                    if answer.dry_run { "would be " } else { "" },
                )
            ),
        ))?;
    }
    if !answer.forks.is_empty() {
        ui.remark(format_args!(
            "two machines wrote under one origin, both branches are kept: {}",
            places(&answer.forks)
        ));
    }
    if !answer.later.is_empty() {
        ui.remark(format_args!(
            "left out, because this machine's clock says that they are more than a day in the future: {}; \
             correct the clock and import again",
            places(&answer.later)
        ));
    }
    if !answer.unproven.is_empty() {
        ui.remark(format_args!(
            "left out, because nothing in this store vouches for them: {}; if you trust the file, \
             `icm log repair --from FILE` brings them back",
            places(&answer.unproven)
        ));
    }
    if !answer.waiting.is_empty() {
        ui.remark(format_args!(
            "left out, because this store lacks the events that they undo: {}; import them again after \
             those events",
            places(&answer.waiting)
        ));
    }
    conflicts::remark_opened(ui, answer.conflicts.unwrap_or(0));
    for place in &answer.out_of_reach {
        ui.remark(format_args!("{}", text::one_line(place)));
    }
    if !answer.own_forks.is_empty() {
        ui.remark(format_args!(
            "left out, since this store has written others under the same number, and lost what these \
             go on from: {}; a store of its own can take the file: `icm log import --db OTHER FILE`",
            places(&answer.own_forks)
        ));
    }
    Ok(())
}
