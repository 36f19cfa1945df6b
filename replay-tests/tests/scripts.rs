//! Stories in the script language. `UPDATE_EXPECT=1 cargo test -p replay-tests --test scripts` rewrites the
//! expectations.

use expect_test::expect;
use replay_tests::script::check;

#[test]
fn a_memory_as_it_was_before_it_was_changed() {
    check(
        r#"
        store $a -t prefs -c "likes green tea" -i high -k tea,drink
        store $b -t work -c "deploys on friday"
        mark %then
        clock +1h
        update $a -c "likes black tea" -k tea
        forget $b
        list
        list --at %then
        get $a --at %then.time
        recall "green tea" --at %then
        recall "deploys"
        history $a
        "#,
        expect![[r#"
            $a stored @3
            $b stored @4
            $a updated @5
            $b forgotten @6
            $a prefs "likes black tea" high [tea]
            $b work "deploys on friday"
            $a prefs "likes green tea" high [tea,drink]
            $a prefs "likes green tea" high [tea,drink]
            1 found @4
              $a prefs "likes green tea" high [tea,drink]
            0 found @6
            @3..@5 memory.stored (topic,content,importance,trust,keywords) $a prefs "likes green tea" high [tea,drink]
            @5..now memory.updated (content,keywords) $a prefs "likes black tea" high [tea]
        "#]],
    );
}

#[test]
fn names_without_a_thing_are_named() {
    check(
        r#"
        get $nobody
        forget $nobody
        store $a -t "" -c tea
        store $a -t prefs -c ""
        store $a -t prefs -c tea
        get $nobody
        list --at @99
        "#,
        expect![[r#"
            error: no memory $nobody
            error: no memory $nobody
            error: the topic is empty
            error: the content is empty
            $a stored @3
            error: no memory $nobody
            error: @99 is in the future
        "#]],
    );
}

#[test]
fn the_same_key_updates() {
    check(
        r#"
        store $a -t prefs -c "likes tea" --key drink
        store $b -t prefs -c "likes tea" --key drink
        store $c -t prefs -c "likes coffee" --key drink
        forget $a
        store $d -t prefs -c "likes water" --key drink
        list
        history $a
        "#,
        expect![[r#"
            $a stored @3
            $a unchanged @3
            $a updated @4
            $a forgotten @5
            $a stored @6
            $a prefs "likes water" key=drink
            @3..@4 memory.stored (topic,content,importance,key,trust) $a prefs "likes tea" key=drink
            @4..@5 memory.updated (content) $a prefs "likes coffee" key=drink
            @5..@6 memory.forgotten (forgotten) $a prefs "likes coffee" key=drink forgotten
            @6..@7 memory.updated (content) $a prefs "likes water" key=drink forgotten
            @7..now memory.revived (forgotten) $a prefs "likes water" key=drink
        "#]],
    );
}

#[test]
fn views_can_go_at_any_time() {
    check(
        r#"
        store $a -t prefs -c "likes green tea"
        drop-views
        recall tea
        settle
        store $b -t prefs -c "likes coffee"
        kill
        list
        damage-views flip 3
        list
        rebuild
        verify
        log
        "#,
        expect![[r#"
            $a stored @3
            1 found @3
              $a prefs "likes green tea"
            $b stored @4
            $b prefs "likes coffee"
            $a prefs "likes green tea"
            $b prefs "likes coffee"
            $a prefs "likes green tea"
            rebuilt 2 memories @4
            ok: 4 events, @4
            @1 log.origin_started
            @2 log.actor_named
            @3 memory.stored $a
            @4 memory.stored $b
        "#]],
    );
}

#[test]
fn recalls_are_counted() {
    check(
        r#"
        store $a -t prefs -c "likes green tea"
        recall tea --record
        recall tea
        get $a
        reopen
        get $a
        log --kind memory.recalled
        "#,
        expect![[r#"
            $a stored @3
            1 found @3
              $a prefs "likes green tea"
            1 found @4
              $a prefs "likes green tea" recalled 1
            $a prefs "likes green tea" recalled 1
            $a prefs "likes green tea" recalled 1
            @4 memory.recalled
        "#]],
    );
}

#[test]
fn a_judgement_makes_no_version_and_is_undone_alone() {
    check(
        r#"
        store $a -t prefs -c "likes green tea"
        judge $a wrong
        judge $a wrong
        judge $a useful
        history $a
        undo --last 1
        judge $a wrong
        correct "what to order" coffee tea
        forget $a
        judge $a wrong
        list
        "#,
        expect![[r#"
            $a stored @3
            $a called wrong once @4
            $a called wrong once @4
            $a called useful once @6
            @3..now memory.stored (topic,content,importance,trust) $a prefs "likes green tea"
            undone 2 @7
              changed $a links
                - called useful→$a
                + called wrong→$a
            $a called wrong once @4
            corrected @8
            $a forgotten @9
            error: memory $a is forgotten
        "#]],
    );
}
