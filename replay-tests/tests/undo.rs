//! Undo: invariant 25, and the parts of a store that an undo must leave alone.

use expect_test::expect;
use icm_api::{Caller, ListRequest, Memory, NoProgress, RowKind, UndoChange, UndoRequest};
use proptest::prelude::*;
use replay_tests::generate;
use replay_tests::judge;
use replay_tests::script::{Command, Run, Script, check};

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..judge::config(64)
    }
}

/// Returns every memory, with tombstones, as of a moment.
fn rows(run: &Run, at: Option<String>) -> Vec<Memory> {
    let request = ListRequest {
        at,
        forgotten: true,
        ..ListRequest::default()
    };
    run.service().list(&request).expect("it lists")
}

fn rows_everywhere(run: &Run, end: u64) -> Vec<Vec<Memory>> {
    (1..=end)
        .map(|at| rows(run, Some(format!("@{at}"))))
        .collect()
}

/// Returns the state hash of a fold of the events in force, after checking that the views agree with it.
fn verified(run: &Run) -> Result<Option<String>, TestCaseError> {
    let report = run.service().verify(&NoProgress);
    let report = report.map_err(|error| TestCaseError::fail(error.to_string()))?;
    // A script may have damaged a view that nothing has read since.
    let mut findings = report.findings.iter();
    let mended = findings.all(|finding| finding.code == "view_rebuilt");
    prop_assert!(report.ok && mended, "{report:#?}");
    Ok(report.state_hash)
}

fn undo(run: &Run, events: &[&str], last: Option<usize>) -> icm_api::error::Result<String> {
    let request = UndoRequest {
        events: events.iter().map(|event| (*event).to_owned()).collect(),
        last,
        ..UndoRequest::default()
    };
    let answer = run.service().undo(&Caller::default(), &request)?;
    Ok(answer.event.expect("it was done"))
}

fn eventful() -> impl Strategy<Value = Script> {
    let command = prop_oneof![
        6 => generate::change(), 3 => generate::undo(), 1 => generate::consolidate(),
        1 => generate::mishap(), 4 => generate::link(), 1 => generate::dedup()
    ];
    generate::script(command, 1..25)
}

proptest! {
    #![proptest_config(config())]

    /// Views that learn of an undo event by event agree with a fold that leaves the undone events out from the start.
    /// Earlier moments stay as they were, and the views can be dropped.
    #[test]
    fn undoing_is_folding_without(script in eventful()) {
        let mut run = Run::new(0);
        for command in &script.0 {
            let end = run.basis().position;
            let before = match command {
                Command::Undo { .. } => Some(rows_everywhere(&run, end)),
                _ => None,
            };
            run.step(command);
            if let Some(before) = before {
                verified(&run)?;
                prop_assert_eq!(rows_everywhere(&run, end), before, "before {}", command);
            }
        }
        if run.basis().position > 0 {
            let hash = verified(&run)?;
            let now = rows(&run, None);
            let always = rows_everywhere(&run, run.basis().position);
            for command in [Command::DropViews, Command::Rebuild] {
                run.step(&command);
                prop_assert_eq!(&rows(&run, None), &now, "after {}", command);
                prop_assert_eq!(&rows_everywhere(&run, run.basis().position), &always);
                prop_assert_eq!(&verified(&run)?, &hash);
            }
        }
    }

    /// 25: undo(undo(e)) restores the state for any e, and a preview shows exactly what is done.
    #[test]
    fn undoing_an_undo_restores(script in eventful(), pick in any::<prop::sample::Index>()) {
        let mut run = Run::new(0);
        for command in &script.0 {
            run.step(command);
        }
        let end = run.basis().position;
        prop_assume!(end > 2);
        let event = format!("@{}", 3 + pick.index(end as usize - 2));
        let (before, hash) = (rows(&run, None), verified(&run)?);
        let mut request = UndoRequest { events: vec![event], dry_run: true, ..UndoRequest::default() };
        let Ok(plan) = run.service().undo(&Caller::default(), &request) else {
            // The event is undone already, or is one of the log's own.
            return Ok(());
        };
        prop_assert_eq!(run.basis().position, end, "a preview writes nothing");
        request.dry_run = false;
        let done = run.service().undo(&Caller::default(), &request);
        let done = done.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&done.changes, &plan.changes);
        let is_memory = |change: &&UndoChange| change.of == RowKind::Memory;
        for change in done.changes.iter().filter(is_memory) {
            let now = rows(&run, None).into_iter().find(|memory| memory.id == change.id);
            prop_assert_eq!(now.map(|m| m.content), change.after.as_ref().map(|row| row.text().map(str::to_owned)));
        }
        let event = done.event.unwrap_or_default();
        let again = undo(&run, &[&event], None);
        prop_assert!(again.is_ok(), "{again:?}");
        prop_assert_eq!(rows(&run, None), before);
        prop_assert_eq!(verified(&run)?, hash);
    }

    /// Undoing the last command restores the state before it.
    #[test]
    fn undoing_the_last_is_as_if_it_had_not_been(
        script in generate::script(generate::change(), 1..20),
    ) {
        let mut run = Run::new(0);
        for command in &script.0 {
            let before = (run.basis().position, rows(&run, None));
            run.step(command);
            let changed = !run.receipts().is_empty() && run.basis().position > before.0;
            if changed && before.0 > 0 {
                let after = (rows(&run, None), verified(&run)?);
                undo(&run, &[], Some(1)).map_err(|error| TestCaseError::fail(error.to_string()))?;
                prop_assert_eq!(rows(&run, None), before.1, "{}", command);
                undo(&run, &[], Some(1)).map_err(|error| TestCaseError::fail(error.to_string()))?;
                prop_assert_eq!((rows(&run, None), verified(&run)?), after, "{}", command);
            }
        }
    }
}

#[test]
fn a_store_an_update_and_their_undo() {
    check(
        "
store $a -t prefs -c \"likes tea\" --key drink
store $b -t prefs -c \"likes cake\"
update $a -c \"likes coffee\"
undo @3
list
undo @6
list
undo @3 --cascade
list --forgotten
store $c -t prefs -c \"likes water\" --key drink
list
history $a
undo @3
undo @1
undo @99
undo --last 50
list
undo --last 1
list
verify
",
        expect![[r#"
            $a stored @3
            $b stored @4
            $a updated @5
            undone 1 @6
              gone $a  (+1 later)
            $b prefs "likes cake"
            undone 1 @7
              back $a
            $b prefs "likes cake"
            $a prefs "likes coffee" key=drink
            undone 2 @8
              gone $a
            $b prefs "likes cake"
            $a stored @9
            $b prefs "likes cake"
            $a prefs "likes water" key=drink
            @3..@5 memory.stored (topic,content,importance,key,trust) $a prefs "likes tea" key=drink
            @5..@6 memory.updated (content) $a prefs "likes coffee" key=drink
            @6..@7 log.undone (content,forgotten) $a prefs "likes tea" key=drink
            @7..@8 log.undone (content,forgotten) $a prefs "likes coffee" key=drink
            @8..@9 log.undone (content,forgotten) $a prefs "likes tea" key=drink
            @9..now memory.stored (topic,content,importance,key,trust) $a prefs "likes water" key=drink
            error: `@3` is undone already
            error: event @1 is a log.origin_started, which cannot be undone
            error: no event @99
            undone 7 @10
              gone $a
              gone $b
            undone 1 @11
              back $a
              back $b
            $b prefs "likes cake"
            $a prefs "likes water" key=drink
            ok: 11 events, @11
        "#]],
    );
}

#[test]
fn a_consolidation_is_undone() {
    check(
        "
store $a -t prefs -c \"likes tea\" -i critical -k tea
store $b -t prefs -c \"likes cake\" -k cake,tea
store $c -t prefs/deep -c \"likes rain\"
mark %before
consolidate $s -t prefs -c \"likes tea and cake\"
list
recall likes
list --at %before
history $a
revive $b
undo @6
list
consolidate $t -t prefs/ -c \"likes it all\" --keep
list
consolidate $u -t prefs/deep -c \"rain\"
consolidate $u -t nowhere -c \"rain\"
verify
",
        expect![[r#"
            $a stored @3
            $b stored @4
            $c stored @5
            $s stored @6
            covers 2
            $s prefs "likes tea and cake" critical [tea,cake]
            $c prefs/deep "likes rain"
            2 found @6
              $c prefs/deep "likes rain"
              $s prefs "likes tea and cake" critical [tea,cake]
            $c prefs/deep "likes rain"
            $b prefs "likes cake" [cake,tea]
            $a prefs "likes tea" critical [tea]
            @3..@6 memory.stored (topic,content,importance,trust,keywords) $a prefs "likes tea" critical [tea]
            @6..now memory.consolidated (forgotten) $a prefs "likes tea" critical [tea] forgotten
            $b revived @7
            undone 1 @8
              back $a
              gone $s
            $c prefs/deep "likes rain"
            $b prefs "likes cake" [cake,tea]
            $a prefs "likes tea" critical [tea]
            $t stored @9
            covers 3
            $t prefs "likes it all" critical [tea,cake]
            $c prefs/deep "likes rain"
            $b prefs "likes cake" [cake,tea]
            $a prefs "likes tea" critical [tea]
            error: topic `prefs/deep` has only one living memory: there is nothing to consolidate
            error: topic `nowhere` has no living memory: there is nothing to consolidate
            ok: 9 events, @9
        "#]],
    );
}

#[test]
fn a_preview_says_what_is_seen() {
    check(
        "
store $a -t prefs -c one
forget $a
undo @3
undo --last 1
store $b -t prefs -c two
forget $b
revive $b
undo --last 2
list --forgotten
verify
",
        expect![[r#"
            $a stored @3
            $a forgotten @4
            undone 1 @5
              gone $a  (+1 later)
            undone 1 @6
              back $a
            $b stored @7
            $b forgotten @8
            $b revived @9
            undone 2 @10
            $b prefs "two"
            $a prefs "one" forgotten
            ok: 10 events, @10
        "#]],
    );
}

#[test]
fn a_recall_can_be_undone() {
    check(
        "
store $a -t prefs -c \"likes tea\"
recall tea --record
recall tea --record
get $a
undo @4 --only
get $a
get $a --at @5
undo --last 1
get $a
undo @4..@5
get $a
verify
",
        expect![[r#"
            $a stored @3
            1 found @3
              $a prefs "likes tea"
            1 found @4
              $a prefs "likes tea" recalled 1
            $a prefs "likes tea" recalled 2
            undone 1 @6
            $a prefs "likes tea" recalled 1
            $a prefs "likes tea" recalled 2
            undone 1 @7
            $a prefs "likes tea" recalled 2
            undone 2 @8
            $a prefs "likes tea"
            ok: 8 events, @8
        "#]],
    );
}

#[test]
fn links_hold_while_their_ends_are_seen() {
    check(
        "
store $a -t prefs -c \"likes tea\"
store $b -t prefs -c \"likes coffee\"
link $a $b -r contradicts
link $a $b -r contradicts
link $b $a -r supersedes
link $a $a -r related
link $a $nobody -r related
link $a $b -r loves
list
mark %linked
forget $b
link $a $b -r related
get $a
get $b
get $a --at %linked
revive $b
unlink $a $b -r contradicts
unlink $a $b -r contradicts
list
undo --last 1
get $a
undo --last 2
get $a
undo @5
get $a
get $a --at %linked
log --kind memory.linked
history $a
rebuild
get $b
verify
",
        expect![[r#"
            $a stored @3
            $b stored @4
            $a linked @5
            $a unchanged @5
            $b linked @6
            error: $a cannot be linked to itself
            error: no memory $nobody
            error: `loves` is no relation
            $b prefs "likes coffee" contradicts←$a supersedes→$a
            $a prefs "likes tea" contradicts→$b supersedes←$b
            $b forgotten @7
            error: memory $b is forgotten
            $a prefs "likes tea"
            $b prefs "likes coffee" forgotten
            $a prefs "likes tea" contradicts→$b supersedes←$b
            $b revived @8
            $a unlinked @9
            $a unchanged @3
            $b prefs "likes coffee" supersedes→$a
            $a prefs "likes tea" supersedes←$b
            undone 1 @10
              changed $a links
                + contradicts→$b
            $a prefs "likes tea" contradicts→$b supersedes←$b
            undone 2 @11
            $a prefs "likes tea" contradicts→$b supersedes←$b
            undone 1 @12
              changed $a links
                - contradicts→$b
            $a prefs "likes tea" supersedes←$b
            $a prefs "likes tea" contradicts→$b supersedes←$b
            @5 memory.linked $a
            @6 memory.linked $b
            @3..now memory.stored (topic,content,importance,trust) $a prefs "likes tea" supersedes←$b
            rebuilt 2 memories @12
            $b prefs "likes coffee" supersedes→$a
            ok: 12 events, @12
        "#]],
    );
}

#[test]
fn a_link_is_taken_away_as_often_as_it_was_added() {
    check(
        "
store $a -t prefs -c \"likes tea\"
store $b -t prefs -c \"likes coffee\"
link $a $b -r related
undo @5
link $a $b -r related
undo @6
get $a
unlink $a $b -r related
get $a
undo @7 --only
get $a
undo @9
get $a
undo @5 --only
get $a
verify
drop-views
get $b
verify
",
        expect![[r#"
            $a stored @3
            $b stored @4
            $a linked @5
            undone 1 @6
              changed $a links
                - related→$b
            $a linked @7
            undone 1 @8
            $a prefs "likes tea" related→$b
            $a unlinked @9
            $a prefs "likes tea"
            undone 1 @10
            $a prefs "likes tea"
            undone 1 @11
              changed $a links
                + related→$b
            $a prefs "likes tea" related→$b
            undone 1 @12
              changed $a links
                - related→$b
            $a prefs "likes tea"
            ok: 12 events, @12
            $b prefs "likes coffee"
            ok: 12 events, @12
        "#]],
    );
}

#[test]
fn a_near_text_is_linked() {
    check(
        "
store $a -t deploy -c \"the service listens on port 5432 behind the proxy\"
dedup link
store $b -t deploy -c \"the service listens on port 5433 behind the proxy\" --request r
store $c -t deploy -c \"the service listens on port 5433 behind the proxy\"
store $b -t deploy -c \"the service listens on port 5433 behind the proxy\" --request r
store $d -t other -c \"the service listens on port 5433 behind the proxy\"
store $e -t deploy -c \"the service listens on port 5433 behind the proxy\" --scope project:x
store $f -t deploy -c \"the service listens on port 5433 behind the proxy\" -i high
store $g -t deploy -c \"the service listens on port 5433 behind the proxy\" --key port
list
forget $b $f $g
store $h -t deploy -c \"the service listens on port 5433 behind the proxy\"
dedup update
store $i -t deploy -c \"the service listens on port 5434 behind the proxy\" --request s
store $i -t deploy -c \"the service listens on port 5434 behind the proxy\" --request s
get $h
undo --last 1
get $h
dedup off
store $j -t deploy -c \"the service listens on port 5433 behind the proxy\"
undo @4
list
verify
",
        expect![[r#"
            $a stored @3
            $b stored @4 near $a 0.89
            $b unchanged @4
            $b stored @4 near $a 0.89
            $d stored @6
            $e stored @7
            $b updated @8
            $g stored @9 near $b 1.00
            $g deploy "the service listens on port 5433 behind the proxy" key=port similar_to→$b
            $e deploy "the service listens on port 5433 behind the proxy" in project:x
            $d other "the service listens on port 5433 behind the proxy"
            $b deploy "the service listens on port 5433 behind the proxy" high similar_to→$a similar_to←$g
            $a deploy "the service listens on port 5432 behind the proxy" similar_to←$b
            $b forgotten @11
            $g forgotten @12
            $h stored @13 near $a 0.89
            $a updated @15 near $a 0.89
            $a updated @15 near $a 0.89
            $h deploy "the service listens on port 5433 behind the proxy" similar_to→$a
            undone 1 @16
              changed $a content
            $h deploy "the service listens on port 5433 behind the proxy" similar_to→$a
            $j stored @17
            undone 2 @18
              gone $b  (+2 later)
                - similar_to→$a
            $j deploy "the service listens on port 5433 behind the proxy"
            $h deploy "the service listens on port 5433 behind the proxy" similar_to→$a
            $e deploy "the service listens on port 5433 behind the proxy" in project:x
            $d other "the service listens on port 5433 behind the proxy"
            $a deploy "the service listens on port 5432 behind the proxy" similar_to←$h
            ok: 18 events, @18
        "#]],
    );
}
