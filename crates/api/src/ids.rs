//! Ids as users write them: memories as ULIDs, events as hexadecimal digits, both by any prefix.

use std::sync::{Mutex, PoisonError};

use icm_log::SubjectId;
use icm_log::env::Env;

const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Characters of a memory id.
pub const ID_LEN: usize = 26;

/// Digits of an event id that are shown. Any beginning that fits one event names it.
const EVENT_SHOWN: usize = 12;

/// Returns the beginning of an event id that is shown to people.
pub fn short_event(event: &str) -> &str {
    &event[..event.floor_char_boundary(EVENT_SHOWN)]
}

/// Generator of memory ids: 48 bits of milliseconds, 80 random bits. Ids of one process rise, even within a
/// millisecond, so memories sort in the order in which they were stored. Steps are random, up to 2^64, so short
/// prefixes tell the lines of an import apart.
#[derive(Debug, Default)]
pub struct NewIds {
    last: Mutex<u128>,
}

impl NewIds {
    /// Returns an id that sorts after all ids that it returned before.
    pub fn next(&self, env: &dyn Env) -> SubjectId {
        let mut bytes = icm_log::env::random_16(env);
        bytes[..6].copy_from_slice(&env.now_ms().to_be_bytes()[2..]);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = u128::from_be_bytes(bytes);
        // Also `true` if the clock was set back.
        let same_ms = fresh >> 80 <= *last >> 80;
        *last = if same_ms {
            last.saturating_add(1 + (fresh & u128::from(u64::MAX)))
        } else {
            fresh
        };
        SubjectId(last.to_be_bytes())
    }
}

/// Returns the 26 characters of an id.
pub fn id_text(id: SubjectId) -> String {
    let number = u128::from_be_bytes(id.0);
    (0..ID_LEN)
        .map(|at| {
            let shift = 5 * (ID_LEN - 1 - at);
            DIGITS[(number >> shift) as usize & 31] as char
        })
        .collect()
}

/// Returns the ids that start with a prefix, as an inclusive range; `None` if no id can. Case does not count, and `i`,
/// `l` and `o`, which the alphabet lacks, count as the digits they look like.
pub fn id_range(prefix: &str) -> Option<(SubjectId, SubjectId)> {
    let prefix = prefix.trim();
    if prefix.is_empty() || prefix.chars().count() > ID_LEN {
        return None;
    }
    let mut low: u128 = 0;
    let mut high: u128 = 0;
    let mut digits = 0;
    for character in prefix.chars() {
        let upper = match character.to_ascii_uppercase() {
            'I' | 'L' => '1',
            'O' => '0',
            other => other,
        };
        let value = DIGITS.iter().position(|digit| *digit as char == upper)? as u128;
        // 26 characters of 5 bits are two more than 128: the first one holds only three.
        if digits == 0 && value > 7 {
            return None;
        }
        low = low << 5 | value;
        high = high << 5 | value;
        digits += 1;
    }
    for _ in digits..ID_LEN {
        low <<= 5;
        high = high << 5 | 31;
    }
    Some((SubjectId(low.to_be_bytes()), SubjectId(high.to_be_bytes())))
}

/// Returns the text in lower case if it looks like the start of an event id: 4 to 64 hexadecimal digits.
pub fn event_prefix(text: &str) -> Option<String> {
    beginning_of_event(text).filter(|text| text.len() >= 4)
}

/// Like [`event_prefix`], but from one digit: for arguments that can only be events.
pub fn beginning_of_event(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    let fits = (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    fits.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_range() {
        let id = SubjectId(*b"\x01\x8f\x2a\x00\x00\x01abcdefghij");
        let text = id_text(id);
        assert_eq!(text.len(), ID_LEN);
        assert_eq!(id_range(&text), Some((id, id)));
        assert_eq!(id_range(&text.to_lowercase()), Some((id, id)));
        let (low, high) = id_range(&text[..7]).expect("a prefix");
        assert!(low <= id && id <= high && low < high);
        assert_eq!(id_text(low), format!("{}{}", &text[..7], "0".repeat(19)));
        assert_eq!(id_range("8"), None, "beyond the largest id");
        assert_eq!(id_range("u"), None);
        assert_eq!(id_range(""), None);
        assert_eq!(id_range(&"0".repeat(27)), None);
    }
}
