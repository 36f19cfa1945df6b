//! The commands that clients run: program, quoting, and recognition of icm's own commands.

use super::machine::Os;

/// The program, and the flags of its commands.
#[derive(Debug, Clone)]
pub(super) struct Icm {
    /// Path of the program, or its bare name if `PATH` finds it.
    pub(super) program: String,
    /// Flags after the command, for instance `--db DIR`.
    pub(super) flags: Vec<String>,
    pub(super) os: Os,
}

impl Icm {
    /// Returns a hook's command for `sh`, in a form that Windows' shells read, too.
    pub(super) fn hook(&self, client: &str, event: &str) -> String {
        let mut command = format!("{} hook {client} {event}", self.quoted(&self.program));
        for flag in &self.flags {
            command.push(' ');
            command.push_str(&match flag.starts_with("--") {
                true => flag.clone(),
                false => self.quoted(flag),
            });
        }
        command
    }

    /// Returns a hook's command for PowerShell.
    pub(super) fn hook_of_powershell(&self, client: &str, event: &str) -> String {
        let quoted = |word: &str| format!("'{}'", word.replace('\'', "''"));
        let flags = self.flags.iter().map(|flag| match flag.starts_with("--") {
            true => format!(" {flag}"),
            false => format!(" {}", quoted(flag)),
        });
        format!(
            "& {} hook {client} {event}{}",
            quoted(&self.program),
            flags.collect::<String>()
        )
    }

    fn quoted(&self, word: &str) -> String {
        let word = match self.os {
            Os::Windows => word.replace('\\', "/"),
            Os::Unix | Os::Mac => word.to_owned(),
        };
        let mut out = String::from("\"");
        for c in word.chars() {
            if matches!(c, '\\' | '"' | '$' | '`') {
                out.push('\\');
            }
            out.push(c);
        }
        out.push('"');
        out
    }
}

/// Returns `true` if a program has the name of icm.
pub(super) fn is_icm(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name
        .strip_suffix(".exe")
        .or_else(|| name.strip_suffix(".EXE"))
        .unwrap_or(name);
    name == "icm"
}

/// Returns `true` if a command is a hook of icm.
pub(super) fn is_hook(command: &str) -> bool {
    let command = command.trim_start().trim_start_matches("& ").trim_start();
    let (program, rest) = match command.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let within = &command[1..];
            let end = closing(within, quote).unwrap_or(within.len());
            (&within[..end], within.get(end + 1..).unwrap_or_default())
        }
        _ => command.split_once(' ').unwrap_or((command, "")),
    };
    is_icm(program) && rest.trim_start().starts_with("hook ")
}

/// Returns the end of a quoted word. A backslash escapes within double quotes, a second quote within single ones.
fn closing(within: &str, quote: char) -> Option<usize> {
    let mut chars = within.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_escape = match quote {
            '"' => c == '\\' && matches!(chars.peek(), Some((_, '\\' | '"' | '$' | '`'))),
            _ => c == quote && matches!(chars.peek(), Some((_, '\''))),
        };
        if is_escape {
            chars.next();
        } else if c == quote {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn icm(program: &str, os: Os) -> Icm {
        Icm {
            program: program.into(),
            flags: Vec::new(),
            os,
        }
    }

    #[test]
    fn commands_are_quoted_and_recognised() {
        let hook = icm("/home/Ada \"A\" $x/icm", Os::Unix).hook("codex", "Stop");
        assert_eq!(hook, r#""/home/Ada \"A\" \$x/icm" hook codex Stop"#);
        let mut windows = icm(r"C:\Program Files\icm.exe", Os::Windows);
        windows.flags = vec!["--db".into(), r"D:\a b".into()];
        let hook = windows.hook("codex", "Stop");
        assert_eq!(
            hook,
            r#""C:/Program Files/icm.exe" hook codex Stop --db "D:/a b""#
        );
        assert!(is_hook(&hook) && is_hook(&windows.hook_of_powershell("codex", "Stop")));
        assert!(is_hook("icm hook codex Stop") && is_hook("'/a b/icm' hook codex Stop"));
        for program in [
            r#"/a"b/icm"#,
            r#"/"/icm"#,
            "/it's/icm",
            r"/a\/icm",
            "/a b/$c`d/icm",
        ] {
            let icm = icm(program, Os::Unix);
            for hook in [
                icm.hook("codex", "Stop"),
                icm.hook_of_powershell("codex", "Stop"),
            ] {
                assert!(is_hook(&hook), "{hook}");
            }
        }
        for other in [
            r#""/a\" hook /icm" serve"#,
            r#""/a/icm"#,
            "\"",
            "/a/icmp hook x",
            "icm serve",
            "rtk hook claude",
            "echo icm hook x",
            "",
        ] {
            assert!(!is_hook(other), "{other}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_the_program_as_one_word() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("a \"b\" $c `d` \\e/icm");
        std::fs::create_dir_all(program.parent().expect("a folder")).expect("it is made");
        std::os::unix::fs::symlink("/bin/echo", &program).expect("it is linked");
        let hook = icm(program.to_str().expect("UTF-8"), Os::Unix).hook("codex", "Stop");
        let run = std::process::Command::new("/bin/sh")
            .args(["-c", &hook])
            .output()
            .expect("it runs");
        assert_eq!(
            String::from_utf8_lossy(&run.stdout),
            "hook codex Stop\n",
            "{hook}"
        );
    }
}
