//! `icm sync`

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use icm_server::api::{ChainPlace, NoProgress};
use icm_sync::{Folder, Glance, Refused, SyncAnswer, SyncOptions};

use crate::app::App;
use crate::error::{CliError, ErrorKind, Outcome};
use crate::progress::Bar;
use crate::text::{self, bytes, count};
use crate::ui::{BOLD, WARN};

/// How `file:` URLs begin.
const FILE: &str = "file://";

/// Exchange memories with your other machines by way of a folder
///
/// Any folder that they all reach, at whatever time: one that Syncthing, Dropbox or git keeps the same everywhere, a
/// network disk, a stick. Each machine writes files of its own there, so nothing conflicts, and takes what the
/// others wrote: only what is new goes either way, and all of it is checked before any of it is taken. All
/// machines end with the same memories, whatever the order. Run it as often as you like, from cron too.
///
/// What was redacted on one machine goes from the others at their next sync, and from the files that each wrote
/// there. The folder holds all memories: keep it as private as the store, and never synchronise the store's own
/// folder. Exits with 3 when a file there is damaged; the others are taken all the same.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm sync ~/Sync/icm --dry-run
  icm sync ~/Sync/icm
  icm sync ~/Sync/icm --watch
  */15 * * * *  icm -q sync ~/Sync/icm        (in a crontab)")]
pub(crate) struct SyncArgs {
    /// The folder; it is made if the one that it lies in is there
    #[arg(value_name = "TARGET")]
    target: String,
    /// Only say what would come and go
    #[arg(long)]
    dry_run: bool,
    /// Write the files of this machine there anew, all of them, and remove those that it wrote before it was
    /// restored or moved: for when others find them damaged, or they hold what was redacted
    #[arg(long)]
    anew: bool,
    /// Go on until it is ended: look for news on both sides every so many seconds (30), and exchange them
    #[arg(
        long,
        value_name = "SECONDS",
        num_args = 0..=1,
        default_missing_value = "30",
        conflicts_with = "dry_run",
        value_parser = clap::value_parser!(u64).range(1..=86_400)
    )]
    watch: Option<u64>,
}

pub(crate) fn run(args: SyncArgs, app: &App) -> Result<Outcome, CliError> {
    let (dir, _) = app.db()?;
    let target = Folder::open(&folder(&args.target)?, &dir)?;
    let options = SyncOptions {
        dry_run: args.dry_run,
        anew: args.anew,
    };
    match args.watch {
        None => once(app, &target, options),
        Some(seconds) => watch(app, &target, options, Duration::from_secs(seconds)),
    }
}

fn once(app: &App, target: &Folder, options: SyncOptions) -> Result<Outcome, CliError> {
    let bar = Bar::new(&app.ui);
    let answer = icm_sync::sync(app.service()?, &app.caller()?, target, options, &bar)?;
    drop(bar);
    tell(app, &answer)?;
    Ok(
        match answer.refused.is_empty() && answer.sent.incomplete.is_empty() {
            true => Outcome::Fine,
            false => Outcome::Damage,
        },
    )
}

/// Exchanges news until the process is ended, which may happen at any time. What fails is told once, and tried again.
fn watch(
    app: &App,
    target: &Folder,
    mut options: SyncOptions,
    every: Duration,
) -> Result<Outcome, CliError> {
    let service = app.service()?;
    let (mut seen, mut last, mut told) = (None, None, None);
    loop {
        let glance = Glance::at(service, target);
        let is_news = glance
            .as_ref()
            .map_or(true, |glance| seen.as_ref() != Some(glance));
        let done = match is_news {
            false => Ok(()),
            true => icm_sync::sync(service, &app.caller()?, target, options, &NoProgress)
                .map_err(CliError::from)
                .and_then(|answer| {
                    options.anew = false;
                    // As it was before: what came meanwhile is news. What is on its way is looked for again.
                    seen = glance.ok().filter(|_| !is_open(&answer));
                    match has_moved(&answer) && last.as_ref() != Some(&answer) {
                        true => tell(app, last.insert(answer)),
                        false => Ok(()),
                    }
                }),
        };
        match done {
            Err(error) if error.kind == ErrorKind::ClosedPipe => return Err(error),
            Err(error) => {
                let said = error.said();
                if told.as_ref() != Some(&said) {
                    app.ui.remark(format_args!(
                        "{said} (tried again every {} s)",
                        every.as_secs()
                    ));
                }
                told = Some(said);
            }
            Ok(()) => told = None,
        }
        std::thread::sleep(every);
    }
}

/// Whether something is to be looked for again, whatever else changes.
fn is_open(answer: &SyncAnswer) -> bool {
    !answer.not_there.is_empty()
        || !answer.refused.is_empty()
        || !answer.received.held_back.is_empty()
}

/// Whether there is anything to tell of.
fn has_moved(answer: &SyncAnswer) -> bool {
    answer.received.files + answer.sent.files > 0
        || !answer.refused.is_empty()
        || !answer.not_there.is_empty()
}

fn tell(app: &App, answer: &SyncAnswer) -> Result<(), CliError> {
    match app.ui.json {
        true => app.ui.json(answer),
        false => print(app, answer),
    }
}

/// The folder that a target names.
fn folder(target: &str) -> Result<PathBuf, CliError> {
    let path = target.strip_prefix(FILE).unwrap_or(target);
    if target.is_empty() || path.is_empty() {
        return Err(CliError::invalid("the target has no name"));
    }
    match path.split_once("://") {
        Some((scheme, _)) if !Path::new(path).exists() => Err(CliError::invalid(format!(
            "`{scheme}://` is no target that icm knows"
        ))
        .with_hint("name a folder, as PATH or `file:///PATH`")),
        _ => Ok(PathBuf::from(path)),
    }
}

fn print(app: &App, answer: &SyncAnswer) -> Result<(), CliError> {
    let ui = &app.ui;
    // From cron only what happened is news.
    if ui.is_quiet() && !has_moved(answer) {
        return Ok(());
    }
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
    ))?;
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
        "left out: this machine has gone on otherwise",
        &received.own_forks,
    )?;
    let files = |what: &str, files: &[Refused]| {
        for file in files {
            let why = text::one_line(&file.why);
            ui.remark(format_args!(
                "{what} {} of {}: {why}",
                file.file, file.writer
            ));
        }
    };
    files("not there yet:", &answer.not_there);
    files("left alone:", &answer.refused);
    if answer.refused.iter().any(|file| file.write_again) {
        ui.remark(format_args!(
            "what was changed or cut has to be written again: run `icm sync --anew` on the machine that wrote it"
        ));
    }
    if !sent.outdated.is_empty() {
        ui.remark(format_args!(
            "files that this store wrote as {} may hold what was redacted since: unless a copy of it still writes \
             there, `icm sync --anew` removes them",
            sent.outdated.join(", "),
        ));
    }
    if !sent.incomplete.is_empty() {
        ui.remark(format_args!(
            "not sent: what comes after events that are damaged or missing, of {}: see \
             `icm log verify` and `icm log repair`",
            sent.incomplete.join(", "),
        ));
    }
    Ok(())
}
