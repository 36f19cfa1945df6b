//! Conversations in plain text: `User: …`, `Assistant: …`.

use crate::found::Speaker;

/// The text of one turn of a speaker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) speaker: Speaker,
    pub(crate) text: String,
    /// The number of its first line.
    pub(crate) line: u64,
}

/// Names that mean a speaker also without a colon behind them.
const HEADINGS: &[&str] = &[
    "user",
    "human",
    "assistant",
    "claude",
    "codex",
    "gemini",
    "chatgpt",
    "copilot",
    "qwen",
];

/// Returns the speaker and the rest of a line that begins with the name of a speaker.
pub(crate) fn speaker_of(line: &str) -> Option<(Speaker, &str)> {
    let heading = line.trim_start_matches(['#', ' ', '>', '*', '[']);
    let marked = heading.len() < line.trim_start().len();
    let end = heading
        .find(|c: char| !c.is_alphanumeric() && c != ' ')
        .unwrap_or(heading.len());
    let (name, rest) = heading.split_at(end);
    let folded = name.trim().to_lowercase();
    let speaker = match folded.as_str() {
        "user" | "human" | "me" | "you" | "prompt" => Speaker::User,
        "assistant" | "ai" | "model" | "agent" | "bot" | "claude" | "codex" | "gemini"
        | "chatgpt" | "gpt" | "copilot" | "qwen" => Speaker::Assistant,
        "tool" | "tool result" | "tool output" | "output" | "system" | "function" => Speaker::Tool,
        _ => return None,
    };
    let said = rest.trim_start_matches(['*', ']']);
    match said.strip_prefix(':') {
        Some(said) => Some((speaker, said.trim_start_matches('*').trim_start())),
        // `## User` alone on its line is a speaker; `## Model` and `## Output` are headings of any page.
        None if marked && said.trim().is_empty() && HEADINGS.contains(&folded.as_str()) => {
            Some((speaker, ""))
        }
        None => None,
    }
}

/// Returns the turns of a text if a person and a model speak in it by name; otherwise a single turn of an unknown
/// speaker.
pub(crate) fn turns(text: &str) -> Vec<Turn> {
    let speaks = |who: Speaker| {
        text.lines()
            .any(|line| speaker_of(line).is_some_and(|(speaker, _)| speaker == who))
    };
    if !(speaks(Speaker::User) && speaks(Speaker::Assistant)) {
        return vec![Turn {
            speaker: Speaker::Unknown,
            text: text.to_owned(),
            line: 1,
        }];
    }
    let mut turns = vec![Turn {
        speaker: Speaker::Unknown,
        text: String::new(),
        line: 1,
    }];
    for (number, line) in (1..).zip(text.lines()) {
        match speaker_of(line) {
            Some((speaker, said)) => turns.push(Turn {
                speaker,
                text: format!("{said}\n"),
                line: number,
            }),
            None => {
                if let Some(turn) = turns.last_mut() {
                    turn.text.push_str(line);
                    turn.text.push('\n');
                }
            }
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speakers_are_named_in_many_ways() {
        for (line, expected) in [
            ("User: hi", Some((Speaker::User, "hi"))),
            ("**Assistant:** hi", Some((Speaker::Assistant, "hi"))),
            ("**Human**: hi", Some((Speaker::User, "hi"))),
            ("## Assistant", Some((Speaker::Assistant, ""))),
            ("Tool result: x", Some((Speaker::Tool, "x"))),
            ("Assistant", None),
            ("## Output", None),
            ("User stories: many", None),
            ("Note: x", None),
            ("", None),
        ] {
            assert_eq!(speaker_of(line), expected, "{line}");
        }
    }

    #[test]
    fn turns_need_a_person_and_a_model() {
        let text = "intro\nUser: one\ntwo\nAssistant: three";
        let found: Vec<_> = turns(text)
            .into_iter()
            .map(|turn| (turn.speaker, turn.line, turn.text))
            .collect();
        let expected = [
            (Speaker::Unknown, 1, "intro\n"),
            (Speaker::User, 2, "one\ntwo\n"),
            (Speaker::Assistant, 4, "three\n"),
        ];
        assert_eq!(
            found,
            expected.map(|(speaker, line, text)| (speaker, line, text.to_owned()))
        );
        assert_eq!(turns("User: only one\nNote: x").len(), 1);
    }
}
