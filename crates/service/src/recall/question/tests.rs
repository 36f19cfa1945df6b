//! Which part of a prompt counts, and what it finds.

use super::*;
use crate::service::tests::service;
use icm_api::{Caller, RecallRequest, StoreRequest};

fn asking(text: &str) -> Vec<&str> {
    let mut parts = chosen(text).parts;
    parts.sort_unstable_by_key(|part| part.range.start);
    parts
        .into_iter()
        .map(|part| text[part.range].trim())
        .collect()
}

fn log_lines(bytes: usize) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < bytes {
        number += 1;
        text += &format!("10:00:{number:02} GET /pay?order={number}&retry=1 took {number} ms.\n");
    }
    text
}

#[test]
fn lines_that_ask_count_alone_if_they_say_what_about() {
    let noise = log_lines(400);
    let line = "Look at this. Where does the deploy key live? Thanks!";
    assert_eq!(asking(&format!("{noise}{line}\n")), [line]);
    let text = format!("Meeting of the team\n\n{noise}It was slow.\n\n{line}");
    assert_eq!(asking(&text), [line]);
    // A line next to a question that points to something counts as well.
    let first = "I work on the gateway. It is slow.";
    assert_eq!(
        asking(&format!("{first}\nWho owns it?\n{noise}")),
        [first, "Who owns it?"]
    );
    assert_eq!(
        asking(&format!("为什么部署失败？\n{noise}")),
        ["为什么部署失败？"]
    );
    // Of a long line the sentence that asks counts.
    let prose = "And then we talked about lunch for a while. ".repeat(20);
    let text = format!("{noise}{prose}Where does the deploy key live?");
    assert_eq!(asking(&text), ["Where does the deploy key live?"]);
    // Without a question the first line says what is wanted.
    let first = asking(&format!("Fix the deploy of billing\n{noise}"))[0].to_owned();
    assert_eq!(first, "Fix the deploy of billing");
}

#[test]
fn both_ends_of_a_text_of_one_line_count() {
    let prose = "and then we talked about lunch for a while ".repeat(80);
    let text = format!("The deploy key is what I look for. {prose}It is about staging.");
    let [last, first] = asking_in_order(&text);
    assert!(
        first.starts_with("The deploy key is what I look for."),
        "{first}"
    );
    assert!(last.ends_with("It is about staging."), "{last}");
    // Words stay whole.
    assert!(first.ends_with(|c: char| c.is_alphabetic()) && prose.contains(&first[40..]));
    let dense = "字".repeat(2_000);
    assert_eq!(
        asking_in_order(&dense).map(|part| part.len() <= ONE_LINE_MAX),
        [true, true]
    );
}

/// Returns the two parts of a text of one line.
fn asking_in_order(text: &str) -> [String; 2] {
    let parts = chosen(text).parts.into_iter();
    let parts: Vec<String> = parts
        .map(|part| text[part.range].trim().to_owned())
        .collect();
    parts.try_into().expect("two parts")
}

#[test]
fn what_counts_of_any_question_is_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let questions = [
        "why? ".repeat(2_000),
        "?".repeat(1 << 20),
        "字".repeat(50_000),
        "\n".repeat(5_000) + &"x".repeat(100_000) + "?",
        log_lines(2 << 20),
    ];
    for question in &questions {
        let counted = service.what_counts(question).expect("it is taken");
        assert!(
            (1..=COUNTED_MAX).contains(&counted.text.len()),
            "{}",
            counted.text.len()
        );
        assert_eq!(counted.whole_len, Some(question.len() as u64));
        assert!(counted.note().is_some_and(|note| note.len() < COUNTED_MAX));
    }
    let short = service.what_counts(" why? ").expect("it is taken");
    assert_eq!((&*short.text, short.whole_len), (" why? ", None));
}

#[test]
fn the_question_at_the_end_of_pasted_lines_is_answered_and_recorded_as_it_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let store = |content: String| {
        let request = StoreRequest {
            topic: "ops".to_owned(),
            content,
            ..StoreRequest::default()
        };
        service
            .store(&Caller::default(), request)
            .expect("it stores")
    };
    for number in 0..40 {
        store(format!(
            "GET requests of order {number} took long and were retried"
        ));
    }
    let fact =
        store("The deploy key of staging lives in the vault of the platform team".to_owned());
    let coded = store("Error E4711PAY means that the card was refused twice".to_owned());
    let noise = log_lines(5_900);
    for (question, wanted) in [
        (
            format!("{noise}\nWhere does the deploy key of staging live?"),
            &fact,
        ),
        (
            format!("Where does the deploy key of staging live?\n{noise}"),
            &fact,
        ),
        (format!("{noise}\ndeploy key staging"), &fact),
        (
            format!("{noise}\nfatal: E4711PAY\n{noise}\nWhy is that?"),
            &coded,
        ),
        (
            format!(
                "{}\nWhere does the deploy key of staging live?",
                log_lines(1 << 20)
            ),
            &fact,
        ),
        (
            format!("{noise}Where does the deploy key of staging live?\n{noise}"),
            &fact,
        ),
        (
            format!("```\n{noise}```\nWhere does the deploy key of staging live?\n```\n{noise}```"),
            &fact,
        ),
        (
            format!(
                "{0}Where does the deploy key of staging live?\n{0}",
                log_lines(1 << 20)
            ),
            &fact,
        ),
        // An error alone.
        (format!("{noise}fatal: E4711PAY\n{noise}"), &coded),
        (
            format!("{noise}fatal: E4711PAY\n{noise}What does this error mean?"),
            &coded,
        ),
        // A short paste that is mostly a log.
        (
            format!(
                "{}where does the deploy key of staging live",
                log_lines(700)
            ),
            &fact,
        ),
    ] {
        let request = RecallRequest {
            query: question.clone(),
            record: true,
            ..RecallRequest::default()
        };
        let answer = service
            .recall(&Caller::default(), &request)
            .expect("it answers");
        assert_eq!(
            answer.results[0].memory.id,
            wanted.id,
            "{}",
            answer.note.as_deref().unwrap_or_default()
        );
        assert!(
            answer
                .note
                .is_some_and(|note| note.contains("bytes of the question counted"))
        );
        service.record_recalls();
        let (recorded, _) = service.recorded_recalls(1).expect("it reads");
        let kept = &recorded[0].request.query;
        assert!(kept.len() <= COUNTED_MAX, "{}", kept.len());
        // The recorded part counts in full when it is asked again.
        let again = service.recall_again(&recorded[0]).expect("it answers");
        assert_eq!(again.results[0].memory.id, wanted.id);
    }
}

/// Lines of programs, of which a store knows words and numbers.
const PASTES: [(&str, &str); 6] = [
    (
        "access",
        "2026-11-07T03:12:11.204Z WARN [worker-4] ledger.flush took 33ms request_id=00ab77db status=200",
    ),
    (
        "trace",
        "  File \"/srv/app/views.py\", line 500, in rotate\n    return client.post(url)",
    ),
    (
        "kubernetes",
        "4m  Warning  BackOff  pod/broker-7cf  Back-off restarting failed container",
    ),
    (
        "npm",
        "npm WARN deprecated glob@8.6.0: this version is no longer supported, use lru-cache instead",
    ),
    ("cargo", "   Compiling serde v1.0.2"),
    (
        "talk",
        "Dana: Can we look at the quota of the tenant next week?",
    ),
];

#[test]
fn a_question_in_a_paste_finds_what_it_finds_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let store = |content: &str| {
        let request = StoreRequest {
            topic: "facts".to_owned(),
            content: content.to_owned(),
            ..StoreRequest::default()
        };
        service
            .store(&Caller::default(), request)
            .expect("it stores")
            .id
    };
    for content in [
        "The v1 API is removed in 2027",
        "Use lru-cache for the proxy",
        "Room 33 has 200 seats in 2026",
        "Every request_id has 16 hex digits, never ab or db",
        "The ledger worker flushes and retries",
        "views.py is generated, client.post is not used",
        "serde is pinned",
        "Back-off of failed containers is long",
        "Shall we look at the quota of the tenant? Dana does",
    ] {
        store(content);
    }
    let asked = [
        (
            "Who looks after the parcel tracker?",
            "Ingrid looks after the parcel tracker",
        ),
        ("What is our cat called?", "Our office cat is called Pixel"),
        ("Where is Kibana?", "Kibana is at kibana.corp.example"),
        (
            "Please tell me how callbacks are signed.",
            "Callbacks are signed with Ed25519",
        ),
        (
            "I need to know where Sentry is",
            "Sentry lives on the machine called marten",
        ),
        (
            "when do the weekly reports go out",
            "The weekly reports go out on Monday",
        ),
        (
            "Wie heißt unsere Bürokatze?",
            "Unsere Bürokatze heißt Mohrle",
        ),
        (
            "Dis-moi qui remplace Camille.",
            "Bastien remplace Camille en août",
        ),
        (
            "Necesito saber dónde se guardan los contratos",
            "Los contratos se guardan en el armario gris",
        ),
    ];
    let facts = asked.map(|(question, content)| (question, store(content)));
    let mut cases = 0;
    for (question, fact) in &facts {
        for (kind, line) in PASTES {
            for bytes in [1_500, 6_000] {
                let lines = paste(line, bytes);
                let half = lines.len() / 2;
                for at in [0, half, lines.len()] {
                    // Nobody finds a question inside of a talk.
                    if kind == "talk" && at == half {
                        continue;
                    }
                    let prompt = [
                        lines[..at].join("\n"),
                        (*question).to_owned(),
                        lines[at..].join("\n"),
                    ]
                    .join("\n");
                    let request = RecallRequest {
                        query: prompt,
                        ..RecallRequest::default()
                    };
                    let answer = service
                        .recall(&Caller::default(), &request)
                        .expect("it answers");
                    let first = answer.results.first().map(|hit| &hit.memory.id);
                    assert_eq!(
                        first,
                        Some(fact),
                        "{question} at {at} of {kind}: {:?}",
                        answer.note
                    );
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, 9 * 2 * (5 * 3 + 2));
}

/// Returns different lines of one form.
fn paste(form: &str, bytes: usize) -> Vec<String> {
    let mut lines = vec!["Meeting of the platform team, 12 March 2026".to_owned()];
    let mut len = 0;
    while len < bytes {
        let line = match form.rsplit_once(|c: char| c.is_ascii_digit()) {
            Some((before, after)) => format!("{before}{}{after}", lines.len()),
            None => format!("{form} I have {} of them.", lines.len()),
        };
        len += line.len();
        lines.push(line);
    }
    lines
}

#[test]
fn identifiers_of_a_paste_count_if_the_question_says_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let views_of = |text: &str| {
        service
            .what_counts(text)
            .expect("it is taken")
            .text
            .into_owned()
    };
    for content in [
        "E0716 in the client: run the generator again",
        "Every request_id has 16 hex digits, v1 has none",
        "The ledger is slow in 2026",
    ] {
        let request = StoreRequest {
            topic: "facts".to_owned(),
            content: content.to_owned(),
            ..StoreRequest::default()
        };
        service
            .store(&Caller::default(), request)
            .expect("it stores");
    }
    let noise = paste(PASTES[0].1, 2_500)[1..].join("\n") + "\n";
    let cargo = paste(PASTES[4].1, 2_500)[1..].join("\n") + "\n";
    for question in [
        "What does this mean?",
        "Any idea?",
        "Warum schlägt das fehl?",
        "",
        "Pourquoi ça ne marche pas ?",
    ] {
        for log in [&noise, &cargo] {
            assert_eq!(
                views_of(&format!("{log}error[E0716]: dropped\n{log}{question}")),
                "E0716"
            );
        }
    }
    // A question that says something and points to the paste counts with them, another one alone.
    let log = format!("{noise}error[E0716]: dropped\n{noise}");
    for (question, counted) in [
        (
            "Can you help me with this error of the ledger?",
            "Can you help me with this error of the ledger? E0716",
        ),
        ("Is the ledger slow?", "Is the ledger slow?"),
    ] {
        assert_eq!(views_of(&format!("{log}{question}")), counted);
    }
    // If no word is rare in the paste, those of many lines count. Numbers never do.
    assert_eq!(views_of(&format!("{noise}Why is that?")), "request_id");
    assert_eq!(views_of(&format!("{cargo}Why is that?")), "Why is that?");
}

#[test]
fn a_code_of_digits_in_a_paste_names_what_explains_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let known = [
        ("0x80070005", "the service account has no rights"),
        ("0x80070643", "the recovery partition is too small"),
        ("137", "the container was out of memory"),
        ("143", "somebody stopped the container"),
        ("42P01", "the migration was not run"),
        ("42703", "the view is older than the table"),
    ];
    for (code, why) in known {
        let request = StoreRequest {
            topic: "errors".to_owned(),
            content: format!("{code} means that {why}"),
            ..StoreRequest::default()
        };
        let stored = service.store(&Caller::default(), request);
        stored.expect("it stores");
    }
    for (code, line) in [
        ("0x80070005", "ERROR update failed: 0x80070005"),
        ("0x80070643", "ERROR update failed: 0x80070643"),
        ("137", "worker exited with code 137"),
        ("143", "worker exited with code 143"),
        ("42P01", "ERROR: SQLSTATE 42P01"),
        ("42703", "ERROR: SQLSTATE 42703"),
    ] {
        let query = format!(
            "what does this mean?\n\n{}{line}\n{}",
            log_lines(300),
            log_lines(100)
        );
        let request = RecallRequest {
            query,
            ..RecallRequest::default()
        };
        let answer = service.recall(&Caller::default(), &request);
        let answer = answer.expect("it answers");
        let first = answer.results.first().expect("something is found");
        let content = first.memory.content.as_deref().unwrap_or_default();
        assert!(content.starts_with(code), "{line}: {content}");
    }
}

#[test]
fn a_short_line_before_fences_is_cut_at_its_end() {
    let text = format!(
        "look at this\n```{{\"a\": \"{}\"}}```\n```{{\"b\": 2}}```\n",
        "x".repeat(600)
    );
    assert_eq!(asking(&text).concat(), "look at this");
}
