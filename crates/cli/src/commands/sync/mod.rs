//! `icm sync`

mod git;
mod target;
mod words;

use std::io::{BufReader, BufWriter, IsTerminal};
use std::time::Duration;

use clap::Args;
use icm_api::{NoProgress, Progress};
use icm_sync::{Glance, Peer, SyncAnswer, SyncOptions};

use crate::app::App;
use crate::error::{CliError, ErrorKind, Outcome};
use crate::progress::Bar;
use git::WorkTree;
use target::SyncTarget;
use words::{has_moved, tell};

/// Exchange memories with your other machines
///
/// The target can be a place that all machines can reach: a folder that Syncthing, Dropbox or git copies, a network
/// disk, a USB stick, a bucket of an object store, or a WebDAV folder. There, each machine writes only its own files
/// and reads the files of the others. The target can also be the store of another machine, through your own ssh. Only
/// new events are transferred. They are checked before any is imported, and the next sync continues an interrupted one.
/// At the end all machines have the same memories. Run this command as often as you like, also from cron.
///
/// If a text is redacted on one machine, the others remove it at their next sync, also from their files in the target.
/// The files contain all memories: keep them as private as the store, and never synchronise the store's own folder.
/// Exits with 3 if a file is damaged; the other files are still read.
#[derive(Debug, Args)]
#[command(after_help = "\
Targets:
  PATH, file:///PATH              a folder, made if its parent folder exists
  ssh://[USER@]HOST[:PORT][/DIR]  the store of another machine (/~/DIR: below its home folder);
                                  ICM_SSH names another program than ssh
  s3://BUCKET/PATH                AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION;
                                  AWS_ENDPOINT_URL for another server that speaks S3
  gs://BUCKET/PATH                GOOGLE_APPLICATION_CREDENTIALS
  az://CONTAINER/PATH             AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY
  https://[USER:PASSWORD@]HOST/PATH
                                  WebDAV; ICM_HTTP_AUTHORIZATION is sent as `Authorization`

Examples:
  icm sync ~/Sync/icm --dry-run
  icm sync ssh://laptop
  icm sync s3://my-bucket/icm --watch    # again every 30 s")]
pub(crate) struct SyncArgs {
    /// A folder or a URL
    #[arg(value_name = "TARGET", required_unless_present = "answer")]
    target: Option<String>,
    /// Only show the numbers of events and files to receive and send; no file is read or checked
    #[arg(long)]
    dry_run: bool,
    /// Write all files of this machine again, and remove the files from before it was restored or moved. Use this if
    /// other machines report damaged files, or files with redacted text
    #[arg(long)]
    anew: bool,
    /// Keep running: check both sides for news every SECONDS (30), and exchange them
    #[arg(
        long,
        value_name = "SECONDS",
        num_args = 0..=1,
        default_missing_value = "30",
        conflicts_with = "dry_run",
        value_parser = seconds
    )]
    watch: Option<u64>,
    /// The folder is in a git work tree: pull before, commit and push after, with your own git
    #[arg(long, conflicts_with = "dry_run")]
    git: bool,
    /// Command that runs icm on the other side of `ssh://`
    #[arg(
        long,
        value_name = "COMMAND",
        default_value = "icm",
        hide_default_value = true
    )]
    icm: String,
    /// Answer an `icm sync ssh://…` of another machine over stdin and stdout; run by ssh
    #[arg(
        long,
        conflicts_with_all = ["target", "dry_run", "anew", "watch", "git", "icm"]
    )]
    answer: bool,
}

/// Parses the interval of `--watch` in seconds.
fn seconds(given: &str) -> Result<u64, String> {
    match given.parse() {
        Ok(seconds @ 1..=86_400) => Ok(seconds),
        Ok(_) => Err("from 1 to 86400 seconds".to_owned()),
        Err(_) => Err("not a number of seconds; give the target before `--watch`".to_owned()),
    }
}

pub(crate) fn run(args: SyncArgs, app: &App) -> Result<Outcome, CliError> {
    let Some(target) = args.target.as_deref() else {
        return answer(app);
    };
    let (dir, _) = app.db()?;
    let place = SyncTarget::open(target, &args.icm, &dir)?;
    let options = SyncOptions {
        dry_run: args.dry_run,
        anew: args.anew,
        ..SyncOptions::default()
    };
    if args.anew && matches!(place, SyncTarget::Store { .. }) {
        return Err(
            CliError::invalid("another store has no files of this machine")
                .with_hint("leave `--anew` out"),
        );
    }
    let work_tree = match (args.git, &place) {
        (false, _) => None,
        (
            true,
            SyncTarget::Files {
                folder: Some(folder),
                ..
            },
        ) => Some(WorkTree::of(folder)?),
        (true, _) => {
            return Err(
                CliError::invalid("`--git` is for a folder in a git work tree")
                    .with_hint("leave it out, or name a folder"),
            );
        }
    };
    match args.watch {
        None => {
            let bar = Bar::new(&app.ui);
            let answer = exchange(app, &place, work_tree.as_ref(), options, &bar)?;
            drop(bar);
            tell(app, &answer)?;
            let is_whole = answer.refused.is_empty() && answer.sent.incomplete.is_empty();
            Ok(match is_whole {
                true => Outcome::Fine,
                false => Outcome::Damage,
            })
        }
        Some(seconds) => watch(
            app,
            &place,
            work_tree.as_ref(),
            options,
            Duration::from_secs(seconds),
        ),
    }
}

/// Runs one exchange.
fn exchange(
    app: &App,
    place: &SyncTarget,
    work_tree: Option<&WorkTree>,
    options: SyncOptions,
    progress: &dyn Progress,
) -> Result<SyncAnswer, CliError> {
    let (service, caller) = (app.service()?, app.caller()?);
    match place {
        SyncTarget::Files { target, .. } => {
            let sync = || icm_sync::sync(service, &caller, &**target, options, progress);
            match work_tree {
                None => Ok(sync()?),
                Some(work_tree) => work_tree.around(app, || Ok(sync()?)),
            }
        }
        SyncTarget::Store { address, icm } => {
            let mut connection = address.connect(icm)?;
            let streams = connection.streams();
            let (mut input, out) = streams.ok_or_else(|| {
                CliError::failed("ssh cannot be reached: its input and output are closed")
            })?;
            let mut out = BufWriter::new(out);
            let mut peer = Peer::new(address.url(), &mut input, &mut out)?;
            Ok(icm_sync::meet(
                service, &caller, &mut peer, options, progress,
            )?)
        }
    }
}

/// Answers another machine until that machine ends the exchange.
fn answer(app: &App) -> Result<Outcome, CliError> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(CliError::invalid(
            "`--answer` reads from another machine, and stdin is a terminal",
        )
        .with_hint("run `icm sync ssh://HOST` on the other machine, which runs this"));
    }
    let service = app.service()?;
    let mut input = BufReader::new(stdin.lock());
    app.ui.with_writer(|out| {
        Ok::<_, CliError>(icm_sync::serve(service, &app.caller()?, &mut input, out)?)
    })?;
    Ok(Outcome::Fine)
}

/// Exchanges news until the process is ended, which may happen at any time. An error is printed once, and the exchange
/// is tried again.
fn watch(
    app: &App,
    place: &SyncTarget,
    work_tree: Option<&WorkTree>,
    mut options: SyncOptions,
    every: Duration,
) -> Result<Outcome, CliError> {
    let service = app.service()?;
    let (mut seen, mut last, mut told) = (None, None, None);
    loop {
        // News of another store, and news that only git brings, cannot be seen from here.
        let glance = match (place, work_tree) {
            (SyncTarget::Files { target, .. }, None) => Some(Glance::at(service, &**target)),
            _ => None,
        };
        let glance = glance.and_then(std::result::Result::ok);
        let is_news = glance.is_none() || seen != glance;
        let done = match is_news {
            false => Ok(()),
            true => exchange(app, place, work_tree, options, &NoProgress).and_then(|answer| {
                options.anew = false;
                // The state before the exchange is kept, so later changes count as news. Files that are not there yet
                // are looked for again.
                seen = glance.filter(|_| !is_open(&answer));
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
        // Readers of a pipe or a file see the lines now, and no end of the process can lose them.
        app.ui.flush()?;
        icm_wait::pause(every);
    }
}

/// Returns `true` if the exchange has to be repeated even without news.
fn is_open(answer: &SyncAnswer) -> bool {
    !answer.not_there.is_empty()
        || !answer.refused.is_empty()
        || !answer.received.held_back.is_empty()
}
