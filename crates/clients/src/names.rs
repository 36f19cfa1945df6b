//! The names of clients.

/// Defines the clients: variant, name on the command line, name for people, further names.
macro_rules! clients {
    ($($variant:ident = $name:literal, $title:literal, [$($alias:literal),*];)*) => {
        /// A client: a program in which an agent runs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Client {
            $(#[doc = $title] $variant,)*
        }

        impl Client {
            /// Every client, in the order of lists.
            pub const ALL: &'static [Client] = &[$(Client::$variant,)*];

            /// Returns the name in commands, in the log and in messages.
            pub fn name(self) -> &'static str {
                match self { $(Client::$variant => $name,)* }
            }

            /// Returns the name in its makers' spelling.
            pub fn title(self) -> &'static str {
                match self { $(Client::$variant => $title,)* }
            }

            /// Returns other names that the command line accepts.
            pub fn aliases(self) -> &'static [&'static str] {
                match self { $(Client::$variant => &[$($alias),*],)* }
            }
        }
    };
}

clients! {
    ClaudeCode = "claude-code", "Claude Code", ["claude"];
    ClaudeDesktop = "claude-desktop", "Claude Desktop", [];
    Codex = "codex", "Codex CLI", ["codex-cli"];
    GeminiCli = "gemini-cli", "Gemini CLI", ["gemini"];
    Antigravity = "antigravity", "Antigravity", ["agy"];
    Cursor = "cursor", "Cursor", [];
    Windsurf = "windsurf", "Windsurf", ["devin-desktop"];
    VsCode = "vscode", "VS Code", ["code"];
    CopilotCli = "copilot-cli", "Copilot CLI", ["copilot"];
    Zed = "zed", "Zed", [];
    OpenCode = "opencode", "OpenCode", [];
    Cline = "cline", "Cline", [];
    Roo = "roo", "Roo Code", ["roo-code"];
    Kilo = "kilo", "Kilo Code", ["kilo-code"];
    Continue = "continue", "Continue", ["cn"];
    Amp = "amp", "Amp", [];
    AmazonQ = "amazon-q", "Amazon Q", ["q"];
    Kiro = "kiro", "Kiro", [];
    Goose = "goose", "Goose", [];
    QwenCode = "qwen-code", "Qwen Code", ["qwen"];
    KimiCode = "kimi-code", "Kimi Code", ["kimi"];
    Crush = "crush", "Crush", [];
    Junie = "junie", "Junie", [];
    Factory = "factory", "Factory", ["droid"];
    Qoder = "qoder", "Qoder", ["qodercli"];
    Aider = "aider", "Aider", [];
    Pi = "pi", "Pi", [];
}

impl Client {
    /// Returns the client with this name or alias; case does not count.
    pub fn named(name: &str) -> Option<Client> {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        Client::ALL
            .iter()
            .copied()
            .find(|client| is(client.name()) || client.aliases().iter().any(|alias| is(alias)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_means_one_client() {
        let mut seen = BTreeSet::new();
        for client in Client::ALL {
            for name in [&[client.name()], client.aliases()].concat() {
                assert!(seen.insert(name), "`{name}` is there twice");
                assert_eq!(Client::named(&name.to_uppercase()), Some(*client));
            }
        }
        assert!(seen.len() > Client::ALL.len());
        assert_eq!(Client::named("emacs"), None);
    }
}
