//! `icm hook`

mod input;
pub(super) mod journal;
mod learn;
mod once;
mod switch;

use std::path::{Path, PathBuf};

use clap::Args;
use icm_agents::hook::{
    HookContext, HookMemory, HookOptions, at_end, at_prompt, at_start, before_fresh_context,
    session_name,
};
use icm_api::Caller;
use icm_api::clients::AGENT;
use icm_api::limits::{SOURCE_LEN_MAX, label};
use icm_clients::hooks::{self, Input, Moment, PLUGIN};
use icm_clients::names::Client;
use icm_service::Delivery;
use icm_wait::bounds;

use crate::app::App;
use crate::caller;
use crate::error::{CliError, Outcome};
use crate::text::{cut, one_line};
use crate::ui::{BOLD, DIM};

/// A file that switches hooks off in its folder and below.
const IGNORE: &str = ".icm-ignore";
/// Longest path of a folder, in bytes. No system has longer paths. Raised, more parent folders are searched for the
/// file above.
const FOLDER_LEN_MAX: usize = 4_096;
/// The variable with the parent session of a session.
const PARENT: &str = "ICM_SESSION_PARENT";

/// Answer a hook of an agent's client
///
/// `icm init` writes this command into the files of clients. A client runs the command with JSON on stdin and gets an
/// answer in its own form. At the start of a session the answer is the wake-up pack. At a prompt it is the memories
/// that fit and that the session has not seen. Before a compaction and at the end of a turn or session, the command
/// stores sentences that are worth keeping. An error never stops the client: the exit code is 0, nothing is injected,
/// and `cache/hooks.log` in the store's folder gets a line.
///
/// `icm hook off` switches hooks off for this user, `icm hook off --project` for the project of this folder.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm hook claude-code UserPromptSubmit --try 'where do invoices live'
  icm hook off --project
  icm log --injected --session s1    # the memories that a session was shown")]
pub(crate) struct HookArgs {
    /// The client, or `on`, `off`
    #[arg(value_name = "CLIENT")]
    client: String,
    /// The event in the client's words: `SessionStart`, `UserPromptSubmit`, `BeforeAgent` …
    #[arg(value_name = "EVENT")]
    event: Option<String>,
    /// Show the memories for this prompt, or those for the start of a session, with reasons; nothing is recorded.
    /// `ICM_SESSION` names the session
    #[arg(long = "try", value_name = "TEXT", num_args = 0..=1, default_missing_value = "")]
    prompt: Option<String>,
    /// With `on` and `off`: only for the project of this folder
    #[arg(long)]
    project: bool,
}

impl HookArgs {
    /// Returns `true` if a client runs the command, which must then never fail.
    pub(crate) fn is_of_client(&self) -> bool {
        let is_asked = |word: &str| matches!(word, "on" | "off");
        let event = self.event.as_deref();
        self.prompt.is_none()
            && event.is_some_and(|event| !is_asked(event) && !is_asked(&self.client))
    }
}

pub(crate) fn run(args: &HookArgs, app: &App) -> Result<Outcome, CliError> {
    match (&*args.client, &args.prompt) {
        ("off", None) => switch::set(false, args.project, app),
        ("on", None) => switch::set(true, args.project, app),
        (_, Some(prompt)) => try_prompt(args, prompt, app),
        // No client runs such a command, so a person mistyped it.
        (word, None) if matches!(args.event.as_deref(), None | Some("on" | "off")) => Err(
            CliError::invalid(format!("`icm hook {word}` names no event of a client"))
                .with_hint("write `icm hook off`, `icm hook on`, or `icm hook CLIENT EVENT`"),
        ),
        _ => {
            answer(args, app);
            Ok(Outcome::Fine)
        }
    }
}

/// Answers the client. An error becomes a line of the journal and the neutral answer.
fn answer(args: &HookArgs, app: &App) {
    let failed = |problem: &str| journal::note(app, &args.client, args.event.as_deref(), problem);
    let input = match read(args) {
        Ok(Some(input)) => input,
        Ok(None) => return,
        Err(problem) => {
            failed(&problem);
            let client = Client::named(&args.client).unwrap_or(Client::ClaudeCode);
            let event = args.event.as_deref().unwrap_or_default();
            let _ = app.ui.bytes(&hooks::neutral(client, event));
            return;
        }
    };
    // The invalid config file may switch hooks off.
    if let Some(problem) = &app.config_problem {
        failed(problem.message());
        let _ = app.ui.bytes(&hooks::answer(&input, ""));
        return;
    }
    let context = match context(&input, app) {
        Ok(context) => context,
        Err(error) => {
            failed(error.message());
            HookContext::default()
        }
    };
    let bytes = hooks::answer(&input, &context.text);
    let written = app.ui.bytes(&bytes);
    if let Err(error) = &written {
        failed(error.message());
    }
    // If the answer did not get out, the delivery is dropped, and the alerts are shown again.
    if let Some(delivery) = context.delivery.filter(|_| written.is_ok())
        && let Err(error) = delivered(delivery, app)
    {
        failed(error.message());
    }
    if let Err(error) = after(&input, app) {
        failed(error.message());
    }
}

/// Records that the alerts of an answer were shown.
fn delivered(delivery: Delivery, app: &App) -> Result<(), CliError> {
    Ok(app.service_for_hook()?.record_delivery(delivery)?)
}

/// Reads the client's input; `None` if another client runs the hook and has a hook of its own.
fn read(args: &HookArgs) -> Result<Option<Input>, String> {
    let event = args.event.as_deref().unwrap_or_default();
    let stdin = input::within(bounds::HOOK)?;
    let client = match &*args.client {
        PLUGIN => hooks::which(|name| std::env::var(name).ok(), &stdin),
        name => Client::named(name).ok_or_else(|| format!("unknown client `{name}`"))?,
    };
    if hooks::is_borrowed(client, &stdin) {
        return Ok(None);
    }
    let input = hooks::read(client, event, &stdin);
    input.map(Some).map_err(|error| error.to_string())
}

/// Returns the context for the answer; empty at moments that show nothing.
fn context(input: &Input, app: &App) -> Result<HookContext, CliError> {
    let tells = matches!(
        input.moment,
        Moment::SessionStart { .. }
            | Moment::SubagentStart
            | Moment::AfterCompaction
            | Moment::Prompt
    );
    // Every moment is noted: the same prompt after a compaction is a new moment.
    if is_off(input, app)? || !once::is_first(input, app) || !tells {
        return Ok(HookContext::default());
    }
    let service = app.service_for_hook()?;
    let caller = caller_of(input, app)?;
    let parent = caller::variable(PARENT)?;
    let options = options(app);
    Ok(match input.moment {
        Moment::Prompt => at_prompt(service, &caller, input, parent.as_deref(), &options)?,
        _ => at_start(service, &caller, input, parent.as_deref(), &options)?,
    })
}

/// Stores what the session learned and records its end, after the answer.
fn after(input: &Input, app: &App) -> Result<(), CliError> {
    let ends = matches!(input.moment, Moment::SessionEnd | Moment::SubagentStop);
    let learns = ends || matches!(input.moment, Moment::BeforeCompaction | Moment::Stop);
    if !learns || is_off(input, app)? {
        return Ok(());
    }
    let service = app.service_for_hook()?;
    let caller = caller_of(input, app)?;
    let learned = match app.config.hooks.learn {
        true => learn::learn(service, &caller, input, app),
        false => Ok(()),
    };
    if input.moment == Moment::BeforeCompaction && hooks::freshens(input.client, &input.event) {
        before_fresh_context(service, &caller, input, &options(app))?;
    }
    if ends {
        at_end(service, &caller, input, &options(app))?;
    }
    learned
}

fn options(app: &App) -> HookOptions {
    let hooks = &app.config.hooks;
    let record = hooks.record && app.config.recall.record;
    HookOptions {
        record,
        wakes: record,
        deliver: true,
        floor: hooks.floor,
        budget: hooks.budget,
        wake_up_budget: hooks.wake_up_budget,
    }
}

/// Returns `true` if hooks are switched off here, by configuration or by a file in the folder or above it.
fn is_off(input: &Input, app: &App) -> Result<bool, CliError> {
    if !app.config.hooks.enabled {
        return Ok(true);
    }
    let Some(folder) = folder_of(input) else {
        return Ok(false);
    };
    Ok(folder
        .ancestors()
        .any(|folder| folder.join(IGNORE).exists()))
}

fn folder_of(input: &Input) -> Option<PathBuf> {
    (input.folder.clone())
        .filter(|folder| folder.is_absolute() && folder.as_os_str().len() <= FOLDER_LEN_MAX)
        .or_else(|| std::env::current_dir().ok())
}

/// Returns the caller: the client's agent, in the session of the input or else of the environment.
fn caller_of(input: &Input, app: &App) -> Result<Caller, CliError> {
    let folder = folder_of(input);
    let mut caller = app.caller_in(folder.as_deref())?;
    caller.project = folder.as_deref().and_then(caller::project_in);
    caller.actor = format!("{AGENT}{}", input.client.name());
    if let Some(session) = session_name(input) {
        label("the session", &session, SOURCE_LEN_MAX)?;
        caller.session = Some(session);
    }
    Ok(caller)
}

/// `--try`: shows the context of the prompt, or of a session's start, with reasons.
fn try_prompt(args: &HookArgs, prompt: &str, app: &App) -> Result<Outcome, CliError> {
    let client = match &*args.client {
        PLUGIN => Client::ClaudeCode,
        name => Client::named(name).ok_or_else(|| {
            let known: Vec<&str> = Client::ALL.iter().map(|client| client.name()).collect();
            CliError::invalid(format!("unknown client `{name}`"))
                .with_hint(format!("known clients: {}", known.join(", ")))
        })?,
    };
    let event = match &args.event {
        Some(event) => event.as_str(),
        None => hooks::events(client)
            .iter()
            .find(|row| row.moment == Moment::Prompt)
            .map_or("UserPromptSubmit", |row| row.name),
    };
    let read = hooks::read(client, event, b"{}")?;
    let mut caller = app.caller_here()?;
    caller.actor = format!("{AGENT}{}", client.name());
    let input = Input {
        session: caller.session.clone(),
        prompt: Some(prompt.to_owned()),
        ..read
    };
    let options = HookOptions {
        record: false,
        deliver: false,
        ..options(app)
    };

    let parent = caller::variable(PARENT)?;
    let parent = parent.as_deref();

    let service = app.service()?;
    let context = match input.moment {
        Moment::SessionStart { .. } | Moment::SubagentStart | Moment::AfterCompaction => {
            at_start(service, &caller, &input, parent, &options)?
        }
        Moment::Prompt => at_prompt(service, &caller, &input, parent, &options)?,
        _ => HookContext::default(),
    };

    if app.ui.json {
        app.ui.json(&context)?;
    } else {
        print(&context, &input, &options, app)?;
    }
    if is_off(&input, app)? {
        app.ui
            .note("hooks are off here; `icm hook on` switches them on");
    }
    Ok(
        match context.shown.is_empty() && context.alerts.is_empty() {
            true => Outcome::No,
            false => Outcome::Fine,
        },
    )
}

fn print(
    context: &HookContext,
    input: &Input,
    options: &HookOptions,
    app: &App,
) -> Result<(), CliError> {
    let ui = &app.ui;
    if !context.text.is_empty() {
        ui.line(format_args!("{}", context.text))?;
        ui.line(format_args!("{}", ui.paint(BOLD, "why")))?;
    }
    for alert in &context.alerts {
        let line = format!("  @{}  an alert that is due", alert.position);
        ui.line(format_args!("{}", cut(&line, ui.columns.unwrap_or(120))))?;
    }
    for memory in &context.shown {
        let line = format!("  {}  {}", memory.id, why(memory));
        ui.line(format_args!("{}", cut(&line, ui.columns.unwrap_or(120))))?;
    }
    let floor = options.floor;
    let mut remark = match (&context.nearest, context.shown.is_empty()) {
        _ if !hooks::injects(input.client, &input.event) => format!(
            "{} shows its model nothing at {}",
            input.client.title(),
            input.event
        ),
        (Some(nearest), _) => format!(
            "nothing has a fit of {floor:.2} (`hooks.floor`); nearest: {}, fit {:.2}",
            nearest.id, nearest.fit
        ),
        (None, true) if context.alerts.is_empty() => "there is nothing to show".to_owned(),
        (None, _) => format!("{} tokens", context.tokens),
    };
    if context.seen > 0 {
        remark.push_str(&format!(
            "; {} that this session has seen are not shown again",
            context.seen
        ));
    }
    ui.remark(format_args!("{}", ui.paint(DIM, &remark)));
    Ok(())
}

/// Returns the reason why a memory is shown, in words.
fn why(memory: &HookMemory) -> String {
    if !memory.reasons.is_empty() {
        let reasons = memory.reasons.iter().map(|reason| reason.word());
        return reasons.collect::<Vec<_>>().join(", ");
    }
    let Some(fit) = memory.fit else {
        return "by a link from another one".to_owned();
    };
    match memory.matched.is_empty() {
        true => format!("fit {fit:.2}, near in meaning"),
        false => format!("fit {fit:.2}, has {}", one_line(&memory.matched.join(", "))),
    }
}

/// Returns the path of the file that switches hooks off in a folder.
fn ignore_file(folder: &Path) -> PathBuf {
    folder.join(IGNORE)
}
