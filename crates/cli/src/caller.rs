//! Who is calling: read from the environment and the working folder, nothing is spawned.
//! The project's id, for which that may be needed, is found by [`project`](crate::project).

use std::path::Path;

use icm_api::Caller;
use icm_api::limits::{ACTOR_LEN_MAX, SOURCE_LEN_MAX, label};

use crate::error::CliError;
use crate::project;

/// The program and its version, as written into the log.
pub(crate) const CLIENT: &str = concat!("icm-cli/", env!("CARGO_PKG_VERSION"));

/// Variables that name an agent's session, the first that is set counts: the user's own, then those of Claude Code,
/// Copilot CLI and Gemini CLI.
const SESSIONS: [&str; 4] = [
    "ICM_SESSION",
    "CLAUDE_CODE_SESSION_ID",
    "COPILOT_AGENT_SESSION_ID",
    "GEMINI_SESSION_ID",
];

/// Variables that agents set to `1` for what they start, and the agents.
const AGENTS: [(&str, &str); 3] = [
    ("CLAUDECODE", "agent:claude-code"),
    ("GEMINI_CLI", "agent:gemini-cli"),
    ("OPENCODE", "agent:opencode"),
];

/// The caller, from `ICM_ACTOR`, `ICM_SESSION` and what agents set for their shells.
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

/// Returns the agent's session, and the variable that names it.
pub(crate) fn session() -> Result<Option<(&'static str, String)>, CliError> {
    for name in SESSIONS {
        if let Some(session) = variable(name)? {
            return Ok(Some((name, session)));
        }
    }
    Ok(None)
}

/// The value of an environment variable; one that is empty counts as not set.
pub(crate) fn variable(name: &str) -> Result<Option<String>, CliError> {
    match std::env::var_os(name) {
        None => Ok(None),
        Some(value) if value.is_empty() => Ok(None),
        Some(value) => match value.into_string() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(CliError::invalid(format!("`{name}` is not valid UTF-8"))),
        },
    }
}

/// Returns who acts, and the variable that says so; `None` for the user, whom no variable names.
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

/// The name of the project that a folder is in.
pub(crate) fn project_in(folder: &Path) -> Option<String> {
    project_of(folder).or_else(|| project::marked(folder))
}

/// The name of the folder that holds `.git`, from here upwards.
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
