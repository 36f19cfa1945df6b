//! Parses scripts.

use std::str::FromStr;

use icm_api::{Importance, OnSimilar, Sort, Trust};

use super::command::{Command, Damage, Script};

impl FromStr for Script {
    type Err = String;

    fn from_str(text: &str) -> Result<Script, String> {
        let mut commands = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                let command = line
                    .parse()
                    .map_err(|why| format!("line {}: {why}: {line}", index + 1));
                commands.push(command?);
            }
        }
        Ok(Script(commands))
    }
}

impl FromStr for Command {
    type Err = String;

    fn from_str(line: &str) -> Result<Command, String> {
        let mut words = Words::split(line)?;
        let command = match words.plain()?.as_str() {
            "store" => Command::Store {
                alias: words.alias()?,
                topic: words.value("-t")?.ok_or("a topic is needed")?,
                content: words.value("-c")?.ok_or("a content is needed")?,
                importance: words
                    .value("-i")?
                    .map(|text| importance(&text))
                    .transpose()?,
                keywords: words
                    .value("-k")?
                    .map(|text| list(&text))
                    .unwrap_or_default(),
                key: words.value("--key")?,
                scope: words.value("--scope")?,
                trust: words
                    .value("--trust")?
                    .map(|text| trust(&text))
                    .transpose()?,
                request: words.value("--request")?,
            },
            "update" => Command::Update {
                alias: words.alias()?,
                content: words.value("-c")?,
                importance: words
                    .value("-i")?
                    .map(|text| importance(&text))
                    .transpose()?,
                keywords: words.value("-k")?.map(|text| list(&text)),
                topic: words.value("-t")?,
                scope: words.value("--scope")?,
                request: words.value("--request")?,
            },
            "forget" => {
                let mut aliases = vec![words.alias()?];
                while !words.0.is_empty() {
                    aliases.push(words.alias()?);
                }
                Command::Forget { aliases }
            }
            "forget-topic" => Command::ForgetTopic {
                topic: words.plain()?,
            },
            "revive" => Command::Revive {
                alias: words.alias()?,
            },
            "pin" => Command::Pin {
                alias: words.alias()?,
            },
            "unpin" => Command::Unpin {
                alias: words.alias()?,
            },
            "expire" => Command::Expire {
                alias: words.alias()?,
                condition: words.plain()?,
            },
            "judge" => Command::Judge {
                alias: words.alias()?,
                useful: match words.plain()?.as_str() {
                    "useful" => true,
                    "wrong" => false,
                    other => return Err(format!("`judge {other}`?")),
                },
            },
            "correct" => Command::Correct {
                context: words.plain()?,
                predicted: words.plain()?,
                correct: words.plain()?,
            },
            "session" => Command::Session {
                cause: match words.plain()?.as_str() {
                    "start" => Some(words.plain()?),
                    "end" => None,
                    other => return Err(format!("`session {other}`?")),
                },
            },
            "alert" => {
                let due = words.value("--due")?;
                Command::Alert {
                    text: words.plain()?,
                    due,
                }
            }
            "alerts" => Command::Alerts,
            "consolidate" => Command::Consolidate {
                alias: words.alias()?,
                topic: words.value("-t")?.ok_or("a topic is needed")?,
                summary: words.value("-c")?.ok_or("a summary is needed")?,
                keep: words.flag("--keep"),
            },
            "decay" => Command::Decay {
                rate: words.value("--rate")?,
            },
            "prune" => Command::Prune {
                threshold: words.value("--threshold")?,
            },
            "link" => Command::Link {
                from: words.alias()?,
                to: words.alias()?,
                relation: words.value("-r")?.ok_or("a relation is needed")?,
            },
            "unlink" => Command::Unlink {
                from: words.alias()?,
                to: words.alias()?,
                relation: words.value("-r")?.ok_or("a relation is needed")?,
            },
            "dedup" => {
                let name = words.plain()?;
                let known = OnSimilar::ALL.into_iter().find(|o| o.name() == name);
                Command::Dedup {
                    on_similar: known.ok_or_else(|| format!("no dedup `{name}`"))?,
                }
            }
            "undo" => Command::Undo {
                last: words
                    .value("--last")?
                    .map(|text| number(&text))
                    .transpose()?,
                topic: words.value("-t")?,
                only: words.flag("--only"),
                cascade: words.flag("--cascade"),
                events: std::mem::take(&mut words.0),
            },
            "recall" => Command::Recall {
                query: words.plain()?,
                topic: words.value("-t")?,
                keyword: words.value("-k")?,
                limit: words.value("-l")?.map(|text| number(&text)).transpose()?,
                at: words.value("--at")?,
                happened_by: words.value("--happened-by")?,
                floor: words.value("--floor")?,
                record: words.flag("--record"),
            },
            "get" => Command::Get {
                alias: words.alias()?,
                at: words.value("--at")?,
            },
            "history" => Command::History {
                alias: words.alias()?,
            },
            "list" => Command::List {
                topic: words.value("-t")?,
                sort: match words.value("--sort")?.as_deref() {
                    None | Some("created") => Sort::Created,
                    Some("weight") => Sort::Weight,
                    Some("accessed") => Sort::Accessed,
                    Some(other) => return Err(format!("no order `{other}`")),
                },
                at: words.value("--at")?,
                forgotten: words.flag("--forgotten"),
            },
            "topics" => Command::Topics,
            "log" => Command::Log {
                kind: words.value("--kind")?,
            },
            "verify" => Command::Verify,
            "rebuild" => Command::Rebuild,
            "reopen" => Command::Reopen,
            "kill" => Command::Kill,
            "settle" => Command::Settle,
            "drop-views" => Command::DropViews,
            "damage-views" => Command::DamageViews {
                damage: match words.plain()?.as_str() {
                    "cut" => Damage::Cut,
                    "flip" => Damage::Flip,
                    "remove" => Damage::Remove,
                    other => return Err(format!("no damage `{other}`")),
                },
                seed: number(&words.plain()?)?,
            },
            "clock" => Command::Clock {
                by_ms: span_ms(&words.plain()?)?,
            },
            "mark" => Command::Mark {
                name: words.name('%')?,
            },
            other => return Err(format!("no command `{other}`")),
        };
        match words.0.first() {
            None => Ok(command),
            Some(word) => Err(format!("`{word}` is too much")),
        }
    }
}

/// The words of a line that are not parsed yet.
struct Words(Vec<String>);

impl Words {
    fn split(line: &str) -> Result<Words, String> {
        let (mut words, mut rest) = (Vec::new(), line.trim());
        while !rest.is_empty() {
            let (word, after) = if rest.starts_with('"') {
                let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
                let word = values
                    .next()
                    .ok_or("an open quote")?
                    .map_err(|error| error.to_string())?;
                (word, &rest[values.byte_offset()..])
            } else {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                (rest[..end].to_owned(), &rest[end..])
            };
            words.push(word);
            rest = after.trim_start();
        }
        Ok(Words(words))
    }

    fn plain(&mut self) -> Result<String, String> {
        if self.0.is_empty() {
            Err("a word is missing".to_owned())
        } else {
            Ok(self.0.remove(0))
        }
    }

    fn name(&mut self, sign: char) -> Result<String, String> {
        let word = self.plain()?;
        if word.starts_with(sign) {
            Ok(word)
        } else {
            Err(format!("`{word}` should start with {sign}"))
        }
    }

    fn alias(&mut self) -> Result<String, String> {
        self.name('$')
    }

    fn value(&mut self, option: &str) -> Result<Option<String>, String> {
        let Some(at) = self.0.iter().position(|word| word == option) else {
            return Ok(None);
        };
        self.0.remove(at);
        if at < self.0.len() {
            Ok(Some(self.0.remove(at)))
        } else {
            Err(format!("{option} needs a value"))
        }
    }

    fn flag(&mut self, option: &str) -> bool {
        let at = self.0.iter().position(|word| word == option);
        at.map(|at| self.0.remove(at)).is_some()
    }
}

fn list(text: &str) -> Vec<String> {
    text.split(',')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

fn importance(text: &str) -> Result<Importance, String> {
    Ok(match text {
        "low" => Importance::Low,
        "medium" => Importance::Medium,
        "high" => Importance::High,
        "critical" => Importance::Critical,
        other => return Err(format!("no importance `{other}`")),
    })
}

fn trust(text: &str) -> Result<Trust, String> {
    Ok(match text {
        "user" => Trust::User,
        "agent" => Trust::Agent,
        "external" => Trust::External,
        other => return Err(format!("no trust `{other}`")),
    })
}

/// Parses `+5m`, `-1h`, `250ms` into milliseconds.
fn span_ms(text: &str) -> Result<i64, String> {
    let unit_at = text.find(char::is_alphabetic).ok_or("a unit is missing")?;
    let (count, unit) = text.split_at(unit_at);
    let unit_ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        other => return Err(format!("no unit `{other}`")),
    };
    Ok(number::<i64>(count)? * unit_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let text = "\
store $a -t prefs -c \"likes \\\"green\\\" tea\" -i high -k tea,drink --key k1 --scope project:x --trust agent --request r
update $a -c new -i low -k \"\" -t a/b --scope global
forget $a $b
forget-topic prefs
revive $a
consolidate $s -t prefs -c \"all of it\" --keep
decay
decay --rate 0.3
prune --threshold 0.5
link $a $b -r supersedes
unlink $a $b -r supersedes
dedup update
undo @3..@7 --cascade
undo @5 %then --only
undo --last 2 -t a
recall \"green tea\" -t a -k b -l 3 --at %then --happened-by 2026-01-01 --floor 0 --record
get $a --at @3
history $a
list -t prefs --sort weight --at @3 --forgotten
topics
log --kind memory
verify
rebuild
reopen
kill
settle
drop-views
damage-views flip 7
clock -300000ms
mark %then
";
        let script: Script = text.parse().expect("it reads");
        assert_eq!(script.to_string(), text);
        assert_eq!(script.to_string().parse(), Ok(script));
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| text.parse::<Script>().expect_err("a mistake");
        assert_eq!(
            error("topics\n\n# fine\nstoer $a"),
            "line 4: no command `stoer`: stoer $a"
        );
        assert_eq!(
            error("store $a -t x"),
            "line 1: a content is needed: store $a -t x"
        );
        assert_eq!(
            error("revive a"),
            "line 1: `a` should start with $: revive a"
        );
        assert_eq!(error("topics now"), "line 1: `now` is too much: topics now");
        assert_eq!(error("clock +5"), "line 1: a unit is missing: clock +5");
        assert_eq!("clock +5m".parse(), Ok(Command::Clock { by_ms: 300_000 }));
    }
}
