//! Installs entries of icm into the files of clients: planned, shown, written, and removed again.
//!
//! [`Plan::install`] and [`Plan::removal`] read files and change nothing. [`Plan::apply`] writes. They know the machine
//! only through a [`Machine`]; nothing here reads the environment.
//!
//! An edit keeps comments, order, line ends, byte order mark and mode of a file. A file that icm cannot edit safely is
//! left alone, and its [`Outcome`] names the reason. A folder of icm's own keeps the bytes from before, so a removal
//! restores them if nobody changed the file since.
//!
//! ```
//! use std::path::Path;
//!
//! use icm_clients::install::{Machine, Os, Plan, Request, Scope, What};
//! use icm_clients::names::Client;
//!
//! let home = tempfile::tempdir()?;
//! let machine = Machine {
//!     home: home.path().to_path_buf(),
//!     env: Default::default(),
//!     programs: Vec::new(),
//!     os: Os::current(),
//! };
//! let request = Request {
//!     clients: vec![Client::Cursor],
//!     what: vec![What::Server],
//!     ..Request::new("/usr/bin/icm")
//! };
//! let ledger = home.path().join("icm-clients");
//! let plan = Plan::install(&request, &machine, &ledger)?;
//! assert!(plan.apply().iter().all(Result::is_ok));
//! assert!(home.path().join(".cursor/mcp.json").exists());
//!
//! let plan = Plan::removal(Path::new("/usr/bin/icm"), None, &machine, &ledger)?;
//! assert!(plan.apply().iter().all(Result::is_ok));
//! assert!(!home.path().join(".cursor").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod apply;
mod command;
mod entries;
mod error;
mod file;
mod format;
mod jobs;
mod ledger;
mod machine;
mod node;
mod plan;
mod probe;
mod table;
mod tasks;
mod text;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

pub use entries::{Entry, entries};
pub use error::InstallError;
pub use machine::{Machine, Os};
pub use probe::{Answer, Running, probe, running};

use crate::names::Client;

/// A kind of piece in a client's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// The entry of the MCP server.
    Server,
    /// Hooks.
    Hooks,
    /// A block of rules in a file of instructions.
    Rules,
    /// A skill.
    Skill,
}

impl What {
    /// All kinds.
    pub const ALL: &'static [What] = &[What::Server, What::Hooks, What::Rules, What::Skill];

    /// Returns the name in the list of written files.
    pub fn name(self) -> &'static str {
        match self {
            What::Server => "server",
            What::Hooks => "hooks",
            What::Rules => "rules",
            What::Skill => "skill",
        }
    }
}

/// The owner of the files that are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The user.
    User,
    /// The project in this folder.
    Project(PathBuf),
}

/// A request for an installation.
#[derive(Debug, Clone)]
pub struct Request {
    /// The clients; empty for all installed clients.
    pub clients: Vec<Client>,
    /// The kinds of pieces.
    pub what: Vec<What>,
    /// `true` if the kinds are the default: clients without hooks are then not mentioned.
    pub is_default: bool,
    /// The owner of the files.
    pub scope: Scope,
    /// The absolute path of icm.
    pub icm: PathBuf,
    /// Variables of each entry: `ICM_DB` and `ICM_CONFIG`. Hooks get them as flags.
    pub env: BTreeMap<String, String>,
    /// `true` to overwrite servers and files of other programs.
    pub force: bool,
}

impl Request {
    /// Returns a request for server and hooks of all installed clients, in the user's files.
    pub fn new(icm: impl Into<PathBuf>) -> Request {
        Request {
            clients: Vec::new(),
            what: vec![What::Server, What::Hooks],
            is_default: true,
            scope: Scope::User,
            icm: icm.into(),
            env: BTreeMap::new(),
            force: false,
        }
    }

    /// Returns the program that entries start. Files of a project are shared with other machines, so they get the bare
    /// name if `PATH` finds it.
    fn program(&self, machine: &Machine) -> String {
        match self.scope {
            Scope::Project(_) if machine.program("icm").is_some() => "icm".to_owned(),
            _ => self.icm.to_string_lossy().into_owned(),
        }
    }

    /// Returns the variables of entries. Files of a project get none, because they would name folders of this machine.
    fn entry_env(&self) -> Vec<(String, String)> {
        match self.scope {
            Scope::Project(_) => Vec::new(),
            Scope::User => self.env.clone().into_iter().collect(),
        }
    }

    fn flags(&self) -> Vec<String> {
        let flags = self
            .entry_env()
            .into_iter()
            .filter_map(|(name, value)| match name.as_str() {
                "ICM_DB" => Some(["--db".to_owned(), value]),
                "ICM_CONFIG" => Some(["--config".to_owned(), value]),
                _ => None,
            });
        flags.flatten().collect()
    }
}

/// The outcome for a piece.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// The piece is there already.
    Same,
    /// The piece is added.
    Added,
    /// An older form of the piece is updated.
    Updated,
    /// The piece is removed.
    Removed,
    /// The file is left alone, for this reason.
    Refused(InstallError),
}

/// A piece in a file.
#[derive(Debug)]
pub struct Piece {
    /// The client that reads it.
    pub client: Client,
    /// The kind.
    pub what: What,
    /// Its outcome.
    pub outcome: Outcome,
}

/// The change of one file.
#[derive(Debug)]
pub struct Step {
    /// The path by which the client knows the file.
    pub file: PathBuf,
    /// The file that is written, at the end of links.
    pub target: PathBuf,
    /// The pieces in it.
    pub pieces: Vec<Piece>,
    /// Its bytes now; `None` if it does not exist.
    pub before: Option<Vec<u8>>,
    /// Its new bytes; `None` if it is removed.
    pub after: Option<Vec<u8>>,
    executable: bool,
    noted: Option<plan::Noted>,
}

impl Step {
    /// Returns `true` if the file changes.
    pub fn changes(&self) -> bool {
        self.before != self.after
    }

    /// Returns the change as a unified diff with three lines of context; empty if nothing changes.
    pub fn diff(&self) -> String {
        let text = |bytes: &Option<Vec<u8>>| {
            String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned()
        };
        let name = |bytes: &Option<Vec<u8>>| match bytes {
            Some(_) => self.target.display().to_string(),
            None => "/dev/null".to_owned(),
        };
        let (before, after) = (text(&self.before), text(&self.after));
        similar::TextDiff::from_lines(&before, &after)
            .unified_diff()
            .header(&name(&self.before), &name(&self.after))
            .to_string()
    }

    /// Returns the reason why the file, or a piece of it, is left alone.
    pub fn refused(&self) -> Option<&InstallError> {
        self.pieces.iter().find_map(|piece| match &piece.outcome {
            Outcome::Refused(error) => Some(error),
            _ => None,
        })
    }
}

/// The changes of all files.
#[derive(Debug)]
pub struct Plan {
    /// One step per file.
    pub steps: Vec<Step>,
    /// Lines for people: pieces that a client does not support, servers that a removal leaves alone.
    pub notes: Vec<String>,
    /// The clients of the plan.
    pub clients: Vec<Client>,
    folder: PathBuf,
}

impl Plan {
    /// Plans an installation. `folder` is icm's own folder for the list of written files and their bytes from before.
    ///
    /// # Errors
    /// [`InstallError::Ledger`] and [`InstallError::Io`] if the list cannot be read. Errors of a single file are in its
    /// step.
    pub fn install(
        request: &Request,
        machine: &Machine,
        folder: &Path,
    ) -> Result<Plan, InstallError> {
        plan::install(request, machine, folder)
    }

    /// Plans the removal of every piece: in the files of the list, in the user's files, and in those of `project`.
    /// Files outside the list are searched for pieces of icm's shape. A server called `icm` is removed if it runs
    /// `program`, the absolute path of this icm; [`Plan::notes`] names other ones.
    ///
    /// # Errors
    /// As [`Plan::install`].
    pub fn removal(
        program: &Path,
        project: Option<&Path>,
        machine: &Machine,
        folder: &Path,
    ) -> Result<Plan, InstallError> {
        plan::removal(program, project, machine, folder)
    }

    /// Returns `true` if [`Plan::apply`] would write nothing, not even the list of written files.
    pub fn is_idle(&self) -> bool {
        self.steps.iter().all(|step| step.noted.is_none())
    }

    /// Applies the plan, and returns the result of each step in order. A failed step leaves its file as it was, and the
    /// others go on.
    #[must_use]
    pub fn apply(&self) -> Vec<Result<(), InstallError>> {
        apply::apply(self)
    }
}

/// Returns the folder, file or program that shows that a client is installed.
pub fn found(client: Client, machine: &Machine) -> Option<PathBuf> {
    tasks::found(client, machine)
}

/// Returns `true` if a client supports a kind of piece, in the user's files or a project's.
pub fn has(client: Client, what: What) -> bool {
    let row = table::row(client);
    match what {
        What::Server => !row.servers.is_empty(),
        What::Hooks => row.hooks.is_some(),
        What::Rules => !row.rules.user.is_empty() || !row.rules.project.is_empty(),
        What::Skill => !row.skills.user.is_empty(),
    }
}

/// Returns the instruction for a person to check the entry of a client.
pub fn check(client: Client) -> &'static str {
    table::row(client).check
}
