//! Looking for secrets in a text.
//!
//! One pass of an automaton over all keywords says which rules are worth a try; only their patterns
//! are compiled, once, when they are first tried. A text without a keyword costs that pass. Patterns
//! have no unbounded look ahead without consuming it, so a hostile text costs time in proportion to
//! its length.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::{Regex, RegexBuilder};

use super::rules::{RULES, Rule};
use super::shape;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Name of the rule.
    pub rule: &'static str,
    /// Where the secret stands, in bytes.
    pub secret: Range<usize>,
    /// That, and the name it is assigned to.
    pub(super) whole: Range<usize>,
    /// Place of the rule in the table: of two that overlap the first one names the secret.
    index: usize,
}

/// Bytes of a secret whose shape is looked at; what is longer is no placeholder.
const PLACEHOLDER_LEN_MAX: usize = 200;

struct Detector {
    keywords: AhoCorasick,
    /// Of each keyword: its rule, and whether its case matters.
    of_keyword: Vec<(usize, Option<&'static str>)>,
    patterns: Vec<OnceLock<Regex>>,
}

static DETECTOR: LazyLock<Detector> = LazyLock::new(|| {
    let mut words = Vec::new();
    let mut of_keyword = Vec::new();
    for (index, rule) in RULES.iter().enumerate() {
        for word in rule.keywords {
            let exact = word.bytes().any(|byte| byte.is_ascii_uppercase());
            words.push(*word);
            of_keyword.push((index, exact.then_some(*word)));
        }
    }
    let keywords = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(&words)
        .expect("the keywords of the table make an automaton");
    Detector {
        keywords,
        of_keyword,
        patterns: RULES.iter().map(|_| OnceLock::new()).collect(),
    }
});

/// The secrets of a text, in the order of the rules; they may overlap.
pub fn find(text: &str) -> Vec<Found> {
    let detector = &*DETECTOR;
    let mut wanted: u128 = 0;
    for hit in detector.keywords.find_overlapping_iter(text) {
        let (rule, exact) = detector.of_keyword[hit.pattern().as_usize()];
        if exact.is_none_or(|word| &text[hit.range()] == word) {
            wanted |= 1 << rule;
        }
    }
    let mut found = Vec::new();
    while wanted != 0 {
        let index = wanted.trailing_zeros() as usize;
        wanted &= wanted - 1;
        let rule = &RULES[index];
        let pattern = detector.patterns[index].get_or_init(|| compiled(rule));
        for captures in pattern.captures_iter(text) {
            let whole = captures.get(0).expect("a match has a group 0");
            let group = captures.iter().skip(1).flatten().next();
            let secret = group.unwrap_or(whole);
            if is_secret(rule, secret.as_str(), &text[secret.end()..]) {
                found.push(Found {
                    rule: rule.name,
                    secret: secret.range(),
                    whole: whole.range(),
                    index,
                });
            }
        }
    }
    found
}

fn compiled(rule: &Rule) -> Regex {
    RegexBuilder::new(rule.pattern)
        .unicode(false)
        .build()
        .expect("a test compiles every pattern of the table")
}

fn is_secret(rule: &Rule, secret: &str, after: &str) -> bool {
    let placeholder = secret.len() <= PLACEHOLDER_LEN_MAX && shape::is_placeholder(secret);
    !placeholder
        && shape::entropy(secret) >= rule.entropy_min
        && rule.fits.is_none_or(|fits| fits(secret, after))
}

/// In the order of the text, with those that overlap as one.
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
