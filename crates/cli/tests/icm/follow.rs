//! The effect of links on a recall.

use serde_json::{Value, json};

use crate::world::{Args, Look, Says, World, run};

/// Stores memories of a topic without a search for near duplicates, and returns their ids.
fn stored<const N: usize>(world: &World, contents: [&str; N]) -> [String; N] {
    // Only words count: the weight of meaning is 0.
    let config = world.path("../.config/icm");
    std::fs::create_dir_all(&config).unwrap();
    let text = "[dedup]\non_similar = 'off'\n[ranking]\nmeaning = 0\n";
    std::fs::write(config.join("config.toml"), text).unwrap();
    contents.map(|content| {
        let args = ["store", "-t", "ops", "-c", content];
        world.json(args)["id"].as_str().unwrap().to_owned()
    })
}

fn link(world: &World, from: &str, relation: &str, to: &str) {
    world.ok(format!("link '{from}' '{to}' -r '{relation}'"));
}

fn recall(world: &World, args: impl Args) -> Vec<Value> {
    world.json(("recall --no-record", args))["results"]
        .as_array()
        .unwrap()
        .clone()
}

fn ids(results: &[Value]) -> Vec<&str> {
    results
        .iter()
        .map(|hit| hit["id"].as_str().unwrap())
        .collect()
}

#[test]
fn superseded_memories_stand_behind_those_that_supersede_them() {
    let world = World::new();
    let [old, mid, new, other] = stored(
        &world,
        [
            "the database port is 5432",
            "we moved to 5433",
            "it listens on 6000 by now",
            "the port of the proxy",
        ],
    );
    assert_eq!(ids(&recall(&world, "database port"))[0], old);
    link(&world, &mid, "supersedes", &old);
    let then = world.now();
    let found = recall(&world, "database port");
    assert_eq!(ids(&found)[..2], [mid.as_str(), &old]);
    found[0].has(json!({"via": {"relation": "supersedes", "from": old}}));
    assert_eq!(found[1]["superseded_by"], mid.as_str());

    // The newest memory of a chain supersedes the ones between, too.
    link(&world, &new, "supersedes", &mid);
    let found = recall(&world, "database port");
    assert_eq!(ids(&found)[..2], [new.as_str(), &old]);
    assert_eq!(found[1]["superseded_by"], new.as_str());
    let found = recall(&world, format!("database port --at '{then}'"));
    assert_eq!(ids(&found)[..2], [mid.as_str(), &old]);
    // If both are found, the superseding one stands before the other, even with the lower fit.
    let found = recall(&world, "'database port, moved to 5433, listens on 6000'");
    let places = [&new, &mid, &old].map(|id| ids(&found).iter().position(|it| it == id).unwrap());
    assert!(places.is_sorted(), "{found:?}");
    assert_eq!(found[places[2]]["superseded_by"], mid.as_str());

    let shown = world.ok("recall database port");
    shown.out.says(format!("superseded by {new}"));
    shown.out.says(format!("supersedes {old}"));
    world.ok("recall database port --explain");
    let found = recall(&world, "database port -l 1");
    assert_eq!(ids(&found), [&new]);

    // A circle ends, and both sides are marked.
    link(&world, &old, "supersedes", &new);
    let found = recall(&world, "database port");
    assert_eq!(ids(&found).iter().filter(|id| **id == old).count(), 1);
    assert!(ids(&found).contains(&other.as_str()));
    let of = |id: &str| found.iter().find(|hit| hit["id"] == id).unwrap();
    assert!(of(&old).get("superseded_by").is_some() && of(&new).get("superseded_by").is_some());

    // A forgotten memory supersedes nothing.
    world.ok(format!("forget {new}"));
    world.ok(format!("forget '{mid}'"));
    assert!(
        recall(&world, "database port")[0]
            .get("superseded_by")
            .is_none()
    );
}

#[test]
fn contradictions_stand_together() {
    let world = World::new();
    let [one, other, _] = stored(
        &world,
        [
            "deploys happen on Fridays",
            "never ship before a weekend",
            "Fridays are for tea",
        ],
    );
    link(&world, &other, "contradicts", &one);
    let found = recall(&world, "'deploys on Fridays'");
    assert_eq!(ids(&found)[..2], [one.as_str(), &other]);
    assert_eq!(found[0]["contradicts"], json!([other]));
    found[1].has(json!({"contradicts": [one], "/via/relation": "contradicts"}));
    let shown = world.out("recall deploys on Fridays");
    shown.says(format!("contradicts {other}"));
    shown.says(format!("contradicts {one}"));
}

#[test]
fn one_step_is_followed_and_no_filter_is_broken() {
    let world = World::new();
    let [hit, near, source] = stored(
        &world,
        [
            "retries are limited to five",
            "see the runbook",
            "an outage in May",
        ],
    );
    let far = world.json("store -t people -c 'Mira wrote it' -i low");
    let far = far["id"].as_str().unwrap();
    let hidden = [
        "store",
        "-t",
        "ops",
        "-c",
        "elsewhere",
        "--scope",
        "project:x",
    ];
    let hidden = world.json(hidden)["id"].as_str().unwrap().to_owned();
    link(&world, &hit, "related", &near);
    link(&world, &hit, "derived_from", &source);
    link(&world, far, "related", &hit);
    for relation in ["related", "supersedes", "contradicts"] {
        link(&world, &hidden, relation, &hit);
    }
    let all = recall(&world, "'retries limited'");
    assert_eq!(ids(&all)[0], hit);
    assert_eq!(all.len(), 4);
    for expanded in &all[1..] {
        expanded.has(json!({"expanded": true, "/via/from": hit.as_str()}));
    }
    // The answer has no trace of a memory that is not seen from here.
    assert!(!json!(all).to_string().contains(&hidden), "{all:?}");
    let seen = recall(&world, "'retries limited' --scope project:x");
    assert_eq!(ids(&seen)[..2], [hidden.as_str(), &hit]);

    let mut of_topic = recall(&world, "'retries limited' -t ops");
    of_topic.retain(|hit| hit["topic"] != "ops");
    assert!(of_topic.is_empty(), "{of_topic:?}");
    assert!(!ids(&recall(&world, "'retries limited' -i medium")).contains(&far));
    world.icm("recall retries -k none").ends(1);
    // Links add at most a third of the results.
    assert_eq!(recall(&world, "'retries limited' -l 3").len(), 2);
    assert_eq!(recall(&world, "'retries limited' -l 1").len(), 1);
    assert_eq!(recall(&world, "'retries limited' --no-links").len(), 1);
    world.write(
        "icm.toml",
        "[recall]\nlinks = false\n[ranking]\nmeaning = 0\n",
    );
    assert_eq!(
        recall(&world, "'retries limited' --config icm.toml").len(),
        1
    );

    // The shown memories are recorded.
    world.ok("recall retries limited");
    assert_eq!(world.json(format!("get '{near}'"))["access_count"], 1);
    if cfg!(feature = "bench") {
        let again = world.json("bench replay");
        assert_eq!(again["since"]["same"], 2, "{again}");
    }
}

#[test]
fn others_confirm_a_memory_and_what_is_recalled_together_is_named() {
    let world = World::new();
    let session = |name: &str, content: &str| {
        let mut command = world.command(format!("store -t ops -c '{content}' --json"));
        let done = run(command.env("ICM_SESSION", name), b"").ok().json();
        done["id"].as_str().unwrap().to_owned()
    };
    let first = session("s1", "the service listens on port 5432 behind the proxy");
    session(
        "s1",
        "the service listens on port 5432 behind the new proxy",
    );
    assert!(
        world
            .json(format!("get {first}"))
            .get("confirmations")
            .is_none()
    );
    let other = session(
        "s2",
        "the service listens on port 5432 behind the old proxy",
    );
    let memory = world.json(format!("get {first}"));
    let confirmed = |memory: &Value| memory["confirmations"].as_u64().unwrap_or(0);
    let linked_to = |id: &str| memory["related"].to_string().contains(id);
    assert_eq!(confirmed(&memory), u64::from(linked_to(&other)), "{memory}");
    link(&world, &other, "derived_from", &first);
    assert_eq!(confirmed(&world.json(format!("get {first}"))), 1);
    let shown = world.out(format!("get {first}"));
    shown.says("confirmed");
    let hits = recall(&world, "'which port'");
    let hit = hits.iter().find(|hit| hit["id"] == first.as_str()).unwrap();
    assert_eq!(hit["confirmations"], 1);

    let tea = world.json("store -t tea -c 'green tea at four'");
    let tea = tea["id"].as_str().unwrap();
    for times in 1..=3 {
        world.ok("recall tea 'and the old proxy'");
        let together = world.json(format!("get {tea}"))["often_together"].clone();
        assert_eq!(together.is_null(), times < 3, "{times}: {together}");
    }
    let named = world.json(format!("get {tea}"))["often_together"].clone();
    assert!(
        named
            .as_array()
            .unwrap()
            .iter()
            .any(|id| *id == other.as_str()),
        "{named}"
    );
    let answer = world.json("recall 'green tea' --explain -l 1");
    assert_eq!(answer["often_together"], named);
    let told = world.ok("recall 'green tea' -l 1 --no-record").err;
    told.says("often recalled with the first one");
    // A memory among the results is not named again.
    let all = world.json("recall 'green tea and the old proxy' --no-record");
    assert!(all.get("often_together").is_none(), "{all}");
    // Only recalls in force count.
    let log = world.ok("log --kind memory.recalled --reverse --json");
    let first = log.json_lines()[0]["event"].as_str().unwrap().to_owned();
    world.ok(format!("undo {first} --yes"));
    assert!(
        world
            .json(format!("get {tea}"))
            .get("often_together")
            .is_none()
    );
}

#[test]
fn a_model_is_told_what_links_say() {
    let world = World::new();
    let [old, new] = stored(&world, ["the database port is 5432", "Mira knows"]);
    link(&world, &new, "supersedes", &old);
    let calls = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "icm_memory_recall", "arguments": {"query": "database port"}}}),
    ];
    let input: String = calls.iter().map(|call| format!("{call}\n")).collect();
    for (args, told) in [
        ("serve --structured", format!(", superseded by {new})")),
        (
            "serve --structured --compact",
            format!(", superseded by {new})"),
        ),
    ] {
        let answers = world.icm_with(args, input.as_bytes()).ok().json_lines();
        let result = &answers.last().unwrap()["result"];
        let text = result["content"][0]["text"].as_str().unwrap();
        text.says(&told);
        let results = &result["structuredContent"]["results"];
        results.has(json!({
            "/0/via": {"relation": "supersedes", "from": old}, "/1/superseded_by": new.as_str(),
        }));
    }
}
