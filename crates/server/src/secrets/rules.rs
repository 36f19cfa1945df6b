//! The table of rules: what secrets of wide use look like. Where two overlap the first one names the
//! secret, so what is particular stands before what is general.

use super::shape;

/// What one kind of secret looks like.
pub(super) struct Rule {
    /// Names it to users, who may have written it into an allow list: for ever.
    pub(super) name: &'static str,
    /// The pattern is tried where one of these stands; one with a capital only in this case.
    pub(super) keywords: &'static [&'static str],
    /// In the syntax of the `regex` crate, ASCII only. The first group that takes part is the secret,
    /// else the whole match.
    pub(super) pattern: &'static str,
    /// Bits a byte that the secret has to have.
    pub(super) entropy_min: f32,
    /// What else it has to be, given also what follows it.
    pub(super) fits: Option<fn(&str, &str) -> bool>,
}

/// A rule for tokens that carry a prefix of their own.
const fn token(
    name: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
) -> Rule {
    Rule {
        name,
        keywords,
        pattern,
        entropy_min: 2.5,
        fits: None,
    }
}

/// A rule that needs more than a pattern.
const fn shaped(
    name: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    entropy_min: f32,
    fits: fn(&str, &str) -> bool,
) -> Rule {
    Rule {
        name,
        keywords,
        pattern,
        entropy_min,
        fits: Some(fits),
    }
}

/// Every rule; at most 128.
pub(super) static RULES: &[Rule] = &[
    shaped(
        "private-key",
        &["PRIVATE KEY"],
        r"-----BEGIN[ A-Z0-9]{0,64}PRIVATE KEY(?: BLOCK)?-----(?u:[^-]|-[^-])*(?:-----END[ A-Z0-9]{0,64}-----)?",
        0.0,
        shape::has_key,
    ),
    token(
        "age-secret-key",
        &["AGE-SECRET-KEY-1"],
        r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}\b",
    ),
    // Clouds.
    token(
        "aws-access-key-id",
        &["AKIA", "ASIA", "ABIA", "ACCA"],
        r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b",
    ),
    shaped(
        "aws-secret-access-key",
        &[
            "secret_access_key",
            "secretaccesskey",
            "aws_secret",
            "secret access key",
        ],
        r#"(?i)(?:secret[_ ]?access[_ ]?key|aws_secret(?:_key)?)["'`]?\s{0,3}(?::=|=>|=|:|\bis\b)\s{0,3}["'`]?([A-Za-z0-9/+]{40})(?:(?u:[^A-Za-z0-9/+])|$)"#,
        3.5,
        shape::has_digit,
    ),
    token(
        "aws-bedrock-key",
        &["ABSK"],
        r"\bABSK[A-Za-z0-9+/]{100,280}={0,2}",
    ),
    token(
        "gcp-api-key",
        &["AIza"],
        r"\bAIza[\w-]{35}(?:(?u:[^A-Za-z0-9_-])|$)",
    ),
    token("gcp-oauth-secret", &["GOCSPX-"], r"\bGOCSPX-[\w-]{28}"),
    token("gcp-oauth-token", &["ya29."], r"\bya29\.[\w-]{30,}"),
    token(
        "azure-storage-key",
        &["AccountKey=", "SharedAccessKey="],
        r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{42,86}={1,2})",
    ),
    token(
        "azure-client-secret",
        &["Q~"],
        r"(?:^|(?u:[^A-Za-z0-9_.~-]))([\w.~-]{3}[0-9]Q~[\w.~-]{31,34})(?:(?u:[^A-Za-z0-9_.~-])|$)",
    ),
    token(
        "azure-sas",
        &["sig="],
        r"[?&]sig=([A-Za-z0-9+/%]{40,128}(?:=|%3[Dd])?)",
    ),
    token(
        "digitalocean-token",
        &["doo_v1_", "dop_v1_", "dor_v1_"],
        r"\bdo[opr]_v1_[0-9a-f]{64}\b",
    ),
    token(
        "cloudflare-origin-key",
        &["v1.0-"],
        r"\bv1\.0-[0-9a-f]{24}-[0-9a-f]{146}\b",
    ),
    token("heroku-key", &["HRKU-"], r"\bHRKU-[\w-]{36,64}"),
    token("databricks-token", &["dapi"], r"\bdapi[0-9a-f]{32}\b"),
    token("vault-token", &["hvs.", "hvb."], r"\bhv[sb]\.[\w-]{24,300}"),
    token(
        "terraform-token",
        &[".atlasv1."],
        r"\b[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}",
    ),
    token(
        "doppler-token",
        &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa."],
        r"\bdp\.(?:pt|ct|sa|st\.(?:[\w-]{1,32}\.)?)\.?[A-Za-z0-9]{40,44}\b",
    ),
    token(
        "planetscale-secret",
        &["pscale_"],
        r"\bpscale_(?:tkn|pw|oauth)_[\w.=-]{32,64}",
    ),
    token("supabase-token", &["sbp_"], r"\bsbp_[0-9a-f]{40}\b"),
    // Forges.
    token(
        "github-fine-grained-pat",
        &["github_pat_"],
        r"\bgithub_pat_\w{82}\b",
    ),
    token("github-pat", &["ghp_"], r"\bghp_[A-Za-z0-9]{36}\b"),
    token("github-oauth-token", &["gho_"], r"\bgho_[A-Za-z0-9]{36}\b"),
    token(
        "github-app-token",
        &["ghu_", "ghs_", "ghr_"],
        r"\bgh[usr]_[A-Za-z0-9]{36,76}\b",
    ),
    token("gitlab-pat", &["glpat-"], r"\bglpat-[\w.-]{20,300}"),
    token(
        "gitlab-token",
        &[
            "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "gloas-", "glsoat-",
        ],
        r"\bgl(?:dt|rt|cbt|ptt|ft|oas|soat)-[\w.-]{20,300}",
    ),
    token("bitbucket-token", &["ATBB"], r"\bATBB[A-Za-z0-9=]{32}"),
    token("atlassian-token", &["ATATT3"], r"\bATATT3[\w=-]{60,250}"),
    // Packages.
    token("npm-token", &["npm_"], r"\bnpm_[A-Za-z0-9]{36}\b"),
    token("pypi-token", &["pypi-AgEI"], r"\bpypi-AgEI[\w-]{50,}"),
    token(
        "rubygems-token",
        &["rubygems_"],
        r"\brubygems_[0-9a-f]{48}\b",
    ),
    token("dockerhub-token", &["dckr_pat_"], r"\bdckr_pat_[\w-]{27}"),
    token("nuget-key", &["oy2"], r"\boy2[a-z0-9]{43}\b"),
    // Talk.
    shaped(
        "slack-token",
        &[
            "xoxb-", "xoxp-", "xoxa-", "xoxe-", "xoxo-", "xoxr-", "xoxs-", "xoxe.",
        ],
        r"\bxox[abeoprs][-.][A-Za-z0-9.-]{24,300}",
        2.5,
        shape::has_digit,
    ),
    token(
        "slack-app-token",
        &["xapp-"],
        r"\bxapp-[0-9]-[A-Z0-9]{6,20}-[0-9]{8,20}-[A-Za-z0-9]{32,128}",
    ),
    shaped(
        "slack-webhook",
        &["hooks.slack.com"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{30,80})",
        2.5,
        shape::has_digit,
    ),
    token(
        "discord-webhook",
        &["api/webhooks/"],
        r"discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/([\w-]{60,80})",
    ),
    token(
        "telegram-bot-token",
        &[":AA"],
        r"\b[0-9]{8,10}:AA[\w-]{33}(?:(?u:[^A-Za-z0-9_-])|$)",
    ),
    token("twilio-key", &["SK"], r"\bSK[0-9a-f]{32}\b"),
    token(
        "sendgrid-key",
        &["SG."],
        r"\bSG\.[\w-]{22}\.[\w-]{43}(?:(?u:[^A-Za-z0-9_-])|$)",
    ),
    token("mailgun-key", &["key-"], r"\bkey-[0-9a-f]{32}\b"),
    token("mailchimp-key", &["-us"], r"\b[0-9a-f]{32}-us[0-9]{1,2}\b"),
    // Money.
    token(
        "stripe-key",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_"],
        r"\b[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16,255}\b",
    ),
    token(
        "webhook-secret",
        &["whsec_"],
        r"\bwhsec_[A-Za-z0-9+/]{32,128}={0,2}",
    ),
    token(
        "shopify-token",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b",
    ),
    token(
        "square-token",
        &["sq0atp-", "sq0csp-"],
        r"\bsq0(?:atp|csp)-[\w-]{22,43}",
    ),
    // Models.
    token(
        "anthropic-key",
        &["sk-ant-"],
        r"\bsk-ant-[a-z]{2,8}[0-9]{2}-[\w-]{32,200}",
    ),
    token(
        "openrouter-key",
        &["sk-or-v1-"],
        r"\bsk-or-v1-[0-9a-f]{64}\b",
    ),
    token(
        "openai-key",
        &["T3BlbkFJ", "sk-proj-", "sk-svcacct-", "sk-admin-"],
        r"\bsk-(?:(?:proj|svcacct|admin)-[\w-]{40,250}|(?:[\w-]{1,100}-)?[\w-]{20,80}T3BlbkFJ[\w-]{20,80})",
    ),
    shaped(
        "huggingface-token",
        &["hf_"],
        r"\bhf_[A-Za-z0-9]{34,40}\b",
        3.0,
        |text, _| text.bytes().any(|byte| byte.is_ascii_uppercase()),
    ),
    token("replicate-token", &["r8_"], r"\br8_[A-Za-z0-9]{37}\b"),
    token("groq-key", &["gsk_"], r"\bgsk_[A-Za-z0-9]{52}\b"),
    token("perplexity-key", &["pplx-"], r"\bpplx-[A-Za-z0-9]{48}\b"),
    token("xai-key", &["xai-"], r"\bxai-[A-Za-z0-9]{70,90}\b"),
    // Tools.
    token(
        "postman-key",
        &["PMAK-"],
        r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}\b",
    ),
    token("linear-key", &["lin_api_"], r"\blin_api_[A-Za-z0-9]{40}\b"),
    token("notion-token", &["ntn_"], r"\bntn_[A-Za-z0-9]{43,50}\b"),
    token("newrelic-key", &["NRAK-"], r"\bNRAK-[A-Z0-9]{27}\b"),
    token(
        "grafana-token",
        &["glsa_", "glc_"],
        r"\b(?:glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2})",
    ),
    token(
        "sentry-token",
        &["sntrys_", "sntryu_"],
        r"\bsntry[su]_[A-Za-z0-9+/=_]{60,400}",
    ),
    // What many systems share.
    shaped(
        "jwt",
        &["eyJ"],
        r"\beyJ[\w-]{12,}\.eyJ[\w-]{12,}\.[\w-]{16,}",
        3.0,
        shape::has_digit,
    ),
    shaped(
        "database-url",
        &[
            "postgres",
            "mysql",
            "mariadb",
            "mongodb",
            "redis",
            "amqp",
            "sqlserver",
            "mssql",
            "clickhouse",
            "cockroach",
        ],
        r#"(?i)\b(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|sqlserver|mssql|clickhouse|cockroach(?:db)?)(?:\+[a-z0-9]{1,16})?://(?u:[^\s/:@"'`<>])*:((?u:[^\s/@"'`<>]){3,})@[\w\[]"#,
        0.0,
        shape::is_url_password,
    ),
    shaped(
        "basic-auth-url",
        &["://"],
        r#"(?i)\b[a-z][a-z0-9+.-]{1,20}://(?u:[^\s/:@"'`<>])+:((?u:[^\s/@"'`<>]){3,})@[\w\[]"#,
        0.0,
        shape::is_url_password,
    ),
    shaped(
        "authorization-bearer",
        &["bearer", "authorization"],
        r#"(?i)(?:\bbearer|\bauthorization\\{0,3}["'`]?\s{0,3}[:=]\s{0,3}\\{0,3}["'`]?(?:token|apikey|api-key))\s{1,3}([\w.~+/-]{16,}={0,2})"#,
        3.0,
        shape::is_value,
    ),
    shaped(
        "authorization-basic",
        &["authorization"],
        r#"(?i)\bauthorization["'`]?\s{0,3}[:=]\s{0,3}["'`]?basic\s{1,3}([A-Za-z0-9+/]{8,512}={0,2})"#,
        2.5,
        |text, _| text.bytes().any(|byte| byte.is_ascii_uppercase()),
    ),
    shaped(
        "curl-user",
        &["curl"],
        r#"\bcurl\b(?u:[^\n|;])*?\s(?:-u|--user)[ =]?["']?((?u:[^\s:"'`<>])+:(?u:[^\s:"'`<>]){3,})"#,
        0.0,
        shape::is_url_password,
    ),
    shaped(
        "password-assignment",
        &[
            "password",
            "passwd",
            "passphrase",
            "pwd",
            "_pass",
            "pass=",
            "pass\"",
            "pass'",
            "pass`",
            "pass\\",
        ],
        r#"(?i)(?:(?:password|passwd|passphrase|pwd|(?:db|smtp|mail|email|ftp|ssh|user|admin|root|proxy|auth|login)_pass|(?-i:[A-Z0-9]_PASS)|["'`]pass(?:\\{0,3}["'`]))s?(?:\s(?:for|of)\s[\w.@-]{1,40})?(?:\\{0,3}["'`])?\s{0,3}(?::=|=>|=|:|\bis\b:?)\s{0,3}|\bpass=|--(?:[a-z]{1,16}-)?(?:password|passwd|passphrase|pwd)\s{1,3})(?:\\{1,3}["']((?u:[^"'\\\s]){8,})|"((?u:[^"\s][^"\n]{7,}))"|'((?u:[^'\s][^'\n]{7,}))'|"((?u:[^"\s]){8,})|'((?u:[^'\s]){8,})|`((?u:[^`\s]){8,})`|((?u:[^\s"'`,;<>(){}\[\]]){8,}))|<[\w:.-]{0,32}(?:password|passwd|passphrase|pwd)>\s{0,3}((?u:[^<>\s]){8,})"#,
        2.5,
        shape::is_password,
    ),
    shaped(
        "secret-assignment",
        &[
            "secret",
            "token",
            "credential",
            "api_key",
            "apikey",
            "api-key",
            "api key",
            "access_key",
            "access-key",
            "accesskey",
            "private_key",
            "privatekey",
            "auth_key",
            "authkey",
            "signing_key",
            "encryption_key",
            "master_key",
            "account_key",
        ],
        r#"(?i)(?:(?:secret|token|credential|(?:api|access|private|auth|signing|encryption|master|account|secret)[_.\x20-]?key)s?(?:\s(?:for|of)\s[\w.@-]{1,40})?(?:\\{0,3}["'`])?\s{0,3}(?::=|=>|=|:|\bis\b:?)\s{0,3}(?:\\{0,3}["'`])?|--(?:[a-z]{1,16}-)?(?:secret|token|(?:api|access|private|auth|secret)-key)\s{1,3}["'`]?|<[\w:.-]{0,32}(?:secret|token|(?:api|access|private|auth|secret)[_.-]?key)>\s{0,3})([\w+/.~=-]{16,})"#,
        3.0,
        shape::is_value,
    ),
];
