//! Tests beside the patterns: they tell secrets from placeholders and ordinary words.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{
    DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::PAD,
};

/// Returns the Shannon entropy of the bytes, in bits per byte.
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

/// Words that documentation uses in place of secrets.
const STAND_INS: [&str; 44] = [
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
    "beispiel",
    "platzhalter",
    "deinpasswort",
    "dein_passwort",
    "ihr_passwort",
    "exemple",
    "votremotdepasse",
    "votre_mot_de_passe",
    "ejemplo",
    "tu_contrase",
    "exemplo",
    "sua_senha",
    "suasenha",
    "esempio",
    "voorbeeld",
    "jouw_wachtwoord",
    "przykład",
    "przyklad",
    "пример",
    "örnek",
];

/// Returns `true` if a text is a placeholder: `EXAMPLE`, `xxxx`, `<token>`, `${VAR}`.
pub(super) fn is_placeholder(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let mut distinct: Vec<u8> = text.bytes().collect();
    distinct.sort_unstable();
    distinct.dedup();
    distinct.len() <= 3
        || text.starts_with(['<', '$', '%', '{'])
        || STAND_INS.iter().any(|word| text.contains(word))
}

/// Returns `true` if the value of an assignment can be a secret: not words, not a path, not an expression.
pub(super) fn is_value(value: &str, after: &str) -> bool {
    let has = |fits: fn(&u8) -> bool| value.bytes().any(|byte| fits(&byte));
    has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !value.starts_with(['/', '.', '~'])
        && !after.starts_with(['(', '['])
        && !is_words(value)
        && !is_address(value)
}

/// Returns `true` for `0x` and 40 hex digits: a contract or an account, which is public.
fn is_address(value: &str) -> bool {
    value
        .strip_prefix("0x")
        .is_some_and(|hex| hex.len() == 40 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns `true` if the name of an assignment shows that its value is not a secret: a place in a list (`page_token`),
/// an id of a token, the default of an expansion (`${DB_PASSWORD:default1}`).
pub(super) fn is_harmless_name(before: &str, whole: &str, value: &str) -> bool {
    let name = before.as_bytes();
    let starts = |text: &str, start: &str| {
        (text.as_bytes().get(..start.len()))
            .is_some_and(|text| text.eq_ignore_ascii_case(start.as_bytes()))
    };
    if starts(whole, "token") {
        let name = name
            .strip_suffix(b"_")
            .or(name.strip_suffix(b"-"))
            .unwrap_or(name);
        let is_page = ["page", "continuation", "continue"].iter().any(|word| {
            let start = name.len().checked_sub(word.len());
            start.is_some_and(|start| name[start..].eq_ignore_ascii_case(word.as_bytes()))
        });
        let stands_alone =
            !before.ends_with(|c: char| c.is_ascii_alphanumeric() || "_-".contains(c));
        if is_page || (stands_alone && is_uuid(value)) {
            return true;
        }
    }
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
    let part_len = name.iter().rev().take(64).take_while(part).count();
    name[..name.len() - part_len].ends_with(b"${") && is_weak(value.trim_start_matches('-'))
}

fn is_uuid(text: &str) -> bool {
    let lens = text.split('-').map(str::len);
    lens.eq([8, 4, 4, 4, 12])
        && text
            .bytes()
            .all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// Returns `true` for a short word and a number, too weak to protect anything.
fn is_weak(password: &str) -> bool {
    let word = password.trim_end_matches(|c: char| c.is_ascii_digit());
    password.len() <= 12
        && password.len() - word.len() <= 4
        && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Returns `true` for words with small numbers: `my-service-token-2`, `src/auth/token2.rs`.
fn is_words(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .all(|piece| {
            let word = piece.trim_end_matches(|c: char| c.is_ascii_digit());
            let digits = piece.len() - word.len();
            digits <= 4 && word.bytes().all(|byte| byte.is_ascii_alphabetic()) || is_name(piece)
        })
}

/// Returns `true` for a name in code, `AccessTokenV1WithClaims2`: after a digit a word begins with a capital, and words
/// are long.
fn is_name(text: &str) -> bool {
    let (mut words, mut letters, mut last) = (0, 0, b' ');
    for byte in text.bytes() {
        if byte.is_ascii_lowercase() && last.is_ascii_digit() {
            return false;
        }
        words += usize::from(byte.is_ascii_uppercase() || last == b' ');
        letters += usize::from(byte.is_ascii_alphabetic());
        last = byte;
    }
    letters >= words * 4 && text.len() - letters <= 6
}

/// Returns `true` if a value can be a password that a person chose; such a password has less entropy than a token.
pub(super) fn is_password(value: &str, after: &str) -> bool {
    if value.contains(char::is_whitespace) {
        // A sentence counts only if one of its words can be nothing but a password.
        let is_one = |word: &str| {
            word.len() >= 8
                && word.bytes().any(|byte| byte.is_ascii_digit())
                && !word.contains(['[', '(', '{'])
                && !is_words(word)
                && is_password(word, "")
        };
        return value.split_whitespace().any(is_one);
    }
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
        && !is_limit(value)
        && !NAMES.iter().any(|name| value.eq_ignore_ascii_case(name))
        && !matches!(value.as_bytes(), [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic())
        && !value.starts_with(['/', '.', '~', '@', '&', '*', '#', '-', '='])
        && !after.starts_with(['(', '['])
}

/// Names of algorithms and programs that look like passwords, with their digits.
const NAMES: [&str; 4] = ["argon2id", "1password", "pbkdf2-sha256", "scram-sha-256"];

/// Returns `true` for a limit on passwords: `minLength=8`.
fn is_limit(value: &str) -> bool {
    value.split_once('=').is_some_and(|(name, limit)| {
        (1..=4).contains(&limit.len())
            && limit.bytes().all(|byte| byte.is_ascii_digit())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    })
}

/// Passwords of services on a developer's own machine, which protect nothing.
const WELL_KNOWN: [&str; 16] = [
    "admin", "guest", "minio", "mongo", "mysql", "pass", "passwd", "password", "postgres", "pw",
    "pwd", "rabbitmq", "redis", "root", "secret", "test",
];

/// Returns `true` if the password of a URL or of `name:password` is a secret.
pub(super) fn is_url_password(value: &str, after: &str) -> bool {
    let password = value.rsplit(':').next().unwrap_or(value);
    let is_local = ["@localhost", "@127.0.0.1", "@[::1]"].iter().any(|host| {
        (after.strip_prefix(host)).is_some_and(|rest| {
            !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-')
        })
    });
    if is_local && is_weak(password) {
        return false;
    }
    let password = password.to_ascii_lowercase();
    !WELL_KNOWN.contains(&password.as_str()) && !is_placeholder(&password)
}

/// Base64 with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::with_decode_padding_mode(PAD, DecodePaddingMode::Indifferent),
);

/// Returns `true` for base64 of `name:password`, both in visible ASCII.
pub(super) fn is_basic_auth(value: &str, _: &str) -> bool {
    let Ok(bytes) = BASE64.decode(value) else {
        return false;
    };
    let pair = std::str::from_utf8(&bytes).ok();
    let pair = pair.filter(|pair| pair.bytes().all(|byte| byte.is_ascii_graphic()));
    pair.and_then(|pair| pair.split_once(':'))
        .is_some_and(|(name, password)| {
            !name.is_empty() && password.len() >= 3 && !is_placeholder(password)
        })
}

/// Returns `true` if a block between `BEGIN` and `END` holds a key, not only words.
pub(super) fn has_key(block: &str, _: &str) -> bool {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    block
        .as_bytes()
        .split(|byte| !is_base64(*byte))
        .any(|run| run.len() >= 40)
}

/// Returns `true` if a token has a digit; without one it may be a word with the prefix.
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
