//! How many tokens a text is for a model, by an estimate that needs no model.

/// Bytes of text that are counted as a token: about right for English, too few tokens for code and
/// for other scripts.
const TOKEN_BYTES: usize = 4;

/// Tokens of a text: its bytes divided by four, rounded up.
pub fn estimate(text: &str) -> usize {
    text.len().div_ceil(TOKEN_BYTES)
}

/// Returns how many whole tokens fit into so many bytes.
pub fn within(bytes: usize) -> usize {
    bytes / TOKEN_BYTES
}

/// Bytes of text that so many tokens are.
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
