//! `icm link`, `icm unlink`, and repeated stores of one text.

use serde_json::{Value, json};

use crate::world::{Args, Look, Run, Says, World, run};

const OLD: &str = "the service listens on port 5432 behind the proxy";
const NEW: &str = "the service listens on port 5433 behind the proxy";

fn store(world: &World, args: impl Args) -> Value {
    world.json(("store -t deploy", args))
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap()
}

fn memories(world: &World) -> usize {
    world.count("list --all")
}

fn events(world: &World) -> u64 {
    world.json("stats")["events"].as_u64().unwrap()
}

#[test]
fn the_same_text_is_stored_once() {
    let world = World::new();
    let first = world.json(format!("store -t deploy -c '{OLD}' -i high"));
    let before = events(&world);
    for again in [["-c", OLD].as_slice(), &["-c", OLD, "-i", "high"]] {
        let receipt = store(&world, again);
        receipt.has(json!({"action": "unchanged", "id": first["id"]}));
        assert!(receipt.get("similar").is_none(), "{receipt}");
    }
    assert_eq!(events(&world), before);
    // A store with another topic, scope or field does not count as the same.
    for other in [
        ["store", "-t", "other", "-c", OLD].as_slice(),
        &["store", "-t", "deploy/deep", "-c", OLD],
        &["store", "-t", "deploy", "-c", OLD, "--scope", "project:x"],
        &["store", "-t", "deploy", "-c", OLD, "--key", "port"],
        &[
            "store",
            "-t",
            "deploy",
            "-c",
            OLD,
            "--occurred-at",
            "2026-01-01",
        ],
    ] {
        assert_eq!(world.json(other)["action"], "stored", "{other:?}");
    }
    // Texts without words are not compared.
    for _ in 0..2 {
        assert_eq!(world.json("store -t deploy -c '?!'")["action"], "stored");
    }
    world.ok("verify");
}

#[test]
fn forgotten_texts_are_stored_anew() {
    let world = World::new();
    let first = world.json(format!("store -t deploy -c '{OLD}'"));
    world.ok(format!("forget {}", text(&first, "id")));
    let again = world.json(format!("store -t deploy -c '{OLD}'"));
    assert_eq!(again["action"], "stored");
    assert_ne!(again["id"], first["id"]);
    assert!(again.get("similar").is_none(), "{again}");
}

#[test]
fn a_near_text_is_kept_and_linked() {
    let world = World::new();
    let old = world.json(format!("store -t deploy -c '{OLD}'"));
    let new = world.json(format!("store -t deploy -c '{NEW}' --request-id r"));
    assert_eq!(new["action"], "stored");
    new["similar"].has(json!({"id": old["id"], "content": OLD, "score": 0.888_888}));
    let again = world.json(format!("store -t deploy -c '{NEW}' --request-id r"));
    assert_eq!(again, new, "the first receipt");

    let shown = world.json(format!("get {}", text(&new, "id")));
    let related = &shown["related"];
    assert_eq!(related.count(), 1);
    related[0].has(json!({"id": old["id"], "relation": "similar_to", "direction": "out"}));
    let other = world.json(format!("get {}", text(&old, "id")));
    other["related"][0].has(json!({"direction": "in", "event": related[0]["event"]}));
    let detail = world.json(format!("log show {}", text(&related[0], "event")));
    assert_eq!(detail["facts"]["relation"], "similar_to");
    detail.has(json!({"/facts/other": old["id"], "/payload/score_ppm": 888_888}));

    // Both events are one command, which is undone as a whole.
    let plan = world.json("undo --last 1 --yes");
    assert_eq!(plan["events"], 2);
    assert_eq!(memories(&world), 1);
    let other = world.json(format!("get {}", text(&old, "id")));
    assert!(other.get("related").is_none(), "{other}");
    world.icm(["verify"]).ok();
    let more = OLD.replace("behind", "just behind");
    let said = world.icm(["store", "-t", "deploy", "-c", &more]).ok();
    assert!(said.out.contains("similar to"), "{said:?}");
    assert!(said.out.contains("(0.94)"), "{said:?}");
    assert!(said.out.contains(OLD), "{said:?}");
    assert!(said.err.contains("icm update"), "{said:?}");
    assert!(said.err.contains("-r supersedes"), "{said:?}");
}

#[test]
fn the_config_says_what_a_near_text_means() {
    let world = World::new();
    let with = |text: &str, content: &str| {
        world.write("icm.toml", text);
        let args = ["-c", content, "--config", "icm.toml"];
        store(&world, args)
    };
    let old = with("", OLD);
    let updated = with("[dedup]\non_similar = 'update'\n", NEW);
    updated.has(json!({"action": "updated", "id": old["id"], "/similar/content": OLD}));
    assert_eq!(memories(&world), 1);
    let history = world.json(format!("history {}", text(&old, "id")));
    assert_eq!(history[0]["memory"]["content"], OLD);
    world.ok("undo --last 1 --yes");
    assert_eq!(
        world.json(format!("get {}", text(&old, "id")))["content"],
        OLD
    );

    let far = with("[dedup]\nsimilar = 0.95\n", NEW);
    assert!(far.get("similar").is_none(), "{far}");
    assert_eq!(with("[dedup]\nsimilar = 0\n", NEW)["action"], "unchanged");
    let twice = with("[dedup]\non_similar = 'off'\n", NEW);
    assert_eq!(twice["action"], "stored");
    assert!(twice.get("similar").is_none(), "{twice}");
    world.write("icm.toml", "[dedup]\non_similar = 'drop'\n");
    world.fails(r#"list --config icm.toml => 2: "link", "update" or "off""#);
    world.write("icm.toml", "[dedup]\nsimilar = 2\n");
    world.fails("list --config icm.toml => 2: a number from 0 to 1");
}

#[test]
fn an_import_goes_in_whole() {
    let world = World::new();
    let line = |text: &str| format!("{{\"topic\":\"deploy\",\"content\":\"{text}\"}}\n");
    let file = world.write("in.jsonl", [line(OLD), line(NEW), line(OLD)].concat());
    let done = world.json(format!("import jsonl '{}'", file.display()));
    assert_eq!(done["added"], 3);
    assert!(world.out("log --kind memory.linked").is_empty());
}

#[test]
fn memories_are_linked_and_unlinked() {
    let world = World::with_memories();
    let (a, b) = (world.id("database"), world.id("money"));
    let done = world.json(format!("link '{a}' '{b}' -r supersedes --reason newer"));
    done.has(json!({
        "action": "linked", "id": a, "to": b, "relation": "supersedes",
    }));
    let then = world.now();
    let again = world.json(format!("link '{a}' '{b}' -r supersedes"));
    again.has(json!({"action": "unchanged", "event": done["event"]}));
    assert_eq!(world.now(), then);

    let shown = world.out(format!("get '{a}'"));
    shown.says(format!("supersedes {b}"));
    let shown = world.out(format!("get '{b}'"));
    shown.says(format!("{a} supersedes this one"));
    let list = world.json("list --all");
    let linked = |memory: &&Value| memory.get("related").is_some();
    assert_eq!(list.as_array().unwrap().iter().filter(linked).count(), 2);
    let history = world.json(format!("history '{a}'"));
    assert_eq!(history[0]["memory"]["related"][0]["id"], b.as_str());
    let log = world.out(format!("log --id '{b}'"));
    log.says("memory.linked");

    world.ok(format!("forget '{b}'"));
    assert!(world.json(format!("get '{a}'")).get("related").is_none());
    world.ok(format!("revive '{b}'"));
    assert!(world.json(format!("get '{a}'")).get("related").is_some());

    let done = world.json(format!("unlink '{a}' '{b}' --relation supersedes"));
    assert_eq!(done["action"], "unlinked");
    assert!(world.json(format!("get '{a}'")).get("related").is_none());
    assert!(
        world
            .json(format!("get '{a}' --at '{then}'"))
            .get("related")
            .is_some()
    );
    let again = world.json(format!("unlink '{a}' '{b}' -r supersedes"));
    assert_eq!(again["action"], "unchanged");

    let plan = world.json("undo --last 1 --dry-run");
    plan["changes"][0].has(json!({"id": a.as_str(), "fields": ["links"]}));
    let plan = world.out("undo --last 1 --dry-run");
    plan.says("links");
    world.ok("undo --last 1 --yes");
    assert_eq!(
        world.json(format!("get '{a}'"))["related"][0]["id"],
        b.as_str()
    );
    world.ok("rebuild");
    assert_eq!(
        world.json(format!("get '{a}'"))["related"][0]["id"],
        b.as_str()
    );
    world.ok("verify");
}

#[test]
fn a_link_that_is_taken_away_is_told_of_and_compared() {
    let world = World::with_memories();
    let (a, b) = (world.id("database"), world.id("money"));
    let start = world.now();
    world.ok(format!("link '{a}' '{b}' -r supersedes"));
    let linked = world.now();
    let unlink = [
        "unlink",
        &a,
        &b,
        "-r",
        "supersedes",
        "--reason",
        "both hold",
    ];
    world.icm(unlink).ok();
    let unlinked = world.now();

    let log = world.out("log --kind memory.unlinked");
    log.says(format!("supersedes {b}: both hold"));
    let detail = world.json(format!("log show '{unlinked}'"));
    assert_eq!(detail["facts"]["relation"], "supersedes");
    detail.has(json!({"/facts/other": b.as_str(), "subject": a.as_str()}));

    let none = serde_json::json!([]);
    let lists = |args: &str| {
        let diff = world.json(("diff", args));
        ["linked", "unlinked"].map(|list| diff[list].clone())
    };
    let [came, gone] = lists(&format!("{start} '{linked}'"));
    assert_eq!(gone, none);
    assert_eq!(came.count(), 1);
    for (field, said) in [
        ("from", &a),
        ("relation", &"supersedes".to_owned()),
        ("to", &b),
    ] {
        assert_eq!(came[0][field], said.as_str());
    }
    assert_eq!(
        lists(&format!("'{linked}' '{unlinked}'")),
        [none.clone(), came.clone()]
    );
    assert_eq!(
        lists(&format!("{start} '{unlinked}'")),
        [none.clone(), none.clone()]
    );
    // A link counts for a topic if one of its ends is in the topic.
    for topic in ["decisions", "bugs"] {
        let fits = world.json(format!("get '{a}'"))["topic"] == topic
            || world.json(format!("get '{b}'"))["topic"] == topic;
        let [found, _] = lists(&format!("{start} '{linked}' -t {topic}"));
        assert_eq!(found == came, fits, "{topic}: {found}");
    }
    assert_eq!(
        lists(&format!("{start} '{linked}' -t nowhere")),
        [none.clone(), none.clone()]
    );
    assert_eq!(
        lists(&format!("{start} '{linked}' --session s")),
        [none.clone(), none.clone()]
    );

    let said = world.ok(format!("diff {start} '{linked}'"));
    let line = said.out.lines().find(|line| line.starts_with("linked"));
    let line = line.unwrap_or_else(|| panic!("{said:?}"));
    line.says(" supersedes ");
    said.err.says(", 1 linked, 0 unlinked");
    let said = world.ok(format!("diff '{linked}' '{unlinked}'"));
    said.out.says("\nunlinked ");

    // An undo can change any link: restore or remove it.
    world.ok("undo --last 1 --yes");
    assert_eq!(
        lists(&format!("'{unlinked}'")),
        [came.clone(), none.clone()]
    );
    assert_eq!(lists(&format!("'{linked}'")), [none.clone(), none.clone()]);
    // A forgotten end is reported with the memory, not with the link.
    let before = world.now();
    world.ok(format!("forget '{b}'"));
    assert_eq!(lists(&before), [none.clone(), none]);
}

#[test]
fn a_contradiction_of_a_result_is_told_once() {
    let world = World::new();
    let a = world.json("store -t deploy -c 'Redis listens on 6380'");
    let b = world.json("store -t deploy -c 'The cache is a container'");
    let (a, b) = (text(&a, "id"), text(&b, "id"));
    world.ok(format!("link '{b}' '{a}' -r contradicts"));
    let said = world.out("recall Redis 6380");
    assert_eq!(
        said.matches(&format!("contradicts {a}")).count(),
        1,
        "{said}"
    );
    assert_eq!(
        said.matches(&format!("contradicts {b}")).count(),
        1,
        "{said}"
    );
}

#[test]
fn links_that_cannot_be_are_named() {
    let world = World::with_memories();
    let (a, b) = (world.id("database"), world.id("money"));
    let link = |from: &str, to: &str, relation: &str| -> Run {
        world.icm(format!("link '{from}' '{to}' -r '{relation}'"))
    };
    let before = events(&world);
    link(&a, &a, "related").fails(2, "cannot be linked to itself");
    let run = link(&a, &b, "loves").fails(2, "`loves` is no relation");
    run.err.says("related, supersedes, contradicts");
    link(&a, &b, "co_recalled").fails(2, "is no relation");
    link(&a, "01ZZZZZZZZ", "related").fails(1, "no memory");
    link("01ZZZZZZZZ", &a, "related").fails(1, "no memory");
    world.fails(format!("link '{a}' '{b}' => 2: required"));
    world.fails(format!("unlink '{a}' '{a}' -r related => 2: itself"));
    assert_eq!(events(&world), before);
    world.ok(format!("forget '{b}'"));
    for (from, to) in [(&a, &b), (&b, &a)] {
        let run = link(from, to, "related").fails(1, "is forgotten");
        run.err.says("icm revive");
    }
    let empty = World::new();
    empty.fails(format!("link '{a}' '{b}' -r related => 1: no memory"));
    assert!(!empty.store().exists());
}

#[test]
fn a_text_that_another_session_stores_again_is_confirmed() {
    let world = World::new();
    let store = |session: &str| {
        let mut command = world.command(format!("store -t deploy -c '{OLD}'"));
        run(command.env("ICM_SESSION", session), b"").ok().out
    };
    assert!(store("monday").starts_with("stored "));
    assert!(store("monday").starts_with("unchanged "));
    let before = events(&world);
    assert!(store("tuesday").starts_with("confirmed "));
    assert!(store("tuesday").starts_with("unchanged "));
    assert!(store("wednesday").starts_with("confirmed "));
    assert_eq!(events(&world), before + 2);
    let found = world.json("recall 'service port'");
    assert_eq!(found["results"][0]["confirmations"], 2, "{found}");
    let shown = world.ok(format!("get {}", text(&found["results"][0], "id")));
    shown.out.says("confirmed   2 times");
    assert_eq!(memories(&world), 1);
    world.ok("undo --last 1 --yes");
    let found = world.json("recall 'service port'");
    assert_eq!(found["results"][0]["confirmations"], 1, "{found}");
    world.ok("verify");
}

#[test]
fn a_store_names_what_it_seems_to_replace_and_writes_no_link() {
    let world = World::new();
    let old = world.json("store -t deploy -c 'The office is in Rotterdam near the station.'");
    let told = world.ok("store -t deploy -c 'The office moved to Utrecht in May.'");
    let id = text(&old, "id");
    let line = format!("seems to replace {id} (says that it changed)");
    told.out.says(&line);
    told.out.says("│ The office is in Rotterdam");
    let found = world.json("recall office --no-record");
    let new = text(&found["results"][0], "id");
    let way = format!(
        "if it does: `icm link {new} {id} -r supersedes`; if both hold: `icm link {new} {id} -r related`"
    );
    assert!(told.err.lines().any(|line| line == way), "{}", told.err);
    assert_eq!(
        found["results"][0]["seems_to_replace"],
        serde_json::json!([id])
    );
    assert_eq!(found["results"][1]["seems_replaced_by"], new);
    assert!(world.json(["get", new]).get("related").is_none());
    // The printed command settles the question: then links speak, and no rule.
    world.ok(format!("link {new} {id} -r supersedes"));
    let found = world.json("recall office --no-record");
    assert_eq!(found["results"][1]["superseded_by"], new);
    assert!(
        found["results"][0].get("seems_to_replace").is_none(),
        "{found}"
    );
    assert!(
        found["results"][1].get("seems_replaced_by").is_none(),
        "{found}"
    );
}

const PORT: &str = "The API listens on port 8080";
const OTHER_PORT: &str = "The API listens on port 9090";

#[test]
fn a_value_that_goes_back_counts_again() {
    let world = World::new();
    let first = store(&world, ["-c", PORT]);
    let second = store(&world, ["-c", OTHER_PORT]);
    let (old, new) = (text(&first, "id"), text(&second, "id"));
    world.icm(["link", new, old, "-r", "supersedes"]).ok();
    let told = world.icm(["store", "-t", "deploy", "-c", PORT]).ok();
    assert!(told.out.starts_with("stored "), "{}", told.out);
    let line = format!("seems to replace {new} ");
    assert!(told.out.contains(&line), "{}", told.out);
    let found = world.icm(["recall", "API port", "--no-record"]).ok();
    let line = found.out.lines().find(|line| line.contains("│"));
    assert!(line.is_some_and(|line| line.ends_with(PORT)), "{found:?}");
    let again = world.icm(["store", "-t", "deploy", "-c", PORT]).ok();
    assert!(again.out.starts_with("unchanged "), "{}", again.out);
}

#[test]
fn of_two_values_that_both_hold_no_guess_is_told() {
    let world = World::new();
    let old = store(&world, ["-c", PORT]);
    let new = store(&world, ["-c", OTHER_PORT]);
    let guesses = || {
        let found = world.icm(["recall", "API port", "--no-record"]).ok();
        found.out.matches("  seems ").count()
    };
    assert_eq!(guesses(), 2);
    // The second command that the receipt prints.
    let link = ["link", text(&new, "id"), text(&old, "id"), "-r", "related"];
    world.icm(link).ok();
    assert_eq!(guesses(), 0);
    assert_eq!(store(&world, ["-c", PORT])["action"], "unchanged");
}

#[test]
fn a_key_that_is_stored_again_is_guessed_about_no_more() {
    let world = World::new();
    let first = store(&world, ["--key", "port", "-c", PORT]);
    store(&world, ["-c", OTHER_PORT]);
    let guesses = || {
        let found = world.json(["recall", "API port", "--no-record"]);
        found.to_string().matches("seems_").count()
    };
    assert_eq!(guesses(), 2);
    let again = store(&world, ["--key", "port", "-c", PORT]);
    assert_eq!(again["action"], "updated");
    assert_eq!(again["id"], first["id"]);
    assert_eq!(guesses(), 0);
    let again = store(&world, ["--key", "port", "-c", PORT]);
    assert_eq!(again["action"], "unchanged");
}

#[test]
fn a_near_text_that_seems_replaced_is_told_of_once() {
    let world = World::new();
    let of = |port: u32| format!("The API of the billing service listens on port {port}");
    let old = store(&world, ["-c", &of(8080)]);
    let old = text(&old, "id");
    let told = world.icm(["store", "-t", "deploy", "-c", &of(9090)]).ok();
    let line = format!("seems to replace {old} (another value of the same thing, 0.90 alike)");
    assert!(told.out.contains(&line), "{}", told.out);
    assert!(!told.out.contains("similar to"), "{}", told.out);
    assert_eq!(told.out.matches(old).count(), 1, "{}", told.out);
    assert_eq!(told.out.matches('│').count(), 1, "{}", told.out);
    assert_eq!(told.err.lines().count(), 1, "{}", told.err);
    // Each of several older memories has its command.
    let told = world.icm(["store", "-t", "deploy", "-c", &of(7070)]).ok();
    assert_eq!(told.out.matches("seems to replace").count(), 2, "{told:?}");
    let lines: Vec<&str> = told.err.lines().collect();
    assert!(lines[0].starts_with("if it does: `icm link "), "{told:?}");
    let short = format!("{old} -r supersedes`, or `-r related`");
    assert!(lines[1].ends_with(&short), "{told:?}");
    let new = store(&world, ["-c", &of(6060)]);
    let mut replaced = new["seems_to_replace"].as_array().unwrap().iter();
    assert!(
        replaced.any(|old| old["id"] == new["similar"]["id"]),
        "{new}"
    );
}

#[test]
fn of_a_long_text_the_receipt_shows_the_lines_that_differ() {
    let world = World::new();
    let lines = |other: usize| {
        let line = |n: usize| format!("step {n} waits for the one before\n");
        let number = |n: usize| if n == 900 { other } else { n };
        (1..=1_700).map(number).map(line).collect::<String>()
    };
    let put = |text: &str| {
        world
            .icm_with(["store", "-t", "design"], text.as_bytes())
            .ok()
    };
    put(&lines(900));
    let told = put(&lines(5_900));
    assert!(told.out.contains("similar to"), "{}", told.out);
    assert!(told.out.contains("(0.99)"), "{}", told.out);
    assert!(told.out.contains("│ step 900 waits"), "{}", told.out);
    assert!(told.out.contains("│ step 899 waits"), "{}", told.out);
    assert!(told.out.contains("│ …\n"), "{}", told.out);
    assert!(told.out.len() < 800, "{}", told.out.len());
    // The JSON has the whole text.
    let again = world.icm_with(["store", "-t", "design", "--json"], lines(6_900).as_bytes());
    let receipt = again.ok().json();
    assert!(text(&receipt["similar"], "content").len() > 50_000);
    // Texts of the same words in another order differ.
    let put = |text: &str| world.icm(["store", "-t", "words", "-c", text]).ok();
    put("ask Ada before Ben");
    let told = put("ask Ben before Ada");
    assert!(told.out.contains("(0.99)"), "{}", told.out);
}

#[cfg(unix)]
#[test]
fn the_judge_decides_what_the_rules_leave_open() {
    const BLOG: [&str; 2] = [
        "The blog is hosted on Netlify.",
        "The blog is served from Cloudflare.",
    ];
    for (command, says) in [
        (
            "grep -q '\"older\":\"The blog is hosted on Netlify.\"' && echo Yes.",
            true,
        ),
        ("echo no", false),
        ("echo perhaps", false),
        ("exit 3", false),
        ("sleep 60", false),
    ] {
        let world = World::new();
        let settings = format!("[judge]\ncommand = '''{command}'''\ntimeout_s = 0.5\n");
        let config = world.path("judge.toml");
        std::fs::write(&config, settings).unwrap();
        let store = |content| {
            let run = world.icm(format!(
                "store -t web -c '{content}' --json --config {}",
                config.to_str().unwrap()
            ));
            run.ok()
        };
        let old = store(BLOG[0]).json();
        let told = store(BLOG[1]);
        let receipt = told.json();
        assert_eq!(receipt["action"], "stored");
        assert!(receipt.get("to_be_judged").is_none(), "{receipt}");
        match says {
            true => {
                receipt["seems_to_replace"][0].has(json!({
                    "id": old["id"], "reason": "the judge says so",
                }));
            }
            false => assert!(receipt.get("seems_to_replace").is_none(), "{receipt}"),
        }
        let failed = command != "echo no" && !says;
        assert_eq!(
            told.err.contains("judge"),
            failed,
            "{command}: {}",
            told.err
        );
    }
}
