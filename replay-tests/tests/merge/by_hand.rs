//! Cases that were found by random scripts or by thought, one by one.

use super::*;

/// Returns the rows of a machine after it has learned all of `others`, in this order.
fn learned_by(world: &mut World, at: usize, others: &[usize]) -> Vec<Memory> {
    for other in others {
        world.learn(at, |learned, len| if learned == *other { len } else { 0 });
    }
    world.0[at].rows()
}

fn store(key: Option<usize>, word: usize) -> String {
    store_line(1, key, word)
}

/// Returns the index of a memory among those that a machine picks from.
fn place(machine: &Machine, content: &str) -> usize {
    let mut rows = machine.rows();
    rows.sort_by(|a, b| a.id.cmp(&b.id));
    let wanted = |row: &Memory| row.content.as_deref() == Some(content) && row.topic == TOPICS[1];
    rows.iter().position(wanted).expect("it is there")
}

fn undo(at: u64) -> String {
    format!("undo @{at} --only")
}

fn row(rows: &[Memory], word: usize) -> Option<&Memory> {
    let content = content(word);
    let wanted = |row: &&Memory| row.content.as_ref() == Some(&content) && row.topic == TOPICS[1];
    rows.iter().find(wanted)
}

#[test]
fn a_link_is_taken_away_before_it_is_there() {
    let mut world = World::new(3);
    world.act(0, &store(None, 1));
    world.act(0, &store(None, 2));
    let [from, to] = [1, 2].map(|word| place(&world.0[0], &content(word)));
    world.act(0, &format!("link ${from} ${to} -r related"));
    let rows = learned_by(&mut world, 1, &[0]);
    assert_eq!(row(&rows, 1).expect("it is there").related.len(), 1);
    let [from, to] = [1, 2].map(|word| place(&world.0[1], &content(word)));
    world.act(1, &format!("unlink ${from} ${to} -r related"));
    let unlinked = world.0[1].end();
    let rows = learned_by(&mut world, 2, &[1, 0]);
    assert_eq!(row(&rows, 1).expect("it is there").related.len(), 0);
    world.act(1, &undo(unlinked));
    let rows = learned_by(&mut world, 2, &[1]);
    assert_eq!(row(&rows, 1).expect("it is there").related.len(), 1);
    world.meet();
    world.agree().expect("they agree");
}

#[test]
fn events_undone_already_come_as_undone() {
    let mut world = World::new(3);
    world.act(0, &store(None, 1));
    world.act(0, &store(None, 2));
    world.act(0, "recall blue --floor 0 --record");
    let end_there = world.0[0].end();
    learned_by(&mut world, 1, &[0]);
    // The positions of the store and the recall on the machine that learned them.
    let shift = world.0[1].end() - 1 - end_there;
    world.act(1, &undo(shift + end_there - 2));
    world.act(1, &undo(shift + end_there));
    let undone = world.0[1].end();
    let rows = learned_by(&mut world, 2, &[1, 0]);
    assert_eq!(row(&rows, 1), None);
    assert_eq!(row(&rows, 2).expect("it is there").access_count, 0);
    world.act(1, &undo(undone - 1));
    world.act(1, &undo(undone));
    let rows = learned_by(&mut world, 2, &[1]);
    assert!(row(&rows, 1).is_some());
    assert_eq!(row(&rows, 2).expect("it is there").access_count, 1);
    world.meet();
    world.agree().expect("they agree");
}

#[test]
fn waiting_events_under_another_id_are_found() {
    let mut world = World::new(4);
    world.act(0, "clock +1h");
    world.act(0, &store(Some(0), 0));
    // This store is earlier, so the memory gets its id, even if it is learned later.
    world.act(1, &store(Some(0), 1));
    learned_by(&mut world, 2, &[1]);
    let pick = place(&world.0[2], &content(1));
    world.act(2, "clock +2h");
    world.act(2, &update(pick, 2));
    let rows = learned_by(&mut world, 3, &[0, 2, 1]);
    assert!(row(&rows, 2).is_some(), "{rows:#?}");
    assert_eq!(rows.iter().filter(|row| row.key.is_some()).count(), 1);
    for id in rows.iter().map(|row| &row.id) {
        let (short, _) = id.split_at(24);
        let found = world.0[3].service().get(short, None).expect("it is there");
        assert_eq!(&found.id, id);
    }
    world.meet();
    world.agree().expect("they agree");
}

/// A wrong clock makes no value unbeatable. Of values that did not know of each other, the one with the largest stamp
/// is shown, even if a value beaten since had covered it.
#[test]
fn a_write_beats_what_it_has_seen_and_no_more() {
    let mut world = World::new(4);
    world.act(0, &store(None, 0));
    learned_by(&mut world, 1, &[0]);
    learned_by(&mut world, 2, &[0]);
    let update = |world: &mut World, at: usize, from: usize, word: usize| {
        let pick = place(&world.0[at], &content(from));
        world.act(at, &update(pick, word));
    };
    world.act(1, "clock +10h");
    update(&mut world, 1, 0, 1);
    world.act(2, "clock +5h");
    update(&mut world, 2, 0, 2);
    learned_by(&mut world, 0, &[1]);
    update(&mut world, 0, 1, 3);
    assert!(
        row(&world.0[0].rows(), 3).is_some(),
        "a clock that is ahead"
    );
    let rows = learned_by(&mut world, 3, &[0, 1, 2]);
    assert!(row(&rows, 2).is_some(), "{rows:#?}");
    world.meet();
    world.agree().expect("they agree");
}

/// A write also beats the values that it reaches through refs of other writes.
#[test]
fn a_write_beats_what_it_reaches() {
    let mut world = World::new(4);
    world.act(0, &store(None, 0));
    // This machine knows nothing of the rest, so a machine that learns of all gets the memory late.
    learned_by(&mut world, 2, &[0]);
    let pick = place(&world.0[2], &content(0));
    world.act(2, &format!("update ${pick} -k grey"));
    world.act(0, "clock +10h");
    let pick = place(&world.0[0], &content(0));
    world.act(0, &update(pick, 1));
    world.act(0, &format!("update ${pick} -i critical"));
    let last = world.0[0].log().tip().expect("there is one").event;
    learned_by(&mut world, 1, &[0]);
    let log = world.0[1].log();
    let mut subject = SubjectId::ZERO;
    log.scan(&Cursor::START, &mut |event| {
        if event.id == last {
            subject = event.head.subject();
        }
        ControlFlow::Continue(())
    })
    .expect("it reads");
    let content = content(2);
    let event = NewEvent {
        kind: Kind::MEMORY_UPDATED,
        subject,
        refs: vec![last],
        facts: MemoryUpdated {
            fields: fields::CONTENT,
            scope_kind: None,
            importance: None,
            trust: None,
            keywords_added: 0,
            name: Name::ZERO,
            scope_id: ScopeId::ZERO,
            removed: Vec::new(),
            expiry: None,
        }
        .encode(),
        payload: payload::encode(&payload::MemoryUpdated {
            content: Some(&content),
            ..payload::MemoryUpdated::default()
        }),
    };
    logbed::append(
        &log,
        &**world.0[1].run.env(),
        vec![event],
        Durability::Synced,
    )
    .expect("it appends");
    let rows = learned_by(&mut world, 3, &[2, 1, 0]);
    let shown = row(&rows, 2).expect("it is shown");
    assert_eq!(shown.keywords, [WORDS[3]]);
    world.meet();
    world.agree().expect("they agree");
}

/// Views are built in chunks of events, and no chunk may end within an import.
#[test]
fn an_import_is_larger_than_a_chunk_of_views() {
    const CHUNK: u64 = 100_000;
    let mut world = World::new(2);
    let log = world.0[0].log();
    let mut number = 0;
    while number < CHUNK + 1_000 {
        let numbers = number..number + 10_000;
        number = numbers.end;
        let events = numbers.map(|number| logbed::numbered(number, 8));
        logbed::append(
            &log,
            &**world.0[0].run.env(),
            events.collect(),
            Durability::Synced,
        )
        .expect("it appends");
    }
    world.act(0, &store(Some(0), 1));
    world.act(1, &store(Some(0), 2));
    world.learn(1, |_, len| len);
    world.act(1, &store(Some(0), 3));
    let machine = &mut world.0[1];
    let built = machine.service().rebuild(&NoProgress).expect("it builds");
    assert!(built.events > CHUNK);
    let report = machine.verified();
    assert!(report.ok, "{report:#?}");
    let kept: Vec<_> = machine.rows();
    let kept: Vec<_> = kept.iter().filter(|row| row.key.is_some()).collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].content, Some(content(3)));
}
