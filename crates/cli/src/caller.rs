//! Finds the caller from the environment and the working folder, without starting a process. The project's id may need
//! one; [`project`](crate::project) finds it.

use std::path::Path;

use icm_api::Caller;
use icm_api::limits::{ACTOR_LEN_MAX, SOURCE_LEN_MAX, label};

use crate::error::CliError;
use crate::project;

/// The program and its version, as the log records them.
pub(crate) const CLIENT: &str = concat!("icm-cli/", env!("CARGO_PKG_VERSION"));

/// Variables that name an agent's session; the first that is set counts. The user's own comes first, then those of
/// Claude Code, Copilot CLI and Gemini CLI.
const SESSIONS: [&str; 4] = [
    "ICM_SESSION",
    "CLAUDE_CODE_SESSION_ID",
    "COPILOT_AGENT_SESSION_ID",
    "GEMINI_SESSION_ID",
];

/// Variables that agents set to `1` for their child processes, with the agents' names.
const AGENTS: [(&str, &str); 3] = [
    ("CLAUDECODE", "agent:claude-code"),
    ("GEMINI_CLI", "agent:gemini-cli"),
    ("OPENCODE", "agent:opencode"),
];

/// Returns the caller, from `ICM_ACTOR`, `ICM_SESSION` and the variables of agents.
pub(crate) fn from_environment() -> Result<Caller, CliError> {
    let session = session()?.map(|(_, session)| session);
    if let Some(session) = &session {
        label("the session", session, SOURCE_LEN_MAX)?;
    }
    let project = std::env::current_dir()
        .ok()
        .and_then(|folder| project_in(&folder));
    Ok(Caller {
        actor: actor()?.1,
        client: Some(CLIENT.to_string()),
        session,
        project,
        ..Caller::default()
    })
}

/// Returns the agent's session and the variable that names it.
pub(crate) fn session() -> Result<Option<(&'static str, String)>, CliError> {
    for name in SESSIONS {
        if let Some(session) = variable(name)? {
            return Ok(Some((name, session)));
        }
    }
    Ok(None)
}

/// Returns the value of an environment variable; `None` if the variable is absent or empty.
pub(crate) fn variable(name: &str) -> Result<Option<String>, CliError> {
    match std::env::var_os(name) {
        None => Ok(None),
        Some(value) if value.is_empty() => Ok(None),
        Some(value) => match value.into_string() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(CliError::invalid(format!("`{name}` is not valid UTF-8"))
                .with_hint("set it to text in UTF-8, or unset it")),
        },
    }
}

/// Returns the actor and the variable that names it; `None` for the user, whom no variable names.
pub(crate) fn actor() -> Result<(Option<&'static str>, String), CliError> {
    const ACTOR: &str = "ICM_ACTOR";
    if let Some(actor) = variable(ACTOR)? {
        label("`ICM_ACTOR`", &actor, ACTOR_LEN_MAX)?;
        return Ok((Some(ACTOR), actor));
    }
    for (name, agent) in AGENTS {
        if variable(name)?.as_deref() == Some("1") {
            return Ok((Some(name), agent.into()));
        }
    }
    Ok((None, "user".into()))
}

/// Returns the name of a folder's project.
pub(crate) fn project_in(folder: &Path) -> Option<String> {
    project_of(folder).or_else(|| project::marked(folder))
}

/// Returns the name of the nearest folder with `.git`, from here upwards.
fn project_of(folder: &Path) -> Option<String> {
    folder
        .ancestors()
        .find(|folder| folder.join(".git").exists())
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_is_the_folder_with_git_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("widgets");
        std::fs::create_dir_all(project.join("src/deep")).unwrap();
        std::fs::create_dir(project.join(".git")).unwrap();
        assert_eq!(
            project_of(&project.join("src/deep")).as_deref(),
            Some("widgets")
        );
        assert_eq!(project_of(&project).as_deref(), Some("widgets"));
    }
}
