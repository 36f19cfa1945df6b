//! Commands that show what they would do, ask, and then do what was shown.

use icm_service::Service;
use serde::Serialize;

use crate::app::App;
use crate::error::{CliError, Outcome};

/// Takes the lines of a preview.
pub(crate) type Put<'a> = &'a mut dyn FnMut(String) -> Result<(), CliError>;

/// How far a run goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Go<'a> {
    /// Only say what would be done.
    Look,
    /// Do it; with a plan only if it is still that one.
    Do(Option<&'a str>),
}

/// What is asked on a terminal.
pub(crate) struct Question {
    /// `Undo 3 events?`
    pub(crate) question: String,
    /// What has to be confirmed where nobody can be asked: `undoing 3 events`.
    pub(crate) unconfirmed: String,
    /// What a no comes to: `nothing was undone`.
    pub(crate) refused: &'static str,
}

/// A command of this shape.
pub(crate) trait Asked {
    /// What the service answers, to a look and to the deed.
    type Answer: Serialize;

    fn run(&mut self, service: &Service, go: Go<'_>) -> Result<Self::Answer, CliError>;

    /// What names the plan of an answer.
    fn plan(answer: &Self::Answer) -> &str;

    /// Shows what would be done, or was.
    fn print(&self, app: &App, answer: &Self::Answer, put: Put<'_>) -> Result<(), CliError>;

    fn question(&self, answer: &Self::Answer) -> Question;

    /// The last words, once it is done.
    fn receipt(&self, app: &App, done: &Self::Answer) -> Result<(), CliError>;

    /// True when a look found nothing that could be done: nothing is asked then.
    fn is_idle(_: &Self::Answer) -> bool {
        false
    }

    /// How a run ends that only looked.
    fn looked(_: &Self::Answer) -> Outcome {
        Outcome::Fine
    }
}

/// Runs it: with `--dry-run` it only shows, with `--yes` it asks nobody.
pub(crate) fn run<A: Asked>(mut asked: A, dry_run: bool, app: &App) -> Result<Outcome, CliError> {
    let service = app.service()?;
    let mut plan = None;
    if dry_run || !app.global.yes {
        let look = asked.run(service, Go::Look)?;
        if dry_run || A::is_idle(&look) {
            show(&asked, &look, app)?;
            return Ok(A::looked(&look));
        }
        asked.print(app, &look, &mut |line| {
            app.ui.preview(format_args!("{line}"));
            Ok(())
        })?;
        let Question {
            question,
            unconfirmed,
            refused,
        } = asked.question(&look);
        if !app.agreed(&question, &unconfirmed)? {
            app.ui.remark(format_args!("{refused}"));
            return Ok(Outcome::No);
        }
        plan = Some(A::plan(&look).to_owned());
    }
    let done = asked.run(service, Go::Do(plan.as_deref()))?;
    if plan.is_none() || app.ui.json {
        show(&asked, &done, app)?;
    }
    if !app.ui.json && !A::is_idle(&done) {
        asked.receipt(app, &done)?;
    }
    Ok(Outcome::Fine)
}

fn show<A: Asked>(asked: &A, answer: &A::Answer, app: &App) -> Result<(), CliError> {
    match app.ui.json {
        true => app.ui.json(answer),
        false => asked.print(app, answer, &mut |line| app.ui.line(format_args!("{line}"))),
    }
}
