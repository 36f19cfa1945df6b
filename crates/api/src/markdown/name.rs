//! Names of files for topics.

use std::collections::BTreeSet;

/// Ending of all file names.
const ENDING: &str = ".md";
/// Most bytes of a name, without digest and ending. Raised, long topics need a digest less often.
const LEN_MAX: usize = 80;
/// Hexadecimal digits of a topic's digest in a name.
const DIGITS: usize = 12;
/// Names that Windows reserves for devices, also with a dot and more behind them.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Gives each topic a file name of its own, which is valid and distinct on every file system: also where case is folded
/// or names are reserved.
#[derive(Default)]
pub struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    /// Returns the name for a topic. The same topics in the same order get the same names.
    pub fn of(&mut self, topic: &str) -> String {
        let (plain, faithful) = plain(topic);
        let digest = blake3::hash(topic.as_bytes()).to_hex();
        let candidates = [
            faithful.then(|| plain.clone()),
            Some(format!("{plain}-{}", &digest[..DIGITS])),
            Some(format!("{plain}-{digest}")),
        ];
        let free = candidates.into_iter().flatten().find(|name| {
            // Names are compared as far as a file system may fold them.
            self.taken.insert(name.to_uppercase().to_lowercase())
        });
        free.unwrap_or_else(|| digest.to_string()) + ENDING
    }
}

/// Returns the topic in characters that every file system takes, with `/` as a dot, and `true` if the topic can be told
/// from the result.
fn plain(topic: &str) -> (String, bool) {
    let mut name = String::new();
    let mut faithful = true;
    for c in topic.chars() {
        let kept = match c {
            'a'..='z' | '0'..='9' | '-' | '_' => c,
            '/' => '.',
            'A'..='Z' => c.to_ascii_lowercase(),
            c if !c.is_ascii() && c.is_alphanumeric() => c,
            _ => '-',
        };
        if name.len() + kept.len_utf8() > LEN_MAX {
            faithful = false;
            break;
        }
        faithful &= kept == c || c == '/';
        name.push(kept);
    }
    let before_dot = name.split('.').next().unwrap_or_default();
    let port = |prefix: &str| {
        let rest = before_dot.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.chars().count() == 1)
    };
    let device = DEVICES.contains(&before_dot) || port("com") || port("lpt");
    if device || !name.starts_with(char::is_alphanumeric) {
        return (format!("topic-{name}"), false);
    }
    (name, faithful)
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn every_topic_has_a_name_of_its_own() {
        let mut names = Names::default();
        assert_eq!(names.of("decisions"), "decisions.md");
        assert_eq!(names.of("payments/retries"), "payments.retries.md");
        assert_eq!(names.of("решения"), "решения.md");
        let odd = [
            "Decisions",
            "DECISIONS",
            "payments.retries",
            "payments-retries ",
            "con",
            "con/x",
            "com1",
            "..",
            "-rf",
            "a:b*c?\"<>|\\",
            "ſ",
            "Решения",
        ];
        let mut seen: Vec<String> = Vec::new();
        for topic in odd.iter().map(|topic| (*topic).to_owned()).chain([
            "x".repeat(128),
            format!("{}y", "x".repeat(127)),
            "я".repeat(64),
        ]) {
            let name = names.of(&topic);
            assert!(name.len() <= 80 + 6 + 1 + 12 + 3, "{name}");
            let stem = name.strip_suffix(".md").expect("a file of ours");
            assert!(
                !stem.contains(['/', '\\', ':', '*', '?', '"', '<', '>', '|', ' ']),
                "{name}"
            );
            assert!(stem.starts_with(char::is_alphanumeric), "{name}");
            let first = stem.split('.').next().expect("it has one");
            assert!(!["con", "com1"].contains(&first), "{name}");
            let folded = name.to_uppercase().to_lowercase();
            assert!(!seen.contains(&folded), "{name}");
            seen.push(folded);
        }
        assert_eq!(seen.len(), 15);
    }
}
