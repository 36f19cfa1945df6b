//! A sync folder in a git work tree: pulled before the sync, committed and pushed after it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use icm_sync::SyncAnswer;

use crate::app::App;
use crate::error::CliError;

/// Attempts to push after other machines pushed in between. Raised, a sync with a busy repository takes longer to fail.
const TRIES: usize = 5;

/// A folder in a git work tree.
pub(super) struct WorkTree {
    folder: PathBuf,
    follows: Follows,
}

/// The upstream of the current branch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Follows {
    /// The upstream exists.
    Branch,
    /// The upstream is configured but was never pushed.
    Unborn,
    Nothing,
}

/// Keeps git from changing line ends: the files are compared byte by byte.
const ATTRIBUTES: (&str, &str) = (".gitattributes", "* -text\n");

impl WorkTree {
    pub(super) fn of(folder: &Path) -> Result<WorkTree, CliError> {
        let parent = || folder.parent().filter(|it| !it.as_os_str().is_empty());
        let within = match folder.is_dir() {
            true => folder,
            false => parent().unwrap_or(Path::new(".")),
        };
        let is_within = git(within, &["rev-parse", "--is-inside-work-tree"])?;
        if is_within.as_deref() != Ok("true") {
            return Err(CliError::invalid(format!(
                "{} lies in no git work tree",
                folder.display()
            ))
            .with_hint("run `git init` there, or clone yours, or leave `--git` out"));
        }
        Ok(WorkTree {
            folder: folder.to_owned(),
            follows: followed(within)?,
        })
    }

    /// Pulls, runs `sync`, commits and pushes.
    pub(super) fn around(
        &self,
        app: &App,
        sync: impl Fn() -> Result<SyncAnswer, CliError>,
    ) -> Result<SyncAnswer, CliError> {
        self.pull()?;
        let answer = sync()?;
        if self.commit(app)? && answer.sent.anew {
            app.ui.remark(format_args!(
                "git keeps removed texts in its history; rewrite the history to remove a secret"
            ));
        }
        for _ in 1..TRIES {
            if self.push()? {
                return Ok(answer);
            }
            self.pull()?;
        }
        match self.push()? {
            true => Ok(answer),
            false => Err(CliError::invalid("git push was rejected several times")
                .with_hint("run it by hand in the folder to see why")),
        }
    }

    fn pull(&self) -> Result<(), CliError> {
        if self.follows == Follows::Nothing || !self.folder.is_dir() {
            return Ok(());
        }
        if self.follows == Follows::Unborn {
            // Another machine may have pushed the branch meanwhile.
            self.must(&["fetch", "--quiet"])?;
            if followed(&self.folder)? != Follows::Branch {
                return Ok(());
            }
        }
        // Every machine writes only its own files, so a rebase finds no conflicts in them.
        self.must(&["pull", "--quiet", "--rebase", "--autostash"])?;
        let unmerged = self.must(&["diff", "--name-only", "--diff-filter=U"])?;
        match unmerged.lines().next() {
            None => Ok(()),
            Some(file) => Err(CliError::invalid(format!(
                "the pulled commits and your change of {file} are in conflict"
            ))
            .with_hint("resolve the conflict; `git stash list` has your change, too")),
        }
    }

    /// Returns `true` if there was something to commit.
    fn commit(&self, app: &App) -> Result<bool, CliError> {
        if !self.folder.is_dir() {
            return Ok(false);
        }
        let attributes = self.folder.join(ATTRIBUTES.0);
        if !attributes.exists() {
            std::fs::write(&attributes, ATTRIBUTES.1).map_err(|error| {
                CliError::io(format!("cannot write {}", attributes.display()), &error)
            })?;
        }
        self.must(&["add", "--all", "--", "."])?;
        if git(&self.folder, &["diff", "--cached", "--quiet", "--", "."])?.is_ok() {
            return Ok(false);
        }
        self.must(&["commit", "--quiet", "--message", "icm sync", "--", "."])?;
        if self.follows == Follows::Nothing {
            app.ui.remark(format_args!(
                "committed, but neither pulled nor pushed, because the branch follows no other: `git push -u` sets one"
            ));
        }
        Ok(true)
    }

    /// Returns `true` if the push succeeded or there is no upstream.
    fn push(&self) -> Result<bool, CliError> {
        if self.follows == Follows::Nothing || !self.folder.is_dir() {
            return Ok(true);
        }
        let is_behind = |why: &str| why.contains("fetch first") || why.contains("non-fast-forward");
        match git(&self.folder, &["push", "--quiet"])? {
            Ok(_) => Ok(true),
            Err(why) if is_behind(&why) => Ok(false),
            Err(why) => Err(failed("push", &why)),
        }
    }

    fn must(&self, words: &[&str]) -> Result<String, CliError> {
        git(&self.folder, words)?.map_err(|why| failed(words[0], &why))
    }
}

fn followed(folder: &Path) -> Result<Follows, CliError> {
    if git(folder, &["rev-parse", "--abbrev-ref", "@{upstream}"])?.is_ok() {
        return Ok(Follows::Branch);
    }
    let Ok(branch) = git(folder, &["symbolic-ref", "--short", "HEAD"])? else {
        return Ok(Follows::Nothing);
    };
    let merge = git(folder, &["config", &format!("branch.{branch}.merge")])?;
    Ok(match merge {
        Ok(_) => Follows::Unborn,
        Err(_) => Follows::Nothing,
    })
}

fn failed(what: &str, why: &str) -> CliError {
    let why = why.lines().filter(|line| !line.trim().is_empty());
    let why = why.map(str::trim).collect::<Vec<_>>().join("; ");
    CliError::invalid(format!("git {what} failed: {why}"))
        .with_hint("run it by hand in the folder to see why")
}

/// Runs git, and returns its output, or its error message as the inner error.
fn git(folder: &Path, words: &[&str]) -> Result<Result<String, String>, CliError> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(words);
    // Git can ask for a password only on the terminal.
    command.stdin(Stdio::null());
    // The text of refusals is parsed, so it must be English.
    command.env("LC_ALL", "C");
    let output = command.output().map_err(|error| {
        CliError::invalid(format!("git cannot be run: {error}"))
            .with_hint("install git, or leave `--git` out")
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    Ok(match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr)),
    })
}
