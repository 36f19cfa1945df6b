//! Tests of repeats: which memories repeat each other, and how an answer and its pages count them.

use std::collections::BTreeSet;

use super::words::CountedWords;
use crate::service::Service;
use crate::service::tests::service;
use icm_api::{
    Caller, ContextRequest, LinkRequest, RecallAnswer, RecallRequest, StoreRequest, Trust,
};

fn is_said_alike(one: &str, other: &str) -> bool {
    let said = |text| CountedWords::of(text).expect("it has words");
    let alike = said(one) == said(other);
    assert_eq!(alike, said(other) == said(one), "{one:?} {other:?}");
    alike
}

#[test]
fn spellings_of_one_fact_say_the_same() {
    for (fact, spellings) in [
        (
            "Use tabs",
            &[
                "use tabs",
                "USE TABS",
                "Use  tabs.",
                "use tabs!",
                "- Use tabs",
                "* use tabs",
                "**Use tabs**",
                "“Use tabs”",
                "`use tabs`",
                "\tuse tabs.\n",
                "We use tabs",
                "Always use tabs.",
                "Please use tabs",
                "Tabs, please: use tabs",
                "Use a tab",
                "Using tabs",
                "Reminder: use tabs",
                "Note: we always use tabs.",
                "Use tabs, please!",
                "Use tabs. Use tabs.",
                "# Use tabs",
                "Tabs: use tabs",
            ][..],
        ),
        (
            "Der Port der Datenbank ist 6543",
            &[
                "der Port der Datenbank: 6543",
                "Hinweis: Port der Datenbank ist 6543!",
                "„Der Port der Datenbank ist 6543.“",
            ],
        ),
        (
            "Verwende Tabs",
            &[
                "Bitte Tabs verwenden",
                "Wir verwenden Tabs.",
                "Immer Tabs benutzen!",
                "Nutze Tabs",
                "wir nutzen immer Tabs",
            ],
        ),
        (
            "Utilise des tabulations",
            &[
                "Nous utilisons des tabulations.",
                "utilisez toujours des tabulations, svp",
            ],
        ),
        (
            "L'équipe utilise des tabulations",
            &[
                "« L’équipe utilise toujours des tabulations »",
                "Rappel : l'équipe utilise des tabulations",
            ],
        ),
        (
            "Usa tabuladores",
            &[
                "¡Usa tabuladores!",
                "Siempre usamos tabuladores.",
                "Por favor, usa tabuladores",
                "Usar tabuladores, por favor",
            ],
        ),
        ("我喜欢绿茶", &["我喜欢绿茶。", "「我喜欢绿茶」"]),
        (
            "The team ships boxes on Monday",
            &["The team ships a box on Monday."],
        ),
        ("Ada: Yes, thanks!", &["Ada: yes, thanks"]),
    ] {
        for spelling in spellings {
            assert!(is_said_alike(fact, spelling), "{fact:?} {spelling:?}");
        }
    }
}

#[test]
fn texts_that_differ_in_a_word_that_counts_differ() {
    for (one, others) in [
        (
            "Use tabs",
            &[
                "Do not use tabs",
                "Don't use tabs",
                "Never use tabs",
                "Use no tabs",
                "Use tabs in Go",
                "Use tables",
                "Use tabs only in Makefiles",
                "Use spaces",
                "Use tabs?",
                "Ada uses tabs",
                "I use tabs",
                "You use tabs",
                "We used tabs",
                "Stop using tabs",
                "Use 4 tabs",
                "Use tabs and spaces",
                "Use tabs, not spaces",
                "Use tabs or spaces",
                "We should use tabs",
                "Use tabs now",
                "Usually use tabs",
                "Use --tabs",
            ][..],
        ),
        (
            "Verwende Tabs",
            &[
                "Verwende keine Tabs",
                "Nie Tabs verwenden",
                "Verwende Tabs nicht",
                "Verwende Tabs in Go",
            ],
        ),
        (
            "Utilise des tabulations",
            &[
                "N'utilise pas de tabulations",
                "N'utilise jamais des tabulations",
            ],
        ),
        (
            "Usa tabuladores",
            &[
                "No usa tabuladores",
                "Nunca usar tabuladores",
                "Usa tabuladores en Go",
            ],
        ),
        (
            "The port is 6543",
            &[
                "The port is 6544",
                "The port was 6543",
                "The port isn't 6543",
                "Our ports are 6543 and 6544",
            ],
        ),
        (
            "PostgreSQL 16.1",
            &["PostgreSQL 16.2", "PostgreSQL 161", "PostgreSQL 16"],
        ),
        (
            "Ada reports to Ben",
            &[
                "Ben reports to Ada",
                "Ada reports to Eve",
                "Ada reported to Ben",
            ],
        ),
        ("Moved from A to B", &["Moved from B to A", "Moved to B"]),
        ("The Windows box is slow", &["The window box is slow"]),
        ("See the news page", &["See the new page"]),
        ("Read .env", &["Read env"]),
        ("Pass *args", &["Pass args"]),
        ("Serve http", &["Serve https"]),
        ("Choose plan A", &["Choose plan B", "Choose plan"]),
        ("Ada: Yes, thanks!", &["Ben: Yes, thanks!"]),
        ("Yes", &["No"]),
        ("Tabs: yes", &["Tabs: no"]),
        ("Scores: 5, 5", &["Scores: 5"]),
        (
            "Tests always fail",
            &["Tests never fail", "Tests often fail"],
        ),
        ("Kinds: note, tip", &["Kinds: note", "Kinds"]),
        ("[x] ship it", &["[ ] ship it"]),
        ("Latency < 5 ms", &["Latency > 5 ms"]),
        ("我喜欢绿茶", &["我不喜欢绿茶", "我喜欢红茶"]),
        ("Der Link links", &["Der Link Link"]),
        ("The plants die", &["The plants"]),
    ] {
        for other in others {
            assert!(!is_said_alike(one, other), "{one:?} {other:?}");
        }
    }
}

#[test]
fn texts_of_marks_and_long_texts_are_read_without_harm() {
    for text in [
        "", "  ", "---", "…", "\u{200b}", "**", "?", "l'", "''''", ".", "(((",
    ] {
        let _ = CountedWords::of(text);
    }
    assert_eq!(CountedWords::of(""), None);
    assert_eq!(CountedWords::of("- "), None);
    assert_eq!(CountedWords::of(&"word ".repeat(1_000)), None);
}

const SPELLINGS: [&str; 10] = [
    "Use tabs",
    "use tabs",
    "Use tabs.",
    "USE TABS",
    "We use tabs",
    "always use tabs",
    "use tabs!",
    "**Use tabs**",
    "Tabs, please: use tabs",
    "- Use tabs",
];

fn stored(service: &Service, content: &str, change: impl FnOnce(&mut StoreRequest)) -> String {
    let mut request = StoreRequest::new("style", content);
    change(&mut request);
    service
        .store(&Caller::default(), request)
        .expect("it stores")
        .id
}

fn request(query: &str) -> RecallRequest {
    RecallRequest {
        floor: Some(0.0),
        ..RecallRequest::new(query)
    }
}

fn recall(service: &Service, request: &RecallRequest) -> RecallAnswer {
    service
        .recall(&Caller::default(), request)
        .expect("it answers")
}

fn contents(answer: &RecallAnswer) -> Vec<&str> {
    let results = answer.results.iter();
    results
        .filter_map(|hit| hit.memory.content.as_deref())
        .collect()
}

#[test]
fn ten_spellings_are_one_result_and_one_line_and_one_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let mut ids: BTreeSet<String> = SPELLINGS
        .iter()
        .enumerate()
        .map(|(number, text)| {
            stored(&service, text, |request| {
                request.topic = format!("project-{}", number / 2);
            })
        })
        .collect();
    let others = [
        "Do not use tabs",
        "Use tabs only in Makefiles",
        "Use tables",
    ];
    for other in others {
        stored(&service, other, |_| ());
    }
    let asked = RecallRequest {
        record: true,
        ..request("use tabs")
    };
    let answer = recall(&service, &asked);
    assert_eq!(answer.results.len(), 4, "{:?}", contents(&answer));
    for other in others {
        assert!(contents(&answer).contains(&other), "{other}");
    }
    let hit = &answer.results[0];
    assert!(ids.remove(&hit.memory.id));
    assert_eq!(hit.repeats.iter().cloned().collect::<BTreeSet<_>>(), ids);
    assert_eq!(hit.repeats.len(), 9);
    assert_eq!(hit.also_in.len(), 4, "{:?}", hit.also_in);
    assert!(!hit.also_in.contains(&hit.memory.topic));
    // A repeat that was not shown is not recorded.
    service.record_recalls();
    let (recorded, _) = service.recorded_recalls(1).expect("it reads");
    let shown: Vec<&String> = answer.results.iter().map(|hit| &hit.memory.id).collect();
    assert_eq!(
        recorded[0]
            .results
            .iter()
            .map(|it| &it.id)
            .collect::<Vec<_>>(),
        shown
    );

    let context = ContextRequest {
        recall: request("use tabs"),
        budget: 400,
        markdown: false,
    };
    let context = service
        .recall_context(&Caller::default(), &context)
        .expect("it answers");
    assert_eq!(context.results.len(), 4);
    assert_eq!(
        context.text.matches("also in project-").count(),
        1,
        "{}",
        context.text
    );
    // A repeat of a memory that the session has seen is not shown either.
    let seen = RecallRequest {
        without: vec![hit.memory.id.clone()],
        ..request("use tabs")
    };
    assert_eq!(contents(&recall(&service, &seen)).len(), 3);
}

#[test]
fn memories_that_mean_different_things_by_the_same_words_stay_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let alike = |first: &dyn Fn(&mut StoreRequest), second: &dyn Fn(&mut StoreRequest)| {
        static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let text = format!("I serve port {number}");
        let one = stored(&service, &text, first);
        let other = stored(&service, &format!("{text}!"), second);
        assert_ne!(one, other);
        let answer = recall(
            &service,
            &RecallRequest {
                scope: Some("all".to_owned()),
                ..request(&text)
            },
        );
        let hits = answer
            .results
            .iter()
            .filter(|hit| [&one, &other].contains(&&hit.memory.id));
        hits.count() == 1
    };
    let set = |change: fn(&mut StoreRequest)| change;
    let plain = set(|_| ());
    assert!(alike(&plain, &plain));
    assert!(alike(
        &plain,
        &set(|request| request.topic = "other".to_owned())
    ));
    assert!(alike(
        &plain,
        &set(|request| request.key = Some("a".to_owned()))
    ));
    for different in [
        set(|request| request.scope = Some("project:a".to_owned())),
        set(|request| request.trust = Trust::External),
        set(|request| request.occurred_at = Some("2026-01-05".to_owned())),
        set(|request| request.source.agent = Some("ada".to_owned())),
        set(|request| {
            request.topic = "facts/ada".to_owned();
            request.key = Some("port".to_owned());
        }),
    ] {
        assert!(!alike(&plain, &different));
    }
    let excerpt = |text: &'static str| {
        move |request: &mut StoreRequest| request.raw_excerpt = Some(text.to_owned())
    };
    assert!(!alike(&excerpt("one"), &excerpt("other")));
    assert!(alike(&excerpt("one"), &plain));
}

#[test]
fn a_memory_that_is_superseded_stands_for_no_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let old = stored(&service, "Use tabs", |_| ());
    let new = stored(&service, "Use spaces", |_| ());
    let link = LinkRequest {
        from: new,
        to: old.clone(),
        relation: "supersedes".to_owned(),
        ..LinkRequest::default()
    };
    service.link(&Caller::default(), &link).expect("it links");
    let again = stored(&service, "use tabs!", |_| ());
    let answer = recall(&service, &request("use tabs"));
    for id in [old, again] {
        assert!(answer.results.iter().any(|hit| hit.memory.id == id));
    }
}

#[test]
fn pages_are_filled_and_show_each_result_once_and_lose_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let mut all = BTreeSet::new();
    for number in 0..20 {
        for form in [
            "Rule {} of the tabs holds",
            "We say: rule {} of the tabs holds",
            "Rule {} of the tabs holds!",
        ] {
            all.insert(stored(
                &service,
                &form.replace("{}", &number.to_string()),
                |_| (),
            ));
        }
    }
    // With more memories than candidates, each page would have a ranking of its own.
    for limit in [1, 3, 10, 60] {
        let (mut offset, mut shown, mut named) = (Some(0), Vec::new(), Vec::new());
        while let Some(from) = offset {
            let answer = recall(
                &service,
                &RecallRequest {
                    limit: Some(limit),
                    offset: from,
                    ..request("rule of the tabs")
                },
            );
            assert!(answer.next.is_none_or(|next| next > from));
            assert!(
                answer.results.len() == limit || answer.next.is_none() || from > 0,
                "{limit} from {from}"
            );
            assert!(answer.results.len() <= limit);
            offset = answer.next;
            for hit in answer.results {
                named.extend(hit.repeats);
                shown.push(hit.memory.id);
            }
        }
        let of_pages: BTreeSet<String> = shown.iter().chain(&named).cloned().collect();
        assert_eq!(
            of_pages.len(),
            shown.len() + named.len(),
            "twice, by {limit}"
        );
        assert_eq!(of_pages, all, "by {limit}");
        assert!(shown.len() < 45, "{limit}: {}", shown.len());
    }
}
