//! Commands that show a plan, ask for confirmation, and then carry out the plan.

use icm_service::Service;
use serde::Serialize;

use crate::app::App;
use crate::error::{CliError, Outcome};

/// Takes the lines of a preview.
pub(crate) type Put<'a> = &'a mut dyn FnMut(String) -> Result<(), CliError>;

/// The extent of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Go<'a> {
    /// Make a plan, and change nothing.
    Look,
    /// Carry out the work; with a plan only if the plan is still the same.
    Do(Option<&'a str>),
}

/// The texts of a confirmation.
pub(crate) struct Question {
    /// `Undo 3 events?`
    pub(crate) question: String,
    /// The subject of the error without a terminal: `undoing 3 events`.
    pub(crate) unconfirmed: String,
    /// The remark after a no: `nothing was undone`.
    pub(crate) refused: &'static str,
}

/// A command that asks for confirmation.
pub(crate) trait Previewed {
    /// The answer of the service to both kinds of run.
    type Answer: Serialize;

    fn run(&mut self, service: &Service, go: Go<'_>) -> Result<Self::Answer, CliError>;

    /// Returns the plan of an answer.
    fn plan(answer: &Self::Answer) -> &str;

    /// Prints the plan, or the work done.
    fn print(&self, app: &App, answer: &Self::Answer, put: Put<'_>) -> Result<(), CliError>;

    fn question(&self, answer: &Self::Answer) -> Question;

    /// Prints the last lines after the work.
    fn receipt(&self, app: &App, done: &Self::Answer) -> Result<(), CliError>;

    /// Returns `true` if the plan is empty; then nothing is asked.
    fn is_idle(_: &Self::Answer) -> bool {
        false
    }

    /// Returns the outcome of a run that only makes a plan.
    fn looked(_: &Self::Answer) -> Outcome {
        Outcome::Fine
    }
}

/// Runs the command: with `--dry-run` only the plan, with `--yes` without a question.
pub(crate) fn run<A: Previewed>(
    mut command: A,
    dry_run: bool,
    app: &App,
) -> Result<Outcome, CliError> {
    let service = app.service()?;
    let mut plan = None;
    if dry_run || !app.global.yes {
        let look = command.run(service, Go::Look)?;
        if dry_run || A::is_idle(&look) {
            show(&command, &look, app)?;
            return Ok(A::looked(&look));
        }
        command.print(app, &look, &mut |line| {
            app.ui.preview(format_args!("{line}"));
            Ok(())
        })?;
        let Question {
            question,
            unconfirmed,
            refused,
        } = command.question(&look);
        if !app.agreed(&question, &unconfirmed)? {
            app.ui.remark(format_args!("{refused}"));
            return Ok(Outcome::No);
        }
        plan = Some(A::plan(&look).to_owned());
    }
    let done = command.run(service, Go::Do(plan.as_deref()))?;
    if plan.is_none() || app.ui.json {
        show(&command, &done, app)?;
    }
    if !app.ui.json && !A::is_idle(&done) {
        command.receipt(app, &done)?;
    }
    Ok(Outcome::Fine)
}

fn show<A: Previewed>(command: &A, answer: &A::Answer, app: &App) -> Result<(), CliError> {
    match app.ui.json {
        true => app.ui.json(answer),
        false => command.print(app, answer, &mut |line| app.ui.line(format_args!("{line}"))),
    }
}
