//! Entries of icm in the files of clients: planned, shown, written, and taken out again.
//!
//! [`Plan::install`] and [`Plan::removal`] read files and change nothing. [`Plan::apply`] does what a plan says.
//! Everything that they know of the machine comes in a [`Machine`]; nothing here reads the environment.
//!
//! An edit keeps comments, order, line ends, byte order mark and mode of a file. A file that icm cannot edit safely is
//! left alone, and its [`Outcome`] names the reason. A folder of icm's own has the bytes from before, so that a removal
//! gives them back if nobody changed the file since.
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

/// A kind of piece that icm puts into a client's files.
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
    /// Every kind.
    pub const ALL: &'static [What] = &[What::Server, What::Hooks, What::Rules, What::Skill];

    /// Returns the name, as the list of written files has it.
    pub fn name(self) -> &'static str {
        match self {
            What::Server => "server",
            What::Hooks => "hooks",
            What::Rules => "rules",
            What::Skill => "skill",
        }
    }
}

/// Whose files are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The user's.
    User,
    /// The files of the project in this folder.
    Project(PathBuf),
}

/// A request of a person.
#[derive(Debug, Clone)]
pub struct Request {
    /// The clients; empty for all that are found.
    pub clients: Vec<Client>,
    /// The kinds of pieces.
    pub what: Vec<What>,
    /// True if nobody chose the kinds: a client without hooks is then not told of.
    pub is_default: bool,
    /// Whose files.
    pub scope: Scope,
    /// The absolute path of icm.
    pub icm: PathBuf,
    /// Variables that each entry gets: `ICM_DB` and `ICM_CONFIG`. Hooks get them as flags.
    pub env: BTreeMap<String, String>,
    /// Whether servers and files of other tools are overwritten.
    pub force: bool,
}

impl Request {
    /// Returns a request for the server and the hooks of all clients that are found, in the user's files.
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

    /// Returns the variables of entries. A file of a project does not name folders of this machine.
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

/// The fate of a piece.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// It is there already.
    Same,
    /// It is added.
    Added,
    /// An older one of icm is brought up to date.
    Updated,
    /// It is taken out.
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
    /// Its fate.
    pub outcome: Outcome,
}

/// The change of one file.
#[derive(Debug)]
pub struct Step {
    /// The file, as the client names it.
    pub file: PathBuf,
    /// The file that is written: the one at the end of links.
    pub target: PathBuf,
    /// The pieces in it.
    pub pieces: Vec<Piece>,
    /// Its bytes now; `None` if it is not there.
    pub before: Option<Vec<u8>>,
    /// Its bytes afterwards; `None` if it is removed.
    pub after: Option<Vec<u8>>,
    executable: bool,
    noted: Option<plan::Noted>,
}

impl Step {
    /// Returns whether the file changes.
    pub fn changes(&self) -> bool {
        self.before != self.after
    }

    /// Returns the change as a unified diff with three lines around; empty if nothing changes.
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

    /// Returns why the file, or a piece of it, is left alone.
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
    /// A step for each file.
    pub steps: Vec<Step>,
    /// Lines for people: pieces that a client does not take, servers that a removal leaves alone.
    pub notes: Vec<String>,
    /// The clients that the plan is about.
    pub clients: Vec<Client>,
    folder: PathBuf,
}

impl Plan {
    /// Returns what has to be done for a request. `folder` is icm's own, for the list of written files and their bytes
    /// from before.
    ///
    /// # Errors
    /// [`InstallError::Ledger`] and [`InstallError::Io`] if that list cannot be read. What is wrong with one file is in
    /// its step.
    pub fn install(
        request: &Request,
        machine: &Machine,
        folder: &Path,
    ) -> Result<Plan, InstallError> {
        plan::install(request, machine, folder)
    }

    /// Returns what has to be done to take out every piece: in the files of the list, in the user's files, and in those
    /// of `project`. Files that are not in the list are searched for pieces of icm's shape; of servers called `icm`,
    /// those that run `program`, the absolute path of this icm, are taken out. [`Plan::notes`] names the others.
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

    /// Returns whether [`Plan::apply`] would write nothing, not even the list of written files.
    pub fn is_idle(&self) -> bool {
        self.steps.iter().all(|step| step.noted.is_none())
    }

    /// Does it, and returns the result of each step in order. A step that fails leaves its file as it was, and the
    /// others go on.
    #[must_use]
    pub fn apply(&self) -> Vec<Result<(), InstallError>> {
        apply::apply(self)
    }
}

/// Returns what shows that a client is installed: a folder, a file or a program.
pub fn found(client: Client, machine: &Machine) -> Option<PathBuf> {
    tasks::found(client, machine)
}

/// Returns the kinds of pieces that a client has, in the user's files or a project's.
pub fn has(client: Client, what: What) -> bool {
    let row = table::row(client);
    match what {
        What::Server => !row.servers.is_empty(),
        What::Hooks => row.hooks.is_some(),
        What::Rules => !row.rules.user.is_empty() || !row.rules.project.is_empty(),
        What::Skill => !row.skills.user.is_empty(),
    }
}

/// Returns how a person checks the entry of a client.
pub fn check(client: Client) -> &'static str {
    table::row(client).check
}
