//! The commands of a script. `Display` prints a command as the line that it was parsed from.

use std::fmt;

use icm_api::{Importance, OnSimilar, Sort, Trust};

/// A script: commands in order.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Script(pub Vec<Command>);

impl fmt::Debug for Script {
    /// Prints the script itself, so that a shrunk one can be pasted into a test.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "script:\n{self}")
    }
}

/// A kind of damage to the files of views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// A file is cut short.
    Cut,
    /// Bits of a file are flipped.
    Flip,
    /// A file is removed.
    Remove,
}

/// A line of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "each field is an option of the line")]
pub enum Command {
    /// `store $a -t TOPIC -c TEXT …`
    Store {
        alias: String,
        topic: String,
        content: String,
        importance: Option<Importance>,
        keywords: Vec<String>,
        key: Option<String>,
        scope: Option<String>,
        trust: Option<Trust>,
        request: Option<String>,
    },
    /// `update $a …`; fields that are not given stay. `-k ""` removes all keywords.
    Update {
        alias: String,
        content: Option<String>,
        importance: Option<Importance>,
        keywords: Option<Vec<String>>,
        topic: Option<String>,
        scope: Option<String>,
        request: Option<String>,
    },
    /// `forget $a $b`
    Forget { aliases: Vec<String> },
    /// `forget-topic TOPIC`
    ForgetTopic { topic: String },
    /// `revive $a`
    Revive { alias: String },
    /// `pin $a`
    Pin { alias: String },
    /// `unpin $a`
    Unpin { alias: String },
    /// `expire $a "usage 3"`; `expire $a ""` takes the condition away
    Expire { alias: String, condition: String },
    /// `judge $a wrong`, `judge $a useful`
    Judge { alias: String, useful: bool },
    /// `correct CONTEXT PREDICTED CORRECT`
    Correct {
        context: String,
        predicted: String,
        correct: String,
    },
    /// `session start CAUSE`, `session end`: the events of the session `s1`.
    Session { cause: Option<String> },
    /// `alert TEXT`, `alert TEXT --due "in 2h"`: for the session `s1`.
    Alert { text: String, due: Option<String> },
    /// `alerts`: shows those of the session `s1`.
    Alerts,
    /// `consolidate $s -t TOPIC -c SUMMARY --keep`
    Consolidate {
        alias: String,
        topic: String,
        summary: String,
        keep: bool,
    },
    /// `decay`, `decay --rate 0.3`
    Decay { rate: Option<String> },
    /// `prune`, `prune --threshold 0.5`
    Prune { threshold: Option<String> },
    /// `link $a $b -r RELATION`
    Link {
        from: String,
        to: String,
        relation: String,
    },
    /// `unlink $a $b -r RELATION`
    Unlink {
        from: String,
        to: String,
        relation: String,
    },
    /// `dedup link`: the action of later stores for a near duplicate; `off` at first.
    Dedup { on_similar: OnSimilar },
    /// `undo @5 @7`, `undo @3..@9`, `undo --last 2`
    Undo {
        events: Vec<String>,
        last: Option<usize>,
        topic: Option<String>,
        only: bool,
        cascade: bool,
    },
    /// `recall QUERY …`
    Recall {
        query: String,
        topic: Option<String>,
        keyword: Option<String>,
        limit: Option<usize>,
        at: Option<String>,
        happened_by: Option<String>,
        floor: Option<String>,
        record: bool,
    },
    /// `get $a`
    Get { alias: String, at: Option<String> },
    /// `history $a`
    History { alias: String },
    /// `list …`
    List {
        topic: Option<String>,
        sort: Sort,
        at: Option<String>,
        forgotten: bool,
    },
    /// `topics`
    Topics,
    /// `log`: every event, oldest first.
    Log { kind: Option<String> },
    /// `verify`: the chain, the views, and a fresh fold.
    Verify,
    /// `rebuild`
    Rebuild,
    /// `reopen`: closes the store and opens it.
    Reopen,
    /// `kill`: kills the process without closing the store, then opens the store again.
    Kill,
    /// `settle`: does the work that follows an answer.
    Settle,
    /// `drop-views`: removes the folder of all views while the store is closed.
    DropViews,
    /// `damage-views cut SEED`: damages a file of the views while the store is closed.
    DamageViews { damage: Damage, seed: u64 },
    /// `clock +5m`, `clock -1h`, in ms, s, m, h or d.
    Clock { by_ms: i64 },
    /// `mark %name`: remembers the newest position.
    Mark { name: String },
}

/// A word of a line, quoted if necessary.
struct Word<'a>(&'a str);

impl fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: char| c.is_ascii_alphanumeric() || "@%$:+-_./,".contains(c);
        if !self.0.is_empty() && self.0.chars().all(plain) {
            f.write_str(self.0)
        } else {
            // The word as a JSON string; this cannot fail for text.
            f.write_str(&serde_json::Value::from(self.0).to_string())
        }
    }
}

fn option(f: &mut fmt::Formatter<'_>, name: &str, value: Option<&str>) -> fmt::Result {
    match value {
        Some(value) => write!(f, " {name} {}", Word(value)),
        None => Ok(()),
    }
}

pub(super) fn importance_name(importance: Importance) -> &'static str {
    match importance {
        Importance::Low => "low",
        Importance::Medium => "medium",
        Importance::High => "high",
        Importance::Critical => "critical",
    }
}

pub(super) fn trust_name(trust: Trust) -> &'static str {
    match trust {
        Trust::User => "user",
        Trust::Agent => "agent",
        Trust::External => "external",
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Store {
                alias,
                topic,
                content,
                importance,
                keywords,
                key,
                scope,
                trust,
                request,
            } => {
                write!(f, "store {alias} -t {} -c {}", Word(topic), Word(content))?;
                option(f, "-i", importance.map(importance_name))?;
                if !keywords.is_empty() {
                    option(f, "-k", Some(&keywords.join(",")))?;
                }
                option(f, "--key", key.as_deref())?;
                option(f, "--scope", scope.as_deref())?;
                option(f, "--trust", trust.map(trust_name))?;
                option(f, "--request", request.as_deref())
            }
            Command::Update {
                alias,
                content,
                importance,
                keywords,
                topic,
                scope,
                request,
            } => {
                write!(f, "update {alias}")?;
                option(f, "-c", content.as_deref())?;
                option(f, "-i", importance.map(importance_name))?;
                option(
                    f,
                    "-k",
                    keywords.as_ref().map(|list| list.join(",")).as_deref(),
                )?;
                option(f, "-t", topic.as_deref())?;
                option(f, "--scope", scope.as_deref())?;
                option(f, "--request", request.as_deref())
            }
            Command::Forget { aliases } => write!(f, "forget {}", aliases.join(" ")),
            Command::ForgetTopic { topic } => write!(f, "forget-topic {}", Word(topic)),
            Command::Revive { alias } => write!(f, "revive {alias}"),
            Command::Pin { alias } => write!(f, "pin {alias}"),
            Command::Unpin { alias } => write!(f, "unpin {alias}"),
            Command::Expire { alias, condition } => write!(f, "expire {alias} {}", Word(condition)),
            Command::Judge { alias, useful } => {
                write!(
                    f,
                    "judge {alias} {}",
                    if *useful { "useful" } else { "wrong" }
                )
            }
            Command::Correct {
                context,
                predicted,
                correct,
            } => write!(
                f,
                "correct {} {} {}",
                Word(context),
                Word(predicted),
                Word(correct)
            ),
            Command::Session { cause: Some(cause) } => write!(f, "session start {cause}"),
            Command::Session { cause: None } => f.write_str("session end"),
            Command::Alert { text, due } => {
                write!(f, "alert {}", Word(text))?;
                option(f, "--due", due.as_deref())
            }
            Command::Alerts => f.write_str("alerts"),
            Command::Consolidate {
                alias,
                topic,
                summary,
                keep,
            } => {
                write!(
                    f,
                    "consolidate {alias} -t {} -c {}",
                    Word(topic),
                    Word(summary)
                )?;
                f.write_str(if *keep { " --keep" } else { "" })
            }
            Command::Decay { rate } => {
                f.write_str("decay")?;
                option(f, "--rate", rate.as_deref())
            }
            Command::Prune { threshold } => {
                f.write_str("prune")?;
                option(f, "--threshold", threshold.as_deref())
            }
            Command::Link { from, to, relation } => {
                write!(f, "link {from} {to}")?;
                option(f, "-r", Some(relation))
            }
            Command::Unlink { from, to, relation } => {
                write!(f, "unlink {from} {to}")?;
                option(f, "-r", Some(relation))
            }
            Command::Dedup { on_similar } => write!(f, "dedup {}", on_similar.name()),
            Command::Undo {
                events,
                last,
                topic,
                only,
                cascade,
            } => {
                f.write_str("undo")?;
                events
                    .iter()
                    .try_for_each(|event| write!(f, " {}", Word(event)))?;
                option(f, "--last", last.map(|last| last.to_string()).as_deref())?;
                option(f, "-t", topic.as_deref())?;
                f.write_str(if *only { " --only" } else { "" })?;
                f.write_str(if *cascade { " --cascade" } else { "" })
            }
            Command::Recall {
                query,
                topic,
                keyword,
                limit,
                at,
                happened_by,
                floor,
                record,
            } => {
                write!(f, "recall {}", Word(query))?;
                option(f, "-t", topic.as_deref())?;
                option(f, "-k", keyword.as_deref())?;
                option(f, "-l", limit.map(|limit| limit.to_string()).as_deref())?;
                option(f, "--at", at.as_deref())?;
                option(f, "--happened-by", happened_by.as_deref())?;
                option(f, "--floor", floor.as_deref())?;
                f.write_str(if *record { " --record" } else { "" })
            }
            Command::Get { alias, at } => {
                write!(f, "get {alias}")?;
                option(f, "--at", at.as_deref())
            }
            Command::History { alias } => write!(f, "history {alias}"),
            Command::List {
                topic,
                sort,
                at,
                forgotten,
            } => {
                f.write_str("list")?;
                option(f, "-t", topic.as_deref())?;
                let sort = match sort {
                    Sort::Created => None,
                    Sort::Weight => Some("weight"),
                    Sort::Accessed => Some("accessed"),
                };
                option(f, "--sort", sort)?;
                option(f, "--at", at.as_deref())?;
                f.write_str(if *forgotten { " --forgotten" } else { "" })
            }
            Command::Topics => f.write_str("topics"),
            Command::Log { kind } => {
                f.write_str("log")?;
                option(f, "--kind", kind.as_deref())
            }
            Command::Verify => f.write_str("verify"),
            Command::Rebuild => f.write_str("rebuild"),
            Command::Reopen => f.write_str("reopen"),
            Command::Kill => f.write_str("kill"),
            Command::Settle => f.write_str("settle"),
            Command::DropViews => f.write_str("drop-views"),
            Command::DamageViews { damage, seed } => {
                let damage = match damage {
                    Damage::Cut => "cut",
                    Damage::Flip => "flip",
                    Damage::Remove => "remove",
                };
                write!(f, "damage-views {damage} {seed}")
            }
            Command::Clock { by_ms } => write!(f, "clock {by_ms:+}ms"),
            Command::Mark { name } => write!(f, "mark {name}"),
        }
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|command| writeln!(f, "{command}"))
    }
}
