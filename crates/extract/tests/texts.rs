//! Sentences found in plain text and Markdown, and their form.

use icm_extract::{Found, Importance, Rules, Signal, Speaker, from_text, passages_of_text};

fn found(text: &str) -> Vec<Found> {
    from_text(text, &Rules::default())
}

fn texts(text: &str) -> Vec<String> {
    found(text).into_iter().map(|found| found.text).collect()
}

#[test]
fn a_sentence_with_a_bare_pronoun_stays_with_what_it_speaks_of_or_goes() {
    let joined = "Tokio's timer wheel was the cause. It needs version 1.40 or newer because older ones leak.";
    assert_eq!(texts(joined), [joined]);
    let origin = &found(&format!("Hello there.\n\n{joined}"))[0].origin;
    assert_eq!((origin.line, origin.last_line), (3, 3));
    assert!(texts("It was fixed by an upgrade to version 1.40.").is_empty());
    assert!(texts("Thanks a lot.\n\nThat uses Redis because of its speed.").is_empty());
    // The next sentence is clear without the first one.
    let text = "It was slow. We decided to use Kafka instead.";
    assert_eq!(texts(text), ["We decided to use Kafka instead."]);
}

#[test]
fn an_item_gets_the_words_that_introduce_it_if_it_needs_them() {
    let text = "## Decisions\n\n- Invoices: PostgreSQL 16\n- We agreed on tabs in Go files\n\nShopping:\n- Milk and 6 eggs\n";
    assert_eq!(
        texts(text),
        [
            "Decisions: Invoices: PostgreSQL 16",
            "We agreed on tabs in Go files"
        ]
    );
    let found = found(text);
    assert_eq!(found[0].importance, Importance::Medium);
    assert_eq!(found[0].origin.line, 3);
}

#[test]
fn the_date_of_a_line_is_its_time_and_no_part_of_it() {
    const TENTH_MS: i64 = 1_770_681_600_000;
    let ten = TENTH_MS + 10 * 3_600_000;
    for (line, at_ms) in [
        ("2026-02-10: We decided to drop GraphQL.", TENTH_MS),
        ("- 10.02.2026: We decided to drop GraphQL.", TENTH_MS),
        ("[2026-02-10] We decided to drop GraphQL.", TENTH_MS),
        ("2026-02-10 10:00 We decided to drop GraphQL.", ten),
        ("10. Februar 2026: We decided to drop GraphQL.", TENTH_MS),
        ("- 10. Feb. 2026: We decided to drop GraphQL.", TENTH_MS),
        ("1. Feb 10, 2026: We decided to drop GraphQL.", TENTH_MS),
    ] {
        let found = found(line);
        assert_eq!(found.len(), 1, "{line}");
        assert_eq!(found[0].text, "We decided to drop GraphQL.");
        assert_eq!(found[0].at_ms, Some(at_ms), "{line}");
    }
    // Each dated line stands alone, and the first line tells the order of day and month in the second one.
    let text = "13/02/2026: We decided to drop GraphQL for the public API\n10/02/2026: Never deploy on Fridays";
    let of = |found: &Found| (found.origin.line, found.at_ms, found.text.clone());
    let days: Vec<_> = found(text).iter().map(of).collect();
    let expected = [
        (
            1,
            3 * 86_400_000,
            "We decided to drop GraphQL for the public API",
        ),
        (2, 0, "Never deploy on Fridays"),
    ];
    assert_eq!(
        days,
        expected.map(|(line, after, text)| (line, Some(TENTH_MS + after), text.to_owned()))
    );
    // A date that may be in October stays in the sentence.
    let unsure = "10/02/2026: Never deploy on Fridays";
    assert_eq!(
        (texts(unsure), found(unsure)[0].at_ms),
        (vec![unsure.to_owned()], None)
    );
    for log in [
        "2026-02-10 10:00 ERROR we decided to drop GraphQL",
        "2026-02-10 10:00:00 we decided to drop GraphQL",
        "2026-02-10: let kafka = decided;",
    ] {
        assert!(texts(log).is_empty(), "{log}");
    }
}

#[test]
fn a_date_belongs_to_its_own_line() {
    let kafka = "We chose Kafka instead of RabbitMQ for events";
    for first in [
        "10/02/2026: We switched to Grafana for all dashboards",
        "10/02/2026: We switched to Grafana for all dashboards.",
        "10/02/2026: We switched to Grafana.",
    ] {
        assert_eq!(texts(&format!("{first}\n{kafka}")), [first, kafka]);
        assert_eq!(texts(&format!("- {first}\n{kafka}")), [first, kafka]);
    }
    let known = found(&format!(
        "2026-02-10: We switched to Grafana for all dashboards.\n{kafka}"
    ));
    let dated: Vec<_> = known.iter().map(|it| it.at_ms.is_some()).collect();
    assert_eq!(dated, [true, false]);
    let wrapped = "10/02/2026: We decided to drop GraphQL because nobody\nuses the schema.";
    assert_eq!(texts(wrapped), [wrapped.replace('\n', " ")]);
    let text = format!(
        "10/02/2026: We switched to Grafana.\nFeb 14, 2026: From now on every PR needs two reviewers.\n{kafka}"
    );
    let of = |it: &Found| (it.text.clone(), it.at_ms.is_some());
    let found_in: Vec<_> = found(&text).iter().map(of).collect();
    let expected = [
        ("10/02/2026: We switched to Grafana.", false),
        ("From now on every PR needs two reviewers.", true),
        (kafka, false),
    ];
    assert_eq!(
        found_in,
        expected.map(|(text, dated)| (text.to_owned(), dated))
    );
    // A date without a year stays, whole.
    for dates in [
        [
            "3. März: Wir haben beschlossen, Unleash zu verwenden.",
            "Feb 14: We chose Kafka.",
        ],
        [
            "Feb 14: We chose Kafka.",
            "4. April: Ab jetzt verwenden wir Unleash.",
        ],
    ] {
        assert_eq!(texts(&dates.join("\n")), dates);
        assert!(found(&dates.join("\n")).iter().all(|it| it.at_ms.is_none()));
    }
    // Also dates that are part of their sentence.
    let dates = [
        "2026-02-10 we switched to Grafana for all the dashboards",
        "2026-02-11 we chose Kafka instead of RabbitMQ for events",
    ];
    assert_eq!(texts(&dates.join("\n")), dates);
}

#[test]
fn a_heading_that_is_a_date_gives_its_date_to_what_stands_below() {
    const DAY_MS: i64 = 86_400_000;
    let tenth = 1_770_681_600_000;
    let times = |text: &str| -> Vec<_> { found(text).iter().map(|it| it.at_ms).collect() };
    for heading in [
        "## 2026-02-10",
        "## 10 February 2026",
        "# 10. Februar 2026:",
        "**Feb 10, 2026**",
        "### 2026-02-10: Decisions",
    ] {
        let text = format!(
            "Never deploy on Fridays.\n\n{heading}\n\n- We decided to drop GraphQL\n\
             - 2026-02-11: We chose Kafka for events\n\nFrom now on every PR needs two reviewers.\n\
             10/02/2026: We switched to Grafana.\n\n## Next\n- We use pnpm instead of npm\n"
        );
        let expected = [
            None,
            Some(tenth),
            Some(tenth + DAY_MS),
            Some(tenth),
            None,
            None,
        ];
        assert_eq!(times(&text), expected, "{heading}");
    }
    // The words behind the date introduce a list, the date does not.
    let text = "## 2026-02-10: Decisions\n- Invoices: PostgreSQL 16";
    assert_eq!(texts(text), ["Decisions: Invoices: PostgreSQL 16"]);
    let unsure = "## 10/02/2026\n- We decided to drop GraphQL";
    assert_eq!(texts(unsure), ["We decided to drop GraphQL"]);
    assert_eq!(times(unsure), [None]);
    let other = format!("{unsure}\n## 13/02/2026\n- Never deploy on Fridays");
    assert_eq!(times(&other), [Some(tenth), Some(tenth + 3 * DAY_MS)]);
}

#[test]
fn each_line_of_a_messenger_is_a_turn_of_its_own() {
    let chat = "[10/02/2026, 10:14:03] Ada: We decided to drop GraphQL\n\
                [10/02/2026, 10:15:00] Jun: Never deploy on Fridays.\n\
                [13/02/2026, 10:16:00] Ada: I prefer small pull requests\n\
                [13/02/2026, 10:17:00] Jun: Remember that staging only takes\n\
                deploys of the release branch\n";
    let expected = [
        "We decided to drop GraphQL",
        "Never deploy on Fridays.",
        "Ada: I prefer small pull requests",
        "Remember that staging only takes deploys of the release branch",
    ];
    assert_eq!(texts(chat), expected);
    let lines = |text: &str| -> Vec<_> {
        let found = found(text).into_iter();
        found
            .map(|it| (it.origin.line, it.origin.last_line, it.at_ms))
            .collect()
    };
    let tenth = 1_770_681_600_000;
    let at = |day: i64, minute: i64| Some(tenth + day * 86_400_000 + (600 + minute) * 60_000);
    let seen = lines(chat);
    assert_eq!(seen[0], (1, 1, at(0, 14).map(|ms| ms + 3_000)));
    assert_eq!(seen[3], (4, 5, at(3, 17)));
    // The other form, whose dates tell nothing of the order of day and month.
    let chat = "10/02/26, 10:14 - Messages and calls are end-to-end encrypted.\n\
                10/02/26, 10:14 - Ada: We decided to drop GraphQL\n\
                10/02/26, 10:15 - Jun: Never deploy on Fridays.\n";
    assert_eq!(texts(chat), expected[..2]);
    assert_eq!(lines(chat), [(2, 2, None), (3, 3, None)]);
}

#[test]
fn a_label_marks_the_statement_behind_it() {
    for text in [
        "Decision: drop GraphQL",
        "**Decision:** drop GraphQL",
        "- **Decided**: drop GraphQL",
        "- __Decision:__ drop GraphQL",
        "* _Decision_: drop GraphQL",
        "1. Agreed: drop GraphQL",
        "2026-02-10: Decided: drop GraphQL",
        "Entscheidung: GraphQL fliegt raus.",
        "**Entscheidung**: kein GraphQL",
        "Décision : abandonner GraphQL",
        "- Decisión: abandonar GraphQL",
        "Decisão: abandonar GraphQL",
    ] {
        let found = found(text);
        assert_eq!(found.len(), 1, "{text}");
        assert!(found[0].signals.contains(&Signal::Marked), "{text}");
        assert_eq!(found[0].importance, Importance::Medium, "{text}");
    }
    for text in [
        "Note: see below",
        "Decision: tomorrow",
        "Decision: should we drop GraphQL?",
        "Parser : no GraphQL here",
    ] {
        assert!(texts(text).is_empty(), "{text}: {:?}", found(text));
    }
}

#[test]
fn the_best_are_kept_in_the_order_of_the_text() {
    let mut text = String::new();
    for nth in 0..300 {
        text.push_str(&format!("The module{nth} uses the package{nth}.\n\n"));
        if nth % 100 == 99 {
            text.push_str(&format!(
                "Remember that case{nth} is why we decided to use tool{nth}.\n\n"
            ));
        }
    }
    let rules = Rules {
        max: 4,
        ..Rules::default()
    };
    let found = from_text(&text, &rules);
    let said: Vec<_> = found.iter().map(|found| found.text.as_str()).collect();
    assert_eq!(
        said,
        [
            "The module0 uses the package0.",
            "Remember that case99 is why we decided to use tool99.",
            "Remember that case199 is why we decided to use tool199.",
            "Remember that case299 is why we decided to use tool299.",
        ]
    );
    assert!(from_text(&text, &Rules { max: 0, ..rules }).is_empty());
}

#[test]
fn repeated_statements_are_found_once_in_the_better_form() {
    let text = "We decided to use Kafka for events.\n\nNote: we decided to use Kafka for events.\n\nwe decided to use Kafka for all events\n";
    assert_eq!(texts(text), ["Note: we decided to use Kafka for events."]);
}

#[test]
fn tools_are_heard_only_if_it_is_asked_for() {
    let text =
        "User: We decided to use Kafka.\nTool: Note: we decided to use Pulsar.\nAssistant: ok";
    assert_eq!(texts(text), ["We decided to use Kafka."]);
    assert_eq!(found(text)[0].speaker, Speaker::User);
    let rules = Rules {
        tool_output: true,
        ..Rules::default()
    };
    assert_eq!(from_text(text, &rules).len(), 2);
    assert_eq!(passages_of_text(text, &Rules::default()).len(), 2);
    assert_eq!(passages_of_text(text, &rules).len(), 3);
}

#[test]
fn a_mark_outweighs_the_form_of_a_task_and_control_characters_are_data() {
    for asked in [
        "Remember where invoices live, then recall it.",
        "Remember why we dropped the cache?",
    ] {
        assert!(found(asked).is_empty(), "{asked}");
    }
    let marked = found("Remember: run `make gen` to get the types.");
    assert!(
        marked[0].signals.contains(&Signal::Marked)
            && !marked[0].signals.contains(&Signal::Request)
    );
    assert!(texts("We decided to use \u{1b}[1mKafka\u{1b}[0m for events.").is_empty());
    assert!(texts("We decided to use \0 for events.").is_empty());
    let names = "We decided to use Aa1 Bb2 Cc3 Dd4 Ee5 Ff6 Gg7 Hh8 Ii9 Jj10.";
    assert_eq!(found(names)[0].keywords.len(), 8);
}

#[test]
fn other_languages_are_found_by_their_marks_alone() {
    for (text, count) in [
        ("Ab jetzt verwenden wir pnpm statt npm.", 1),
        ("Merk dir, dass Rechnungen in PostgreSQL liegen.", 1),
        ("Désormais nous utilisons PostgreSQL pour les factures.", 1),
        ("Recuerda que las facturas viven en PostgreSQL.", 1),
        ("请记住：发票保存在数据库里。", 1),
        ("今後は必ずブランチを作成してください。", 1),
        ("Das Wetter ist heute schön und die Sonne scheint.", 0),
        ("Hola, ¿cómo estás? Gracias por todo.", 0),
        ("今天天气很好，我们去公园吧。", 0),
        (
            "Die Katze liegt auf dem Sofa und schläft den ganzen Tag.",
            0,
        ),
    ] {
        assert_eq!(texts(text).len(), count, "{text}: {:?}", found(text));
    }
}

#[test]
fn plain_statements_are_found_in_english_and_german() {
    let missed = |list: &[&'static str]| -> Vec<&'static str> {
        let missed = list.iter().filter(|text| texts(text).is_empty());
        missed.copied().collect()
    };
    let english = [
        "We chose Kafka.",
        "We use pnpm.",
        "Don't use emojis.",
        "Never force push.",
        "Answer in German.",
        "Mira owns billing.",
        "Mira is responsible for billing.",
        "Let's use Postgres for the invoices.",
        "Let's go with Postgres.",
        "We won't use Kubernetes for this.",
        "We'll stay with SQLite for now.",
        "We ended up using Redis.",
        "I'd rather have short commit messages.",
        "No new dependencies without asking me.",
        "Keep functions under 40 lines.",
        "Max upload size is 20 MB.",
        "To deploy, run `make deploy` on the bastion host.",
        "To run the tests use `npm test`.",
        "Logs are in /var/log/app.",
        "Production is at https://app.example.com.",
    ];
    assert_eq!(missed(&english), Vec::<&str>::new());
    let german = [
        "Wir benutzen PostgreSQL für die Rechnungen.",
        "Wir setzen auf Rust.",
        "Wir bleiben bei SQLite.",
        "Wir sind auf pnpm umgestiegen.",
        "GraphQL fliegt raus, REST bleibt.",
        "Ich bevorzuge kurze Antworten.",
        "Bitte immer auf Deutsch antworten.",
        "Bitte nie am Freitag deployen.",
        "Man darf freitags nicht deployen.",
        "Wir dürfen keinen AGPL-Code verwenden.",
        "Keine neuen Abhängigkeiten ohne Rückfrage.",
        "In Zukunft verwenden wir nur noch pnpm.",
        "Die Logs liegen in /var/log/app.",
        "Die Tests laufen mit `npm test`.",
        "Das Backend ist in Go geschrieben.",
        "Den Server startet man mit `make run`.",
        "Ada ist für die Abrechnung zuständig.",
        "Mein Name ist Ada.",
        "Der Absturz lag an einem fehlenden Index.",
        "Achtung: der Cache hält 5 Minuten.",
    ];
    assert_eq!(missed(&german), Vec::<&str>::new());
    let ordinal = "Ab dem 14. März verwenden wir Node 22.";
    assert_eq!(texts(ordinal), [ordinal]);
    for noise in [
        "I like it.",
        "We agreed then.",
        "We agreed on:",
        "Never mind that.",
        "Note: see below",
        "Only one error.",
        "who owns billing",
        "Let's see the logs.",
        "Assistant: ok\nUser: hi\nAssistant: Let's use grep to find the caller of main.",
        "Ich habe den Fehler behoben.",
        "Ich schaue mir jetzt die Tests an.",
        "Vielleicht sollten wir PostgreSQL nehmen.",
        "Kannst du bitte den Test reparieren?",
        "Wir müssen den Bug noch beheben.",
        "Ich glaube, der Server läuft auf Port 80.",
        "Der Build ist jetzt grün.",
        "Wir könnten auch Redis nehmen.",
    ] {
        assert!(texts(noise).is_empty(), "{noise}: {:?}", found(noise));
    }
}

#[test]
fn texts_that_are_no_conversations_about_software_give_little() {
    for text in [
        "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness.",
        "Preheat the oven to 180 degrees. Mix flour, sugar and butter. Bake for 40 minutes until golden.",
        "The river rises in the mountains and flows through three countries before it reaches the sea.",
        "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore.",
        "She walked along the beach and thought about her childhood. The sun was setting.",
    ] {
        assert!(texts(text).is_empty(), "{:?}", found(text));
    }
}
