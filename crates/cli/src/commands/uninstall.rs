//! `icm uninstall`

use clap::Args;
use icm_clients::install::{Plan, Step};

use super::clients::{self, Words};
use crate::app::App;
use crate::error::{CliError, Outcome};

/// Remove icm from the settings of agents; the store is kept
///
/// If nobody changed a file since `icm init`, the file becomes as it was before. A file that `icm init` made is
/// removed. From a changed file only the entries of icm are removed. The files of the user, of the working folder, and
/// of every project that init wrote are checked.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm uninstall --dry-run    # only shows the changes
  icm uninstall --yes        # without a question")]
pub(crate) struct UninstallArgs {
    /// Only list the entries of icm; exits with 1 if there are any
    #[arg(long, conflicts_with = "dry_run")]
    check: bool,
    /// Show the changes as a diff of each file
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: UninstallArgs, app: &App) -> Result<Outcome, CliError> {
    let machine = clients::machine()?;
    let folder = std::env::current_dir().ok();
    let program = clients::program(&machine)?;
    let list = clients::list()?;
    let mut plan = Plan::removal(&program, folder.as_deref(), &machine, &list)?;
    if let Some(folder) = folder.filter(|folder| *folder != machine.home) {
        let is_of_project = |step: &&Step| step.file.starts_with(&folder);
        let is_project =
            folder.join(".git").exists() || plan.steps.iter().any(|step| is_of_project(&step));
        let mut changed = plan.steps.iter().filter(|step| step.changes());
        if is_project && changed.any(|step| !is_of_project(&step)) {
            plan.notes.push(format!(
                "this also changes the files of the user, not only the files of {}",
                folder.display()
            ));
        }
    }
    if args.check {
        return clients::look(&plan, app);
    }
    let words = Words {
        verb: "change or remove",
        doing: "changing or removing",
        done: "removed icm from",
        refused: "nothing was removed",
        idle: "no file has entries of icm",
    };
    Ok(clients::go(&plan, &words, args.dry_run, app)?.outcome)
}
