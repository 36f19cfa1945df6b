//! For each rule, a text with a secret and a text without one.

use super::*;

/// Returns for each rule a text with a secret and a text without one.
pub(super) fn cases() -> Vec<(&'static str, String, String)> {
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
