//! Each rule finds its secrets and nothing that only looks like them. The secrets are made up while the test runs, so
//! that other scanners find nothing in this file.

mod cases;
mod languages;

use cases::cases;

use std::collections::BTreeSet;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::rules::RULES;
use super::*;

/// Returns `len` characters of an alphabet, in an order without a pattern.
fn made(alphabet: &str, len: usize) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            alphabet[(state % alphabet.len() as u64) as usize]
        })
        .collect()
}

fn alnum(len: usize) -> String {
    made(
        "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789",
        len,
    )
}

fn hex(len: usize) -> String {
    made("0123456789abcdef", len)
}

fn upper(len: usize) -> String {
    made("ABCDEFGHJKLMNPQRSTUVWXYZ234567", len)
}

fn digits(len: usize) -> String {
    made("123456789", len)
}

fn rules_of(text: &str) -> Vec<&'static str> {
    let policy = Policy::default();
    policy.found(text).iter().map(|found| found.rule).collect()
}

#[test]
fn every_rule_hits_and_misses() {
    let cases = cases();
    let covered: BTreeSet<&str> = cases.iter().map(|(rule, ..)| *rule).collect();
    let all: BTreeSet<&str> = RULES.iter().map(|rule| rule.name).collect();
    assert_eq!(covered, all);
    assert_eq!(all.len(), RULES.len(), "names are unique");
    assert!(RULES.len() <= 128);
    let words = || RULES.iter().flat_map(|rule| rule.keywords);
    assert!(words().all(|word| word.len() >= 2) && words().count() < 1_000);
    for (rule, hit, miss) in cases {
        assert_eq!(rules_of(&hit), [rule], "{hit}");
        assert!(!rules_of(&miss).contains(&rule), "{rule}: {miss}");
    }
}

#[test]
fn a_placeholder_is_no_secret() {
    let github = ["gh", "p_"].concat();
    for text in [
        ["AKIAIOSFODNN7", "EXAMPLE"].concat(),
        format!("{github}{}", "x".repeat(36)),
        format!("{github}{}EXAMPLE{}", alnum(15), alnum(14)),
        "password=<your password here 1>".into(),
        "password = \"${DB_PASSWORD_1}\"".into(),
        "password: {{ vault_password_2 }}".into(),
        "api_key: YOUR_API_KEY_GOES_HERE_1".into(),
        "token: 00000000-0000-0000-0000-000000000000".into(),
        "password=$(cat /run/secrets/db1)".into(),
        "password = os.environ1['PASSWORD']".into(),
    ] {
        assert_eq!(rules_of(&text), [""; 0], "{text}");
    }
}

#[test]
fn output_of_programs_is_no_secret_unless_it_is_assigned() {
    let sha = hex(40);
    let uuid = format!("{}-{}-4{}-a{}-{}", hex(8), hex(4), hex(3), hex(3), hex(12));
    for text in [
        format!("fixed in commit {sha}, see blake3 {}{}", hex(32), hex(32)),
        format!("request {uuid} failed"),
        "see /home/mira/src/secrets/token2/api_key.rs:12 and C:\\keys\\token1.txt".into(),
        format!("<img src=\"data:image/png;base64,{}\">", alnum(2_000)),
        "the token is refreshed by auth/refresh2.ts; the secret: never commit it".into(),
        "key: release-2026-11-22T10-30".into(),
        "password policy: minimum 12, password reset: /reset/2fa".into(),
        "the password is stored as argon2id".into(),
        "git@github.com:org/repo.git, https://host:8080/a@b, mailto:a@b.c".into(),
        "eyJ is how a JWT begins".into(),
        "max_tokens: 4096, token_count=128000, tokenizer: cl100k_base".into(),
    ] {
        assert_eq!(rules_of(&text), [""; 0], "{text}");
    }
    assert_eq!(rules_of(&format!("token={sha}")), ["secret-assignment"]);
    assert_eq!(rules_of(&format!("api_key: {uuid}")), ["secret-assignment"]);
}

/// Ways to write an assignment, with hits and misses.
#[test]
fn assignments_are_found_however_they_are_written() {
    let word = ["Tr0ub", "4dor&3x"].concat();
    let token = ["A7f9Kq2L", "xP0zWm3Rt8Vb"].concat();
    for text in [
        format!("DB_PASS={word}"),
        format!("SMTP_PASS: {word}"),
        format!("smtp_pass = '{word}'"),
        format!("{{\"pass\":\"{word}\"}}"),
        format!("The password is: {word}"),
        format!("the password for admin: {word}"),
        format!("mysql --password {word} -h db"),
        format!("<password>{word}</password>"),
        format!("passwords: {word}"),
        format!(r#"{{\"password\": \"{word}\"}}"#),
        format!(r#"{{\\\"pass\\\":\\\"{word}\\\"}}"#),
        format!("password = \"two words {word}\""),
        format!("password: password: {word}"),
        format!("password: unchanged, password = {word}"),
        format!("db.password=${{DB_PASSWORD:{word}}}"),
    ] {
        assert_eq!(rules_of(&text), ["password-assignment"], "{text}");
        let masked = Policy::default().masked(&text).expect("it is found");
        assert!(!masked.contains(&word[..8]), "{masked}");
        assert_eq!(Policy::default().masked(&masked), None, "{masked}");
    }
    for text in [
        format!("token is: {token}"),
        format!("tokens: {token}"),
        format!("Secrets: {token}"),
        format!("api keys: {token}"),
        format!("deploy --token {token}"),
        format!("<api_key>{token}</api_key>"),
        format!(r#"{{\"token\":\"{token}\"}}"#),
        format!("access_token={token}"),
        format!(
            "access_token={}-{}-{}-{}-{}",
            hex(8),
            hex(4),
            hex(4),
            hex(4),
            hex(12)
        ),
        format!("private_key=0x{}", hex(64)),
    ] {
        assert_eq!(rules_of(&text), ["secret-assignment"], "{text}");
    }
    let header = format!("Authorization: token {token}");
    assert_eq!(rules_of(&header), ["authorization-bearer"]);
    let pat = format!("my_{}{}", ["gh", "p_"].concat(), alnum(36));
    let masked = Policy::default().masked(&pat);
    assert_eq!(masked.as_deref(), Some("my_[secret: github-pat]"));
    let strong = format!("postgres://dev:{word}@localhost/dev");
    assert_eq!(rules_of(&strong), ["database-url"]);
    let elsewhere = "postgres://dev:dev12345@localhost.example.org/dev".to_owned();
    assert_eq!(rules_of(&elsewhere), ["database-url"]);

    let uuid = format!("{}-{}-4{}-a{}-{}", hex(8), hex(4), hex(3), hex(3), hex(12));
    for text in [
        "first pass: refactor2everything, bypass=v2_of_the_cache".into(),
        "render_pass = shadow_pass_2".into(),
        "{\"pass\": true, \"passed\": \"12of14tests\"}".into(),
        "the password is: rotated every 90 days".into(),
        "the password for admin: see 1password".into(),
        "run with --password $DB_PASS2 or --password-file /run/pw1".into(),
        "<password>changeme123</password>".into(),
        "passwords: argon2id, tokens: 128000, secrets: none".into(),
        r#"{\"password\": \"unchanged\", \"token\": \"none\"}"#.into(),
        "password = \"at least 12 characters, SHA-256 hashed\"".into(),
        "password: password: unchanged".into(),
        "\"password\": \"must match ^[A-Za-z0-9]{8,}$, rounds=12\"".into(),
        "my_ghp_token is a name".into(),
        "Authorization: token authentication".into(),
        "export type Token = AccessTokenV1WithClaims2".into(),
        "Secret: ExternalSecretsOperator2024Config".into(),
        format!("nextPageToken={token} and page_token={token}"),
        format!("token=0x{}", hex(40)),
        format!("token: {uuid}"),
        "password: minLength=8".into(),
        "pwd: C:\\Users\\bob1\\src, cwd: C:\\Users\\bob1".into(),
        "postgres://dev:dev123@localhost/dev, mysql://a:a1b@127.0.0.1:3306/x"
            .replace("a1b", "abc1"),
        "db.password=${DB_PASSWORD:default1}".into(),
    ] {
        assert_eq!(rules_of(&text), [""; 0], "{text}");
    }
}

#[test]
fn credentials_of_registries_are_found() {
    let auth = |pair: &str| BASE64_STANDARD.encode(pair);
    let known = auth(&["user:", "password"].concat());
    let own = auth(&["ada:", "Tr0ub", "4dor&3x"].concat());
    for text in [
        format!(r#"{{"auths":{{"https://index.docker.io/v1/":{{"auth":"{own}"}}}}}}"#),
        format!(r#"{{"auths":{{"ghcr.io":{{"auth": "{known}"}}}}}}"#),
        format!(r#"{{\"auths\":{{\"ghcr.io\":{{\"auth\":\"{own}\"}}}}}}"#),
        format!("//registry.example/:_auth={own}"),
        format!("imagePullSecret:\n  auth: {}", own.trim_end_matches('=')),
    ] {
        assert_eq!(rules_of(&text), ["registry-auth"], "{text}");
        let masked = Policy::default().masked(&text).expect("it is found");
        assert!(
            !masked.contains(&own) && !masked.contains(&known),
            "{masked}"
        );
    }
    for text in [
        "auth: middleware2checks".to_owned(),
        "\"auth\": \"required\"".to_owned(),
        "auth=oauth2clientcredentials".to_owned(),
        format!("\"auth\": \"{}\"", auth("justonewordwithoutcolon")),
        format!("\"auth\": \"{}\"", auth("user:<your-password>")),
        format!("author: {own}"),
    ] {
        assert_eq!(rules_of(&text), [""; 0], "{text}");
    }
}

#[test]
fn masking_leaves_nothing_of_the_secret() {
    let policy = Policy::new(Action::Mask, &[]).expect("it is fine");
    for (rule, hit, _) in cases() {
        let masked = policy.masked(&hit).expect(rule);
        assert!(masked.contains(&format!("[secret: {rule}]")), "{masked}");
        assert_eq!(policy.masked(&masked), None, "{masked}");
    }
    let token = format!("{}{}", ["gh", "p_"].concat(), alnum(36));
    let masked = policy.masked(&format!("é token={token}… und {token}\n"));
    let expected = "é token=[secret: github-pat]… und [secret: github-pat]\n";
    assert_eq!(masked.as_deref(), Some(expected));
}

#[test]
fn allowed_text_is_no_secret() {
    let text = format!("password: {}", alnum(12));
    let allow = |pattern: &str| Policy::new(Action::Refuse, &[pattern.to_owned()]);
    let found = |pattern: &str| allow(pattern).expect("it is fine").found(&text).len();
    assert_eq!(found("^nothing$"), 1);
    assert_eq!(found("^password: "), 0);
    assert_eq!(found(&alnum(12)), 0);
    let why = allow("(").expect_err("no pattern");
    assert!(!why.contains('\n') && !why.is_empty(), "{why}");
}

/// Conversations of people in which nobody says a password: `ICM_LOCOMO` names their folder.
#[test]
#[allow(clippy::print_stderr)]
fn nothing_is_found_in_conversations() {
    let Some(folder) = std::env::var_os("ICM_LOCOMO") else {
        eprintln!("skipped: ICM_LOCOMO names no folder of conversations");
        return;
    };
    let mut lines = 0;
    for entry in std::fs::read_dir(&folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        for line in std::fs::read_to_string(&path).expect("a text").lines() {
            lines += 1;
            assert_eq!(rules_of(line), [""; 0], "{line}");
        }
    }
    assert!(lines > 1_000, "only {lines} lines were looked at");
    eprintln!("{lines} lines");
}

/// A secret behind many false starts is found.
#[test]
fn a_secret_behind_a_hostile_text_is_found() {
    let parts = [
        ["-----BEGIN ", "PRIVATE KEY-----"].concat(),
        "curl -u ".to_owned(),
        "a://b:".to_owned(),
        "postgres://x:".to_owned(),
        ["ey", "JAAAAAAAAAAAAAAAAA."].concat(),
        "password=".to_owned(),
        "token:".to_owned(),
        "secret=a1".to_owned(),
        "password: password: ".to_owned(),
        "password=minLength-".to_owned(),
        "password=\"a ".to_owned(),
        "token=token.".to_owned(),
        "--password ".to_owned(),
        "<password>".to_owned(),
        r#"password\":\""#.to_owned(),
        "bearer ".to_owned(),
        "Q~".to_owned(),
        ["sk-", "a-T3Blbk", "FJ"].concat(),
        ["dp.", "st."].concat(),
        "-".to_owned(),
        "a".to_owned(),
    ];
    let secret = format!("AKIA{}", upper(16));
    for part in parts {
        // The text is long, so that the test does not end if the cost is not proportional.
        let mut text = part.repeat(512 * 1_024 / part.len());
        let start = text.len();
        text.push_str("\n\n");
        text.push_str(&secret);
        let found = find(&text);
        let found = found.iter().any(|found| found.secret.end > start);
        assert!(found, "after {part}");
    }
}
