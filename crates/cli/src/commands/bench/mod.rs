//! `icm bench`

mod recall;
mod replay;
mod setting;

use clap::{Args, Subcommand};

use crate::app::App;
use crate::error::{CliError, Outcome};

/// Measure how well recall works
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm bench recall locomo/
  icm bench replay --set ranking.floor=0.3    # your own recalls with another floor")]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    Recall(recall::BenchRecallArgs),
    Replay(replay::BenchReplayArgs),
}

pub(crate) fn run(args: BenchArgs, app: &App) -> Result<Outcome, CliError> {
    match args.command {
        BenchCommand::Recall(args) => recall::run(args, app),
        BenchCommand::Replay(args) => replay::run(args, app),
    }
}
