//! Prints the result of a sync.

use icm_api::ChainPlace;
use icm_sync::{Reason, Refused, SyncAnswer};

use crate::app::App;
use crate::commands::conflicts;
use crate::error::CliError;
use crate::text::{self, bytes, count};
use crate::ui::{BOLD, WARN};

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
    let problem = |line: std::fmt::Arguments<'_>| ui.say(line);
    let (received, sent) = (&answer.received, &answer.sent);
    let (came, went) = match answer.dry_run {
        true => ("would receive", "would send"),
        false => ("received", "sent"),
    };
    if !ui.is_quiet() || received.files + sent.files > 0 {
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
        ))?;
    }
    let told = |what: &str, texts: u64| match texts {
        0 => Ok(()),
        _ => ui.line(format_args!(
            "  {}",
            ui.paint(WARN, &format!("{what}: {}", count(texts, "text", "texts")))
        )),
    };
    told(
        "a redaction came along, and took out of this store",
        received.redacted,
    )?;
    told("left out, since a redaction names them", received.left_out)?;
    told("back from there, lost here before", received.refilled)?;
    let places = |what: &str, places: &[ChainPlace]| match places {
        [] => Ok(()),
        _ => ui.line(format_args!("  {what}: {}", text::places(places))),
    };
    places(
        "two machines wrote under one name, and both are kept",
        &received.forks,
    )?;
    places(
        "held back, and asked for again next time",
        &received.held_back,
    )?;
    places(
        "left out: this machine has other events under these numbers, and lost the ones before",
        &received.own_forks,
    )?;
    places("held back there", &sent.held_back)?;
    let files = |what: &str, files: &[Refused]| {
        for file in files {
            let why = text::one_line(&file.why);
            problem(format_args!(
                "{what} {} of {}: {why}",
                file.file, file.writer
            ));
        }
    };
    conflicts::remark_opened(ui, received.conflicts);
    files("not there yet:", &answer.not_there);
    files("left alone:", &answer.refused);
    if answer
        .refused
        .iter()
        .any(|file| file.reason == Reason::Changed)
    {
        problem(format_args!(
            "changed or cut files have to be written again: run `icm sync --anew` on the machine that wrote them, or \
             on any machine with all events"
        ));
    }
    if !sent.outdated.is_empty() {
        problem(format_args!(
            "files that this store wrote as {} may hold texts that were redacted later: `icm sync --anew` removes them, \
             unless a copy of the store still writes there",
            sent.outdated.join(", "),
        ));
    }
    if !sent.incomplete.is_empty() {
        problem(format_args!(
            "not sent: the events of {} after damaged or missing ones: see \
             `icm log verify` and `icm log repair`",
            sent.incomplete.join(", "),
        ));
    }
    Ok(())
}
