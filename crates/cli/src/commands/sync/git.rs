//! A folder in a git work tree: what git brings comes before, what is new goes after.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use icm_sync::SyncAnswer;

use crate::app::App;
use crate::error::CliError;

/// How often is pulled again when somebody else pushed in between.
const TRIES: usize = 5;

/// A folder in a git work tree.
pub(super) struct WorkTree {
    folder: PathBuf,
    /// There is a branch that it follows.
    has_upstream: bool,
}

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
        let upstream = git(within, &["rev-parse", "--abbrev-ref", "@{upstream}"])?;
        Ok(WorkTree {
            folder: folder.to_owned(),
            has_upstream: upstream.is_ok(),
        })
    }

    /// Does `sync` between what others pushed and what is to be pushed.
    pub(super) fn around(
        &self,
        app: &App,
        sync: impl Fn() -> Result<SyncAnswer, CliError>,
    ) -> Result<SyncAnswer, CliError> {
        self.pull()?;
        let answer = sync()?;
        if self.commit(app)? && answer.sent.anew {
            app.ui.remark(format_args!(
                "git keeps in its history what was removed from the files: rewrite it where a secret has to go"
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
            false => Err(CliError::invalid("git push was rejected again and again")
                .with_hint("run it by hand in the folder to see why")),
        }
    }

    fn pull(&self) -> Result<(), CliError> {
        if !self.has_upstream || !self.folder.is_dir() {
            return Ok(());
        }
        // Every machine writes files of its own, so that one goes on from the other.
        self.must(&["pull", "--quiet", "--rebase", "--autostash"])?;
        Ok(())
    }

    /// Whether there was anything to commit.
    fn commit(&self, app: &App) -> Result<bool, CliError> {
        if !self.folder.is_dir() {
            return Ok(false);
        }
        self.must(&["add", "--all", "--", "."])?;
        if git(&self.folder, &["diff", "--cached", "--quiet", "--", "."])?.is_ok() {
            return Ok(false);
        }
        self.must(&["commit", "--quiet", "--message", "icm sync", "--", "."])?;
        if !self.has_upstream {
            app.ui.remark(format_args!(
                "committed; the branch follows none, so that nothing was pulled or pushed"
            ));
        }
        Ok(true)
    }

    /// Whether it went, or there was nothing.
    fn push(&self) -> Result<bool, CliError> {
        if !self.has_upstream || !self.folder.is_dir() {
            return Ok(true);
        }
        match git(&self.folder, &["push", "--quiet"])? {
            Ok(_) => Ok(true),
            Err(why) if why.contains("rejected") || why.contains("fetch first") => Ok(false),
            Err(why) => Err(failed("push", &why)),
        }
    }

    fn must(&self, words: &[&str]) -> Result<String, CliError> {
        git(&self.folder, words)?.map_err(|why| failed(words[0], &why))
    }
}

fn failed(what: &str, why: &str) -> CliError {
    let why = why.lines().filter(|line| !line.trim().is_empty());
    let why = why.map(str::trim).collect::<Vec<_>>().join("; ");
    CliError::invalid(format!("git {what} failed: {why}"))
        .with_hint("run it by hand in the folder to see why")
}

/// What git says to it, or why it does not do it.
fn git(folder: &Path, words: &[&str]) -> Result<Result<String, String>, CliError> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(words);
    // A password is asked for on the terminal, or not at all.
    command.stdin(Stdio::null());
    // The words of its refusals are looked at.
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
