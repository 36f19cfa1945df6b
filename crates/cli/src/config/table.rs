//! The table of keys: bounds and descriptions of every key of the config file, found by name.

use icm_vectors::MAX_DIM;
use toml::{Table, Value};

use super::keys::{Key, Takes};
use crate::error::CliError;

use Takes::{Bool, Number, OneOf, Text, Texts, Whole};

const WEIGHT: Takes = Number(0.0, 100.0);
const SHARE: Takes = Number(0.0, 1.0);

/// Most tokens of a context. Raised, clients cut longer contexts.
const CONTEXT_TOKENS_MAX: u64 = 2_400;

/// Largest count. Raised, a recall could read more memories than a usual store has.
const COUNT_MAX: u64 = 10_000;

/// The sections, in the order of [`KEYS`], with a description of their keys.
pub(crate) const SECTIONS: &[(&str, &str)] = &[
    ("recall", "How `icm recall` answers."),
    (
        "ranking",
        "How much each feature of a memory counts in a recall; 0 switches a feature off. `icm \
         bench recall` measures other values. A transcript is a topic in which at least two \
         names (`Ada: …`) come back; everything else is a note.",
    ),
    ("embedding", "The model that turns texts into vectors."),
    (
        "secrets",
        "Passwords, tokens and keys in texts that are to be stored.",
    ),
    (
        "dedup",
        "Texts that say nearly the same as another text of their topic.",
    ),
    ("decay", "How memories fade without a recall."),
    ("consolidate", "Topics with many memories."),
    ("summarizer", "The program that writes summaries."),
    (
        "judge",
        "The program that decides whether a new memory replaces an older one.",
    ),
    ("extractor", "The program that finds memories in a text."),
    (
        "hooks",
        "What `icm hook` gives to agents when a session starts and at each prompt.",
    ),
    ("mcp", "Answers of `icm serve`."),
    ("output", "Texts on the terminal."),
];

/// Every key, in the order of display.
pub(crate) const KEYS: &[Key] = &[
    key(
        "db",
        text("a path", is_not_empty),
        "The store's folder if neither `--db` nor `ICM_DB` names one. `~/` is the home folder; a \
         relative path starts at the folder of this file.",
    )
    .example("\"~/memory\""),
    key(
        "recall.limit",
        Whole(1, 1_000),
        "Results of a recall without `-l`.",
    ),
    key(
        "recall.record",
        Bool,
        "Whether recalls become events of the log. `--no-record` leaves out one recall.",
    ),
    key(
        "recall.links",
        Bool,
        "Whether links change the order: a superseded memory comes after its successor, \
         contradicting memories come together, and related memories are added.",
    ),
    key(
        "ranking.text",
        WEIGHT,
        "Rare words in common with the query, in transcripts.",
    ),
    key(
        "ranking.notes_text",
        WEIGHT,
        "Rare words in common with the query, in notes.",
    ),
    key(
        "ranking.coverage",
        WEIGHT,
        "Share of the query's words that a memory has, whatever their endings. Rare words \
         count more.",
    ),
    key(
        "ranking.meaning",
        WEIGHT,
        "Nearness of meaning, as far as the model knows the query's language.",
    ),
    key(
        "ranking.window",
        WEIGHT,
        "Words of the three memories before and after in the topic, in transcripts.",
    ),
    key(
        "ranking.notes_window",
        WEIGHT,
        "Words of the three memories before and after in the topic, in notes.",
    ),
    key(
        "ranking.neighbours",
        WEIGHT,
        "How well the memories before and after a note match the query.",
    ),
    key(
        "ranking.answers",
        WEIGHT,
        "A turn gains this if it follows a question that fits, in transcripts.",
    ),
    key(
        "ranking.speaker",
        WEIGHT,
        "A turn gains this if the query names its speaker, in transcripts.",
    ),
    key(
        "ranking.asks",
        WEIGHT,
        "A turn that is a question loses this, in transcripts.",
    ),
    key(
        "ranking.length",
        WEIGHT,
        "Length of a turn, in transcripts.",
    ),
    key(
        "ranking.when",
        WEIGHT,
        "Words of time in a turn of a transcript, if the query asks when.",
    ),
    key(
        "ranking.identifier",
        WEIGHT,
        "A rare identifier of the query, such as `E0382` or `src/main.rs`.",
    ),
    key(
        "ranking.importance",
        WEIGHT,
        "Importance. A critical memory gains all of it and a high one half; a low one loses \
         half.",
    ),
    key(
        "ranking.scope",
        WEIGHT,
        "A memory of the current project or session gains up to this: more if it fits better. \
         Memories of a parent or child session gain a third; memories of another project lose a \
         sixth.",
    ),
    key(
        "ranking.confirmed",
        WEIGHT,
        "Confirmations by others: the weight is multiplied by ln(1 + their number).",
    ),
    key(
        "ranking.floor",
        SHARE,
        "Least fit of a result. A recall leaves out results below it; 0 shows everything.",
    ),
    key(
        "ranking.candidates",
        Whole(1, COUNT_MAX),
        "Number of memories that are scored because of their words. A larger number finds a \
         little more and takes longer.",
    ),
    key(
        "ranking.nearest",
        Whole(0, COUNT_MAX),
        "Number of memories that are scored because of their meaning.",
    ),
    key(
        "ranking.expand",
        Whole(0, COUNT_MAX),
        "Number of best candidates whose neighbours in the topic are scored, too.",
    ),
    key(
        "embedding.model",
        text(
            "\"static\", \"none\", \"endpoint\", an installed model or a folder; see `icm model list`",
            is_not_empty,
        ),
        "`static` is in the program and made for English. `none` recalls by words alone. \
         `endpoint` is a server, see `url`. `icm model use` writes this key.",
    ),
    key(
        "embedding.url",
        text("the address of a server", is_not_empty),
        "A server that speaks OpenAI's `/v1/embeddings`.",
    )
    .example("\"http://localhost:11434\""),
    key(
        "embedding.endpoint_model",
        text("the server's name for a model", is_not_empty),
        "The model to ask the server for.",
    )
    .example("\"nomic-embed-text\""),
    key(
        "embedding.key_env",
        text(
            "the name of an environment variable, not the key",
            is_variable,
        ),
        "The variable that holds the server's key. Without this setting no key is sent.",
    )
    .example("\"ICM_EMBEDDING_KEY\""),
    key(
        "embedding.dim",
        Whole(1, MAX_DIM as u64),
        "Numbers in each vector of the server. `icm model use endpoint` asks the server and \
         writes this key.",
    )
    .example("768"),
    key(
        "embedding.timeout_s",
        Number(0.1, 600.0),
        "Seconds that a request to the server may take. A recall gives up after 3.",
    ),
    key(
        "embedding.passages",
        Bool,
        "Whether another model than `static` embeds each passage of a long text. With `false`, the model embeds \
         the beginning of the text alone: this costs less, and the rest of the text is found by words.",
    ),
    key(
        "secrets.action",
        OneOf(&["refuse", "warn", "mask", "off"]),
        "Refuse a text with a secret, store it with a warning, mask the secret in it, or \
         don't look. With `mask`, a name with a secret is refused.",
    ),
    key(
        "secrets.allow",
        Texts("a list of regular expressions"),
        "A secret that matches one of them is stored like any text.",
    ),
    key(
        "dedup.similar",
        SHARE,
        "A new text with at least this likeness to an older one of its topic is similar. 0 looks \
         for identical texts only.",
    ),
    key(
        "dedup.on_similar",
        OneOf(&["link", "update", "off"]),
        "Link the new text to the older one, write it into the older one, or store it without \
         looking.",
    ),
    key(
        "decay.auto",
        Bool,
        "Whether the first recall of a day lets memories fade. `icm decay` does it by hand.",
    ),
    key(
        "decay.rate",
        SHARE,
        "Share of its weight that a memory of medium importance loses in a day without a \
         recall.",
    ),
    key(
        "decay.critical",
        WEIGHT,
        "Factor of the rate for critical memories.",
    ),
    key(
        "decay.high",
        WEIGHT,
        "Factor of the rate for memories of high importance.",
    ),
    key(
        "decay.medium",
        WEIGHT,
        "Factor of the rate for memories of medium importance.",
    ),
    key(
        "decay.low",
        WEIGHT,
        "Factor of the rate for memories of low importance.",
    ),
    key(
        "decay.prune_threshold",
        SHARE,
        "`icm prune` forgets memories of medium and low importance below this weight.",
    ),
    key(
        "consolidate.hint_over",
        Whole(0, u64::MAX),
        "A store suggests `icm consolidate` if its topic has more memories of one scope than \
         this. 0 switches that off.",
    ),
    key(
        "summarizer.command",
        text("a command line that reads stdin", is_not_blank),
        "Writes the summary of `icm consolidate` to stdout; the memories come on stdin. \
         Without a command, rules make the summary.",
    )
    .example("\"ollama run llama3.2\""),
    key(
        "summarizer.timeout_s",
        Number(0.1, 3_600.0),
        "Seconds that the command may take.",
    ),
    key(
        "judge.command",
        text("a command line that reads stdin", is_not_blank),
        "Decides for `icm store` if the rules are in doubt: it gets `{\"older\": …, \"newer\": …}` on stdin \
         and answers `yes` or `no`. Without a command, the rules decide alone.",
    )
    .example("\"my-judge --yes-or-no\""),
    key(
        "judge.timeout_s",
        Number(0.1, 3_600.0),
        "Seconds that the command may take. A store waits for it.",
    ),
    key(
        "extractor.command",
        text("a command line that reads stdin", is_not_blank),
        "Finds memories for `icm extract`: the text comes on stdin, and JSON lines with `text` \
         go to stdout. Without a command, rules find them.",
    )
    .example("\"my-extractor\""),
    key(
        "extractor.timeout_s",
        Number(0.1, 3_600.0),
        "Seconds that the command may take.",
    ),
    key(
        "hooks.enabled",
        Bool,
        "Whether hooks do anything. `icm hook off` and `icm hook on` set it.",
    ),
    key(
        "hooks.record",
        Bool,
        "Whether memories that hooks show become events of the log. Without these events a session \
         may be shown the same memory twice.",
    ),
    key(
        "hooks.floor",
        SHARE,
        "Least fit of a memory that a prompt brings into the context of an agent.",
    ),
    key(
        "hooks.budget",
        Whole(50, CONTEXT_TOKENS_MAX),
        "Most tokens that a prompt brings into the context.",
    ),
    key(
        "hooks.wake_up_budget",
        Whole(50, CONTEXT_TOKENS_MAX),
        "Most tokens of the wake-up pack of a session.",
    ),
    key(
        "hooks.learn",
        Bool,
        "Whether rules search the transcript of a session for sentences that are worth keeping.",
    ),
    key(
        "hooks.tool_output",
        Bool,
        "Whether these rules also search the output of tools.",
    ),
    key(
        "mcp.nudge_after",
        Whole(0, COUNT_MAX),
        "Tool calls of a session without a store after which a reply suggests to store. 0 or \
         `--compact` switches that off.",
    ),
    key(
        "output.color",
        OneOf(&["auto", "always", "never"]),
        "When to use colours. `auto` means on a terminal, unless `NO_COLOR` is set.",
    ),
];

const fn key(name: &'static str, takes: Takes, about: &'static str) -> Key {
    Key {
        name,
        takes,
        about,
        example: None,
    }
}

const fn text(named: &'static str, is_one: fn(&str) -> bool) -> Takes {
    Text { named, is_one }
}

fn is_not_empty(text: &str) -> bool {
    !text.is_empty()
}

fn is_not_blank(text: &str) -> bool {
    !text.trim().is_empty()
}

fn is_variable(text: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !text.is_empty()
        && text.chars().all(is_of_name)
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns each value of a parsed file with its name, `section.field`.
pub(super) fn named_values(table: &Table) -> impl Iterator<Item = (String, &Value)> {
    table.iter().flat_map(|(name, value)| match value {
        Value::Table(fields) if is_section(name) => (fields.iter())
            .map(|(field, value)| (format!("{name}.{field}"), value))
            .collect(),
        _ => vec![(name.clone(), value)],
    })
}

/// Returns the key of this name.
///
/// # Errors
/// No key has this name. The hint has the nearest name, or all names if none is near.
pub(super) fn find(name: &str) -> Result<&'static Key, CliError> {
    if let Some(key) = KEYS.iter().find(|key| key.name == name) {
        return Ok(key);
    }
    let names = || KEYS.iter().map(|key| key.name);
    let sections = SECTIONS.iter().map(|(section, _)| *section);
    let nearest = (names().chain(sections))
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .min();
    let hint = match nearest {
        Some((0, section)) => format!("`{section}` is a section: write `[{section}]`"),
        // A near name differs in at most one letter of three.
        Some((letters, known)) if 3 * letters <= name.chars().count() => {
            format!("nearest: `{known}`")
        }
        _ => {
            let known: Vec<String> = names().map(|name| format!("`{name}`")).collect();
            format!("known keys: {}", known.join(", "))
        }
    };
    Err(CliError::invalid(format!("unknown key `{name}`")).with_hint(hint))
}

/// Returns the description of a section.
pub(super) fn about(section: &str) -> &'static str {
    let found = SECTIONS.iter().find(|(name, _)| *name == section);
    found.map_or("", |(_, about)| about)
}

fn is_section(name: &str) -> bool {
    SECTIONS.iter().any(|(section, _)| *section == name)
}
