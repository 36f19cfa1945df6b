//! Tests of undos: the preview, and the undo of exactly that plan.

use super::world::World;

#[test]
fn an_undo_is_shown_before_it_is_done() {
    let mut world = World::new((80, 24));
    world.press("3/memory.updated<Enter>u");
    world.shows(&[
        "would undo 1 event of 1 command: 1 memory changed",
        "~ changed",
        "- Invoices live in PostgreSQL",
        "+ Invoices live in MySQL",
        "y undo",
    ]);
    let before = world.service.newest_position().unwrap();
    world.press("<Esc>");
    world.shows(&["nothing was undone"]);
    assert_eq!(world.service.newest_position().unwrap(), before);
    world.press("uoy");
    world.shows(&["undone 1 event: 1 memory changed"]);
    assert_eq!(world.service.newest_position().unwrap(), before + 1);
    world.press("2");
    world.shows(&["Invoices live in MySQL"]);
}

#[test]
fn facts_and_alerts_are_undone() {
    let mut world = World::new((80, 24));
    world.set_fact("2.0");
    world.set_fact("2.1 🚀");
    world.set_alert("Look at the deployment 日本語");
    world.tick();
    world.press("3/alert.set<Enter>u");
    world.shows(&["1 alert gone", "- gone", "- Look at the deployment 日本語"]);
    world.press("y");
    world.shows(&["undone 1 event: 1 alert gone"]);
    world.press("<Esc>/topic:facts/<Enter>u");
    world.shows(&["deploy version", "- 2.1 🚀", "+ 2.0"]);
    world.press("y");
    world.shows(&["undone 1 event"]);
    world.press("2");
    world.shows(&["facts/deploy", "2.0"]);
    world.lacks("2.1");
}

#[test]
fn a_preview_that_no_longer_holds_is_shown_again() {
    let mut world = World::new((80, 24));
    world.press("3/memory.updated<Enter>u");
    let id = world
        .service
        .list(&icm_api::ListRequest::default())
        .unwrap();
    let id = id
        .iter()
        .find(|memory| memory.topic == "decisions")
        .unwrap()
        .id
        .clone();
    world.update(&id, "Invoices live in SQLite");
    let before = world.service.newest_position().unwrap();
    world.press("y");
    world.shows(&["nothing was done", "later changes"]);
    assert_eq!(world.service.newest_position().unwrap(), before);
}

#[test]
fn neither_a_reader_nor_the_past_offers_an_undo() {
    let mut world = World::new((80, 24));
    world.press("3a");
    world.press("[u");
    world.shows(&["a past moment is shown"]);
    world.press("n");
    world.model.read_only = true;
    world.press("u");
    world.shows(&["read-only"]);
    assert!(world.model.above.is_empty());
    world.press("?");
    world.lacks("undo the event");
}
