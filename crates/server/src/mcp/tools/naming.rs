//! Names of tools within words for a client. Which tools are on offer is chosen when a server starts, and some have another
//! name there. So constant words mark each part that names tools, and a client reads the parts that hold for its server.

use super::{Tool, compatible, offered, offered_as};
use crate::mcp::McpOptions;

/// Returns words of this program for a client. A part in brackets is kept, without the brackets, if each tool that it
/// names is on offer. Braces stand around the name of a tool: `[: use {icm_log}]`.
pub(in crate::mcp) fn for_offer(words: &str, options: McpOptions) -> String {
    let mut said = String::with_capacity(words.len());
    let mut rest = words;
    while let Some((before, after)) = rest.split_once('[') {
        let (part, after) = after.split_once(']').unwrap_or((after, ""));
        said.push_str(before);
        said.push_str(&if_offered(part, options).unwrap_or_default());
        rest = after;
    }
    said + rest
}

/// Returns the part of a sentence with each tool under its name on offer; `None` if one of them is not on offer.
///
/// # Panics
/// In debug builds, if a name in braces is no tool's, or a brace is missing.
pub(in crate::mcp) fn if_offered(part: &str, options: McpOptions) -> Option<String> {
    let mut said = String::with_capacity(part.len());
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('{') {
        let named = after.split_once('}');
        debug_assert!(named.is_some(), "no `}}` after a name in `{part}`");
        let (name, after) = named?;
        let tool = Tool::named(name);
        debug_assert!(tool.is_some(), "no tool {name} in `{part}`");
        said.push_str(before);
        said.push_str(on_offer(tool?, options)?);
        rest = after;
    }
    Some(said + rest)
}

/// Returns the name under which a tool is on offer.
fn on_offer(tool: &'static Tool, options: McpOptions) -> Option<&'static str> {
    let same = offered(options).find(|it| it.name == tool.name);
    let same = same.map(|tool| tool.name);
    same.or_else(|| offered_as(options, compatible::own_name(tool.name)))
}

#[cfg(test)]
mod tests {
    use super::super::every;
    use super::*;
    use crate::mcp::Offer;

    /// Returns a part of words that names no tool, or a tool of icm without braces, and so would be shown wrongly.
    fn wrongly_marked(words: &str) -> Option<&str> {
        let is_of_name = |c: char| c.is_ascii_lowercase() || c == '_';
        let mut names = words.split('{').skip(1);
        let unknown = names.find_map(|after| {
            let name = after.split('}').next()?;
            Tool::named(name).is_none().then_some(name)
        });
        let mut bare = words.match_indices("icm_");
        unknown.or_else(|| {
            bare.find(|(at, _)| !words[..*at].ends_with('{'))
                .map(|(at, _)| {
                    let end = words[at..].find(|c| !is_of_name(c));
                    &words[at..end.map_or(words.len(), |end| at + end)]
                })
        })
    }

    #[test]
    fn descriptions_mark_the_tools_that_they_name() {
        for tool in every() {
            let words = tool.description;
            assert_eq!(wrongly_marked(words), None, "{}", tool.name);
            for named in words.split(": use ").skip(1) {
                assert!(named.starts_with('{'), "{words}");
            }
        }
        assert_eq!(wrongly_marked("use icm_log or not"), Some("icm_log"));
        assert_eq!(wrongly_marked("use {icm_lag}"), Some("icm_lag"));
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "no tool icm_lag in `: use {icm_lag}`")]
    fn a_part_with_a_mistyped_name_is_noticed() {
        for_offer("Not for it[: use {icm_lag}].", McpOptions::default());
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "no `}` after a name in `: use {icm_log`")]
    fn a_part_without_its_brace_is_noticed() {
        for_offer("Not for it[: use {icm_log].", McpOptions::default());
    }

    #[test]
    fn a_part_about_tools_is_kept_if_they_are_on_offer() {
        let words = "Look here[: use {icm_memory_recall} or {icm_log}]. Keep it[ with {icm_memory_store}, and store it once].";
        for (sets, said) in [
            (
                &["core"][..],
                "Look here: use icm_memory_recall or icm_log. Keep it with icm_memory_store, and store it once.",
            ),
            (&["facts"], "Look here. Keep it."),
            (
                &["mii"],
                "Look here. Keep it with memory_set, and store it once.",
            ),
            (
                &["mii", "history"],
                "Look here: use memory_get or icm_log. Keep it with memory_set, and store it once.",
            ),
        ] {
            let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
            let options = McpOptions {
                offer: Offer::of(&sets, &[], &[]).expect("sets"),
                ..McpOptions::default()
            };
            assert_eq!(for_offer(words, options), said, "{sets:?}");
        }
        let sediment = McpOptions {
            offer: Offer::of(&["sediment".to_owned()], &[], &["list".to_owned()]).expect("a set"),
            ..McpOptions::default()
        };
        let words = "Not for it[: use {list}]. Not for that[: use {recall}].";
        assert_eq!(
            for_offer(words, sediment),
            "Not for it. Not for that: use recall."
        );
    }
}
