//! Stories in the script language. `UPDATE_EXPECT=1 cargo test -p replay-tests --test scripts`
//! rewrites the expectations.

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
        expect![[r#""#]],
    );
}

#[test]
fn what_does_not_exist_is_named() {
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
        expect![[r#""#]],
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
        expect![[r#""#]],
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
        expect![[r#""#]],
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
        expect![[r#""#]],
    );
}
