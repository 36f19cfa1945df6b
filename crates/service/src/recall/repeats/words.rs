//! The words that count in a text. Two texts with the same ones in the same order say the same.
//!
//! A word is left out only if a list here names it. So a negation, a number, a name or a rare word always counts.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::LazyLock;

use rustc_hash::{FxBuildHasher, FxHasher};

/// Bytes of the longest text that is read word by word. Raised, a recall of long texts takes longer.
const LEN_MAX: usize = 1_024;
/// Characters of the shortest word whose plural counts as its singular. Lowered, short names lose an `s`.
const PLURAL_CHARS_MIN: usize = 4;
/// The mark of a question: a text with it says something else than its words.
const QUESTION: &str = "?";
/// The word that every form of *use* counts as.
const USE: &str = "use";

/// Marks of prose before a word.
const BEFORE_WORD: [char; 20] = [
    '"', '\'', '“', '”', '„', '‘', '’', '‚', '«', '»', '(', '[', '{', '`', '¿', '¡', '…', '「',
    '『', '（',
];
/// Marks of prose behind a word.
const BEHIND_WORD: [char; 28] = [
    '"', '\'', '“', '”', '‘', '’', '«', '»', '`', '.', ',', ';', ':', '!', '?', '…', '。', '，',
    '、', '；', '：', '！', '？', '؟', '」', '』', '）', '·',
];
/// Marks that end a part of a text.
const ENDS_PART: [char; 15] = [
    '.', ',', ';', ':', '!', '?', '…', '。', '，', '、', '；', '：', '！', '？', '؟',
];

/// The kinds of a word, as bits.
mod kind {
    /// Adds nothing before another word: articles, *we*, forms of *to be*. Prepositions are not of this kind, nor are
    /// words that say who, when, how sure or how many.
    pub(super) const EMPTY: u8 = 1;
    /// Adds nothing anywhere.
    pub(super) const ALWAYS_EMPTY: u8 = 2;
    /// A part of such words before other parts announces something.
    pub(super) const BEFORE: u8 = 4;
    /// A part of such words behind other parts asks or thanks.
    pub(super) const BEHIND: u8 = 8;
    /// A form of *use*, with which many rules begin.
    pub(super) const USE: u8 = 16;
    /// Its meaning depends on the author.
    pub(super) const FIRST_PERSON: u8 = 32;
    /// Ends with an `s` and is no plural, or its singular says something else.
    pub(super) const NO_PLURAL: u8 = 64;
}

/// Words of English, German, French and Spanish with their kinds.
const KINDS: [(u8, &str); 13] = [
    (kind::EMPTY, "the a an we our is are be"),
    (
        kind::EMPTY,
        "der die das den dem ein eine einen einem wir unser unsere ist sind",
    ),
    (kind::EMPTY, "le la les un une des nous notre est sont"),
    (
        kind::EMPTY,
        "el los las una unos unas nosotros nuestro nuestra es está están",
    ),
    (
        kind::ALWAYS_EMPTY,
        "please pls always bitte immer toujours svp siempre",
    ),
    (
        kind::BEFORE,
        "note reminder remember fyi nb important rule tip yes ok okay hi hey hello",
    ),
    (
        kind::BEFORE,
        "hinweis wichtig merke regel ja hallo rappel règle oui nota recuerda importante regla sí",
    ),
    (
        kind::BEFORE | kind::BEHIND,
        "please pls bitte svp thanks thx thank you danke merci gracias por favor",
    ),
    (
        kind::USE,
        "use uses using nutze nutzen nutzt benutze benutzen benutzt verwende verwenden",
    ),
    (
        kind::USE,
        "utilise utiliser utilisez utilisons usa usar usamos usad usen utiliza utilizar utilizamos utilice",
    ),
    (
        kind::FIRST_PERSON,
        "i i'm i've i'd i'll me my mine ich mich mir mein meine je moi mon ma mes yo mi mis",
    ),
    (
        kind::NO_PLURAL,
        "news https windows means does links rechts nichts alles series species lens less sans",
    ),
    (
        kind::NO_PLURAL,
        "this thus whereas always besides sometimes perhaps",
    ),
];

static KIND_OF: LazyLock<HashMap<&str, u8, FxBuildHasher>> = LazyLock::new(|| {
    let mut kinds: HashMap<&str, u8, FxBuildHasher> = HashMap::default();
    for (kind, words) in KINDS {
        for word in words.split(' ') {
            *kinds.entry(word).or_default() |= kind;
        }
    }
    kinds
});

/// The words that count in a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CountedWords {
    /// Hashes of the words that count.
    words: Vec<u64>,
    /// `true` if the meaning depends on who says it.
    pub(super) is_personal: bool,
}

impl CountedWords {
    /// Reads a text; `None` if it is longer than 1 KiB or has no words.
    pub(super) fn of(text: &str) -> Option<CountedWords> {
        let text = text.trim();
        if text.len() > LEN_MAX {
            return None;
        }
        let mut reader = Reader::of(text);
        for line in text.lines() {
            reader.line(line);
        }
        let counted = reader.finish();
        (!counted.words.is_empty()).then_some(counted)
    }
}

/// A part of a text, up to a mark such as a comma or the end of a line.
#[derive(Debug, Clone, Copy)]
struct Part {
    /// The range of its words among those that count.
    words: (usize, usize),
    /// The kinds that all of its words have.
    kinds: u8,
}

/// A text that is being read.
struct Reader<'t> {
    text: &'t str,
    /// `true` if the text has small letters, so that capitals mark names.
    has_lower: bool,
    /// Hashes of all words.
    all: Vec<u64>,
    /// Hashes of the words that count.
    words: Vec<u64>,
    parts: Vec<Part>,
    /// The kinds that all words of the part have so far.
    kinds: u8,
    /// The empty word that was read last, until another word follows it in the part.
    waiting: Option<u64>,
    starts_sentence: bool,
    is_personal: bool,
    /// Room for a word without capital letters.
    folded: String,
}

impl<'t> Reader<'t> {
    fn of(text: &'t str) -> Reader<'t> {
        Reader {
            text,
            has_lower: text.chars().any(char::is_lowercase),
            all: Vec::new(),
            words: Vec::new(),
            parts: Vec::new(),
            kinds: u8::MAX,
            waiting: None,
            starts_sentence: true,
            is_personal: false,
            folded: String::new(),
        }
    }

    fn line(&mut self, line: &str) {
        self.starts_sentence = true;
        let line = line.trim_start();
        let mark = line.split_whitespace().next().unwrap_or_default();
        let is_mark =
            matches!(mark, "-" | "*" | "+" | "•" | ">") || mark.bytes().all(|byte| byte == b'#');
        let rest = match is_mark {
            true => &line[mark.len()..],
            false => line,
        };
        for token in rest.split_whitespace() {
            self.token(token);
        }
        self.end_part();
    }

    fn token(&mut self, token: &str) {
        // Most words of most texts have no mark to be taken off.
        if token.bytes().all(|byte| byte.is_ascii_lowercase()) {
            self.starts_sentence = false;
            return self.folded_word(token, false);
        }
        if token.chars().all(|c| matches!(c, '-' | '–' | '—')) {
            return self.end_part();
        }
        let (word, behind) = self.bare(token);
        if !word.is_empty() {
            self.word(word);
        }
        if behind.contains(['?', '？', '؟']) {
            self.count(hash(QUESTION), 0);
        }
        if behind.contains(ENDS_PART) {
            self.end_part();
            self.starts_sentence = !behind.contains([',', ';', '，', '、']);
        }
    }

    /// Returns a token without the marks of prose around it, and the marks behind it.
    fn bare<'w>(&self, token: &'w str) -> (&'w str, &'w str) {
        let mut word = token.trim_start_matches(BEFORE_WORD);
        // A file name such as `.env` begins with a full stop.
        while let Some(rest) = word
            .strip_prefix('.')
            .filter(|rest| !rest.starts_with(char::is_alphanumeric))
        {
            word = rest;
        }
        let mut end = word.trim_end_matches(BEHIND_WORD);
        // The bracket of `f()` stays.
        while end.ends_with([')', ']', '}']) && !end.contains(['(', '[', '{']) {
            end = end[..end.len() - 1].trim_end_matches(BEHIND_WORD);
        }
        let mut behind = &word[end.len()..];
        let mut word = end;
        let stars = word.len() - word.trim_start_matches('*').len();
        if stars > 0 && self.closes(&word[..stars]) {
            word = &word[stars..];
        }
        let inner = word.trim_end_matches('*');
        if inner.len() < word.len() && self.opens(&word[inner.len()..]) {
            // An emphasised word may end with a mark.
            word = inner.trim_end_matches(BEHIND_WORD);
            if word.len() < inner.len() {
                behind = &inner[word.len()..];
            }
        }
        for elided in ["l'", "l’", "L'", "L’"] {
            word = word.strip_prefix(elided).unwrap_or(word);
        }
        (word, behind)
    }

    /// Returns `true` if the text has these stars behind a word.
    fn closes(&self, stars: &str) -> bool {
        let mut found = self.text.match_indices(stars);
        found.any(|(at, _)| {
            self.text[..at].ends_with(|c: char| c.is_alphanumeric() || BEHIND_WORD.contains(&c))
        })
    }

    /// Returns `true` if the text has these stars before a word.
    fn opens(&self, stars: &str) -> bool {
        let mut found = self.text.match_indices(stars);
        found.any(|(at, _)| self.text[at + stars.len()..].starts_with(char::is_alphanumeric))
    }

    fn word(&mut self, word: &str) {
        let mut capitals = word.chars().map(char::is_uppercase);
        let first = capitals.next() == Some(true);
        let is_name = self.has_lower && (first && !self.starts_sentence || capitals.any(|is| is));
        self.starts_sentence = false;
        let mut folded = std::mem::take(&mut self.folded);
        folded.clear();
        for c in word.chars() {
            match c {
                '’' => folded.push('\''),
                c if c.is_ascii() => folded.push(c.to_ascii_lowercase()),
                c => folded.extend(c.to_lowercase()),
            }
        }
        self.folded_word(&folded, is_name);
        self.folded = folded;
    }

    /// Takes a word without capital letters.
    fn folded_word(&mut self, folded: &str, is_name: bool) {
        let kinds = KIND_OF.get(folded).copied().unwrap_or_default();
        self.is_personal |= kinds & kind::FIRST_PERSON != 0;
        if kinds & kind::ALWAYS_EMPTY != 0 && !is_name {
            self.all.push(hash(folded));
            self.kinds &= kinds;
            return;
        }
        if kinds & kind::EMPTY != 0 && !is_name {
            let word = hash(folded);
            self.all.push(word);
            self.kinds &= kinds;
            self.waiting = Some(word);
            return;
        }
        let word = match is_name {
            true => hash(folded),
            false if kinds & kind::USE != 0 => hash(USE),
            false if kinds & kind::NO_PLURAL != 0 => hash(folded),
            false => hash_of_singular(folded),
        };
        self.all.push(word);
        self.count(word, kinds);
    }

    /// Takes a word that counts.
    fn count(&mut self, word: u64, kinds: u8) {
        self.waiting = None;
        self.words.push(word);
        self.kinds &= kinds;
    }

    fn end_part(&mut self) {
        // In `plan a` the last word tells plans apart.
        if let Some(word) = self.waiting.take() {
            self.words.push(word);
        }
        let start = self.parts.last().map_or(0, |part| part.words.1);
        if start < self.words.len() {
            self.parts.push(Part {
                words: (start, self.words.len()),
                kinds: self.kinds,
            });
        }
        self.kinds = u8::MAX;
    }

    fn finish(self) -> CountedWords {
        let Reader {
            words,
            mut parts,
            all,
            is_personal,
            ..
        } = self;
        let of = |part: &Part| &words[part.words.0..part.words.1];
        while let [part, _, ..] = &*parts
            && part.kinds & kind::BEFORE != 0
        {
            parts.remove(0);
        }
        while let [_, .., part] = &*parts
            && part.kinds & kind::BEHIND != 0
        {
            parts.pop();
        }
        // A title whose words come again is dropped.
        if let [title, rest @ ..] = &*parts {
            let title = of(title);
            if rest
                .iter()
                .any(|part| of(part).windows(title.len()).any(|words| words == title))
            {
                parts.remove(0);
            }
        }
        let mut said: Vec<u64> = Vec::with_capacity(words.len());
        for (at, part) in parts.iter().enumerate() {
            // A number that comes twice may be two measurements.
            let is_again = |earlier: &Part| of(part).len() > 1 && of(earlier) == of(part);
            if !parts[..at].iter().any(is_again) {
                said.extend(of(part));
            }
        }
        // `Tabs verwenden` becomes `verwende Tabs`.
        if let [_, last] = &*said
            && *last == hash(USE)
        {
            said.reverse();
        }
        CountedWords {
            words: if said.is_empty() { all } else { said },
            is_personal,
        }
    }
}

/// Returns the hash of a word, or of its singular if it is a plural by its ending.
fn hash_of_singular(word: &str) -> u64 {
    let is_plural = word.ends_with('s')
        && word.chars().count() >= PLURAL_CHARS_MIN
        && word.chars().all(char::is_alphabetic)
        && !["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    let Some(stem) = word.strip_suffix('s').filter(|_| is_plural) else {
        return hash(word);
    };
    match stem.strip_suffix("ie") {
        Some(stem) if stem.len() > 2 => hash(&format!("{stem}y")),
        _ => match ["xe", "she", "sse"].iter().any(|end| stem.ends_with(end)) {
            true => hash(&stem[..stem.len() - 1]),
            false => hash(stem),
        },
    }
}

fn hash(word: &str) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one(word)
}
