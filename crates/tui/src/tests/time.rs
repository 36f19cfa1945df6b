//! Tests of moments: each page shows what was known then.

use icm_api::{RecallRequest, UndoRequest};

use super::world::World;

#[test]
fn a_moment_shows_what_was_known_then() {
    let mut world = World::new((80, 24));
    world.press("2");
    world.shows(&["now", "Invoices live in PostgreSQL", "Mira owns billing"]);
    // The end of the first day.
    world.press("@2027-01-15<Enter>");
    world.shows(&[
        "as of 2027-01-15 08:00:00",
        "event 4 of 12",
        "Invoices live in MySQL",
        "past",
    ]);
    world.lacks("Mira");
    world.press("1");
    world.shows(&["as of", "2 memories"]);
    world.press("3");
    world.shows(&["@4 ", "@1 "]);
    world.lacks("@5 ");
    // The next day with events, and event by event.
    world.press("2}");
    world.shows(&["event 5 of", "Mira owns billing"]);
    world.press("[");
    world.lacks("Mira");
    world.press("]]]");
    world.shows(&["event 7 of", "Invoices live in PostgreSQL"]);
    world.press("{{");
    world.shows(&["event 4 of", "Invoices live in MySQL"]);
    world.press("n");
    world.shows(&["now", "live", "Invoices live in PostgreSQL"]);
    // A moment that is none leaves the page as it is.
    world.press("@gestern<Enter>");
    world.shows(&["`gestern` is no point in time", "now"]);
    world.press("4j<Enter>");
    world.shows(&["as of 2027-01-16"]);
}

/// All events of a command have one moment, so that no page shows a half of it.
#[test]
fn a_step_passes_over_a_whole_command() {
    let mut world = World::new((80, 24));
    let texts = [
        "Kettles whistle",
        "Bridges sway in the wind",
        "Snow melts in May",
    ];
    let ids: Vec<String> = texts.map(|text| world.store("bulk", text)).into();
    world.service.forget(&world.person, &ids).unwrap();
    world.press("2");
    world.lacks("Kettles");
    let newest = world.model.newest;
    world.press("[");
    assert_eq!(world.model.position(), newest - 3);
    world.shows(&texts);
    world.press("]");
    assert_eq!((world.model.position(), &world.model.at), (newest, &None));
    // There is nothing before the first command, which wrote two events.
    world.press("@@1<Enter>[");
    assert_eq!(world.model.position(), 2);
}

#[test]
fn facts_and_alerts_are_those_of_the_moment() {
    let mut world = World::new((80, 24));
    world.set_fact("2.0");
    world.later(1);
    world.set_fact("2.1 🚀");
    world.set_alert("Look at the deployment 日本語");
    world.tick();
    world.press("3");
    world.shows(&["alert.set", "Look at the deployment 日本語"]);
    // Before the alert, before the second value, before the first one.
    world.press("[");
    world.lacks("alert.set");
    world.press("2");
    world.shows(&["facts/deploy", "2.1 🚀"]);
    world.press("[");
    world.shows(&["facts/deploy", "2.0"]);
    world.lacks("2.1");
    world.press("[");
    world.lacks("facts/deploy");
    world.press("n3/topic:facts/<Enter>");
    world.shows(&["2 events", "memory.updated"]);
    world.press("[[");
    world.shows(&["1 event "]);
    world.lacks("memory.updated");
}

#[test]
fn a_memory_shows_nothing_of_later() {
    let mut world = World::new((80, 48));
    let undo = |world: &World, event: &str| {
        let request = UndoRequest {
            events: vec![event.to_owned()],
            ..UndoRequest::default()
        };
        let done = world.service.undo(&world.person, &request);
        assert_eq!(done.unwrap().changes.len(), 1);
    };
    undo(&world, "@7");
    undo(&world, "@13");
    // More recalls than the page of a memory shows.
    for n in 0..60 {
        let question = RecallRequest {
            record: true,
            ..RecallRequest::new(format!("which table holds invoices {n}"))
        };
        world.service.recall(&world.agent, &question).unwrap();
        world.service.record_recalls();
    }
    world.tick();
    world.press("2/live<Enter><Enter>");
    world.shows(&[
        "which table holds",
        "newest 50 of 61 times",
        "undone at @14",
    ]);
    world.lacks("undone at @13");
    world.press("@@12<Enter>");
    world.shows(&["memory.updated", "where do invoices live", "recalled 1,"]);
    world.lacks("undone at");
    world.lacks("which table");
    world.lacks("log.undone");
    // The undo of @14 is not known yet.
    world.press("@@13<Enter>");
    world.shows(&["undone at @13", "where do invoices live"]);
    world.press("@@14<Enter>");
    world.lacks("undone at @13");
}
