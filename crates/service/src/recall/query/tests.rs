//! Tests of the order of results, and of questions without one.

use std::collections::BTreeMap;

use super::*;
use crate::service::tests::{service, store_in};
use icm_api::{StoreRequest, UpdateRequest};

fn store(service: &Service, topic: &str, contents: &[&str]) {
    for content in contents {
        store_in(service, topic, content);
    }
}

fn recall(service: &Service, query: &str) -> RecallAnswer {
    let request = RecallRequest {
        explain: true,
        ..RecallRequest::new(query)
    };
    service
        .recall(&Caller::default(), &request)
        .expect("it answers")
}

fn known(answer: &RecallAnswer) -> f64 {
    let explain = answer.explain.as_ref().expect("it was asked for");
    explain["words_known"].as_f64().expect("a number")
}

#[test]
fn words_unknown_to_the_built_in_model_decide() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    store(
        &service,
        "thai",
        &[
            "ใบแจ้งหนี้ทั้งหมดเก็บไว้ในฐานข้อมูล PostgreSQL",
            "ประชุมทีมทุกวันจันทร์เวลาเก้าโมงเช้า",
            "รหัสผ่านของเซิร์ฟเวอร์ทดสอบอยู่ในตู้เซฟของแผนก",
            "สุนัขประจำสำนักงานชื่อบิสกิต",
            "ร้านกาแฟใกล้สำนักงานปิดวันอาทิตย์",
        ],
    );
    store(
        &service,
        "english",
        &[
            "Invoices live in PostgreSQL",
            "Our office dog is called Biscuit",
        ],
    );
    for (query, first) in [
        ("ใบแจ้งหนี้เก็บไว้ที่ไหน", "ใบแจ้งหนี้"),
        ("ประชุมทีมวันไหน", "ประชุมทีม"),
        ("สุนัขประจำสำนักงานชื่ออะไร", "สุนัข"),
        ("ร้านกาแฟปิดวันไหน", "ร้านกาแฟ"),
        ("รหัสผ่านอยู่ที่ไหน", "รหัสผ่าน"),
    ] {
        let answer = recall(&service, query);
        assert_eq!(known(&answer), 0.0, "{query}");
        let best = answer.results[0].memory.content.as_deref();
        assert!(
            best.is_some_and(|best| best.starts_with(first)),
            "{query}: {best:?}"
        );
        for hit in &answer.results {
            assert!(!hit.matched.is_empty(), "{query}: {:?}", hit.memory.content);
        }
    }
    // No memory has a word of these.
    for query in ["отпуск Натальи", "ημερομηνία", "Urlaubsvertretung", "🦖"]
    {
        let answer = recall(&service, query);
        assert_eq!(answer.results, [], "{query}");
    }
}

#[test]
fn the_meaning_of_english_counts_in_full() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    store(
        &service,
        "team",
        &["Our office dog is called Biscuit", "The build failed twice"],
    );
    for query in ["name of the pet", "what is our puppy named?"] {
        let request = RecallRequest {
            query: query.to_owned(),
            // Nearness in meaning alone is no sure answer.
            floor: Some(0.0),
            explain: true,
            ..RecallRequest::default()
        };
        let answer = service.recall(&Caller::default(), &request);
        let answer = answer.expect("it answers");
        assert_eq!(known(&answer), 1.0, "{query}");
        let best = answer.results[0].memory.content.as_deref();
        assert_eq!(best, Some("Our office dog is called Biscuit"), "{query}");
    }
}

/// Tests that a question finds its fact first, and that no function word counts as matched.
#[test]
fn a_question_finds_its_fact_in_its_own_language() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    for (language, facts) in [
        (
            "de",
            [
                "Alle Rechnungen liegen im Ordner der Buchhaltung",
                "Die Datenbank wird jede Nacht gesichert",
                "Der Hund im Büro heißt Biscuit",
                "Die Besprechung ist immer am Montag um neun",
            ],
        ),
        (
            "fr",
            [
                "Claire préfère le thé vert le matin",
                "Les sauvegardes sont faites chaque nuit",
                "La réunion de l'équipe est le lundi",
                "Les factures sont classées par client",
            ],
        ),
        (
            "tr",
            [
                "Faturalar muhasebe klasöründe saklanıyor",
                "Veritabanı her gece yedekleniyor",
                "Toplantılar pazartesi günleri yapılıyor",
                "Ofisteki köpeğin adı Biscuit",
            ],
        ),
        (
            "ar",
            [
                "تحفظ الفواتير في مجلد المحاسبة",
                "تنسخ قاعدة البيانات كل ليلة",
                "يعقد الاجتماع يوم الاثنين",
                "اسم كلب المكتب بسكويت",
            ],
        ),
        (
            "zh",
            [
                "发票保存在财务部的文件夹里",
                "数据库每天晚上备份一次",
                "团队会议在每周一上午九点",
                "办公室的狗叫饼干",
            ],
        ),
    ] {
        store(&service, language, &facts);
    }
    for (query, first, silent) in [
        ("Wo ist die Rechnung?", "Alle Rechnungen", "die"),
        ("Wann wird die Datenbank gesichert", "Die Datenbank", "die"),
        ("Wie heißt der Hund?", "Der Hund", "der"),
        ("quelle est la préférence de Claire", "Claire", "la"),
        ("quand est la réunion de l'équipe", "La réunion", "la"),
        ("où sont les factures", "Les factures", "les"),
        ("fatura nerede saklanıyor", "Faturalar", "nerede"),
        ("toplantı ne zaman yapılıyor", "Toplantılar", "ne"),
        ("köpeğin adı ne", "Ofisteki", "ne"),
        ("أين الفاتورة المحاسبة", "تحفظ الفواتير", "أين"),
        ("متى الاجتماع", "يعقد", "متى"),
        ("数据库什么时候备份", "数据库", "什么"),
        ("发票保存在哪里", "发票", "哪里"),
    ] {
        let answer = recall(&service, query);
        let best = answer
            .results
            .first()
            .unwrap_or_else(|| panic!("{query}: nothing"));
        let content = best.memory.content.as_deref().unwrap_or_default();
        assert!(content.starts_with(first), "{query}: {content}");
        let said = |word: &String| word.to_lowercase() == silent;
        assert!(
            !best.matched.iter().any(said),
            "{query}: {:?}",
            best.matched
        );
    }
}

#[test]
fn frequent_recalls_gain_a_memory_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    store(&service, "a", &["The staging server runs in Oslo"]);
    store(&service, "b", &["The staging database runs in Bergen"]);
    let scores = |service: &Service| {
        let found = recall(service, "where does staging run")
            .results
            .into_iter();
        let scores = found.map(|hit| (hit.memory.id, hit.score));
        scores.collect::<BTreeMap<_, _>>()
    };
    let before = scores(&service);
    assert_eq!(before.len(), 2);
    let request = RecallRequest {
        limit: Some(1),
        record: true,
        ..RecallRequest::new("Oslo server")
    };
    for _ in 0..1_000 {
        let answer = service.recall(&Caller::default(), &request);
        answer.expect("it answers");
    }
    service.record_recalls();
    assert_eq!(service.stats(None).expect("it counts").recalls, 1_000);
    assert_eq!(scores(&service), before);
}

#[test]
fn a_question_without_an_answer_gets_nothing_and_the_nearest_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let lines = [
        "Ada likes hiking near the lake",
        "The office is in Rotterdam near the station",
        "Logs are kept for thirty days",
        "Deploys need two approvals",
        "Invoices live in PostgreSQL",
        "The choir sings Monteverdi on Tuesdays",
    ];
    store(&service, "team", &lines);
    for query in [
        "asdfghjkl",
        "Raft leader election timeout",
        "Terraform state lock DynamoDB",
        "who won the world cup",
        "kubernetes ingress certificate rotation",
    ] {
        let answer = recall(&service, query);
        assert_eq!(answer.results, [], "{query}");
        let everything = RecallRequest {
            floor: Some(0.0),
            ..RecallRequest::new(query)
        };
        let found = service.recall(&Caller::default(), &everything);
        let found = found.expect("it answers").results;
        let nearest = answer.nearest.map(|nearest| nearest.id);
        assert_eq!(
            nearest,
            found.first().map(|hit| hit.memory.id.clone()),
            "{query}"
        );
    }
    for (query, first) in [
        ("what does the choir sing?", lines[5]),
        ("where is the office", lines[1]),
        ("how many approvals does a deploy need", lines[3]),
        ("where do invoices live", lines[4]),
    ] {
        let answer = recall(&service, query);
        let best = answer.results[0].memory.content.as_deref();
        assert_eq!(best, Some(first), "{query}");
    }
}

#[test]
fn an_emoji_is_a_word() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    store(
        &service,
        "team",
        &["The build failed twice", "Lunch is at noon"],
    );
    store(&service, "team/🎉", &["Birthdays are on the calendar"]);
    store(
        &service,
        "signs",
        &[
            "🚀 means a release",
            "👩🏽\u{200D}💻 is on call",
            "🇩🇪 prices are gross",
            "❤\u{FE0F} is a thumbs up",
        ],
    );
    for (query, found) in [
        ("🚀", "🚀 means a release"),
        ("what does 🚀 mean", "🚀 means a release"),
        ("👩\u{200D}💻", "👩🏽\u{200D}💻 is on call"),
        ("💻", "👩🏽\u{200D}💻 is on call"),
        ("🇩🇪", "🇩🇪 prices are gross"),
        ("❤", "❤\u{FE0F} is a thumbs up"),
        ("🎉", "Birthdays are on the calendar"),
    ] {
        let answer = recall(&service, query);
        let best = answer.results[0].memory.content.as_deref();
        assert_eq!(best, Some(found), "{query}");
    }
    for query in ["🇫🇷", "🔥", "💔"] {
        assert_eq!(recall(&service, query).results, [], "{query}");
    }
}

/// The changed memory stands at the end of its topic, beside others that say something near.
#[test]
fn a_changed_memory_comes_before_its_neighbours() {
    for (contents, changed, query) in [
        (
            [
                "Invoices live in MongoDB",
                "Finance wants to be asked before invoice fields change",
                "Payments are retried three times",
            ],
            "Invoices moved from MongoDB to PostgreSQL 17 in October",
            "where do invoices live",
        ),
        (
            [
                "The staging server runs in Oslo",
                "Staging is reset every Sunday, and whoever needs its data asks before",
                "The build runs on four machines",
            ],
            "The staging server moved from Oslo to a rack in Bergen",
            "where does the staging server run",
        ),
        (
            [
                "Ada reviews changes of the parser",
                "Whoever changes the parser runs the long tests",
                "Grammar files are made by hand",
            ],
            "Grace reviews changes of the parser since Ada left for the compiler",
            "who reviews changes of the parser",
        ),
        (
            [
                "Deploys happen on Tuesdays at ten",
                "Before deploys the queue is drained",
                "Releases are named after birds",
            ],
            "Deploys happen on Thursdays at noon, after the planning",
            "when do deploys happen",
        ),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path());
        store(&service, "plans", &contents);
        let id = recall(&service, contents[0]).results[0].memory.id.clone();
        let request = UpdateRequest {
            id,
            content: Some(changed.to_owned()),
            ..UpdateRequest::default()
        };
        let updated = service.update(&Caller::default(), request);
        updated.expect("it is changed");
        let answer = recall(&service, query);
        let best = answer.results[0].memory.content.as_deref();
        assert_eq!(best, Some(changed), "{query}");
    }
}

#[test]
fn a_short_word_finds_its_plural_and_the_other_way_round() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let notes = [
        "The bug in the login form is caused by a race",
        "Key rotation happens every 90 days",
        "Our dog is called Biscuit",
        "Jobs are taken from the queue at night",
        "Taxes are paid in May",
        "The car has to go to the garage",
    ];
    store(&service, "team", &notes);
    for (query, first) in [
        ("bugs", notes[0]),
        ("where are the keys", notes[1]),
        ("dogs", notes[2]),
        ("job", notes[3]),
        ("tax", notes[4]),
        ("cars", notes[5]),
    ] {
        let answer = recall(&service, query);
        let best = answer.results.first();
        let best = best.and_then(|best| best.memory.content.as_deref());
        assert_eq!(best, Some(first), "{query}");
    }
}

#[test]
fn a_word_of_the_topic_or_a_keyword_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    store(&service, "pets", &["Biscuit sleeps under the desk"]);
    store(&service, "team", &["Deploys need two approvals"]);
    let request = StoreRequest {
        keywords: vec!["database".to_owned()],
        ..StoreRequest::new("plans", "We stay with PostgreSQL")
    };
    service
        .store(&Caller::default(), request)
        .expect("it stores");
    for (query, first) in [
        ("pet", "Biscuit sleeps under the desk"),
        ("which pets are there", "Biscuit sleeps under the desk"),
        ("database", "We stay with PostgreSQL"),
    ] {
        let answer = recall(&service, query);
        let best = answer.results.first();
        let best = best.and_then(|best| best.memory.content.as_deref());
        assert_eq!(best, Some(first), "{query}");
    }
}

#[test]
fn a_label_before_a_note_is_nobody_who_speaks() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let notes = [
        "TODO: rotate the staging key in March",
        "Note: the printer on floor two needs A4 paper",
        "TODO: order plants for the office",
        "Note: backups are kept for thirty days",
        "Berlin: the office has two keys",
    ];
    store(&service, "team", &notes);
    for query in [
        "is there a TODO about the iOS onboarding screens",
        "cheap flights to Berlin in winter",
        "a Note on the weather in Lisbon",
    ] {
        let answer = recall(&service, query);
        let sure = answer.results.iter().filter(|hit| hit.fit >= 0.5).count();
        assert_eq!(sure, 0, "{query}: {:?}", answer.results);
    }
    let answer = recall(&service, "how long are backups kept");
    let best = answer.results.first();
    assert_eq!(
        best.and_then(|best| best.memory.content.as_deref()),
        Some(notes[3])
    );
}

#[test]
fn pages_of_an_answer_are_one_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let notes: Vec<String> = (0..60)
        .map(|number| {
            let kept = ["logs", "backups", "invoices", "images", "reports"][number % 5];
            let place = ["Oslo", "Bergen", "Rotterdam"][number % 3];
            format!("The {kept} of {place} are kept for {number} days")
        })
        .collect();
    let notes: Vec<&str> = notes.iter().map(String::as_str).collect();
    store(&service, "team", &notes);
    let page = |offset: usize, limit: usize| {
        let request = RecallRequest {
            query: "how long are the backups of Bergen kept".to_owned(),
            floor: Some(0.0),
            limit: Some(limit),
            offset,
            // Each of these notes seems to replace others, and a guess is of one page.
            no_links: true,
            ..RecallRequest::default()
        };
        let answer = service.recall(&Caller::default(), &request);
        let results = answer.expect("it answers").results.into_iter();
        results.map(|hit| hit.memory.id).collect::<Vec<_>>()
    };
    let whole = page(0, 40);
    let pages: Vec<_> = (0..4).flat_map(|at| page(10 * at, 10)).collect();
    assert_eq!(pages, whole);
}

#[test]
fn words_that_share_a_beginning_are_not_named_as_matched() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let signed = "Webhooks are checked with the signing secret";
    let back = "A rollback of the server takes an hour";
    store(&service, "notes", &[signed, back]);
    for (query, content, named) in [
        ("who owns the checkout", signed, vec![]),
        ("how do I roll back", back, vec!["roll", "back"]),
        ("are the signatures checked", signed, vec!["checked"]),
    ] {
        let answer = recall(&service, query);
        let mut hits = answer.results.iter();
        let hit = hits.find(|hit| hit.memory.content.as_deref() == Some(content));
        assert_eq!(hit.expect("it is found").matched, named, "{query}");
    }
}
