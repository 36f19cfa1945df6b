//! `icm decay`, `icm prune`, and the tick that a recall writes.

use std::sync::Arc;

use icm_api::{Caller, Importance, StoreRequest};
use icm_log::env::Env;
use icm_service::{Ground, OpenOptions, Service, SystemEnv};

use serde_json::json;

use crate::world::{Look, Says, World};

const DAY_MS: u64 = 86_400_000;
const IMPORTANCES: [(&str, Importance); 4] = [
    ("critical", Importance::Critical),
    ("high", Importance::High),
    ("medium", Importance::Medium),
    ("low", Importance::Low),
];

/// The clock of this machine, some days ago.
struct Ago(u64);

impl Env for Ago {
    fn now_ms(&self) -> u64 {
        SystemEnv.now_ms() - self.0 * DAY_MS
    }
    fn fill_random(&self, bytes: &mut [u8]) {
        SystemEnv.fill_random(bytes);
    }
    fn machine_id(&self) -> Option<String> {
        SystemEnv.machine_id()
    }
}

/// Makes a store with a memory of each importance, all of this age.
fn aged(days: u64) -> World {
    let world = World::new();
    let options = OpenOptions {
        dir: world.store(),
        lock_wait: std::time::Duration::from_secs(5),
        read_only: false,
    };
    let ground = Ground {
        env: Arc::new(Ago(days)),
        ..Ground::system()
    };
    let service = Service::open_on(options, ground).unwrap();
    for (name, importance) in IMPORTANCES {
        let request = StoreRequest {
            key: Some(name.to_owned()),
            importance: Some(importance),
            ..StoreRequest::new("zoo", format!("a zebra of {name} importance"))
        };
        service.store(&Caller::default(), request).unwrap();
    }
    world
}

fn weight(world: &World, key: &str) -> f64 {
    world.json(format!("get {}", world.id(key)))["weight"]
        .as_f64()
        .unwrap()
}

fn weights(world: &World) -> [f64; 4] {
    IMPORTANCES.map(|(key, _)| weight(world, key))
}

fn events(world: &World) -> u64 {
    world.json("stats")["events"].as_u64().unwrap()
}

fn ticks(world: &World) -> usize {
    let log = world.icm("log --kind memory.decayed --json");
    log.out.lines().count()
}

#[test]
fn memories_fade_by_days_and_not_by_runs() {
    let world = aged(20);
    assert_eq!(weights(&world), [1.0; 4]);
    let before = world.now();
    let look = world.json("decay --dry-run");
    assert_eq!(look["action"], "decayed");
    assert_eq!(
        (&look["event"].is_null(), &look["memories"]),
        (&true, &3.into())
    );
    assert_eq!(world.now(), before, "a dry run writes nothing");

    let done = world.json("decay");
    assert_eq!((&done["day"], &done["rate"]), (&look["day"], &0.05.into()));
    assert!(done["event"].is_string());
    let after = events(&world);
    for _ in 0..3 {
        assert!(world.out("decay").starts_with("unchanged"));
    }
    assert_eq!(events(&world), after);
    // 20 days, or 21 if midnight passed.
    let [critical, high, medium, low] = weights(&world);
    assert_eq!(critical, 1.0);
    let near = |is: f64, a_day: f64| {
        let days = [20, 21].map(|days| a_day.powi(days));
        days.iter().any(|should| (is - should).abs() < 2e-6)
    };
    assert!(near(high, 0.975) && near(medium, 0.95) && near(low, 0.9));

    let listed = world.json("list --sort weight");
    let keys: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|m| &m["key"])
        .collect();
    assert_eq!(keys, ["critical", "high", "medium", "low"]);
    let shown = world.json("recall zebra --no-record");
    let shown = shown["results"].as_array().unwrap();
    let of_low = shown.iter().find(|hit| hit["key"] == "low").unwrap();
    assert_eq!(of_low["weight"], low);
    let get = world.json(format!("get {} --at {before}", world.id("low")));
    assert_eq!(get["weight"], 1.0, "as of before the tick");
    let diff = world.json(format!("diff {before}"));
    diff.has(json!({"faded": 3, "changed": []}));
    let log = world.ok("log --kind memory.decayed");
    log.out.says("5 % a day");

    // Another rate is another tick, which an undo takes back.
    world.ok("decay --rate 0.5");
    assert!(weight(&world, "medium") < 1e-5);
    world.ok("undo --last 1 --yes");
    assert_eq!(weights(&world), [critical, high, medium, low]);
    world.ok("verify");
    for bad in [["--rate", "1.5"], ["--rate", "fast"], ["--rate", "-1"]] {
        let bad = ("decay", &bad);
        assert_eq!(world.icm(bad).code, 2);
    }
}

#[test]
fn a_prune_takes_all_that_faded_and_nothing_that_matters() {
    let world = aged(40);
    world.ok("prune");
    world.ok("decay");
    let before = weights(&world);
    let look = world.json("prune --dry-run");
    look.has(json!({"memories": 1, "/ids/0": world.id("low").as_str()}));
    world.fails("prune => 2: has to be confirmed");
    let done = world.json("prune --threshold 1 --yes");
    assert_eq!(done["memories"], 2);
    let left = world.json("list");
    assert_eq!(left.count(), 2, "{left}");
    let history = world.ok(format!("history {}", world.id("low")));
    history.out.says("memory.pruned");
    let log = world.ok("log --kind memory.pruned");
    log.out.says("2 memories below 1");
    world.ok("verify");
    let undone = world.json("undo --last 1 --yes");
    assert_eq!(undone["changes"].count(), 2);
    assert_eq!(weights(&world), before);
    world.ok("verify");
    assert_eq!(world.icm("prune --threshold 2").code, 2);
}

#[test]
fn a_prune_keeps_what_was_recalled_lately() {
    let world = aged(100);
    world.icm(["decay"]).ok();
    let look = ["prune", "--dry-run"];
    assert_eq!(world.json(look)["memories"], 2);
    let found = world.json(["recall", "zebra of medium importance", "-l", "1"]);
    assert_eq!(found["results"][0]["key"], "medium");
    let plan = world.json(look);
    assert_eq!(plan["ids"], serde_json::json!([world.id("low")]));
    assert_eq!(plan["recalled"], 1);
    let stays = "1 memory below 0.1 stays: recalled in the last 30 days";
    let run = world.icm(look).ok();
    assert!(run.out.starts_with("would forget 1 memory"), "{}", run.out);
    assert!(run.out.lines().any(|line| line == stays), "{}", run.out);
    world.icm(["prune", "--yes"]).ok();
    assert_eq!(world.icm(look).ok().out.trim_end(), stays);
    assert!(weight(&world, "medium") < 0.1);
}

#[test]
fn a_plan_of_a_prune_shows_ten_or_all() {
    let world = World::new();
    let keys: Vec<String> = (0..12).map(|n| format!("m{n}")).collect();
    let keys: Vec<_> = keys
        .iter()
        .map(|key| (key.as_str(), Importance::Low))
        .collect();
    store_ago(&world, 60, &keys);
    world.icm(["decay"]).ok();
    let shown = |args: &[&str]| {
        let run = world.icm(args).ok();
        let is_shown = |(key, _): &&(&str, Importance)| {
            let line = format!("    a zebra called {key}");
            run.out.lines().any(|it| it == line)
        };
        (keys.iter().filter(is_shown).count(), run.out)
    };
    let (some, out) = shown(&["prune", "--dry-run"]);
    assert_eq!(some, 10, "{out}");
    let more = "… and 2 more; see them with `--all`";
    assert!(out.lines().any(|line| line == more), "{out}");
    let (all, out) = shown(&["prune", "--dry-run", "--all"]);
    assert_eq!(all, 12, "{out}");
    assert!(!out.contains('…'), "{out}");
    let plan = world.json(["prune", "--dry-run", "--all"]);
    assert_eq!(plan["first"].as_array().map(Vec::len), Some(12), "{plan}");
}

#[test]
fn a_recall_lets_memories_fade_once_a_day() {
    let world = aged(3);
    world.ok("recall zebra --no-record");
    world.ok(format!("recall zebra --at {} --no-record", world.now()));
    assert_eq!(ticks(&world), 0);
    let config = world.write("off.toml", "[decay]\nauto = false\n");
    let config = config.to_str().unwrap();
    world.ok(format!("--config '{config}' recall zebra"));
    assert_eq!(ticks(&world), 0, "switched off");

    let first = world.json("recall zebra");
    assert_eq!(first["results"][0]["weight"], 1.0, "after the answer");
    assert_eq!(ticks(&world), 1);
    world.ok("recall zebra");
    assert_eq!(ticks(&world), 1);
    assert!(weight(&world, "low") < 0.9);
    assert!(world.out("decay").starts_with("unchanged"));
    // The tick is no command of its own: the last command is still the store.
    let low = world.id("low");
    let undone = world.json("undo --last 1 --yes");
    assert_eq!(undone["changes"][0]["id"], low.as_str());

    let fresh = World::with_memories();
    fresh.ok("recall billing");
    assert_eq!(ticks(&fresh), 0, "nothing is older than a day");
}

#[test]
fn nothing_fades_where_there_is_nothing() {
    let world = World::new();
    assert_eq!(world.json("decay")["action"], "unchanged");
    assert_eq!(world.json("prune --yes")["memories"], 0);
    assert!(!world.store().exists());
}

/// A clock 1,000 days ahead.
struct Ahead;

impl Env for Ahead {
    fn now_ms(&self) -> u64 {
        SystemEnv.now_ms() + 1_000 * DAY_MS
    }
    fn fill_random(&self, bytes: &mut [u8]) {
        SystemEnv.fill_random(bytes);
    }
    fn machine_id(&self) -> Option<String> {
        SystemEnv.machine_id()
    }
}

#[test]
fn a_tick_of_a_clock_that_was_wrong_is_named_until_it_is_undone() {
    let world = aged(2);
    assert!(world.json("decay").get("ahead").is_none());
    let options = OpenOptions {
        dir: world.store(),
        lock_wait: std::time::Duration::from_secs(5),
        read_only: false,
    };
    let ground = Ground {
        env: Arc::new(Ahead),
        ..Ground::system()
    };
    let service = Service::open_on(options, ground).unwrap();
    let tick = service.decay(&Caller::default(), &Default::default());
    let tick = tick.unwrap();
    drop(service);
    world.ok("store -t zoo -c 'an okapi' --key new");
    assert!(weight(&world, "new") < 1e-5, "it fades by days to come");

    let event = tick.event.unwrap();
    let told = world.json("decay");
    told["ahead"].has(json!({"/0": {"event": event, "day": tick.day}}));
    let prune = world.json("prune --dry-run");
    assert_eq!(prune["ahead"], told["ahead"]);
    let undo = format!("`icm undo {}` takes that back", &event[..12]);
    for command in ["decay", "prune --dry-run"] {
        let run = world.icm(command);
        run.err.says(&undo);
    }
    world.ok(format!("undo {} --yes", &event[..8]));
    assert!(world.json("decay").get("ahead").is_none());
    assert_eq!(weight(&world, "new"), 1.0);
}

#[test]
fn a_rate_that_takes_the_place_of_another_one_of_today_says_so() {
    let world = aged(2);
    let first = world.json("decay --rate 0.02");
    assert!(first.get("replaces_rate").is_none());
    let run = world.ok("decay --rate 0.03");
    run.out.says("at 3 % a day, no longer at 2 %");
    let again = world.json("decay --rate 0.03");
    assert!(again.get("replaces_rate").is_none(), "{again}");
}

/// Stores a memory for each key with its importance, by a clock this many days ago.
fn store_ago(world: &World, days: u64, keys: &[(&str, Importance)]) {
    let options = OpenOptions {
        dir: world.store(),
        lock_wait: std::time::Duration::from_secs(5),
        read_only: false,
    };
    let ground = Ground {
        env: Arc::new(Ago(days)),
        ..Ground::system()
    };
    let service = Service::open_on(options, ground).unwrap();
    for (key, importance) in keys {
        let request = StoreRequest {
            key: Some((*key).to_owned()),
            importance: Some(*importance),
            ..StoreRequest::new("zoo", format!("a zebra called {key}"))
        };
        service.store(&Caller::default(), request).unwrap();
    }
}

/// Returns the status and the message of the doctor's check of the clock.
fn clock(world: &World) -> (String, String) {
    let answer = world.json("doctor");
    let checks = answer["checks"].as_array().unwrap();
    let check = checks
        .iter()
        .find(|check| check["name"] == "clock")
        .unwrap();
    let text = |field: &str| check[field].as_str().unwrap().to_owned();
    (text("status"), text("message"))
}

#[test]
fn a_clock_that_was_years_behind_is_named() {
    for years in [10, 2] {
        let world = World::new();
        store_ago(
            &world,
            years * 365,
            &[("old", Importance::Medium), ("kept", Importance::High)],
        );
        let (status, message) = clock(&world);
        assert_eq!(status, "warning", "{message}");
        message.says(format!("{} days before", years * 365));
        // After a write by the right clock, the log still shows the wrong one.
        world.ok("store -t zoo -c 'an okapi' --key new");
        world.ok("decay");
        let (status, message) = clock(&world);
        assert_eq!(status, "warning", "{message}");
        message.says(format!("{} days, from ", years * 365));

        let old = world.id("old");
        let prune = world.json("prune --dry-run");
        prune.has(json!({"ids": [old], "/pauses/0/ids": [old]}));
        let run = world.ok("prune --dry-run");
        run.err.says("1 memory faded only through the time from");
        run.err.says(&old);
        world.ok(format!("update {old} --importance high"));
        assert_eq!(world.json("prune --dry-run")["memories"], 0);
    }
}

#[test]
fn a_store_that_rests_is_well() {
    let world = World::new();
    for days in (10..200).rev().step_by(10) {
        store_ago(&world, days, &[(&format!("m{days}"), Importance::Medium)]);
    }
    let (status, message) = clock(&world);
    assert_eq!(status, "ok", "{message}");
    message.says("days before the clock's");
    world.ok("decay");
    // These memories are old without a pause.
    let prune = world.json("prune --dry-run");
    assert!(prune["memories"].as_u64().unwrap() > 5, "{prune}");
    assert!(prune.get("pauses").is_none(), "{prune}");
    let fresh = World::with_memories();
    assert_eq!(
        clock(&fresh),
        ("ok".into(), "not behind the newest event".into())
    );
}
