//! Finds the id of a folder's project, for scopes. The id is the same on every machine.
//!
//! The id is the first commit of the git repository, along first parents; else the first line of a file `.icm-project`
//! in the folder or above it. The current commit is read from git's files. Only git can name the first commit, so git
//! is asked once for each commit, and the cache keeps the answer.

use icm_wait::{Deadline, bounds, ended};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use icm_api::limits;
use icm_api::limits::SOURCE_LEN_MAX;

const MARKER: &str = ".icm-project";
/// Most bytes read of a file of git, and of a marker. Raised, a huge file takes longer to read.
const FILE_LEN_MAX: u64 = 16 * 1_024 * 1_024;
const MARKER_LEN_MAX: u64 = 4 * 1_024;
/// Lines of the cache. Raised, more checked-out commits are remembered.
const CACHE_LINES_MAX: usize = 64;
const CACHE: &str = "projects";
/// Longest chain of symbolic references. Raised, a circle of references takes longer to end.
const SYMREFS_MAX: usize = 5;

/// Returns the id of a folder's project. `cache` is a folder in a store that may not exist.
pub(crate) fn id_of(folder: &Path, cache: Option<&Path>) -> Option<String> {
    first_commit(folder, cache).or_else(|| marked(folder))
}

/// Returns `true` if a folder is in a shallow clone, which lacks its first commit.
pub(crate) fn is_shallow(folder: &Path) -> bool {
    Repository::of(folder).is_some_and(|repository| repository.is_shallow())
}

/// Returns the project that a marker in the folder or above it names.
pub(crate) fn marked(folder: &Path) -> Option<String> {
    let text = (folder.ancestors()).find_map(|above| read(&above.join(MARKER), MARKER_LEN_MAX))?;
    let id = limits::name("the project", text.lines().next()?, SOURCE_LEN_MAX);
    id.inspect_err(|error| tracing::warn!(%error, "{MARKER} names no project"))
        .ok()
}

fn first_commit(folder: &Path, cache: Option<&Path>) -> Option<String> {
    let repository = Repository::of(folder)?;
    if repository.is_shallow() {
        return None;
    }
    let head = repository.head();
    let known = cache.zip(head.as_deref());
    if let Some((cache, head)) = known
        && let Some(first) = cached(cache, head)
    {
        return Some(first);
    }
    let first = ask_git(folder)?;
    if let Some((cache, head)) = known
        && let Err(error) = remember(cache, head, &first)
    {
        tracing::debug!(%error, "the project is asked for again");
    }
    Some(first)
}

/// The folders of git's data.
struct Repository {
    /// The data of this working folder.
    own: PathBuf,
    /// The data that all working folders share.
    common: PathBuf,
}

impl Repository {
    fn of(folder: &Path) -> Option<Repository> {
        let mut above = folder.ancestors().map(|above| above.join(".git"));
        let dot_git = above.find(|dot_git| dot_git.exists())?;
        let own = match dot_git.is_dir() {
            true => dot_git,
            false => {
                let text = read(&dot_git, MARKER_LEN_MAX)?;
                let dir = text.strip_prefix("gitdir:")?.trim();
                dot_git.parent()?.join(dir)
            }
        };
        let common = match read(&own.join("commondir"), MARKER_LEN_MAX) {
            Some(text) => own.join(text.trim()),
            None => own.clone(),
        };
        Some(Repository { own, common })
    }

    fn is_shallow(&self) -> bool {
        self.common.join("shallow").exists()
    }

    /// Returns the current commit; `None` if git's files do not name one plainly.
    fn head(&self) -> Option<String> {
        let mut text = read(&self.own.join("HEAD"), MARKER_LEN_MAX)?;
        for _ in 0..SYMREFS_MAX {
            let Some(name) = text.strip_prefix("ref:") else {
                return Some(text.trim().to_owned()).filter(|id| is_commit(id));
            };
            let name = name.trim();
            if !name.starts_with("refs/") || name.split('/').any(|part| part == "..") {
                return None;
            }
            text = read(&self.common.join(name), MARKER_LEN_MAX).or_else(|| self.packed(name))?;
        }
        None
    }

    fn packed(&self, name: &str) -> Option<String> {
        let packed = read(&self.common.join("packed-refs"), FILE_LEN_MAX)?;
        let of_name = |line: &str| Some(line.strip_suffix(name)?.strip_suffix(' ')?.to_owned());
        packed.lines().find_map(of_name)
    }
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn read(path: &Path, len_max: u64) -> Option<String> {
    let mut text = String::new();
    // Opening a pipe would wait for a writer.
    path.metadata().ok().filter(fs::Metadata::is_file)?;
    let file = fs::File::open(path).ok()?;
    file.metadata().ok().filter(fs::Metadata::is_file)?;
    file.take(len_max).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Asks git for the first commit of the current one.
fn ask_git(folder: &Path) -> Option<String> {
    let mut git = Command::new("git")
        .args(["rev-list", "--max-parents=0", "--first-parent", "HEAD"])
        .current_dir(folder)
        // The command only reads: no writes, no questions to a person, no network.
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .inspect_err(|error| tracing::debug!(%error, "git cannot be asked for the project"))
        .ok()?;
    // The output of one line fits into the pipe, so git ends before it is read.
    let Ok(Some(status)) = ended(&mut git, Deadline::after(bounds::HOOK)) else {
        tracing::warn!("git does not say which project this is");
        let _ = git.kill();
        let _ = git.wait();
        return None;
    };
    let mut said = String::new();
    git.stdout
        .take()?
        .take(MARKER_LEN_MAX)
        .read_to_string(&mut said)
        .ok()?;
    let first = said.lines().last()?.trim();
    (status.success() && is_commit(first)).then(|| first.to_owned())
}

/// Returns the first commit of a commit, if the cache has it.
fn cached(cache: &Path, head: &str) -> Option<String> {
    let known = read(&cache.join(CACHE), FILE_LEN_MAX)?;
    let mut lines = known.lines().filter_map(|line| line.split_once(' '));
    let first = lines.find_map(|(commit, first)| (commit == head).then_some(first))?;
    is_commit(first).then(|| first.to_owned())
}

/// Adds the first commit to the cache and keeps its newest lines. Does nothing if there is no store.
fn remember(cache: &Path, head: &str, first: &str) -> std::io::Result<()> {
    let store = cache
        .parent()
        .filter(|store| store.join("store.toml").exists());
    if store.is_none() {
        return Ok(());
    }
    let path = cache.join(CACHE);
    let known = read(&path, FILE_LEN_MAX).unwrap_or_default();
    let mut lines = vec![format!("{head} {first}")];
    lines.extend(known.lines().take(CACHE_LINES_MAX - 1).map(str::to_owned));
    fs::create_dir_all(cache)?;
    let new = cache.join(format!("{CACHE}.{}", std::process::id()));
    fs::write(&new, lines.join("\n") + "\n")?;
    fs::rename(&new, &path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "1111111111111111111111111111111111111111";
    const FIRST: &str = "2222222222222222222222222222222222222222";

    #[test]
    fn a_marker_names_the_project_of_what_lies_below() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        assert_eq!(id_of(&deep, None), None);
        fs::write(dir.path().join(MARKER), " shop \nmore\n").unwrap();
        assert_eq!(id_of(&deep, None).as_deref(), Some("shop"));
        fs::write(deep.join(MARKER), "\n").unwrap();
        assert_eq!(id_of(&deep, None), None, "an empty one names none");
    }

    #[test]
    fn the_head_of_a_repository_is_read_from_its_files() {
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join("work/.git");
        fs::create_dir_all(git.join("refs/heads")).unwrap();
        let head = || Repository::of(&dir.path().join("work/src")).and_then(|it| it.head());
        assert_eq!(head(), None);
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(head(), None, "nothing was committed yet");
        fs::write(
            git.join("packed-refs"),
            format!("# pack-refs\n{HEAD} refs/heads/main\n"),
        )
        .unwrap();
        assert_eq!(head().as_deref(), Some(HEAD));
        fs::write(git.join("refs/heads/main"), format!("{FIRST}\n")).unwrap();
        assert_eq!(head().as_deref(), Some(FIRST));
        fs::write(git.join("HEAD"), format!("{HEAD}\n")).unwrap();
        assert_eq!(head().as_deref(), Some(HEAD));
        fs::write(git.join("HEAD"), "ref: refs/../../secret\n").unwrap();
        assert_eq!(head(), None);

        let tree = dir.path().join("tree");
        fs::create_dir_all(git.join("worktrees/tree")).unwrap();
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join(".git"), "gitdir: ../work/.git/worktrees/tree\n").unwrap();
        fs::write(git.join("worktrees/tree/commondir"), "../..\n").unwrap();
        fs::write(git.join("worktrees/tree/HEAD"), "ref: refs/heads/main\n").unwrap();
        let head = Repository::of(&tree).and_then(|it| it.head());
        assert_eq!(head.as_deref(), Some(FIRST));
    }

    #[test]
    fn git_is_asked_once_a_commit() {
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join(".git");
        let cache = dir.path().join("store/cache");
        fs::create_dir(&git).unwrap();
        fs::write(git.join("HEAD"), HEAD).unwrap();
        remember(&cache, HEAD, FIRST).unwrap();
        assert!(!cache.exists(), "there is no store");
        fs::create_dir_all(dir.path().join("store")).unwrap();
        fs::write(dir.path().join("store/store.toml"), "").unwrap();
        remember(&cache, FIRST, FIRST).unwrap();
        remember(&cache, HEAD, FIRST).unwrap();
        // Git itself would not accept this repository.
        assert_eq!(id_of(dir.path(), Some(&cache)).as_deref(), Some(FIRST));
        fs::write(git.join("shallow"), "").unwrap();
        assert_eq!(id_of(dir.path(), Some(&cache)), None);
        assert!(is_shallow(dir.path()));
        assert!(!is_shallow(dir.path().parent().unwrap()));
    }
}
