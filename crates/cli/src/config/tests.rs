use super::*;

fn parse(text: &str) -> Result<Config, CliError> {
    Config::parse(text, Path::new("/etc/icm/config.toml"))
}

#[test]
fn the_template_says_nothing() {
    assert_eq!(parse(TEMPLATE).unwrap(), Config::default());
}

#[test]
fn the_template_with_its_values_is_valid_and_names_every_key() {
    let text = TEMPLATE
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(setting) if setting.contains(" = ") => setting,
            _ => line,
        })
        .collect::<Vec<_>>()
        .join("\n");
    let config = parse(&text).unwrap();
    assert!(config.db.is_some());
    assert_eq!(config.recall_limit, Some(10));
    assert_eq!(config.recall_record, Some(true));
    assert_eq!(config.secrets_action, Some(Action::Refuse));
    assert_eq!(config.secrets_allow, Some(Vec::new()));
    assert_eq!(config.dedup_similar, Some(0.85));
    assert_eq!(config.dedup_on_similar, Some(OnSimilar::Link));
    assert_eq!(config.dedup(), Dedup::default());
    assert_eq!(config.ranking, Ranking::default());
    assert_eq!(config.ranking_given.len(), 20);
    assert_eq!(config.decay, DecayPolicy::default());
    assert_eq!(config.decay_given.len(), 7);
    assert_eq!(config.output_color, Some(ColorWhen::Auto));
    assert_eq!(config.embedding_model, Some(ModelName::Static));
    assert_eq!(config.embedding_timeout_s, Some(TIMEOUT_S));
    let endpoint = config.endpoint().unwrap();
    assert!(
        endpoint.dim.is_some() && endpoint.key_env.is_some(),
        "{endpoint:?}"
    );
}

#[test]
fn the_embedder_is_read() {
    let choice = |text: &str| parse(&format!("[embedding]\n{text}")).unwrap().embedding();
    assert_eq!(choice("").unwrap(), Choice::BuiltIn);
    assert_eq!(choice("model = 'static'").unwrap(), Choice::BuiltIn);
    assert_eq!(choice("model = 'none'").unwrap(), Choice::None);
    let installed = choice("model = 'all-MiniLM-L6-v2'").unwrap();
    assert_eq!(installed, Choice::Installed("all-MiniLM-L6-v2".into()));
    let folder = |path: &str| Choice::Folder(path.into());
    assert_eq!(choice("model = '/m/x'").unwrap(), folder("/m/x"));
    assert_eq!(choice("model = './x'").unwrap(), folder("/etc/icm/./x"));
    let error = choice("model = 'endpoint'").unwrap_err().said();
    assert!(error.contains("`embedding.url`"), "{error}");
    let error = choice("model = 'endpoint'\nurl = 'http://h'")
        .unwrap_err()
        .said();
    assert!(error.contains("`embedding.endpoint_model`"), "{error}");
    let text =
        "model = 'endpoint'\nurl = 'http://h'\nendpoint_model = 'm'\ntimeout_s = 0.5\ndim = 3";
    let Ok(Choice::Endpoint(endpoint)) = choice(text) else {
        panic!("no endpoint");
    };
    assert_eq!(endpoint.timeout, Duration::from_millis(500));
    assert_eq!((endpoint.dim, endpoint.key_env), (Some(3), None));
}

#[test]
fn a_key_in_the_place_of_its_variable_is_refused_and_not_shown() {
    let text = "[embedding]\nkey_env = 'sk-12345'";
    let error = parse(text).unwrap_err().said();
    assert!(
        error.contains("the name of an environment variable"),
        "{error}"
    );
    assert!(!error.contains("12345"), "{error}");
}

#[test]
fn unknown_keys_and_wrong_values_are_errors() {
    for text in [
        "dbs = 'x'",
        "[recal]\nlimit = 3",
        "[recall]\nlimits = 3",
        "[recall]\nlimit = 0",
        "[recall]\nlimit = '3'",
        "[output]\ncolor = 'blue'",
        "[secrets]\naction = 'no'",
        "[secrets]\nallow = 'x'",
        "[secrets]\nallow = ['(']",
        "[dedup]\nsimilar = 1.1",
        "[dedup]\nsimilar = -0.1",
        "[dedup]\nsimilar = nan",
        "[dedup]\nsimilar = '0.5'",
        "[dedup]\non_similar = 'drop'",
        "[dedup]\non_similar = true",
        "dedup = 'off'",
        "[consolidate]\nhint_over = -1",
        "[consolidate]\nhint_over = 1.5",
        "[summarizer]\ncommand = ' '",
        "[summarizer]\ntimeout_s = 0",
        "[ranking]\ntext = 101",
        "[ranking]\nfloor = 1.5",
        "[ranking]\nfloor = '0.1'",
        "[ranking]\ncentred = 1",
        "[ranking]\nwords = 1",
        "[ranking]\ntext = 0\nnotes_text = 0\nmeaning = 0",
        "[embedding]\nmodel = ''",
        "[embedding]\nmodel = 3",
        "[embedding]\nurl = ''",
        "[embedding]\ndim = 0",
        "[embedding]\ndim = 'x'",
        "[embedding]\ntimeout_s = 0",
        "[embedding]\ntimeout_s = inf",
        "[embedding]\nkey_env = 'a b'",
        "[embedding]\nkey = 'x'",
        "[decay]\nrate = 1.1",
        "[decay]\nrate = '0.1'",
        "[decay]\nlow = 101",
        "[decay]\nhigh = -1",
        "[decay]\nauto = 1",
        "[decay]\nprune_threshold = nan",
        "[decay]\nthreshold = 0.1",
        "recall = 3",
        "db = ",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
}

#[test]
fn dedup_is_read() {
    for (text, similar_ppm, on_similar) in [
        ("", 850_000, OnSimilar::Link),
        ("[dedup]\nsimilar = 0", 0, OnSimilar::Link),
        ("[dedup]\nsimilar = 1", 1_000_000, OnSimilar::Link),
        (
            "[dedup]\nsimilar = 0.7\non_similar = 'update'",
            700_000,
            OnSimilar::Update,
        ),
        ("[dedup]\non_similar = 'off'", 850_000, OnSimilar::Off),
    ] {
        let wanted = Dedup {
            similar_ppm,
            on_similar,
        };
        assert_eq!(parse(text).unwrap().dedup(), wanted, "{text}");
    }
}

#[test]
fn decay_is_read() {
    let text = "[decay]\nauto = false\nrate = 0.1\nlow = 3\nprune_threshold = 0.25";
    let wanted = DecayPolicy {
        auto: false,
        rate_ppm: 100_000,
        low_ppm: 3_000_000,
        prune_threshold_ppm: 250_000,
        ..DecayPolicy::default()
    };
    assert_eq!(parse(text).unwrap().decay, wanted);
}

#[test]
fn a_relative_store_lies_beside_the_file() {
    let config = parse("db = 'store'").unwrap();
    assert_eq!(config.db, Some(PathBuf::from("/etc/icm/store")));
}
