//! The machine: home folder, environment, programs. Tests make their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The families of operating systems, by where they keep settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Os {
    /// Linux and other systems with the folders of XDG.
    Unix,
    /// macOS.
    Mac,
    /// Windows.
    Windows,
}

impl Os {
    /// Returns the family of the system that this program was built for.
    pub fn current() -> Os {
        match () {
            () if cfg!(windows) => Os::Windows,
            () if cfg!(target_os = "macos") => Os::Mac,
            () => Os::Unix,
        }
    }
}

/// The parts of a machine that entries depend on. Nothing in this module reads the environment.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The home folder.
    pub home: PathBuf,
    /// The variables that are UTF-8.
    pub env: BTreeMap<String, String>,
    /// The folders of `PATH`.
    pub programs: Vec<PathBuf>,
    /// The family of the operating system.
    pub os: Os,
}

/// A named folder or file of the table: name, variable that moves it, suffix for the variable's value, and the defaults
/// on Unix, macOS and Windows.
type Named = (&'static str, &'static str, &'static str, [&'static str; 3]);

const NAMED: &[Named] = &[
    ("config", "XDG_CONFIG_HOME", "", ["~/.config"; 3]),
    ("roaming", "APPDATA", "", ["~/AppData/Roaming"; 3]),
    ("claude", "CLAUDE_CONFIG_DIR", "", ["~/.claude"; 3]),
    (
        "claude.json",
        "CLAUDE_CONFIG_DIR",
        "/.claude.json",
        ["~/.claude.json"; 3],
    ),
    ("codex", "CODEX_HOME", "", ["~/.codex"; 3]),
    ("copilot", "COPILOT_HOME", "", ["~/.copilot"; 3]),
    (
        "crush",
        "CRUSH_GLOBAL_CONFIG",
        "",
        ["{config}/crush", "{config}/crush", "{roaming}/crush"],
    ),
    (
        "goose",
        "",
        "",
        [
            "{config}/goose",
            "{config}/goose",
            "{roaming}/Block/goose/config",
        ],
    ),
    (
        "zed",
        "",
        "",
        ["{config}/zed", "~/.config/zed", "{roaming}/Zed"],
    ),
    (
        "app",
        "",
        "",
        ["{config}", "~/Library/Application Support", "{roaming}"],
    ),
];

/// Editors with extensions of VS Code; VS Code first.
const EDITORS: [&str; 5] = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];

impl Machine {
    /// Returns the path of a place in the table. `~` is the home folder, `{name}` a named folder; other places lie
    /// below the home folder.
    pub(super) fn path(&self, place: &str) -> PathBuf {
        let (base, rest) = if let Some(rest) = place.strip_prefix("~/") {
            (self.home.clone(), rest)
        } else if let Some((name, rest)) = place
            .strip_prefix('{')
            .and_then(|rest| rest.split_once('}'))
        {
            (self.named(name), rest)
        } else {
            (self.home.clone(), place)
        };
        let parts = rest.split('/').filter(|part| !part.is_empty());
        parts.fold(base, |path, part| path.join(part))
    }

    fn named(&self, name: &str) -> PathBuf {
        let found = NAMED.iter().find(|(known, ..)| *known == name);
        let (_, variable, after, defaults) = found.expect("the table names known folders alone");
        if let Some(value) = self
            .env
            .get(*variable)
            .filter(|value| Path::new(value).is_absolute())
        {
            let parts = after.split('/').filter(|part| !part.is_empty());
            return parts.fold(PathBuf::from(value), |path, part| path.join(part));
        }
        self.path(match self.os {
            Os::Unix => defaults[0],
            Os::Mac => defaults[1],
            Os::Windows => defaults[2],
        })
    }

    /// Returns the paths of a place that may exist in several editors: `{editor}` is the folder `User` of an editor.
    /// Editors that are not installed are left out, except VS Code if none is.
    pub(super) fn paths(&self, place: &str) -> Vec<PathBuf> {
        let Some(rest) = place.strip_prefix("{editor}/") else {
            return vec![self.path(place)];
        };
        let user = |editor: &str| self.path(&format!("{{app}}/{editor}/User"));
        let is_there = |editor: &&&str| user(editor).is_dir();
        let mut editors: Vec<&str> = EDITORS.iter().filter(is_there).copied().collect();
        if editors.is_empty() {
            editors.push(EDITORS[0]);
        }
        let parts = |editor| {
            rest.split('/')
                .fold(user(editor), |path, part| path.join(part))
        };
        editors.into_iter().map(parts).collect()
    }

    /// Returns the path of a program in `PATH`.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let ends: &[&str] = match self.os {
            Os::Windows => &[".exe", ".cmd", ".bat"],
            Os::Unix | Os::Mac => &[""],
        };
        let names = |folder: &PathBuf| {
            let files = ends.iter().map(|end| folder.join(format!("{name}{end}")));
            files.into_iter().find(|file| file.is_file())
        };
        self.programs.iter().find_map(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(os: Os, env: &[(&str, &str)]) -> Machine {
        let env = env
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Machine {
            home: "/home/ada".into(),
            env: env.collect(),
            programs: Vec::new(),
            os,
        }
    }

    #[test]
    fn places_follow_the_system_and_its_variables() {
        let of = |os, env: &[(&str, &str)], place: &str| machine(os, env).path(place);
        let is = |path: PathBuf, wanted: &str| assert_eq!(path, Path::new(wanted));
        is(
            of(Os::Unix, &[], "{app}/Claude/x.json"),
            "/home/ada/.config/Claude/x.json",
        );
        is(
            of(Os::Mac, &[], "{app}/Claude"),
            "/home/ada/Library/Application Support/Claude",
        );
        is(
            of(Os::Windows, &[], "{app}/Claude"),
            "/home/ada/AppData/Roaming/Claude",
        );
        is(
            of(
                Os::Unix,
                &[("XDG_CONFIG_HOME", "/c")],
                "{zed}/settings.json",
            ),
            "/c/zed/settings.json",
        );
        is(
            of(Os::Mac, &[("XDG_CONFIG_HOME", "/c")], "{zed}"),
            "/home/ada/.config/zed",
        );
        is(
            of(Os::Unix, &[("XDG_CONFIG_HOME", "c")], "{config}/amp"),
            "/home/ada/.config/amp",
        );
        is(
            of(Os::Unix, &[("CLAUDE_CONFIG_DIR", "/cc")], "{claude.json}"),
            "/cc/.claude.json",
        );
        is(of(Os::Unix, &[], "{claude.json}"), "/home/ada/.claude.json");
        is(
            of(Os::Windows, &[], "{goose}/a"),
            "/home/ada/AppData/Roaming/Block/goose/config/a",
        );
    }
}
