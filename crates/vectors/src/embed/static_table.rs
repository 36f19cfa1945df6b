//! The built-in embedder: a table with a row of numbers for each token. `tools/distil` makes the table and describes
//! its file, byte by byte.

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::rows;
use super::wordpiece::{CONTINUES, Met, Vocabulary, is_punctuation, tokens};
use super::{EmbedError, Embedder};

/// The first 16,384 tokens of a text are read (more than 64 KiB of English), the rest adds nothing. A larger value lets
/// longer texts count whole and take longer.
pub const MAX_TOKENS: usize = 16_384;

static BUILT_IN: &[u8] = include_bytes!("../../model/static-v1.bin");

const MAGIC: &[u8; 8] = b"icm-emb\0";
const FORMAT: u32 = 1;
const HEADER_LEN: usize = 64;
/// Offset of the BLAKE3 hash of all bytes after the header.
const HASH_AT: usize = 32;
/// The row of `[UNK]`.
const UNKNOWN: u32 = 1;
/// Pieces that an unknown word counts as: 4. A larger value would switch meaning off for fewer unknown words.
const UNKNOWN_PIECES: u32 = 4;
/// Bytes of the table's hash in the model's id.
const ID_HASH_LEN: usize = 6;

/// Embeds a text: sums the rows of its tokens and scales the sum to length 1. Loading copies and parses nothing; a text
/// costs microseconds and gives the same bits on every machine.
///
/// The table was made for English; of other scripts its vocabulary has letters and few words.
#[derive(Debug, Clone)]
pub struct StaticEmbedder {
    bytes: Cow<'static, [u8]>,
    model: String,
    rows: usize,
    dim: usize,
    /// Offsets of the parts of the table.
    scales: usize,
    starts: usize,
    order: usize,
    pieces: usize,
    met: Arc<Mutex<Met>>,
}

impl StaticEmbedder {
    /// Returns the embedder in the binary. A test checks its table.
    pub fn built_in() -> StaticEmbedder {
        let table = StaticEmbedder::parse(Cow::Borrowed(BUILT_IN));
        table.expect("the table in the binary is whole, which a test checks")
    }

    /// Returns the embedder of a file, which is read and checked whole.
    ///
    /// # Errors
    /// `Io`, `Damaged`, and `Format` for a file of another format.
    pub fn open(path: &Path) -> Result<StaticEmbedder, EmbedError> {
        let bytes = fs::read(path).map_err(|source| EmbedError::Io {
            path: path.to_owned(),
            source,
        })?;
        let table = StaticEmbedder::parse(Cow::Owned(bytes));
        let checked = table.and_then(|table| table.check().map(|()| table));
        checked.map_err(|bad| match bad {
            Bad::Format(found) => EmbedError::Format {
                path: path.to_owned(),
                found,
                known: FORMAT,
            },
            Bad::Damaged(why) => EmbedError::Damaged {
                path: path.to_owned(),
                why: why.to_owned(),
            },
        })
    }

    /// Locates the parts after the header; reads nothing else.
    fn parse(bytes: Cow<'static, [u8]>) -> Result<StaticEmbedder, Bad> {
        if bytes.len() < HEADER_LEN || !bytes.starts_with(MAGIC) {
            return Err(Bad::Damaged("it is no table of token vectors"));
        }
        let number = |at: usize| u32_at(&bytes, at);
        if number(8) != FORMAT {
            return Err(Bad::Format(number(8)));
        }
        let [rows, dim, pieces_len] = [12, 16, 20].map(|at| u64::from(number(at)));
        // The rows are numbered by u16; the sums below cannot overflow then.
        let fits = (2..=1 << 16).contains(&rows) && (1..=1 << 16).contains(&dim);
        let scales = HEADER_LEN as u64 + rows * dim;
        let starts = scales + 4 * rows;
        let order = starts + 4 * (rows + 1);
        let pieces = order + 2 * rows;
        if !fits || bytes.len() as u64 != pieces + pieces_len {
            return Err(Bad::Damaged("its length is not what its header says"));
        }
        let hash: String = bytes[HASH_AT..HASH_AT + ID_HASH_LEN]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Ok(StaticEmbedder {
            model: format!("static-v{FORMAT}-{hash}"),
            rows: rows as usize,
            dim: dim as usize,
            scales: scales as usize,
            starts: starts as usize,
            order: order as usize,
            pieces: pieces as usize,
            met: Arc::default(),
            bytes,
        })
    }

    /// Checks that every byte is as the table was made. Costs milliseconds.
    fn check(&self) -> Result<(), Bad> {
        let hash = blake3::hash(&self.bytes[HEADER_LEN..]);
        if hash.as_bytes()[..] != self.bytes[HASH_AT..HEADER_LEN] {
            return Err(Bad::Damaged("its hash does not fit"));
        }
        let starts = |row: usize| u32_at(&self.bytes, self.starts + 4 * row) as usize;
        let ascending = (0..self.rows).all(|row| starts(row) <= starts(row + 1));
        if !ascending || self.pieces + starts(self.rows) != self.bytes.len() {
            return Err(Bad::Damaged("its tokens do not lie one after the other"));
        }
        if (0..self.rows).any(|place| self.row_at(place) >= self.rows) {
            return Err(Bad::Damaged(
                "the order of its tokens names rows that it has not",
            ));
        }
        let token = |place: usize| self.token(self.row_at(place));
        if !(1..self.rows).all(|place| token(place - 1) < token(place)) {
            return Err(Bad::Damaged("its tokens are not in order"));
        }
        let mut scales = (0..self.rows).map(|row| self.scale(row));
        match scales.all(|scale| scale.is_finite()) {
            true => Ok(()),
            false => Err(Bad::Damaged("a row has no finite scale")),
        }
    }

    /// Returns the row of the token at a place in the sorted order of all tokens.
    #[inline]
    fn row_at(&self, place: usize) -> usize {
        let at = self.order + 2 * place;
        usize::from(u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]))
    }

    #[inline]
    pub(super) fn token(&self, row: usize) -> &[u8] {
        let at = self.starts + 4 * row;
        let (from, to) = (u32_at(&self.bytes, at), u32_at(&self.bytes, at + 4));
        &self.bytes[self.pieces + from as usize..self.pieces + to as usize]
    }

    fn scale(&self, row: usize) -> f32 {
        f32::from_bits(u32_at(&self.bytes, self.scales + 4 * row))
    }

    /// Returns the vector of a text, as [`Embedder::embed`] does.
    pub fn embed_one(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; self.dim];
        let mut left = MAX_TOKENS;
        // While another thread has the remembered words, this thread works without them.
        let mut met = self.met.try_lock().ok();
        tokens(text, self, met.as_deref_mut(), |row| {
            let row = row as usize;
            let from = HEADER_LEN + row * self.dim;
            let numbers = &self.bytes[from..from + self.dim];
            rows::add_row(&mut sum, numbers, self.scale(row));
            left -= 1;
            left > 0
        });
        to_unit_length(&mut sum);
        sum
    }

    /// Returns the mean number of pieces that the words of a text are cut into; `None` for a text without words.
    ///
    /// About 1 for English, and more the less the table knows a language. A word that cannot be cut counts as
    /// [`UNKNOWN_PIECES`]; punctuation does not count. Only the first [`MAX_TOKENS`] tokens are counted.
    pub fn pieces_per_word(&self, text: &str) -> Option<f64> {
        let (mut words, mut pieces, mut left) = (0, 0, MAX_TOKENS);
        let mut met = self.met.try_lock().ok();
        tokens(text, self, met.as_deref_mut(), |row| {
            let token = self.token(row as usize);
            if row == UNKNOWN {
                (words, pieces) = (words + 1, pieces + UNKNOWN_PIECES);
            } else if token.starts_with(CONTINUES) && token.len() > CONTINUES.len() {
                pieces += 1;
            } else if !str::from_utf8(token).is_ok_and(|token| token.chars().all(is_punctuation)) {
                (words, pieces) = (words + 1, pieces + 1);
            }
            left -= 1;
            left > 0
        });
        (words > 0).then(|| f64::from(pieces) / f64::from(words))
    }
}

impl Embedder for StaticEmbedder {
    fn model(&self) -> &str {
        &self.model
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.embed_one(text)).collect())
    }
}

impl Vocabulary for StaticEmbedder {
    /// Looks up the last token that does not sort after `text`, and returns it if `text` begins with it. Otherwise,
    /// every token that `text` begins with is also a prefix of that token, so the search goes on with their common
    /// prefix.
    fn longest(&self, text: &[u8]) -> Option<(u32, usize)> {
        let mut text = text;
        let mut end = self.rows;
        while !text.is_empty() {
            let (mut low, mut high) = (0, end);
            while low < high {
                let middle = low.midpoint(high);
                match self.token(self.row_at(middle)) <= text {
                    true => low = middle + 1,
                    false => high = middle,
                }
            }
            let row = self.row_at(low.checked_sub(1)?);
            let token = self.token(row);
            let common = token.iter().zip(text).take_while(|(a, b)| a == b).count();
            if common == token.len() {
                return Some((row as u32, common));
            }
            text = &text[..common];
            end = low;
        }
        None
    }

    fn unknown(&self) -> u32 {
        UNKNOWN
    }
}

/// The reason why bytes are no table.
#[derive(Debug)]
enum Bad {
    Format(u32),
    Damaged(&'static str),
}

#[inline]
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let bytes = bytes[at..].first_chunk().expect("it lies within the table");
    u32::from_le_bytes(*bytes)
}

/// Scales numbers to length 1. Numbers too short to have a direction become zeros.
fn to_unit_length(numbers: &mut [f32]) {
    let squares: f64 = numbers.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    let factor = match squares.sqrt() {
        length if length.is_normal() => 1.0 / length,
        _ => 0.0,
    };
    for number in numbers {
        *number = (f64::from(*number) * factor) as f32;
    }
}
