//! Names of tools within words for a client. Which tools are on offer is chosen when a server starts, and some have another
//! name there. So constant words mark each part that names tools, and a client reads the parts that hold for its server.

use super::{Tool, compatible, offered, offered_as};
use crate::mcp::McpOptions;

/// Returns words of this program for a client. A part in brackets is kept, without the brackets, if each tool that it
/// names is on offer.
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
pub(in crate::mcp) fn if_offered(part: &str, options: McpOptions) -> Option<String> {
    let mut said = String::with_capacity(part.len());
    let mut rest = part;
    while let Some(start) = rest.find(is_of_name) {
        let (before, word) = rest.split_at(start);
        let end = word.find(|c| !is_of_name(c)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        // `store`, `list` and others are names and words of English, too.
        let is_name = word.contains('_') || before == " " && said.ends_with("use");
        let named = Tool::named(word).filter(|_| is_name);
        said.push_str(before);
        said.push_str(match named {
            Some(tool) => on_offer(tool, options)?,
            None => word,
        });
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

fn is_of_name(c: char) -> bool {
    c.is_ascii_lowercase() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::Offer;

    #[test]
    fn a_part_about_tools_is_kept_if_they_are_on_offer() {
        let words = "Look here[: use icm_memory_recall or icm_log]. Keep it[ with icm_memory_store, and store it once].";
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
        let words = "Not for it[: use list]. Not for that[: use recall].";
        assert_eq!(
            for_offer(words, sediment),
            "Not for it. Not for that: use recall."
        );
    }
}
