//! Quotes words for a shell.

use std::borrow::Cow;

use crate::sanitize::clean_line;

/// Returns a word that every `sh`-like shell reads as `text`. Invisible characters are written as escapes for bash, zsh
/// and ksh.
pub fn word(text: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    if clean_line(text) == text {
        return Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")));
    }
    let mut word = "$'".to_owned();
    for c in text.chars() {
        match c {
            '\'' | '\\' => word.extend(['\\', c]),
            _ if c == ' ' || c.is_ascii_graphic() || c.is_alphanumeric() => word.push(c),
            _ => word.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    word.push('\'');
    Cow::Owned(word)
}

/// Returns an option with its value; in one word if the value begins with `-`.
pub fn option(long: &str, short: char, value: &str) -> String {
    match value.starts_with('-') {
        true => format!("--{long}={}", word(value)),
        false => format!("-{short} {}", word(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_read_are_quoted() {
        for (text, expected) in [
            ("a/b-c", "a/b-c"),
            ("/home/me/.local/icm", "/home/me/.local/icm"),
            ("", "''"),
            ("two  words", "'two  words'"),
            ("it's; rm", r"'it'\''s; rm'"),
            ("/$HOME", "'/$HOME'"),
            ("~", "'~'"),
            ("a\u{200b}'b", r"$'a\U0000200b\'b'"),
            ("a\nb", r"$'a\U0000000ab'"),
        ] {
            assert_eq!(word(text), expected);
        }
        assert_eq!(option("topic", 't', "a b"), "-t 'a b'");
        assert_eq!(option("topic", 't', "-x"), "--topic=-x");
    }
}
