//! Errors in the words of a client. The service's hints name commands and options in backticks;
//! here they become tools and arguments, or something to ask the user for.

use super::schema::Kind;
use super::tools::Tool;
use crate::error::ServiceError;
use crate::sanitize::clean_line;

/// The error and what to do about it, a line each.
pub(super) fn explained(error: &ServiceError, tool: &Tool) -> String {
    if matches!(error, ServiceError::OtherPlan) {
        return "`confirm` is not the plan of what would be done now: nothing was done\n\
                the memories have changed, or the preview named another value: call it again \
                without confirm"
            .to_owned();
    }
    let message = clean_line(&error.to_string()).into_owned();
    match error.hint() {
        Some(hint) => format!("{message}\n{}", translated(&clean_line(&hint), tool)),
        None => message,
    }
}

/// A hint with everything between backticks translated.
fn translated(hint: &str, tool: &Tool) -> String {
    let mut said = String::with_capacity(hint.len());
    for (i, part) in hint.split('`').enumerate() {
        match i % 2 {
            0 => said.push_str(part),
            _ => said.push_str(&translated_word(part, tool)),
        }
    }
    said
}

/// A command, an option, or what it is that stands between backticks.
fn translated_word(word: &str, tool: &Tool) -> String {
    if let Some(command) = word.strip_prefix("icm ") {
        let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
        let named = rest.rsplit(' ').next().filter(|last| !last.is_empty());
        let with = |tool: &str, argument: &str| match named {
            Some(value) => format!("{tool} ({argument}: \"{value}\")"),
            None => tool.to_owned(),
        };
        return match name {
            "undo" => with("icm_undo", "event"),
            "history" | "why" | "get" => with("icm_log", "id"),
            "log" => match rest.split_once(' ') {
                None if rest.is_empty() => "icm_log".to_owned(),
                Some(("show", _)) => with("icm_log", "id"),
                Some(("--kind", _)) => with("icm_log", "kind"),
                Some(("--reverse", _)) => "icm_log".to_owned(),
                _ => for_the_user(word),
            },
            "recall" => "icm_memory_recall".to_owned(),
            "list" | "topics" => "icm_memory_list_topics".to_owned(),
            "store" => "icm_memory_store".to_owned(),
            "update" => "icm_memory_update".to_owned(),
            "forget" => "icm_memory_forget".to_owned(),
            _ => for_the_user(word),
        };
    }
    if let Some(option) = word.strip_prefix("--") {
        let (option, value) = option.split_once(' ').unwrap_or((option, ""));
        let name = option.replace('-', "_");
        let param = tool.params.iter().find(|param| param.name == name);
        return match (param.map(|param| &param.kind), value) {
            (Some(Kind::Flag), _) => format!("{name}: true"),
            (Some(_), "") => name,
            (Some(_), value) => format!("{name}: {value}"),
            (None, _) => format!("`{word}` (for the user to give)"),
        };
    }
    format!("`{word}`")
}

fn for_the_user(command: &str) -> String {
    format!("`{command}` (for the user to run)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_options_become_tools_and_arguments() {
        for (tool, hint, said) in [
            (
                "icm_undo",
                "bring it back with `icm undo 3fa9c2b71234`",
                "bring it back with icm_undo (event: \"3fa9c2b71234\")",
            ),
            (
                "icm_undo",
                "name an event, or give `--last`, `--session` or `--topic`",
                "name an event, or give last, session or topic",
            ),
            (
                "icm_memory_store",
                "or store it anyway with `--allow-secret`",
                "or store it anyway with allow_secret: true",
            ),
            (
                "icm_log",
                "list memories with `icm list`, search with `icm recall`; `icm history 01J9`",
                "list memories with icm_memory_list_topics, search with icm_memory_recall; \
                 icm_log (id: \"01J9\")",
            ),
            (
                "icm_log",
                "`icm log` lists events, and `icm log show @9` shows one of `@12`",
                "icm_log lists events, and icm_log (id: \"@9\") shows one of `@12`",
            ),
            (
                "icm_undo",
                "`icm log repair` sets the rest aside; name another store with `--db`",
                "`icm log repair` (for the user to run) sets the rest aside; name another store \
                 with `--db` (for the user to give)",
            ),
        ] {
            let tool = Tool::named(tool).expect("a tool");
            assert_eq!(translated(hint, tool), said);
        }
    }
}
