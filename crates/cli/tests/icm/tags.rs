//! Tags: filters, their list, renaming and merging.

use serde_json::json;

use crate::world::{Look, Says, World};

fn tagged() -> World {
    let world = World::new();
    for (content, words) in [
        ("apple in the api", "api,fruit"),
        ("apple as a draft", "api,draft"),
        ("apple for later", "later"),
    ] {
        world.ok(format!("store -t fruit -c '{content}' -k {words}"));
    }
    world
}

#[test]
fn recall_and_list_filter_by_tags() {
    let world = tagged();
    for command in ["recall apple --floor 0 --no-record", "list"] {
        let count = |options: &str| {
            let found = world.icm(format!("{command} {options} --json")).json();
            let list = found.get("results").unwrap_or(&found);
            let mut contents = list.texts("content");
            contents.sort_unstable();
            contents
        };
        let [api, draft, later] = ["apple in the api", "apple as a draft", "apple for later"];
        assert_eq!(count("--tag api"), [draft, api]);
        // `-k` and `--keyword` are the same option.
        assert_eq!(count("-k API"), [draft, api]);
        assert_eq!(count("--keyword api --tag fruit"), [api]);
        assert_eq!(count("--tag api,fruit"), [api]);
        assert_eq!(count("--any-tag fruit --any-tag later"), [later, api]);
        assert_eq!(count("--not-tag api --exclude"), [later]);
        assert_eq!(count("--tag api --not-tag draft"), [draft, api]);
    }
    let last = world.json("list --not-tag api,later -l 1");
    assert_eq!(last.count(), 1);
    let behind = world.json("list --not-tag later").texts("content");
    assert_eq!(behind.last().unwrap(), "apple for later");
    world.icm("recall apple --tag nothing").ends(1);
    world.icm("list --exclude").ends(2);
}

#[test]
fn tags_are_listed() {
    let world = World::new();
    let none = world.icm("tags").ends(1);
    none.err.says("no tags in global");
    let world = tagged();
    let tags = world.json("tags");
    assert_eq!(tags.texts("tag"), ["api", "draft", "fruit", "later"]);
    tags.has(json!({"/0/memories": 2, "/1/memories": 1}));
    let shown = world.ok("tags --filter A");
    shown.out.says("api    2  just now");
    shown.out.lacks("fruit");
    world.ok("tags -l 1").err.says("… and 3 more");
    let none = world.icm("tags --filter x").ends(1);
    none.err.says("no tag contains `x` in global");
    assert_eq!(world.icm("tags --filter x --json").ends(1).out.trim(), "[]");
}

#[test]
fn a_tag_is_renamed_and_merged() {
    let world = tagged();
    world.icm("tags rename api sdk").fails(
        2,
        "renaming `api` to `sdk` in 2 memories has to be confirmed",
    );
    let look = world.ok("tags rename api sdk --dry-run");
    look.out
        .begins("would rename `api` to `sdk` in 2 memories\n");
    look.out.says("[fruit] apple as a draft");
    let look = world.json("tags rename api sdk --dry-run");
    look.has(json!({"dry_run": true, "memories": 2, "event": null, "from": "api", "to": "sdk"}));

    let taken = world.icm("tags rename api later --yes");
    let taken = taken.fails(2, "the tag `later` exists already");
    taken.err.says("icm tags merge");
    let at = world.now();
    let done = world.ok("tags rename api sdk --yes");
    done.out.says("renamed `api` to `sdk` in 2 memories");
    assert_eq!(
        world.json("tags").texts("tag"),
        ["draft", "fruit", "later", "sdk"]
    );
    let then = world.json(format!("tags --at {at}"));
    assert_eq!(then.texts("tag"), ["api", "draft", "fruit", "later"]);
    let found = world.json(format!("list --tag api --at {at}"));
    assert_eq!(found.count(), 2);

    let done = world.json("tags merge sdk later --yes");
    done.has(json!({"dry_run": false, "memories": 2, "to": "later"}));
    assert_eq!(world.json("list --tag later").count(), 3);
    world
        .icm("tags merge sdk later --yes")
        .fails(1, "no living memory has the tag `sdk`");
    world.ok("undo --last 1 --yes");
    assert_eq!(world.json("list --tag later").count(), 1);
    assert_eq!(world.json("list --tag sdk").count(), 2);
    world
        .icm("tags --filter a rename api sdk")
        .fails(2, "filters belong to `icm tags`");
}

#[cfg(unix)]
#[test]
fn a_rename_is_asked_about() {
    let world = tagged();
    let question = "Rename `api` to `sdk` in 2 memories? [y/N]";
    let no = world.icm_asked("tags rename api sdk", "n\n").ends(1);
    no.err.says(question);
    no.err.says("nothing was changed");
    let yes = world.icm_asked("tags rename api sdk", "y\n").ok();
    yes.out.begins("renamed `api` to `sdk` in 2 memories");
    assert_eq!(world.json("list --tag sdk").count(), 2);
}

#[test]
fn a_store_and_an_update_take_tags() {
    let world = World::new();
    let id = world.stored("-t notes -c 'The demo is near' --tag demo,talk -k near");
    let keywords = || world.json(format!("get {id}"))["keywords"].clone();
    assert_eq!(keywords(), json!(["demo", "talk", "near"]));
    world.ok(format!("update {id} --tag far"));
    assert_eq!(keywords(), json!(["far"]));
}

#[test]
fn planned_facts_are_not_counted_as_expired() {
    let world = World::new();
    world.ok("fact set deploy version 2.0 --from 2090-01-05");
    let id = world.json("fact list")[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    world.ok(format!("update {id} -k release"));
    world.out("tags").finishes("  1 planned\n");
    let tag = &world.json("tags")[0];
    tag.has(json!({"tag": "release", "memories": 0, "planned": 1, "expired": null}));
    let renamed = world.out("tags rename release shipped --yes");
    renamed.says("in 1 memory ");
    renamed.lacks("expired");
}
