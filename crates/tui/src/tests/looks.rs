//! Tests of what is drawn: each page at each size, an empty store, hostile texts.

use icm_api::{RecallRequest, StoreRequest};

use super::PAGES;
use super::world::World;

#[test]
fn each_page_looks_as_it_did() {
    for size in [(80, 24), (200, 50), (40, 12)] {
        for (name, keys) in PAGES {
            let mut world = World::new(size);
            world.press(keys);
            world.is_frozen(name);
        }
        let mut world = World::new(size);
        world.press("3/memory.updated<Enter>u");
        world.is_frozen("undo");
    }
}

#[test]
fn no_size_of_the_terminal_is_too_small() {
    for (_, keys) in PAGES
        .into_iter()
        .chain([("undo", "3/memory.updated<Enter>u"), ("typed", "/日本語")])
    {
        let mut world = World::new((80, 24));
        world.press(keys);
        for columns in [1, 2, 3, 4, 7, 11, 20, 39, 40, 81, 111, 112, 113, 300] {
            for lines in [1, 2, 3, 4, 5, 6, 9, 80] {
                world.model.resize((columns, lines));
                world.screen();
                world.press("jG");
                world.screen();
            }
        }
    }
}

#[test]
fn an_empty_store_says_what_to_do() {
    let mut world = World::empty((80, 24));
    world.tick();
    world.shows(&["The store is empty", icm_api::STORE_EXAMPLE, "now"]);
    world.press("2");
    world.shows(&["No memory is stored", icm_api::STORE_EXAMPLE]);
    world.press("3");
    world.shows(&["The log has no event yet"]);
    world.press("[{}a<Enter>u");
    world.press("3/colour:red<Enter>");
    world.shows(&["`colour:` is no filter"]);
}

#[test]
fn hostile_texts_are_drawn_as_text() {
    let evil = "a\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{202e}drawkcab\u{202c}\u{2066}x\u{2069}\u{200b}\r\n\u{85}\tz";
    let mut world = World::empty((80, 24));
    let request = StoreRequest {
        raw_excerpt: Some(evil.repeat(20)),
        metadata: Some(serde_json::json!({ "key\u{1b}[1m": evil })),
        source: icm_api::Source {
            file: Some(evil.to_owned()),
            agent: Some(evil.to_owned()),
            ..icm_api::Source::default()
        },
        ..StoreRequest::new("hostile", format!("{evil} {}", "x".repeat(60_000)))
    };
    let id = world.service.store(&world.agent, request).unwrap().id;
    world.update(&id, &format!("{evil} other {evil}"));
    let question = RecallRequest {
        record: true,
        ..RecallRequest::new(format!("drawkcab {evil}"))
    };
    world.service.recall(&world.agent, &question).unwrap();
    world.service.record_recalls();
    world.tick();
    let mut seen = 0;
    for (_, keys) in PAGES
        .into_iter()
        .chain([("undo", "3/memory.updated<Enter>u"), ("typed", "/\u{202e}")])
    {
        for size in [(80, 24), (200, 60)] {
            world.model.resize(size);
            world.press(keys);
            let screen = world.screen();
            let is_bad = |character: &char| {
                (character.is_control() && *character != '\n')
                    || matches!(character, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            };
            assert_eq!(screen.chars().find(is_bad), None, "{keys}:\n{screen}");
            seen += screen.matches("drawkcab").count();
            world.press("<Esc><Esc><Esc>");
        }
    }
    assert!(seen > 10, "the texts were drawn {seen} times");
}
