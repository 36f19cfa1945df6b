//! Tests of keys: moving, opening, going back, and lists that grow.

use icm_api::{MemoirRequest, StoreRequest};

use super::PAGES;
use super::world::World;
use crate::model::{Key, Leave};
use crate::row::Target;

#[test]
fn a_memory_shows_its_differences_its_links_and_who_saw_it() {
    let mut world = World::new((80, 48));
    world.model.paints = false;
    world.press("2/live<Enter><Enter>");
    world.shows(&[
        "Invoices live in PostgreSQL, in the table",
        "Invoices live in [-MySQL-]{+PostgreSQL+}, in the table",
        "memory.updated",
        "related → Mira owns billing.",
        "\"where do invoices live\"",
    ]);
    // The row of the update opens its event, and goes to the moment before it.
    for _ in 0..world.model.view().page.rows.len() {
        if world.model.view().target() != Some(&Target::Event(7)) {
            world.press("j");
        }
    }
    world.press("<Enter>");
    world.shows(&["@7", "memory.updated", "Payload"]);
    world.press("[[[[");
    world.shows(&["@3", "memory.stored", "as of"]);
    world.press("<Esc>");
    world.shows(&["Invoices live in MySQL, in the table"]);
    world.lacks("PostgreSQL, in the table");
}

#[test]
fn looking_leaves_no_trace() {
    let mut world = World::new((80, 24));
    let before = world.service.newest_position().unwrap();
    for (_, keys) in PAGES {
        world.press(keys);
        world.press("jG<Enter><Esc><Esc>");
    }
    world.press("n2/invoices<Enter><Enter>");
    world.shows(&["recalled 1"]);
    world.service.record_recalls();
    assert_eq!(world.service.newest_position().unwrap(), before);
}

#[test]
fn what_agents_store_appears_and_the_chosen_row_stays() {
    let mut world = World::new((80, 24));
    world.press("2");
    world.store("decisions", "The first row is the newest memory");
    world.tick();
    world.shows(&["The first row is the newest memory"]);
    assert_eq!(world.model.view().cursor, 0);
    world.press("j");
    let chosen = world.model.view().target().cloned();
    world.store("decisions", "A second one moves the rows down");
    world.tick();
    world.shows(&["A second one moves"]);
    assert_eq!(world.model.view().target().cloned(), chosen);
    // A past moment stays as it is.
    world.press("1[");
    world.store("decisions", "A third one of later");
    world.tick();
    world.lacks("A third one");
}

#[test]
fn a_long_list_is_loaded_as_one_moves_through_it() {
    let mut world = World::empty((80, 24));
    for n in 0..450 {
        let caller = world.agent.clone();
        let request = StoreRequest::new(format!("t{}", n % 7), format!("memory number {n}"));
        world.service.store(&caller, request).unwrap();
    }
    world.tick();
    world.press("2");
    world.shows(&["200+ memories", "memory number 449"]);
    world.press("G");
    world.shows(&["400+ memories"]);
    world.press("GG");
    world.shows(&["450 memories", "memory number 0"]);
    world.press("g");
    world.shows(&["memory number 449"]);
    world.press("t<Enter>");
    world.shows(&["topic t0", "65 memories"]);
    world.press("<Esc>s");
    world.shows(&["heaviest first"]);
    world.press("3GGG");
    world.shows(&["@1 "]);
}

#[test]
fn keys_lead_everywhere_and_out() {
    let mut world = World::new((80, 48));
    world.press("<Tab>");
    assert_eq!(world.model.page, 1);
    world.press("<Tab><Tab><Tab>");
    assert_eq!(world.model.page, 0);
    // A session of the page leads to its events.
    world.press("1<Enter>");
    world.shows(&["session:"]);
    world.press("?");
    world.shows(&["Keys", "back to now"]);
    world.press("??<Esc>");
    world.model.press(Key::Ctrl('z'));
    assert_eq!(world.model.leave.take(), Some(Leave::Suspend));
    // While a line is typed, q is a letter.
    world.press("/q");
    assert_eq!(world.model.leave, None);
    world.press("<Esc>q");
    assert_eq!(world.model.leave, Some(Leave::End));
}

#[test]
fn topics_are_nested_below_those_that_are_shown() {
    let mut world = World::empty((80, 24));
    for (topic, content) in [
        ("ops/eu/deploy", "Kettles whistle"),
        ("ops/eu/deploy/web", "Bridges sway in the wind"),
        ("ops/us", "Snow melts in May"),
        ("solo/only/one", "Bakers rise early"),
    ] {
        world.store(topic, content);
    }
    world.tick();
    world.press("2t");
    world.shows(&["4 topics"]);
    let screen = world.screen();
    let names = screen.lines().skip(4).take(5);
    let names: Vec<String> = names.map(|line| line.chars().skip(16).collect()).collect();
    assert_eq!(
        names,
        ["ops", "  eu/deploy", "    web", "  us", "solo/only/one"],
        "{screen}"
    );
    world.press("j<Enter>");
    world.shows(&["topic ops/eu/deploy/", "2 memories"]);
    world.press("/bridges<Enter>");
    world.shows(&["1 result for \"bridges\""]);
}

#[test]
fn blank_rows_are_passed_over() {
    let mut world = World::new((80, 24));
    world.press("2/live<Enter><Enter>");
    let mut seen = 0;
    loop {
        let view = world.model.view();
        let row = view.page.rows[view.cursor].text();
        assert!(!row.trim().is_empty(), "row {} is blank", view.cursor);
        let before = view.cursor;
        world.press("j");
        if world.model.view().cursor == before {
            break;
        }
        seen += 1;
    }
    let rows = world.model.view().page.rows.len();
    assert!(seen > 8 && seen < rows, "{seen} of {rows} rows");
    world.press("g");
    assert_eq!(world.model.view().top, 0);
}

#[test]
fn a_pin_is_named_until_its_end() {
    let mut world = World::new((80, 24));
    let id = world.store("people", "Bakers rise early");
    let pinned = world.service.pin(&world.person, &[id], None);
    pinned.unwrap();
    world.tick();
    world.press("2<Enter>");
    world.shows(&["Bakers rise early", "pinned until unpinned"]);
    world.press("[");
    world.shows(&["Bakers rise early"]);
    world.lacks("pinned until");
}

#[test]
fn the_event_of_a_memoir_leads_to_no_memory() {
    let mut world = World::new((80, 48));
    let request = MemoirRequest {
        name: "billing".to_owned(),
        ..MemoirRequest::default()
    };
    world.service.memoir_create(&world.agent, &request).unwrap();
    world.tick();
    world.press("3<Enter>");
    world.shows(&["memoir.created", "about"]);
    assert!(!matches!(
        world.model.view().target(),
        Some(Target::Memory(_))
    ));
}
