use std::path::Path;

use super::*;

fn parse(text: &str) -> Result<Config, CliError> {
    Config::parse(text, Path::new("/etc/icm/config.toml"))
}

/// Returns the template with its settings uncommented.
fn template_with_its_values() -> String {
    let template = template();
    let lines = template.lines().map(|line| match line.strip_prefix("# ") {
        Some(setting) if setting.contains(" = ") => setting,
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the text of a file with one key.
fn file(key: &keys::Key, value: impl std::fmt::Display) -> String {
    match key.split() {
        ("", field) => format!("{field} = {value}"),
        (section, field) => format!("[{section}]\n{field} = {value}"),
    }
}

#[test]
fn the_template_says_nothing() {
    let config = parse(&template()).unwrap();
    assert!(!KEYS.iter().any(|key| config.has(key.name)));
    let given = Table::new();
    assert_eq!(Config { given, ..config }, Config::default());
}

#[test]
fn the_template_has_every_key_with_its_default() {
    let config = parse(&template_with_its_values()).unwrap();
    for ((key, value), (_, default)) in config.values().zip(Config::default().values()) {
        assert!(config.has(key.name), "{}", key.name);
        assert!(!value.is_null(), "{}", key.name);
        assert_eq!(default.is_null(), key.example.is_some(), "{}", key.name);
        if !default.is_null() {
            assert_eq!(value, default, "{}", key.name);
        }
    }
    assert!(config.endpoint().is_ok());
}

#[test]
fn the_table_has_every_field_and_no_other_key() {
    let fields = serde_json::to_value(Config::default()).unwrap();
    let mut names = Vec::new();
    for (name, value) in fields.as_object().unwrap() {
        match value.as_object() {
            Some(section) => names.extend(section.keys().map(|field| format!("{name}.{field}"))),
            None => names.push(name.clone()),
        }
    }
    let mut known: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
    known.sort_unstable();
    names.sort_unstable();
    assert_eq!(known, names);

    let mut sections: Vec<&str> = KEYS.iter().map(|key| key.split().0).collect();
    sections.dedup();
    let described = table::SECTIONS.iter().map(|(section, _)| *section);
    let described: Vec<&str> = std::iter::once("").chain(described).collect();
    assert_eq!(sections, described);
}

#[test]
fn bounds_and_words_of_the_table_are_those_of_the_fields() {
    let (mut accepted, mut refused) = (0, 0);
    let mut check = |key: &keys::Key, value: String, is_one: bool| {
        let read = parse(&file(key, &value));
        assert_eq!(read.is_ok(), is_one, "{} = {value}: {read:?}", key.name);
        *(if is_one { &mut accepted } else { &mut refused }) += 1;
    };
    for key in KEYS {
        match key.takes {
            keys::Takes::Bool => {
                check(key, "true".into(), true);
                check(key, "false".into(), true);
                check(key, "1".into(), false);
            }
            keys::Takes::Whole(min, max) => {
                let max = max.min(i64::MAX as u64);
                check(key, min.to_string(), true);
                check(key, max.to_string(), true);
                check(key, (min as i64 - 1).to_string(), false);
                check(key, format!("{min}.5"), false);
                if let Some(above) = (max as i64).checked_add(1) {
                    check(key, above.to_string(), false);
                }
            }
            keys::Takes::Number(min, max) => {
                check(key, format!("{min:?}"), true);
                check(key, format!("{max}"), true);
                check(key, format!("{:?}", min - 1e-6), false);
                check(key, format!("{:?}", max + 1e-6), false);
                check(key, "nan".into(), false);
                check(key, "'1'".into(), false);
            }
            keys::Takes::OneOf(words) => {
                for word in words {
                    check(key, format!("'{word}'"), true);
                }
                check(key, "'?'".into(), false);
                let table: Table = file(key, "'?'").parse().unwrap();
                let error = table.try_into::<Config>().unwrap_err();
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                let all = format!("expected one of {}", words.join(", "));
                assert!(error.message().ends_with(&all), "{error}");
            }
            keys::Takes::Text { .. } => {
                check(key, key.example.unwrap_or("'static'").into(), true);
                check(key, "''".into(), false);
                check(key, "3".into(), false);
            }
            keys::Takes::Texts(_) => {
                check(key, "['a', 'b']".into(), true);
                check(key, "'a'".into(), false);
                check(key, "['a', 1]".into(), false);
            }
        }
    }
    assert!(accepted > 80 && refused > 120, "{accepted} {refused}");
}

#[test]
fn an_error_names_the_line_and_the_nearest_key() {
    for (text, said) in [
        (
            "[recall]\n\nlimit = 0",
            ", line 3: `recall.limit` must be a number from 1 to 1000",
        ),
        (
            "[recall]\nlimits = 3",
            ", line 2: unknown key `recall.limits`; nearest: `recall.limit`",
        ),
        (
            "# x\ndbs = 'x'",
            ", line 2: unknown key `dbs`; nearest: `db`",
        ),
        (
            "[recal]\nlimit = 3",
            ", line 1: unknown key `recal`; nearest: `recall`",
        ),
        (
            "recall = 3",
            "unknown key `recall`; `recall` is a section: write `[recall]`",
        ),
        ("x = 3", "unknown key `x`; known keys: `db`, `recall.limit`"),
        ("recall.limit = 0", ", line 1: `recall.limit`"),
        (
            "[secrets]\naction = 'off'\nallow = ['(']",
            ", line 3: `secrets.allow` must be a list",
        ),
        (
            "db = 'x'\n[ranking]\ntext = 0\nnotes_text = 0\nmeaning = 0",
            ", line 2: `ranking.text`",
        ),
    ] {
        let error = parse(text).unwrap_err().said();
        assert!(error.contains(said), "{text}: {error}");
    }
}

#[test]
fn settings_go_before_the_file_and_their_paths_start_elsewhere() {
    let config = parse("db = 'x'\n[recall]\nlimit = 3\n[embedding]\nmodel = './m'").unwrap();
    let with = |settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(|text| text.to_string()).collect();
        config.with(&settings)
    };
    let same = with(&[]).unwrap();
    assert_eq!(same, config);
    let other = with(&["ranking.floor = 0.5", "embedding.model=./m"]).unwrap();
    assert_eq!(other.ranking.floor, 0.5);
    assert_eq!(other.recall.limit, 3);
    assert_eq!(other.db, config.db);
    assert_eq!(other.embedding.model, ModelName::Folder("./m".into()));
    let error = with(&["ranking.floor=2"]).unwrap_err().said();
    assert!(
        error.starts_with("config --set: `ranking.floor` must be"),
        "{error}"
    );
    let error = with(&["ranking.neighbors=1"]).unwrap_err().said();
    assert!(error.contains("nearest: `ranking.neighbours`"), "{error}");
    assert!(with(&["recall.limit=1"]).is_err());
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
        "[extractor]\ncommand = ' '",
        "[extractor]\ntimeout_s = 0",
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
        assert_eq!(parse(text).unwrap().dedup, wanted, "{text}");
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
