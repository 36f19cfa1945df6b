//! What a secret looks like, beside its pattern, and what only stands in for one.

/// Shannon entropy of the bytes, in bits a byte.
pub(super) fn entropy(text: &str) -> f32 {
    let mut counts = [0u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let len = text.len() as f32;
    let share = |count: u32| count as f32 / len;
    (counts.iter().filter(|count| **count > 0))
        .map(|count| -share(*count) * share(*count).log2())
        .sum()
}

/// Words of which documentation makes its secrets.
const STAND_INS: [&str; 24] = [
    "example",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "redacted",
    "dummy",
    "xxxx",
    "****",
    "....",
    "…",
    "your_",
    "your-",
    "yourtoken",
    "yoursecret",
    "yourpassword",
    "[secret",
    "${",
    "{{",
    "$(",
    "%(",
    "0123456789",
    "1234567890",
    "abcdefghij",
];

/// Whether a text stands in for a secret: `EXAMPLE`, `xxxx`, `<token>`, `${VAR}`.
pub(super) fn is_placeholder(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let mut distinct: Vec<u8> = text.bytes().collect();
    distinct.sort_unstable();
    distinct.dedup();
    distinct.len() <= 3
        || text.starts_with(['<', '$', '%', '{'])
        || STAND_INS.iter().any(|word| text.contains(word))
}

/// A value of an assignment that somebody chose or a machine made up: not words, not a path, not an
/// expression.
pub(super) fn is_value(value: &str, after: &str) -> bool {
    let has = |fits: fn(&u8) -> bool| value.bytes().any(|byte| fits(&byte));
    has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !value.starts_with(['/', '.', '~'])
        && !after.starts_with(['(', '['])
        && !is_words(value)
}

/// Text that is made of words and small numbers: `my-service-token-2`, `src/auth/token2.rs`.
fn is_words(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .all(|piece| {
            let word = piece.trim_end_matches(|c: char| c.is_ascii_digit());
            let digits = piece.len() - word.len();
            digits <= 4 && word.bytes().all(|byte| byte.is_ascii_alphabetic())
        })
}

/// A password as people choose them, which says less than a token.
pub(super) fn is_password(value: &str, after: &str) -> bool {
    let value = value.trim_end_matches(['.', '!', '?', ',', ':', ';']);
    let has = |fits: fn(u8) -> bool| value.bytes().any(fits);
    let mixed = has(|byte| byte.is_ascii_digit() || b"!@#$%^&*+=?|~".contains(&byte));
    let is_date = value
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"-:TZ.+/".contains(&byte));
    let is_path = value.contains('/') && is_words(value);
    let is_member = value.contains('.') && is_words(value);
    value.len() >= 8
        && mixed
        && has(|byte| byte.is_ascii_alphabetic())
        && !is_date
        && !is_path
        && !is_member
        && !value.contains("://")
        && !value.starts_with(['/', '.', '~', '@', '&', '*', '#', '-', '='])
        && !after.starts_with(['(', '['])
}

/// Passwords of services on a developer's own machine, which protect nothing.
const WELL_KNOWN: [&str; 16] = [
    "admin", "guest", "minio", "mongo", "mysql", "pass", "passwd", "password", "postgres", "pw",
    "pwd", "rabbitmq", "redis", "root", "secret", "test",
];

/// The password of a URL, or of `name:password`.
pub(super) fn is_url_password(value: &str, _: &str) -> bool {
    let password = value.rsplit(':').next().unwrap_or(value);
    let password = password.to_ascii_lowercase();
    !WELL_KNOWN.contains(&password.as_str()) && !is_placeholder(&password)
}

/// A block between `BEGIN` and `END` with a key in it, not only the words around one.
pub(super) fn has_key(block: &str, _: &str) -> bool {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    block
        .as_bytes()
        .split(|byte| !is_base64(*byte))
        .any(|run| run.len() >= 40)
}

/// A token with a digit in it: prefixes are words too.
pub(super) fn has_digit(text: &str, _: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_in_bits_a_byte() {
        assert_eq!(entropy("aaaa"), 0.0);
        assert_eq!(entropy("abab"), 1.0);
        assert_eq!(entropy("0123456789abcdef"), 4.0);
        assert_eq!(entropy(""), 0.0);
    }

    #[test]
    fn words_and_paths_are_no_values() {
        for text in [
            "my-service-token-2",
            "src/auth/token2.rs",
            "config.db1.token",
            "/run/secrets/key9a8",
            "release-2026-11",
        ] {
            assert!(!is_value(text, ""), "{text}");
        }
        assert!(is_value("9f8a7c6b5d4e3f2a", ""));
        assert!(!is_value("get9secret8from7env", "(name)"));
    }
}
