//! The command line: global flags and the list of commands.

use clap::{CommandFactory, Parser, Subcommand};

use crate::app::App;
use crate::commands as c;
use crate::error::{CliError, Outcome};
use crate::global::GlobalArgs;
use crate::logging::Wanted;

#[cfg(test)]
mod examples;
#[cfg(test)]
mod exit_codes;

const ENVIRONMENT: &str = "\
Environment:
  ICM_DB       the store's folder, if --db is not given
  ICM_CONFIG   the config file, if --config is not given
  ICM_ACTOR    the actor of new events (default: user, or the agent that runs the shell)
  ICM_SESSION  the session of new events
  ICM_SESSION_PARENT
               the parent of a session that a hook starts
  ICM_LOG      the filter of the logging, for instance debug or icm_log=trace
  NO_COLOR     no colours, if set

Exit codes:
  0  success
  1  the answer is no: nothing found, lines rejected
  2  failure
  3  damage found

Times (--at, --since and others):
  2026-03-01T12:00:00Z, 2026-03-01 (to its end), yesterday, '2h ago', '7 days ago',
  @123 (a position of the log), or the beginning of an event id

Examples:
  icm store -t decisions -c 'Invoices live in PostgreSQL'
  icm recall where do invoices live
  icm init --dry-run                                         # for the agents on this machine";

/// A memory for AI agents that can be replayed
///
/// Every store, change and forget is an event of an append-only log, and every answer is computed from that log. So
/// nothing is ever lost, and every question can be asked as of any moment.
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

/// The command to run.
///
/// Only the arguments of the command that runs are described: a description of all takes half a millisecond.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Store(c::store::StoreArgs),
    Recall(c::recall::RecallArgs),
    RecallContext(c::recall_context::RecallContextArgs),
    WakeUp(c::wake_up::WakeUpArgs),
    Alert(c::alert::AlertArgs),
    Alerts(c::alert::AlertsArgs),
    Get(c::get::GetArgs),
    List(c::list::ListArgs),
    Update(c::update::UpdateArgs),
    Forget(c::forget::ForgetArgs),
    Revive(c::revive::ReviveArgs),
    Pin(c::pin::PinArgs),
    Unpin(c::pin::UnpinArgs),
    Undo(c::undo::UndoArgs),
    Link(c::link::LinkArgs),
    Unlink(c::unlink::UnlinkArgs),
    Fact(c::fact::FactArgs),
    Consolidate(c::consolidate::ConsolidateArgs),
    Memoir(c::memoir::MemoirArgs),
    Feedback(c::feedback::FeedbackArgs),
    Decay(c::decay::DecayArgs),
    Prune(c::prune::PruneArgs),
    Redact(c::redact::RedactArgs),
    Topics(c::topics::TopicsArgs),
    Tags(c::tags::TagsArgs),
    Stats(c::stats::StatsArgs),
    Health(c::health::HealthArgs),
    Conflicts(c::conflicts::ConflictsArgs),
    History(c::history::HistoryArgs),
    Why(c::why::WhyArgs),
    Diff(c::diff::DiffArgs),
    Log(c::log::LogArgs),
    Sessions(c::sessions::SessionsArgs),
    Replay(c::replay::ReplayArgs),
    Embed(c::embed::EmbedArgs),
    Rebuild(c::rebuild::RebuildArgs),
    Verify(c::verify::VerifyArgs),
    Doctor(c::doctor::DoctorArgs),
    Extract(c::extract::ExtractArgs),
    Review(c::review::ReviewArgs),
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
    Explore(c::explore::ExploreArgs),
    Tui(c::tui::TuiArgs),
    Hook(c::hook::HookArgs),
    Init(c::init::InitArgs),
    Uninstall(c::uninstall::UninstallArgs),
    Config(c::config::ConfigArgs),
    Demo(c::demo::DemoArgs),
    Completions(c::completions::CompletionsArgs),
    Man(c::man::ManArgs),
}

impl Command {
    /// Returns `true` for commands that write the config file or do not need one.
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

    /// Returns `true` for a hook of a client, which must never fail.
    pub(crate) fn is_hook(&self) -> bool {
        matches!(self, Command::Hook(args) if args.is_of_client())
    }

    /// Returns the logging of the command if neither `ICM_LOG` nor `-v` asks for one.
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
            Command::WakeUp(args) => c::wake_up::run(args, app),
            Command::Alert(args) => c::alert::set(args, app),
            Command::Alerts(args) => c::alert::show(args, app),
            Command::Get(args) => c::get::run(args, app),
            Command::List(args) => c::list::run(args, app),
            Command::Update(args) => c::update::run(args, app),
            Command::Forget(args) => c::forget::run(args, app),
            Command::Revive(args) => c::revive::run(args, app),
            Command::Pin(args) => c::pin::pin(args, app),
            Command::Unpin(args) => c::pin::unpin(args, app),
            Command::Undo(args) => c::undo::run(args, app),
            Command::Link(args) => c::link::run(args, app),
            Command::Unlink(args) => c::unlink::run(args, app),
            Command::Fact(args) => c::fact::run(args, app),
            Command::Consolidate(args) => c::consolidate::run(args, app),
            Command::Memoir(args) => c::memoir::run(args, app),
            Command::Feedback(args) => c::feedback::run(args, app),
            Command::Decay(args) => c::decay::run(args, app),
            Command::Prune(args) => c::prune::run(args, app),
            Command::Redact(args) => c::redact::run(args, app),
            Command::Topics(args) => c::topics::run(args, app),
            Command::Tags(args) => c::tags::run(args, app),
            Command::Stats(args) => c::stats::run(args, app),
            Command::Health(args) => c::health::run(args, app),
            Command::Conflicts(args) => c::conflicts::run(args, app),
            Command::History(args) => c::history::run(args, app),
            Command::Why(args) => c::why::run(args, app),
            Command::Diff(args) => c::diff::run(args, app),
            Command::Log(args) => c::log::run(args, app),
            Command::Sessions(args) => c::sessions::run(args, app),
            Command::Replay(args) => c::replay::run(args, app),
            Command::Embed(args) => c::embed::run(args, app),
            Command::Rebuild(args) => c::rebuild::run(args, app),
            Command::Verify(args) => c::verify::run(args, app),
            Command::Doctor(args) => c::doctor::run(args, app),
            Command::Extract(args) => c::extract::run(args, app),
            Command::Review(args) => c::review::run(args, app),
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
            Command::Explore(args) => c::explore::run(args, app),
            Command::Tui(args) => c::tui::run(args, app),
            Command::Hook(args) => c::hook::run(&args, app),
            Command::Init(args) => c::init::run(args, app),
            Command::Uninstall(args) => c::uninstall::run(args, app),
            Command::Config(args) => c::config::run(args, app),
            Command::Demo(args) => c::demo::run(args, app),
            Command::Completions(args) => c::completions::run(args, Cli::command(), app),
            Command::Man(args) => c::man::run(args, Cli::command(), app),
        }
    }
}
