//! The flags that every command knows, and the list of commands.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use icm_api::{Importance, Trust};

use crate::app::App;
use crate::commands as c;
use crate::error::{CliError, Outcome};
use crate::logging::Wanted;
use crate::ui::Ui;

const ENVIRONMENT: &str = "\
Environment:
  ICM_DB       the store's folder, where --db is not given
  ICM_CONFIG   the config file, where --config is not given
  ICM_ACTOR    who is writing (default: user, or the agent that runs the shell)
  ICM_SESSION  the session that events belong to
  ICM_LOG      what to log, for instance debug or icm_log=trace
  NO_COLOR     no colours

Exit codes:
  0  fine
  1  the answer is no: nothing found, lines rejected
  2  it failed
  3  damage was found

Times (--at and its kin):
  2026-03-01T12:00:00Z, 2026-03-01 (to its end), yesterday, '2h ago',
  @123 (a position of the log), or the beginning of an event id";

/// A memory for AI agents that can be replayed
///
/// Everything that is stored, changed or forgotten is an event of an append-only log; what you
/// see is computed from it. So nothing is ever lost, and every answer can be had as of any moment.
#[derive(Debug, Parser)]
#[command(
    name = "icm",
    version,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_help = ENVIRONMENT
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Accepted by every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// The store's folder (or ICM_DB; default: the platform's data folder)
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) db: Option<PathBuf>,
    /// The config file (or ICM_CONFIG; default: in the platform's config folder)
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Only data and errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Log to stderr; twice for more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Do not ask
    #[arg(long, global = true)]
    pub(crate) yes: bool,
    /// Set by commands that must work whatever the config file says.
    #[arg(skip)]
    pub(crate) ignores_config: bool,
    /// Set by commands that say nothing at their end of a store that is not there.
    #[arg(skip)]
    pub(crate) tolerates_absence: bool,
    /// Set by commands that go on without a config file that cannot be read, and say so.
    #[arg(skip)]
    pub(crate) tolerates_config: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Store(c::store::StoreArgs),
    Recall(c::recall::RecallArgs),
    RecallContext(c::recall_context::RecallContextArgs),
    Get(c::get::GetArgs),
    List(c::list::ListArgs),
    Update(c::update::UpdateArgs),
    Forget(c::forget::ForgetArgs),
    Revive(c::revive::ReviveArgs),
    Undo(c::undo::UndoArgs),
    Link(c::link::LinkArgs),
    Unlink(c::unlink::UnlinkArgs),
    Consolidate(c::consolidate::ConsolidateArgs),
    Memoir(c::memoir::MemoirArgs),
    Decay(c::decay::DecayArgs),
    Prune(c::prune::PruneArgs),
    Redact(c::redact::RedactArgs),
    Topics(c::topics::TopicsArgs),
    Stats(c::stats::StatsArgs),
    Health(c::health::HealthArgs),
    Conflicts(c::conflicts::ConflictsArgs),
    History(c::history::HistoryArgs),
    Why(c::why::WhyArgs),
    Diff(c::diff::DiffArgs),
    Log(c::log::LogArgs),
    Replay(c::replay::ReplayArgs),
    Embed(c::embed::EmbedArgs),
    Rebuild(c::rebuild::RebuildArgs),
    Verify(c::verify::VerifyArgs),
    Doctor(c::doctor::DoctorArgs),
    Import(c::import::ImportArgs),
    Export(c::export::ExportArgs),
    Sync(c::sync::SyncArgs),
    Backup(c::backup::BackupArgs),
    Restore(c::restore::RestoreArgs),
    #[cfg(feature = "bench")]
    Bench(c::bench::BenchArgs),
    #[cfg(feature = "models")]
    Model(c::model::ModelArgs),
    Serve(c::serve::ServeArgs),
    Config(c::config::ConfigArgs),
    Demo(c::demo::DemoArgs),
    Completions(c::completions::CompletionsArgs),
    Man(c::man::ManArgs),
}

impl Command {
    /// True for commands that write the config file or have nothing to do with it.
    pub(crate) fn ignores_config(&self) -> bool {
        matches!(
            self,
            Command::Completions(_)
                | Command::Man(_)
                | Command::Config(c::config::ConfigArgs {
                    command: c::config::ConfigCommand::Init(_)
                })
        )
    }

    /// What is logged though nobody asked for it by `ICM_LOG` or `-v`.
    pub(crate) fn logs(&self) -> Wanted<'_> {
        match self {
            Command::Serve(args) => args.logs(),
            _ => Wanted::default(),
        }
    }

    pub(crate) fn run(self, app: &App) -> Result<Outcome, CliError> {
        match self {
            Command::Store(args) => c::store::run(args, app),
            Command::Recall(args) => c::recall::run(args, app),
            Command::RecallContext(args) => c::recall_context::run(args, app),
            Command::Get(args) => c::get::run(args, app),
            Command::List(args) => c::list::run(args, app),
            Command::Update(args) => c::update::run(args, app),
            Command::Forget(args) => c::forget::run(args, app),
            Command::Revive(args) => c::revive::run(args, app),
            Command::Undo(args) => c::undo::run(args, app),
            Command::Link(args) => c::link::run(args, app),
            Command::Unlink(args) => c::unlink::run(args, app),
            Command::Consolidate(args) => c::consolidate::run(args, app),
            Command::Memoir(args) => c::memoir::run(args, app),
            Command::Decay(args) => c::decay::run(args, app),
            Command::Prune(args) => c::prune::run(args, app),
            Command::Redact(args) => c::redact::run(args, app),
            Command::Topics(args) => c::topics::run(args, app),
            Command::Stats(args) => c::stats::run(args, app),
            Command::Health(args) => c::health::run(args, app),
            Command::Conflicts(args) => c::conflicts::run(args, app),
            Command::History(args) => c::history::run(args, app),
            Command::Why(args) => c::why::run(args, app),
            Command::Diff(args) => c::diff::run(args, app),
            Command::Log(args) => c::log::run(args, app),
            Command::Replay(args) => c::replay::run(args, app),
            Command::Embed(args) => c::embed::run(args, app),
            Command::Rebuild(args) => c::rebuild::run(args, app),
            Command::Verify(args) => c::verify::run(args, app),
            Command::Doctor(args) => c::doctor::run(args, app),
            Command::Import(args) => c::import::run(args, app),
            Command::Export(args) => c::export::run(args, app),
            Command::Sync(args) => c::sync::run(args, app),
            Command::Backup(args) => c::backup::run(args, app),
            Command::Restore(args) => c::restore::run(args, app),
            #[cfg(feature = "bench")]
            Command::Bench(args) => c::bench::run(args, app),
            #[cfg(feature = "models")]
            Command::Model(args) => c::model::run(args, app),
            Command::Serve(args) => c::serve::run(args, app),
            Command::Config(args) => c::config::run(args, app),
            Command::Demo(args) => c::demo::run(args, app),
            Command::Completions(args) => c::completions::run(args, app),
            Command::Man(args) => c::man::run(args, app),
        }
    }
}

/// How much a memory matters.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ImportanceArg {
    /// Must not be lost
    Critical,
    /// Matters more than most
    High,
    /// The usual
    Medium,
    /// Matters less than most
    Low,
}

impl From<ImportanceArg> for Importance {
    fn from(arg: ImportanceArg) -> Self {
        match arg {
            ImportanceArg::Critical => Importance::Critical,
            ImportanceArg::High => Importance::High,
            ImportanceArg::Medium => Importance::Medium,
            ImportanceArg::Low => Importance::Low,
        }
    }
}

/// Where a text came from.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum TrustArg {
    /// A person typed it
    User,
    /// A person or an agent wrote it
    Agent,
    /// Wherever it came from
    External,
}

impl From<TrustArg> for Trust {
    fn from(arg: TrustArg) -> Self {
        match arg {
            TrustArg::User => Trust::User,
            TrustArg::Agent => Trust::Agent,
            TrustArg::External => Trust::External,
        }
    }
}

/// The words of a list argument: `-k a,b -k c` and `-k ''`, which is an empty list.
pub(crate) fn words(given: Vec<String>) -> Vec<String> {
    given
        .into_iter()
        .map(|word| word.trim().to_string())
        .filter(|word| !word.is_empty())
        .collect()
}

/// A number of things, from 1.
pub(crate) fn how_many(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("give a whole number, 1 or more".into()),
        Ok(number) => Ok(number),
    }
}

/// A share, from 0 to 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("give a number from 0 to 1".into()),
    }
}

/// Most results of one answer.
const RESULTS_MAX: u16 = 1_000;

/// How many results somebody wants, at least one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Results(u64);

impl FromStr for Results {
    type Err = String;

    fn from_str(text: &str) -> Result<Results, String> {
        let wanted = text.parse().ok().filter(|wanted| *wanted > 0);
        let why = || format!("give a whole number from 1 to {RESULTS_MAX}");
        wanted.map(Results).ok_or_else(why)
    }
}

impl Results {
    /// Returns as many of them as one answer has; a note says so if that is fewer.
    pub(crate) fn within(self, ui: &Ui) -> usize {
        if self.0 > u64::from(RESULTS_MAX) {
            ui.note(&format!(
                "`--limit` is from 1 to {RESULTS_MAX}: {RESULTS_MAX} was used, not {}",
                self.0
            ));
        }
        usize::try_from(self.0)
            .unwrap_or(usize::MAX)
            .min(RESULTS_MAX.into())
    }
}

/// A number of results, from 1 to 1000.
pub(crate) fn how_many_results(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(number @ 1..=1000) => Ok(number),
        _ => Err("give a whole number from 1 to 1000".into()),
    }
}
