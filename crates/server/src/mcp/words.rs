//! Errors in the words of a client. Hints of the service name commands and options in backticks. Here they become tools
//! and arguments, or something to ask the user for.

use super::McpOptions;
use super::schema::Kind;
use super::tools::{Tool, offered_as};
use icm_api::error::ServiceError;
use icm_guard::sanitize::clean_line;

/// The tool whose hints name commands for tags.
const RENAME_TAG: &str = "icm_memory_rename_tag";
/// Longest line of an error, in bytes. Raised, errors repeat more of a wrong argument.
const LINE_MAX_BYTES: usize = 1_000;

/// Returns the error and its hint, a line each.
pub(super) fn explained(error: &ServiceError, tool: &Tool, on_offer: McpOptions) -> String {
    if matches!(error, ServiceError::OtherPlan) {
        return "`confirm` is not the plan of what would be done now: nothing was done\n\
                the memories have changed, or the preview named another value: call it again \
                without confirm"
            .to_owned();
    }
    let message = bounded(&clean_line(&error.to_string()));
    let message = translated(&message, |word| options(word, tool));
    match error.hint() {
        Some(hint) => format!(
            "{message}\n{}",
            advice(&bounded(&clean_line(&hint)), tool, on_offer)
        ),
        None => message,
    }
}

/// Cuts a line to [`LINE_MAX_BYTES`]: it may repeat a long argument.
pub(super) fn bounded(line: &str) -> String {
    match line.len() <= LINE_MAX_BYTES {
        true => line.to_owned(),
        false => format!("{}…", &line[..line.floor_char_boundary(LINE_MAX_BYTES)]),
    }
}

/// Returns a hint with all words in backticks translated.
fn advice(hint: &str, tool: &Tool, on_offer: McpOptions) -> String {
    translated(hint, |word| Some(translated_word(word, tool, on_offer)))
}

/// Replaces words in backticks for which `word` has a translation.
fn translated(text: &str, word: impl Fn(&str) -> Option<String>) -> String {
    let mut said = String::with_capacity(text.len());
    for (i, part) in text.split('`').enumerate() {
        match (i % 2, word(part)) {
            (0, _) => said.push_str(part),
            (_, Some(words)) => said.push_str(&words),
            (_, None) => said.push_str(&format!("`{part}`")),
        }
    }
    said
}

/// Translates a command or an option; other words in backticks stay.
fn translated_word(word: &str, tool: &Tool, on_offer: McpOptions) -> String {
    if let Some(command) = word.strip_prefix("icm ") {
        let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
        let named = rest.rsplit(' ').next().filter(|last| !last.is_empty());
        let with = |tool: &str, argument: &str| match named {
            Some(value) => format!("{tool} ({argument}: \"{value}\")"),
            None => tool.to_owned(),
        };
        let said = match name {
            "memoir" => match rest.split(' ').next() {
                Some("list") => "icm_memoir_list".to_owned(),
                Some("show") => "icm_memoir_show".to_owned(),
                Some("refine") => "icm_memoir_refine".to_owned(),
                Some("inspect") => "icm_memoir_inspect".to_owned(),
                Some("describe") => "icm_memoir_describe".to_owned(),
                Some("revive" | "revive-concept") => "icm_memoir_forget (revive: true)".to_owned(),
                Some("unlink") => "icm_memoir_link (remove: true)".to_owned(),
                _ => for_the_user(word),
            },
            "undo" => with("icm_undo", "event"),
            "history" | "why" | "get" => with("icm_log", "id"),
            "log" => match rest.split_once(' ') {
                None if rest.is_empty() => "icm_log".to_owned(),
                Some(("show", _)) => with("icm_log", "id"),
                Some(("--kind", _)) => with("icm_log", "kind"),
                _ => for_the_user(word),
            },
            "recall" => "icm_memory_recall".to_owned(),
            "list" | "topics" => "icm_memory_list_topics".to_owned(),
            "store" => "icm_memory_store".to_owned(),
            "update" => "icm_memory_update".to_owned(),
            "forget" => "icm_memory_forget".to_owned(),
            "consolidate" => "icm_memory_consolidate".to_owned(),
            "health" => "icm_memory_health".to_owned(),
            "feedback" => match rest.split(' ').next() {
                Some("list" | "search") => "icm_feedback_search".to_owned(),
                Some("record") => "icm_feedback_record".to_owned(),
                Some("stats") => "icm_feedback_stats".to_owned(),
                _ => for_the_user(word),
            },
            "embed" => "icm_memory_embed_all".to_owned(),
            "tags" if tool.name == RENAME_TAG => match rest.split(' ').next() {
                Some("merge") => format!("{RENAME_TAG} (merge: true)"),
                _ => "icm_memory_tags".to_owned(),
            },
            _ => for_the_user(word),
        };
        return under_offered_name(said, word, (tool, on_offer));
    }
    match options(word, tool) {
        Some(words) => words,
        None if word.starts_with("--") => format!("`{word}` (for the user to give)"),
        None => format!("`{word}`"),
    }
}

/// Returns a hint with the name of its tool in the set of `tool`, else the name on offer; the command for the user if the
/// tool is not on offer.
fn under_offered_name(
    said: String,
    command: &str,
    (tool, on_offer): (&Tool, McpOptions),
) -> String {
    let own = said.split(' ').next().unwrap_or_default();
    match tool
        .beside(own, on_offer)
        .or_else(|| offered_as(on_offer, own))
    {
        Some(name) if name == own => said,
        Some(name) => name.to_owned() + &said[own.len()..],
        None => for_the_user(command),
    }
}

/// Returns the options of a command as arguments of the tool, if it has them all.
fn options(word: &str, tool: &Tool) -> Option<String> {
    let (named, options) = match word.strip_prefix("--") {
        Some(options) => ("", options),
        None => word.split_once(" --")?,
    };
    let mut said = Vec::new();
    if !named.is_empty() {
        said.push(format!("`{named}`"));
    }
    for option in options.split(" --") {
        let (option, value) = option.split_once(' ').unwrap_or((option, ""));
        let name = option.replace('-', "_");
        let param = tool.params.iter().find(|param| param.name == name)?;
        said.push(match (&param.kind, value) {
            (Kind::Flag, _) => format!("{name}: true"),
            (_, "") => name,
            (_, value) => format!("{name}: {value}"),
        });
    }
    Some(said.join(", "))
}

fn for_the_user(command: &str) -> String {
    format!("`{command}` (for the user to run)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::Offer;

    /// Returns the options of a server with the set of this tool.
    fn set_of(tool: &Tool) -> McpOptions {
        let fronts = ["mii", "sediment", "spec"].map(|set| [set.to_owned()]);
        let offers = fronts
            .iter()
            .map(|set| Offer::of(set, &[], &[]).expect("a set"));
        let of = |offer| McpOptions {
            offer,
            ..McpOptions::default()
        };
        let mut found = offers.map(of);
        found
            .find(|options| crate::mcp::tools::offered(*options).any(|it| it.name == tool.name))
            .unwrap_or_else(|| of(Offer::ALL))
    }

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
            (
                "icm_forget",
                "list memories with `icm topics`, search with `icm recall`; `icm history 01J9`",
                "list memories with icm_list_topics, search with icm_recall; `icm history 01J9` \
                 (for the user to run)",
            ),
            (
                "memory_set",
                "search with `icm recall`, or `icm topics`",
                "search with memory_get, or `icm topics` (for the user to run)",
            ),
        ] {
            let tool = Tool::named(tool).expect("a tool");
            assert_eq!(advice(hint, tool, set_of(tool)), said);
        }
    }

    #[test]
    fn messages_name_arguments() {
        for (tool, error, said) in [
            (
                "icm_undo",
                "there is nothing to undo for `--session nope --topic a/b --cascade`",
                "there is nothing to undo for session: nope, topic: a/b, cascade: true",
            ),
            (
                "icm_undo",
                "`@12..@14 --cascade` is undone already",
                "`@12..@14`, cascade: true is undone already",
            ),
            (
                "icm_undo",
                "`@x` is no `--kind`: see `icm log`",
                "`@x` is no `--kind`: see `icm log`",
            ),
        ] {
            let tool = Tool::named(tool).expect("a tool");
            assert_eq!(
                explained(&ServiceError::invalid(error), tool, set_of(tool)),
                said
            );
        }
    }
}
