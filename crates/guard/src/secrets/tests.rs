//! Each rule finds its secrets and nothing that only looks like them. The secrets are made up while the test runs, so
//! that other scanners find nothing in this file.

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

/// Returns for each rule a text with a secret and a text without one.
fn cases() -> Vec<(&'static str, String, String)> {
    let mut cases: Vec<(&str, String, String)> = Vec::new();
    let mut add = |rule, hit: String, miss: String| cases.push((rule, hit, miss));
    let block = |what: &str, body: &str| {
        format!(
            "-----{} {what}-----\n{body}\n-----{} {what}-----",
            "BEGIN", "END"
        )
    };
    let rsa = ["RSA ", "PRIVATE", " KEY"].concat();
    add(
        "private-key",
        format!("the key:\n{}\nand more", block(&rsa, &alnum(64))),
        format!(
            "a file that starts with -----{} {rsa}----- is a key",
            "BEGIN"
        ),
    );
    // A prefix and a body; the miss is one character too short.
    let mut short = |rule, prefix: &[&str], body: String| {
        let hit = format!("use {}{body} for it", prefix.concat());
        let miss = format!(
            "use {}{} for it",
            prefix.concat(),
            &body[..body.len() / 2 - 1]
        );
        add(rule, hit, miss);
    };
    short(
        "age-secret-key",
        &["AGE-SECRET", "-KEY-1"],
        made("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    );
    short("aws-access-key-id", &["AK", "IA"], upper(16));
    short(
        "aws-secret-access-key",
        &["aws_secret", "_access_key = "],
        alnum(40),
    );
    short("aws-bedrock-key", &["AB", "SK"], alnum(128));
    short("gcp-api-key", &["AI", "za"], alnum(35));
    short("gcp-oauth-secret", &["GOC", "SPX-"], alnum(28));
    short("gcp-oauth-token", &["ya", "29."], alnum(58));
    short("azure-storage-key", &["Account", "Key="], alnum(86) + "==");
    short("azure-client-secret", &["8Q8", "8Q~"], alnum(34));
    short(
        "azure-sas",
        &["https://a.blob/c?sv=1&si", "g="],
        alnum(43) + "%3D",
    );
    short("digitalocean-token", &["dop", "_v1_"], hex(64));
    short(
        "cloudflare-origin-key",
        &["v1.", "0-", &hex(24), "-"],
        hex(146),
    );
    short("heroku-key", &["HR", "KU-"], alnum(60));
    short("databricks-token", &["da", "pi"], hex(32));
    short("vault-token", &["hv", "s."], alnum(40));
    short("terraform-token", &[&alnum(14), ".atlas", "v1."], alnum(66));
    short("doppler-token", &["dp.", "pt."], alnum(43));
    short("planetscale-secret", &["pscale", "_tkn_"], alnum(43));
    short("supabase-token", &["sb", "p_"], hex(40));
    short("github-fine-grained-pat", &["github", "_pat_"], alnum(82));
    short("github-pat", &["gh", "p_"], alnum(36));
    short("github-oauth-token", &["gh", "o_"], alnum(36));
    short("github-app-token", &["gh", "s_"], alnum(36));
    short("gitlab-pat", &["gl", "pat-"], alnum(20));
    short("gitlab-token", &["gl", "rt-"], alnum(20));
    short("bitbucket-token", &["AT", "BB"], alnum(32));
    short("atlassian-token", &["ATA", "TT3"], alnum(90));
    short("npm-token", &["np", "m_"], alnum(36));
    short("pypi-token", &["py", "pi-Ag", "EI"], alnum(90));
    short("rubygems-token", &["ruby", "gems_"], hex(48));
    short("dockerhub-token", &["dckr", "_pat_"], alnum(27));
    short("nuget-key", &["oy", "2"], made("abcdefghij0123456789", 43));
    short("slack-token", &["xo", "xb-"], digits(12) + "-" + &alnum(24));
    short(
        "slack-app-token",
        &["xa", "pp-1-"],
        format!("{}-{}-{}", upper(11), digits(13), hex(64)),
    );
    short(
        "slack-webhook",
        &["https://hooks.slack", ".com/services/"],
        format!("T{}/B{}/{}", upper(8), upper(8), alnum(24)),
    );
    short(
        "discord-webhook",
        &["https://discord.com/api", "/webhooks/", &digits(18), "/"],
        alnum(68),
    );
    short("telegram-bot-token", &[&digits(9), ":", "AA"], alnum(33));
    short("twilio-key", &["S", "K"], hex(32));
    short("sendgrid-key", &["S", "G.", &alnum(22), "."], alnum(43));
    short("mailgun-key", &["ke", "y-"], hex(32));
    short("stripe-key", &["sk", "_live_"], alnum(24));
    short("webhook-secret", &["wh", "sec_"], alnum(32));
    short("shopify-token", &["shp", "at_"], hex(32));
    short("square-token", &["sq0", "atp-"], alnum(22));
    short("anthropic-key", &["sk-", "ant-api03-"], alnum(60));
    short("openrouter-key", &["sk-", "or-v1-"], hex(64));
    short("openai-key", &["sk-", "proj-"], alnum(74));
    short("huggingface-token", &["h", "f_"], alnum(34));
    short("replicate-token", &["r", "8_"], alnum(37));
    short("groq-key", &["gs", "k_"], alnum(52));
    short("perplexity-key", &["pp", "lx-"], alnum(48));
    short("xai-key", &["xa", "i-"], alnum(80));
    short("postman-key", &["PM", "AK-", &hex(24), "-"], hex(34));
    short("linear-key", &["lin", "_api_"], alnum(40));
    short("notion-token", &["nt", "n_"], alnum(46));
    short("newrelic-key", &["NR", "AK-"], upper(27));
    short("grafana-token", &["gl", "sa_", &alnum(32), "_"], hex(8));
    short("sentry-token", &["snt", "rys_"], alnum(100));
    short(
        "jwt",
        &["ey", "J", &alnum(33), ".ey", "J", &alnum(60), "."],
        alnum(30),
    );
    let mut add = |rule, hit: String, miss: String| cases.push((rule, hit, miss));
    add(
        "mailchimp-key",
        format!("{}-us{}", hex(32), 12),
        format!("{}-usb{}", hex(32), 12),
    );
    let url = |scheme: &str, password: &str| format!("{scheme}://app:{password}@db.internal/x");
    add(
        "database-url",
        url("postgres", &alnum(12)),
        url("postgres", "postgres"),
    );
    add(
        "basic-auth-url",
        url("https", &alnum(12)),
        url("https", "${PASSWORD}"),
    );
    add(
        "authorization-bearer",
        format!("Authorization: Bearer {}", alnum(32)),
        "Authorization: Bearer tokens-are-checked-by-middleware".into(),
    );
    add(
        "authorization-basic",
        format!("authorization: Basic {}=", alnum(23)),
        "authorization: basic authentication".into(),
    );
    add(
        "curl-user",
        format!("curl -s -u admin:{} https://x", alnum(12)),
        "curl -s -u admin:$PASSWORD https://x".into(),
    );
    add(
        "password-assignment",
        format!("DB_PASSWORD={}", alnum(12)),
        "password: at least twelve characters, rotated every 90 days".into(),
    );
    add(
        "secret-assignment",
        format!("my_token: \"{}\"", alnum(24)),
        "token = config.service2.token_from_environment".into(),
    );
    add(
        "password-label",
        format!("Passwort: {}", alnum(12)),
        "Passwort: siehe Tresor, Fach 12".into(),
    );
    add(
        "secret-label",
        format!("clé secrète : {}", alnum(24)),
        "clé secrète : dans le coffre-fort numéro 12".into(),
    );
    add(
        "registry-auth",
        format!(
            "{{\"auth\":\"{}\"}}",
            BASE64_STANDARD.encode(format!("ada:{}", alnum(12)))
        ),
        format!("{{\"auth\":\"{}\"}}", BASE64_STANDARD.encode(alnum(24))),
    );
    cases
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

/// Name of the language, labels of passwords, labels of keys and tokens, and sentences without a secret.
type Language = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
);

const LANGUAGES: [Language; 12] = [
    (
        "German",
        &[
            "Passwort:",
            "Das Kennwort lautet",
            "PASSWORT =",
            "Passwort für admin:",
            "Passwort für den Server:",
            "Passwort für Jürgen:",
            "Das Passwort ist:",
        ],
        &[
            "API-Schlüssel:",
            "Zugangsschlüssel =",
            "geheimer Schlüssel:",
        ],
        &[
            "Das Passwort wird alle 90 Tage geändert",
            "Passwort: siehe Tresor",
            "Passwort für alle im Team: siehe Tresor7 im Keller",
            "Passwort: mindestens 12 Zeichen, 2 Ziffern",
            "Kennwort: <dein Kennwort 123>",
            "Passwort: ${DB_PASSWORT_2}",
            "Passwort: DeinPasswort123",
            "Passwort-Richtlinie: ISO27001-konform",
            "API-Schlüssel: liegt in der Umgebungsvariable API_KEY_2",
        ],
    ),
    (
        "French",
        &[
            "mot de passe :",
            "Mot de passe\u{a0}:",
            "mdp:",
            "Le mot de passe est",
            "mot de passe du serveur :",
        ],
        &["clé API :", "clé d'accès :", "jeton :"],
        &[
            "Le mot de passe est changé tous les 90 jours",
            "mot de passe : voir le coffre",
            "mot de passe : 12 caractères minimum",
            "mot de passe : <mot_de_passe_1>",
            "mot de passe : exemple-2024!",
            "clé API : stockée dans le gestionnaire de secrets v2",
        ],
    ),
    (
        "Spanish",
        &[
            "contraseña:",
            "Contraseña =",
            "CONTRASEÑA:",
            "la contraseña es",
            "contrasena:",
        ],
        &["clave de API:", "clave secreta:", "secreto:"],
        &[
            "La contraseña se cambia cada 90 días",
            "contraseña: véase la caja fuerte",
            "contraseña: mínimo 12 caracteres",
            "contraseña: tu_contraseña_1",
            "la contraseña es obligatoria desde 2024",
            "clave: valor por defecto 2024",
        ],
    ),
    (
        "Portuguese",
        &["senha:", "Senha =", "a senha é", "palavra-passe:"],
        &["chave de API:", "chave secreta:", "segredo:"],
        &[
            "A senha muda a cada 90 dias",
            "senha: ver o cofre",
            "senha: mínimo de 12 caracteres",
            "senha: sua_senha_123",
            "desenhar: resenha2024longa",
        ],
    ),
    (
        "Italian",
        &[
            "parola d'ordine:",
            "Parola d’ordine =",
            "la parola d'ordine è",
            "parola di accesso:",
        ],
        &["chiave API:", "chiave segreta:", "chiave d'accesso:"],
        &[
            "La parola d'ordine cambia ogni 90 giorni",
            "parola d'ordine: vedi cassaforte",
            "parola d'ordine: almeno 12 caratteri",
            "parola d'ordine: esempio-2024!",
            "parola chiave: postgres2024migrazione",
        ],
    ),
    (
        "Dutch",
        &[
            "wachtwoord:",
            "Wachtwoord =",
            "het wachtwoord is",
            "wachtwoord voor root:",
        ],
        &["API-sleutel:", "toegangssleutel:", "geheime sleutel:"],
        &[
            "Het wachtwoord wordt elke 90 dagen gewijzigd",
            "wachtwoord: zie kluis",
            "wachtwoord: minstens 12 tekens",
            "wachtwoord: voorbeeld-2024!",
        ],
    ),
    (
        "Polish",
        &["hasło:", "Hasło =", "HASŁO:", "hasło to", "haslo:"],
        &["klucz API:", "klucz prywatny:", "tajny klucz:"],
        &[
            "Hasło zmieniamy co 90 dni",
            "hasło: patrz sejf",
            "hasło: co najmniej 12 znaków",
            "hasło: przykład-2024!",
        ],
    ),
    (
        "Russian",
        &[
            "пароль:",
            "Пароль =",
            "ПАРОЛЬ:",
            "пароль —",
            "пароль для admin:",
            "Пароль от почты:",
            "Пароль для базы:",
        ],
        &["ключ API:", "секретный ключ:", "Токен:"],
        &[
            "Пароль меняется каждые 90 дней",
            "пароль: см. сейф",
            "пароль: минимум 12 символов",
            "пароль — это 12 символов и 2 цифры",
            "пароль: <пароль123>",
        ],
    ),
    (
        "Turkish",
        &["şifre:", "Şifre =", "parola:", "Parolanız:", "sifre:"],
        &["API anahtarı:", "gizli anahtar:", "erişim anahtarı ="],
        &[
            "Şifre her 90 günde bir değişir",
            "şifre: kasaya bak",
            "parola: en az 12 karakter",
            "şifre: örnek-2024!",
        ],
    ),
    (
        "Chinese",
        &[
            "密码：",
            "密码:",
            "密碼＝",
            "数据库密码是",
            "密码是：",
            "密码为：",
            "口令：",
        ],
        &["密钥：", "API密钥:", "访问令牌："],
        &[
            "密码每90天更换一次",
            "密码：见保险箱",
            "密码：8位以上，包含A-Z和0-9",
            "密码：请参阅手册第3章",
            "密钥：保存在 vault 的 secret/app2 路径",
        ],
    ),
    (
        "Japanese",
        &[
            "パスワード：",
            "パスワード:",
            "パスワードは",
            "パスフレーズ＝",
            "暗証番号：",
        ],
        &["APIキー：", "秘密鍵:", "アクセストークン："],
        &[
            "パスワードは90日ごとに変更します",
            "パスワード：金庫を参照",
            "パスワード：8文字以上、英数字",
            "キー：release2026の設定",
        ],
    ),
    (
        "Korean",
        &[
            "비밀번호:",
            "비밀번호：",
            "비밀번호는",
            "암호 =",
            "패스워드:",
        ],
        &["API 키:", "액세스 키：", "토큰:"],
        &[
            "비밀번호는 90일마다 변경합니다",
            "비밀번호: 금고 참조",
            "비밀번호: 8자 이상, 영문과 숫자",
            "키: release2026 설정",
        ],
    ),
];

#[test]
fn labels_of_other_languages_are_known() {
    let word = ["Tr0ub", "4dor&3x"].concat();
    let token = ["A7f9Kq2L", "xP0zWm3Rt8Vb"].concat();
    let policy = Policy::default();
    for (language, passwords, secrets, harmless) in LANGUAGES {
        assert!(passwords.len() >= 4 && secrets.len() >= 3 && harmless.len() >= 4);
        for (labels, rule, secret) in [
            (passwords, "password-label", &word),
            (secrets, "secret-label", &token),
        ] {
            for label in labels {
                for text in [
                    format!("{label} {secret}"),
                    format!("x\n{label} \"{secret}\".\n"),
                    format!("({label} „{secret}“)"),
                ] {
                    assert_eq!(rules_of(&text), [rule], "{language}: {text}");
                    let masked = policy.masked(&text).expect("it is found");
                    assert!(!masked.contains(&secret[..8]), "{masked}");
                    assert_eq!(policy.masked(&masked), None, "{masked}");
                }
            }
        }
        for text in harmless {
            assert_eq!(rules_of(text), [""; 0], "{language}: {text}");
        }
    }
    // Labels without a space, in JSON and in tags.
    for text in [
        format!("密码：{word}。"),
        format!("パスワードは{word}です"),
        format!("パスワードは「{word}」です"),
        format!("비밀번호는 {word}입니다"),
        format!("{{\"passwort\":\"{word}\"}}"),
        format!("{{\"senha\": \"{word}\", \"x\": 1}}"),
        format!(r#"{{\"contraseña\": \"{word}\"}}"#),
        format!("<senha>{word}</senha>"),
        format!("Passwort: 'zwei Wörter {word}'"),
        format!("Passwort: Größe{word}"),
    ] {
        assert_eq!(rules_of(&text), ["password-label"], "{text}");
        let masked = policy.masked(&text).expect("it is found");
        assert!(!masked.contains(&word[..8]), "{masked}");
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
