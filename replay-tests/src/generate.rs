//! Random scripts for proptest. A failing script shrinks to the shortest one that still fails, which is printed in the
//! script language: paste it into a test.

use icm_api::{Importance, OnSimilar, Sort};
use proptest::prelude::*;
use proptest::sample::select;

use crate::script::{Command, Damage, Script};

/// The word in every generated content, so that one query finds all.
pub const EVERYWHERE: &str = "zebra";

const WORDS: [&str; 12] = [
    "tea",
    "coffee",
    "green",
    "running",
    "caroline",
    "deploys",
    "snake_case",
    "E0308",
    "北京",
    "naïve",
    "the",
    "support",
];
const TOPICS: [&str; 3] = ["prefs", "work", "work/errors"];
const ALIASES: [&str; 5] = ["$a", "$b", "$c", "$d", "$e"];
const KEYWORDS: [&str; 4] = ["k1", "k2", "k3", "k4"];

fn one_of(choices: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(choices).prop_map(str::to_owned)
}

fn words(count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(select(&WORDS[..]), count).prop_map(|words| words.join(" "))
}

fn content() -> impl Strategy<Value = String> {
    let short = words(0..5);
    // Some texts have several passages.
    let paragraphs = prop::collection::vec(words(30..90), 4..9);
    let long = paragraphs.prop_map(|paragraphs| paragraphs.join("\n\n"));
    let words = prop_oneof![12 => short, 1 => long];
    words.prop_map(|words| format!("{EVERYWHERE} {words}").trim_end().to_owned())
}

fn keywords() -> impl Strategy<Value = Vec<String>> {
    prop::sample::subsequence(&KEYWORDS[..], 0..3)
        .prop_map(|keywords| keywords.into_iter().map(str::to_owned).collect())
}

fn importance() -> impl Strategy<Value = Importance> {
    use Importance::{Critical, High, Low, Medium};
    select(&[Low, Medium, High, Critical][..])
}

fn maybe<T: std::fmt::Debug + Clone + 'static>(
    strategy: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Option<T>> {
    prop::option::weighted(0.4, strategy)
}

fn store() -> impl Strategy<Value = Command> {
    let parts = (one_of(&TOPICS), content(), maybe(importance()), keywords());
    (parts, maybe(one_of(&["key1", "key2"]))).prop_map(
        |((topic, content, importance, keywords), key)| Command::Store {
            // [`script`] numbers the aliases, so that each is given once.
            alias: String::new(),
            topic,
            content,
            importance,
            keywords,
            key,
            scope: None,
            trust: None,
            request: None,
        },
    )
}

fn update() -> impl Strategy<Value = Command> {
    let parts = (maybe(content()), maybe(importance()), maybe(keywords()));
    (one_of(&ALIASES), parts)
        .prop_filter(
            "something is to change",
            |(_, (content, importance, keywords))| {
                content.is_some() || importance.is_some() || keywords.is_some()
            },
        )
        .prop_map(|(alias, (content, importance, keywords))| Command::Update {
            alias,
            content,
            importance,
            keywords,
            topic: None,
            scope: None,
            request: None,
        })
}

fn recall() -> impl Strategy<Value = Command> {
    (words(1..4), maybe(one_of(&TOPICS)), any::<bool>()).prop_map(|(query, topic, record)| {
        Command::Recall {
            query,
            topic,
            keyword: None,
            limit: None,
            at: None,
            happened_by: None,
            floor: None,
            record,
        }
    })
}

/// Returns a command that may change memories.
pub fn change() -> impl Strategy<Value = Command> {
    prop_oneof![
        4 => store(),
        4 => update(),
        2 => one_of(&ALIASES).prop_map(|alias| Command::Forget { aliases: vec![alias] }),
        1 => prop::sample::subsequence(&ALIASES[..], 1..3).prop_map(|those| Command::Forget {
            aliases: those.into_iter().map(str::to_owned).collect(),
        }),
        1 => one_of(&TOPICS).prop_map(|topic| Command::ForgetTopic { topic }),
        2 => one_of(&ALIASES).prop_map(|alias| Command::Revive { alias }),
        2 => recall(),
        2 => pin(),
        1 => expire(),
        1 => session(),
        1 => alert(),
        2 => feedback(),
        3 => fade(),
    ]
}

/// Returns a pin, or its removal.
pub fn pin() -> impl Strategy<Value = Command> {
    (one_of(&ALIASES), any::<bool>()).prop_map(|(alias, away)| match away {
        true => Command::Unpin { alias },
        false => Command::Pin { alias },
    })
}

/// Conditions that hide nothing in a test, as answers have them; an empty one takes a condition away.
const CONDITIONS: [&str; 3] = [
    "time 2090-01-01T00:00:00Z",
    "period 2000-01-01T00:00:00Z..2090-01-01T00:00:00Z",
    "",
];

/// Returns a command that sets a condition under which a memory expires, or takes it away.
pub fn expire() -> impl Strategy<Value = Command> {
    (one_of(&ALIASES), one_of(&CONDITIONS))
        .prop_map(|(alias, condition)| Command::Expire { alias, condition })
}

/// Returns a judgement of a memory, or a correction, which changes no memory.
pub fn feedback() -> impl Strategy<Value = Command> {
    let judge = (one_of(&ALIASES), any::<bool>())
        .prop_map(|(alias, useful)| Command::Judge { alias, useful });
    let correct =
        (content(), words(1..4), words(1..4)).prop_map(|(context, predicted, correct)| {
            Command::Correct {
                context,
                predicted,
                correct,
            }
        });
    prop_oneof![judge, correct]
}

/// Returns an event of a session, which changes no memory.
pub fn session() -> impl Strategy<Value = Command> {
    maybe(one_of(&["startup", "compact"])).prop_map(|cause| Command::Session { cause })
}

/// Returns a reminder, or a question for reminders. Neither changes a memory.
pub fn alert() -> impl Strategy<Value = Command> {
    let due = maybe(one_of(&["in 2h", "2 days"]));
    maybe(due).prop_map(|set| match set {
        Some(due) => Command::Alert {
            text: "look again".to_owned(),
            due,
        },
        None => Command::Alerts,
    })
}

/// Returns a step of the clock, a tick, or a prune.
pub fn fade() -> impl Strategy<Value = Command> {
    let days = (0..4_i64).prop_map(|days| Command::Clock {
        by_ms: days * 86_400_000,
    });
    let rate = maybe(one_of(&["0", "0.2", "0.6"]));
    let threshold = maybe(one_of(&["0.3", "0.9"]));
    prop_oneof![
        3 => days,
        3 => rate.prop_map(|rate| Command::Decay { rate }),
        1 => threshold.prop_map(|threshold| Command::Prune { threshold }),
    ]
}

/// Returns a summary of a topic, which may have no memories.
pub fn consolidate() -> impl Strategy<Value = Command> {
    (one_of(&TOPICS), content(), prop::bool::weighted(0.2)).prop_map(|(topic, summary, keep)| {
        Command::Consolidate {
            alias: String::new(),
            topic,
            summary,
            keep,
        }
    })
}

/// Returns a link or its removal, between memories that may not exist.
pub fn link() -> impl Strategy<Value = Command> {
    // There are few memories, so that the same link is often added again, removed or undone.
    let end = || one_of(&["$a", "$b", "$c"]);
    let ends = (end(), end(), one_of(&["related", "similar_to"]));
    (ends, prop::bool::weighted(0.3)).prop_map(|((from, to, relation), away)| match away {
        true => Command::Unlink { from, to, relation },
        false => Command::Link { from, to, relation },
    })
}

/// Returns a setting of what later stores do about a near duplicate.
pub fn dedup() -> impl Strategy<Value = Command> {
    select(&OnSimilar::ALL[..]).prop_map(|on_similar| Command::Dedup { on_similar })
}

/// Returns an undo of events that may not exist.
pub fn undo() -> impl Strategy<Value = Command> {
    let event = || (3..40_u64).prop_map(|position| format!("@{position}"));
    let range = (3..30_u64, 0..12_u64).prop_map(|(from, len)| format!("@{from}..@{}", from + len));
    let chosen = prop_oneof![
        3 => (1..4_usize).prop_map(|last| (Vec::new(), Some(last), None)),
        3 => prop::collection::vec(event(), 1..4).prop_map(|events| (events, None, None)),
        2 => range.prop_map(|range| (vec![range], None, None)),
        1 => one_of(&TOPICS).prop_map(|topic| (Vec::new(), None, Some(topic))),
    ];
    (chosen, prop::bool::weighted(0.2), prop::bool::weighted(0.2)).prop_map(
        |((events, last, topic), only, cascade)| Command::Undo {
            events,
            last,
            topic,
            only,
            cascade,
        },
    )
}

/// Returns a command that changes no memory.
pub fn look() -> impl Strategy<Value = Command> {
    prop_oneof![
        recall().prop_map(|command| match command {
            Command::Recall {
                query,
                topic,
                keyword,
                limit,
                at,
                happened_by,
                ..
            } => {
                Command::Recall {
                    query,
                    topic,
                    keyword,
                    limit,
                    at,
                    happened_by,
                    floor: None,
                    record: false,
                }
            }
            other => other,
        }),
        one_of(&ALIASES).prop_map(|alias| Command::Get { alias, at: None }),
        one_of(&ALIASES).prop_map(|alias| Command::History { alias }),
        Just(Command::List {
            topic: None,
            sort: Sort::Created,
            at: None,
            forgotten: true
        }),
        Just(Command::Topics),
    ]
}

/// Returns a mishap of the store or its views, which must change no answer.
pub fn mishap() -> impl Strategy<Value = Command> {
    let damage = select(&[Damage::Cut, Damage::Flip, Damage::Remove][..]);
    prop_oneof![
        Just(Command::Reopen),
        Just(Command::Kill),
        Just(Command::Settle),
        Just(Command::DropViews),
        Just(Command::Rebuild),
        (damage, 0..1_000_u64).prop_map(|(damage, seed)| Command::DamageViews { damage, seed }),
    ]
}

/// Returns a script of these commands. Its stores get the aliases `$a`, `$b`, … in order.
pub fn script(
    command: impl Strategy<Value = Command> + 'static,
    len: std::ops::Range<usize>,
) -> impl Strategy<Value = Script> {
    prop::collection::vec(command, len).prop_map(|mut commands| {
        let stores = commands.iter_mut().filter_map(|command| match command {
            Command::Store { alias, .. } | Command::Consolidate { alias, .. } => Some(alias),
            _ => None,
        });
        for (index, alias) in stores.enumerate() {
            *alias = ALIASES
                .get(index)
                .map_or_else(|| format!("$m{index}"), |a| (*a).to_owned());
        }
        Script(commands)
    })
}
