//! WordPiece as BERT's uncased models use it: from a text to the tokens of a vocabulary.
//!
//! The rules are those of the reference tokenizer, with one exception: text that looks like a special token (`[CLS]`)
//! is text. Unicode decides which characters are control, mark or punctuation, and newer versions decide for more of
//! them. A test compares thousands of texts with the reference.

use std::num::NonZeroUsize;

use lru::LruCache;
use rustc_hash::FxBuildHasher;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Characters of the longest word that is cut: 100; a longer word is unknown as a whole. A larger value costs time on
/// long runs.
const MAX_WORD_LEN_CHARS: usize = 100;
/// Words whose tokens are remembered: at most one megabyte. A larger value costs memory.
const WORDS: NonZeroUsize = NonZeroUsize::new(16_384).expect("not zero");
/// The first bytes of a token that continues a word.
pub(super) const CONTINUES: &[u8] = b"##";

/// The tokens that a text can be cut into.
pub(super) trait Vocabulary {
    /// Returns the longest token that `text` begins with: its number, and its length in bytes.
    fn longest(&self, text: &[u8]) -> Option<(u32, usize)>;
    /// Returns the token that stands for an unknown word.
    fn unknown(&self) -> u32;
}

/// The tokens of recent words: most words of a text occurred before.
#[derive(Debug)]
pub(super) struct Met(LruCache<Box<[u8]>, Box<[u32]>, FxBuildHasher>);

impl Default for Met {
    fn default() -> Met {
        Met(LruCache::with_hasher(WORDS, FxBuildHasher))
    }
}

/// Gives the tokens of `text` to `take`, in order, until `take` returns `false`. Costs time in proportion to the text.
/// `met`, if given, belongs to the same vocabulary.
pub(super) fn tokens(
    text: &str,
    vocabulary: &impl Vocabulary,
    met: Option<&mut Met>,
    mut take: impl FnMut(u32) -> bool,
) {
    let mut word = Word::new(met);
    for chunk in text.split(is_space) {
        // Most text is plain and needs no tables.
        let go_on = match chunk.is_ascii() {
            true => chunk
                .chars()
                .filter(|c| !c.is_ascii_control())
                .all(|c| word.add(c.to_ascii_lowercase(), vocabulary, &mut take)),
            false => chunk
                .chars()
                .filter(|c| !is_dropped(*c))
                .flat_map(apart)
                .nfd()
                .filter(|c| c.general_category() != GeneralCategory::NonspacingMark)
                .flat_map(char::to_lowercase)
                .all(|c| word.add(c, vocabulary, &mut take)),
        };
        if !go_on || !word.end(vocabulary, &mut take) {
            return;
        }
    }
}

/// Returns `true` for white space, without the control characters that are dropped.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r') || (!c.is_ascii() && c.is_whitespace() && !is_dropped(c))
}

fn is_dropped(c: char) -> bool {
    c == char::REPLACEMENT_CHARACTER || c.general_category_group() == GeneralCategoryGroup::Other
}

pub(super) fn is_punctuation(c: char) -> bool {
    match c.is_ascii() {
        true => c.is_ascii_punctuation(),
        false => c.general_category_group() == GeneralCategoryGroup::Punctuation,
    }
}

/// Returns a character, with spaces around a Chinese one: each Chinese character is a word of its own.
fn apart(c: char) -> impl Iterator<Item = char> {
    let space = is_cjk(c).then_some(' ');
    space.into_iter().chain([c]).chain(space)
}

/// Returns `true` in the blocks that BERT takes for Chinese: no kana, no Hangul, and not all newer blocks of Unicode.
fn is_cjk(c: char) -> bool {
    matches!(u32::from(c),
        0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x2A6DF
        | 0x2A700..=0x2CEAF | 0x2F800..=0x2FA1F)
}

/// The word that is being read.
struct Word<'m> {
    met: Option<&'m mut Met>,
    bytes: Vec<u8>,
    chars: usize,
    cutter: Cutter,
}

impl<'m> Word<'m> {
    fn new(met: Option<&'m mut Met>) -> Word<'m> {
        Word {
            met,
            bytes: Vec::new(),
            chars: 0,
            cutter: Cutter::default(),
        }
    }

    /// Takes a normalised character. Returns `false` when no more tokens are wanted.
    fn add(
        &mut self,
        c: char,
        vocabulary: &impl Vocabulary,
        take: &mut impl FnMut(u32) -> bool,
    ) -> bool {
        if c == ' ' {
            return self.end(vocabulary, take);
        }
        let alone = is_punctuation(c);
        if alone && !self.end(vocabulary, take) {
            return false;
        }
        self.chars += 1;
        if self.chars <= MAX_WORD_LEN_CHARS {
            let bytes = &mut [0; 4];
            self.bytes
                .extend_from_slice(c.encode_utf8(bytes).as_bytes());
        }
        !alone || self.end(vocabulary, take)
    }

    /// Cuts the word into its tokens and begins another word. Returns `false` when no more tokens are wanted.
    fn end(&mut self, vocabulary: &impl Vocabulary, take: &mut impl FnMut(u32) -> bool) -> bool {
        if self.chars == 0 {
            return true;
        }
        let word = &self.bytes[..];
        let cutter = &mut self.cutter;
        let mut all = |pieces: &[u32]| pieces.iter().all(|piece| take(*piece));
        let go_on = match &mut self.met {
            _ if self.chars > MAX_WORD_LEN_CHARS => all(&[vocabulary.unknown()]),
            Some(met) => {
                if !met.0.contains(word) {
                    met.0.put(word.into(), cutter.cut(word, vocabulary).into());
                }
                all(met.0.get(word).expect("put above"))
            }
            None => all(cutter.cut(word, vocabulary)),
        };
        self.bytes.clear();
        self.chars = 0;
        go_on
    }
}

/// Cuts words into tokens.
#[derive(Default)]
struct Cutter {
    /// [`CONTINUES`], then the word.
    bytes: Vec<u8>,
    pieces: Vec<u32>,
}

impl Cutter {
    /// Returns the tokens of a word, the longest possible token first; the unknown token alone if a rest has no token.
    /// The bytes before a rest are overwritten with the mark of a continuation, so that the rest is looked up in place.
    fn cut(&mut self, word: &[u8], vocabulary: &impl Vocabulary) -> &[u32] {
        let Cutter { bytes, pieces } = self;
        bytes.clear();
        bytes.extend_from_slice(CONTINUES);
        bytes.extend_from_slice(word);
        pieces.clear();
        let mut at = CONTINUES.len();
        let mut mark = 0;
        while at < bytes.len() {
            match vocabulary.longest(&bytes[at - mark..]) {
                Some((token, len)) if len > mark => {
                    pieces.push(token);
                    at += len - mark;
                    mark = CONTINUES.len();
                    bytes[at - mark..at].copy_from_slice(CONTINUES);
                }
                _ => {
                    pieces.clear();
                    pieces.push(vocabulary.unknown());
                    break;
                }
            }
        }
        pieces
    }
}
