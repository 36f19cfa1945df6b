//! Which memories are repeats of each other, and how an answer and its pages count them.

use std::collections::BTreeSet;

use super::words::Statement;
use crate::service::Service;
use crate::service::tests::service;
use icm_api::{Caller, RecallAnswer, RecallRequest, StoreRequest, Trust};

fn is_said_alike(one: &str, other: &str) -> bool {
    let said = |text| Statement::of(text).expect("it has words");
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
                "SVP utiliser toujours des tabulations",
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
fn what_differs_in_a_word_that_counts_says_something_else() {
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
        let _ = Statement::of(text);
    }
    assert_eq!(Statement::of(""), None);
    assert_eq!(Statement::of("- "), None);
    assert_eq!(Statement::of(&"word ".repeat(1_000)), None);
}
