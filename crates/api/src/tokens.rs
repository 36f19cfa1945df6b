//! An estimate of the tokens of a text that needs no model.

/// Bytes of text per token. The value fits English; code and other scripts have more tokens than it says. Raised,
/// estimates get smaller.
const TOKEN_BYTES: usize = 4;

/// Returns the tokens of a text: its bytes divided by four, rounded up.
pub fn estimate(text: &str) -> usize {
    text.len().div_ceil(TOKEN_BYTES)
}

/// Returns the number of whole tokens that fit into this many bytes.
pub fn within(bytes: usize) -> usize {
    bytes / TOKEN_BYTES
}

/// Returns the bytes of text for this many tokens.
pub fn bytes(tokens: usize) -> usize {
    tokens.saturating_mul(TOKEN_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_bytes_are_a_token() {
        assert_eq!(estimate(""), 0);
        assert_eq!(estimate("abcd"), 1);
        assert_eq!(estimate("abcde"), 2);
        assert_eq!(estimate("ж"), 1);
        assert_eq!(estimate(&"a".repeat(bytes(7))), 7);
    }
}
