//! Prints the result of a sync.

use icm_api::ChainPlace;
use icm_sync::{Reason, SyncAnswer, Taken};

use crate::app::App;
use crate::commands::conflicts;
use crate::error::CliError;
use crate::text::{self, bytes, count};
use crate::ui::{BOLD, Ui, WARN};

/// Returns `true` if the sync transferred files or found a problem.
pub(super) fn has_moved(answer: &SyncAnswer) -> bool {
    answer.received.files + answer.sent.files > 0
        || !answer.refused.is_empty()
        || !answer.not_there.is_empty()
}

pub(super) fn tell(app: &App, answer: &SyncAnswer) -> Result<(), CliError> {
    match app.ui.json {
        true => app.ui.json(answer),
        false => print(app, answer),
    }
}

fn print(app: &App, answer: &SyncAnswer) -> Result<(), CliError> {
    let ui = &app.ui;
    // Cron mails every output, so a quiet sync prints only transfers and problems.
    if ui.is_quiet() && !has_moved(answer) {
        return Ok(());
    }
    if !ui.is_quiet() || answer.received.files + answer.sent.files > 0 {
        print_moved(ui, answer)?;
    }
    print_received(ui, &answer.received)?;
    print_places(ui, "held back there", &answer.sent.held_back)?;
    conflicts::remark_opened(ui, answer.received.conflicts);
    say_problems(ui, answer);
    Ok(())
}

/// Prints the numbers of events, files and bytes in both directions.
fn print_moved(ui: &Ui, answer: &SyncAnswer) -> Result<(), CliError> {
    let (received, sent) = (&answer.received, &answer.sent);
    let (came, went) = match answer.dry_run {
        true => ("would receive", "would send"),
        false => ("received", "sent"),
    };
    let position = received.position;
    ui.line(format_args!(
        "{} {} in {} ({}){}",
        ui.paint(BOLD, came),
        count(received.events, "event", "events"),
        count(received.files, "file", "files"),
        bytes(received.bytes),
        position.map_or(String::new(), |position| format!(" @{position}")),
    ))?;
    ui.line(format_args!(
        "{} {} in {} ({}){}",
        ui.paint(BOLD, went),
        count(sent.events, "event", "events"),
        count(sent.files, "file", "files"),
        bytes(sent.bytes),
        if sent.anew {
            ", all of this machine's written anew"
        } else {
            ""
        },
    ))
}

/// Prints the texts that redactions took out or left out, and the places where chains branch or wait.
fn print_received(ui: &Ui, received: &Taken) -> Result<(), CliError> {
    for (what, texts) in [
        (
            "a redaction came along, and took out of this store",
            received.redacted,
        ),
        ("left out, since a redaction names them", received.left_out),
        ("back from there, lost here before", received.refilled),
    ] {
        if texts > 0 {
            let told = format!("{what}: {}", count(texts, "text", "texts"));
            ui.line(format_args!("  {}", ui.paint(WARN, &told)))?;
        }
    }
    for (what, places) in [
        (
            "two machines wrote under one name, and both are kept",
            &received.forks,
        ),
        (
            "held back, and asked for again next time",
            &received.held_back,
        ),
        (
            "left out: this machine has other events under these numbers, and lost the ones before",
            &received.own_forks,
        ),
    ] {
        print_places(ui, what, places)?;
    }
    Ok(())
}

fn print_places(ui: &Ui, what: &str, places: &[ChainPlace]) -> Result<(), CliError> {
    match places {
        [] => Ok(()),
        _ => ui.line(format_args!("  {what}: {}", text::places(places))),
    }
}

/// Says which files were refused, and what to do about those that no sync mends.
fn say_problems(ui: &Ui, answer: &SyncAnswer) {
    for (what, files) in [
        ("not there yet:", &answer.not_there),
        ("left alone:", &answer.refused),
    ] {
        for file in files {
            let why = text::one_line(&file.why);
            ui.say(format_args!(
                "{what} {} of {}: {why}",
                file.file, file.writer
            ));
        }
    }
    if answer
        .refused
        .iter()
        .any(|file| file.reason == Reason::Changed)
    {
        ui.say(format_args!(
            "changed or cut files have to be written again: run `icm sync --anew` on the machine that wrote them, or \
             on any machine with all events"
        ));
    }
    if !answer.sent.outdated.is_empty() {
        ui.say(format_args!(
            "files that this store wrote as {} may hold texts that were redacted later: `icm sync --anew` removes them, \
             unless a copy of the store still writes there",
            answer.sent.outdated.join(", "),
        ));
    }
    if !answer.sent.incomplete.is_empty() {
        ui.say(format_args!(
            "not sent: the events of {} after damaged or missing ones: see \
             `icm log verify` and `icm log repair`",
            answer.sent.incomplete.join(", "),
        ));
    }
}
