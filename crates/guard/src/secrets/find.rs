//! Finds secrets in a text.
//!
//! One pass over the text looks for the keywords of all rules. Only the patterns of rules with a keyword in the text
//! are tried, and each is compiled once, at its first use. A text without keywords costs only that pass. No pattern has
//! an unbounded look-ahead, so the time for a hostile text stays proportional to its length.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::{Regex, RegexBuilder};

use super::rules::{RULES, Rule};
use super::shape;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Name of the rule.
    pub rule: &'static str,
    /// Range of the secret, in bytes.
    pub secret: Range<usize>,
    /// Range of the secret and the name that it is assigned to.
    pub(super) whole: Range<usize>,
    /// Place of the rule in the table: the first of two overlapping rules names the secret.
    index: usize,
}

/// Most bytes of a secret that can be a placeholder. Raised, longer placeholders are let pass.
const PLACEHOLDER_LEN_MAX: usize = 200;

/// Most bytes of a rejected match that is searched again. Raised, hostile texts cost more time; without a bound it is
/// not linear.
const AGAIN_LEN_MAX: usize = 512;

/// Most bytes of the lazy automaton of a pattern in a thread, 16 MiB. With the default of 2 MiB the largest patterns
/// get no automaton, and each thread keeps 3 MiB for the slower search.
const DFA_LEN_MAX: usize = 16 * 1_024 * 1_024;

/// Slots of the table by the first two bytes of a keyword, in any case.
const PAIRS: usize = 1_024;
/// End of a chain of keywords.
const NONE: u16 = u16::MAX;

struct Detector {
    /// The first keyword of each slot.
    first: [u16; PAIRS],
    keywords: Vec<Keyword>,
    patterns: Vec<OnceLock<Regex>>,
}

struct Keyword {
    word: &'static str,
    /// `true` for a keyword with a capital letter: it matches only as written.
    exact: bool,
    rule: usize,
    /// The next keyword in the same slot.
    next: u16,
}

impl Keyword {
    fn begins(&self, text: &[u8]) -> bool {
        let word = self.word.as_bytes();
        match text.get(..word.len()) {
            Some(start) if self.exact => start == word,
            Some(start) => start.eq_ignore_ascii_case(word),
            None => false,
        }
    }
}

fn place_of(pair: &[u8]) -> usize {
    // The low five bits of a letter are the same in both cases.
    usize::from(pair[0] & 31) << 5 | usize::from(pair[1] & 31)
}

/// Made at first use by every process, so it must take microseconds: no automaton is compiled.
static DETECTOR: LazyLock<Detector> = LazyLock::new(|| {
    let mut first = [NONE; PAIRS];
    let mut keywords: Vec<Keyword> = Vec::with_capacity(256);
    for (rule, word) in (RULES.iter().enumerate())
        .flat_map(|(index, rule)| rule.keywords.iter().map(move |word| (index, *word)))
    {
        let place = &mut first[place_of(word.as_bytes())];
        let next = std::mem::replace(place, keywords.len() as u16);
        keywords.push(Keyword {
            word,
            exact: word.bytes().any(|byte| byte.is_ascii_uppercase()),
            rule,
            next,
        });
    }
    Detector {
        first,
        keywords,
        patterns: RULES.iter().map(|_| OnceLock::new()).collect(),
    }
});

impl Detector {
    /// Returns the rules with a keyword in the text, one bit per rule.
    fn wanted(&self, text: &[u8]) -> u128 {
        let mut wanted = 0;
        for (at, pair) in text.windows(2).enumerate() {
            let mut next = self.first[place_of(pair)];
            while let Some(keyword) = self.keywords.get(usize::from(next)) {
                if keyword.begins(&text[at..]) {
                    wanted |= 1 << keyword.rule;
                }
                next = keyword.next;
            }
        }
        wanted
    }
}

/// Returns the secrets of a text in the order of the rules; they may overlap.
pub fn find(text: &str) -> Vec<Found> {
    let detector = &*DETECTOR;
    let mut wanted = detector.wanted(text.as_bytes());
    let mut found = Vec::new();
    while wanted != 0 {
        let index = wanted.trailing_zeros() as usize;
        wanted &= wanted - 1;
        let rule = &RULES[index];
        let pattern = detector.patterns[index].get_or_init(|| compiled(rule));
        // A search for groups keeps 3 MiB per thread, so it runs only for a match.
        let captures_at = |from| {
            let is_match = pattern.is_match_at(text, from);
            is_match.then(|| pattern.captures_at(text, from)).flatten()
        };
        let mut from = 0;
        while let Some(captures) = captures_at(from) {
            let whole = captures.get(0).expect("a match has a group 0");
            let group = captures.iter().skip(1).flatten().next();
            let secret = group.unwrap_or(whole);
            from = whole.end();
            if is_secret(rule, text, &whole.range(), &secret.range()) {
                found.push(Found {
                    rule: rule.name,
                    secret: secret.range(),
                    whole: whole.range(),
                    index,
                });
            } else if whole.start() < secret.start() && whole.len() <= AGAIN_LEN_MAX {
                // The rejected value may be the name of the next assignment.
                from = secret.start();
            }
        }
    }
    found
}

fn compiled(rule: &Rule) -> Regex {
    // A token may be part of a name, as in `my_ghp_…`.
    let pattern = match rule.pattern.strip_prefix(r"\b") {
        Some(rest) if !has_group(rest) => format!(r"(?:\b|_)({rest})"),
        _ => rule.pattern.to_owned(),
    };
    RegexBuilder::new(&pattern)
        .unicode(false)
        .dfa_size_limit(DFA_LEN_MAX)
        .build()
        .expect("a test compiles every pattern of the table")
}

fn has_group(pattern: &str) -> bool {
    pattern.replace("(?", "").contains('(')
}

fn is_secret(rule: &Rule, text: &str, whole: &Range<usize>, place: &Range<usize>) -> bool {
    let secret = &text[place.clone()];
    let after = &text[place.end..];
    let placeholder = secret.len() <= PLACEHOLDER_LEN_MAX && shape::is_placeholder(secret);
    !placeholder
        && shape::entropy(secret) >= rule.entropy_min
        && rule.fits.is_none_or(|fits| fits(secret, after))
        && !(rule.name.ends_with("-assignment")
            && shape::is_harmless_name(&text[..whole.start], &text[whole.clone()], secret))
}

/// Returns the secrets in the order of the text, overlapping ones merged.
pub(super) fn merged(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by_key(|found| found.secret.start);
    let mut merged: Vec<Found> = Vec::with_capacity(found.len());
    for next in found {
        match merged.last_mut() {
            Some(last) if next.secret.start < last.secret.end => {
                last.secret.end = last.secret.end.max(next.secret.end);
                if next.index < last.index {
                    (last.rule, last.index) = (next.rule, next.index);
                }
            }
            _ => merged.push(next),
        }
    }
    merged
}
