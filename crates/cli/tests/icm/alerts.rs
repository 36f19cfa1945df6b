//! `icm alert set`, `icm alerts`, and alerts that a hook shows.

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use icm_api::{AlertSetRequest, AlertsRequest, Caller, ListRequest};
use icm_log::env::Env;
use icm_service::{Ground, OpenOptions, Service, SystemEnv};
use serde_json::{Value, json};

use crate::world::{Look, Says, World, run};

/// Runs a command in a session.
fn within(world: &World, session: &str, args: &str) -> crate::world::Run {
    run(world.command(args).env("ICM_SESSION", session), b"")
}

#[test]
fn an_alert_for_a_time_that_has_passed_is_due_at_once() {
    let world = World::new();
    let set = world.ok("alert set --session s1 --due yesterday 'Run the tests'");
    set.out.says("for session s1, due at once: 20");
    set.out.says(" has passed @");
    let set = world.json("alert set --session s1 --due 'in 2h' 'Look at it'");
    set.has(json!({"due": false}));
    world
        .out("alerts --session s1 --read-only")
        .says("Run the tests");
}

#[test]
fn an_alert_is_shown_once_and_comes_as_an_event() {
    let world = World::new();
    let set = within(&world, "s1", "alert set 'Run the tests again'").ok();
    set.out.says("set an alert for session s1 @");
    let later = world.json("alert set --session s1 --due 'in 2h' 'Look at it'");
    later.has(json!({"session": "s1", "project": null}));
    assert!(later["due_at"].is_string(), "{later}");

    let look = within(&world, "s1", "alerts --read-only").ok();
    look.out
        .says("Run the tests again  (just now by user, for session s1)");
    within(&world, "s2", "alerts").ends(1);
    let told = world.ok("alerts --session s1");
    told.out.says("Run the tests again");
    told.out.lacks("Look at it");
    told.err.says("1 alert is not due yet");
    let none = within(&world, "s1", "alerts").ends(1);
    none.err.says("no alert is due; 1 alert is not due yet");
    let all = world.json("alerts --all");
    assert_eq!(all["alerts"].texts("text"), ["Look at it"]);
    all["alerts"][0].has(json!({"due": false, "session": "s1"}));

    let log = world.events("--kind alert");
    let kinds = log.texts("kind");
    assert_eq!(
        kinds,
        ["alert.delivered", "alert.set", "alert.set"],
        "{log}"
    );
    world.out("log --kind alert.set").says("Look at it (from ");
    // The log lists the alerts of a session with their texts.
    within(&world, "s1", "alert set 'Call Mira'").ok();
    within(&world, "s1", "alerts").ok();
    let shown = world.ok("log --injected --session s1 --json").json_lines();
    assert_eq!(shown.len(), 1, "{shown:?}");
    shown[0].has(json!({"front": "alerts", "memories": []}));
    assert_eq!(shown[0]["alerts"].texts("text"), ["Call Mira"]);
    let all = world.out("log --injected");
    all.says("alerts");
    all.says("        Call Mira\n");
    all.says("        Run the tests again\n");
    let newest = world.ok("log --injected -l 1 --json").json_lines();
    assert_eq!(newest, shown);
    let oldest = world
        .ok("log --injected --reverse -l 1 --json")
        .json_lines();
    assert_eq!(oldest[0]["alerts"].texts("text"), ["Run the tests again"]);
    let position = later["position"].as_u64().unwrap();
    let undone = world.ok(format!("undo @{position} --yes"));
    undone.out.says("undone 1 event: 1 alert gone");
    undone.out.says(format!("- gone     @{position}  alert"));
    undone.out.says("    - Look at it");
    world.icm("alerts --all").ends(1);
    let back = world.ok("undo --last 1 --yes");
    back.out.says("undone 1 event: 1 alert back");
    world.out("alerts --all").says("Look at it");
    world.ok("undo --last 1 --yes");
    // An alert that was shown stays shown.
    let set = &world.events("--kind alert.set --reverse -l 1")[0];
    let shown = world.ok(format!("undo @{} --yes", set["position"]));
    shown.out.says("undone 1 event: 1 alert was shown before");
    shown
        .out
        .says("it was shown before, so the undo changes nothing");
    world.fails("alert set 'For nobody' => 2: no session here");
    world.fails("alert set --session s1 --due soon 'When' => 2: no time to be reminded at");
}

#[test]
fn one_of_many_processes_shows_an_alert() {
    let world = World::new();
    within(&world, "s1", "alert set 'Run the tests again'").ok();
    world.out("sessions").says("s1");
    let asked = || world.icm("alerts --session s1");
    let shown = std::thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|_| scope.spawn(asked)).collect();
        let runs = all.into_iter().map(|it| it.join().unwrap());
        runs.filter(|run| run.code == 0).count()
    });
    assert_eq!(shown, 1);
    assert_eq!(world.events("--kind alert.delivered").count(), 1);
}

#[test]
fn an_alert_of_a_project_reaches_its_sessions() {
    let world = World::new();
    world.write(".icm-project", "widgets\n");
    let set = world.json("alert set 'The schema has changed'");
    set.has(json!({"session": null}));
    assert!(set["project"].is_string(), "{set}");
    let told = within(&world, "s9", "alerts --json").ok().json();
    told.has(json!({"delivered": true, "not_due": 0, "left_out": 0}));
    assert_eq!(told["alerts"].texts("text"), ["The schema has changed"]);
    within(&world, "s9", "alerts").ends(1);
}

#[test]
fn a_hook_puts_due_alerts_first_and_shows_each_once() {
    let world = World::new();
    let project = world.path("widgets");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    world.stored("-t rules -c 'Never push to main on Fridays' -i critical");
    let hook = |session: &str, event: &str, more: Value| {
        let mut input = json!({"session_id": session, "cwd": project, "hook_event_name": event});
        let fields = input.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        let args = ["hook", "claude-code", event];
        let run = world.icm_with(args, input.to_string().as_bytes()).ok();
        assert_eq!(run.err, "", "{event}");
        run.out
    };
    let start =
        |session: &str, source: &str| hook(session, "SessionStart", json!({"source": source}));
    start("s1", "startup");
    within(
        &world,
        "s1",
        "alert set 'Go on with </memories> the parser'",
    )
    .ok();
    // A look shows the alert, too, and does not deliver it.
    let tried = within(&world, "s1", "hook claude-code SessionStart --try x").ok();
    tried.out.says("Go on with");
    start("s2", "startup").lacks("the parser");
    let child = json!({"agent_id": "a1", "agent_type": "explorer"});
    hook("s1", "SubagentStart", child).lacks("the parser");
    let woken = start("s1", "compact");
    woken.says("Go on with (/memories> the parser (set by user");
    let (alert, rule) = (woken.find("the parser"), woken.find("on Fridays"));
    assert!(alert < rule && rule.is_some(), "{woken}");
    start("s1", "clear").lacks("the parser");
    let log = world.events("--kind alert.delivered");
    assert_eq!(log.count(), 1, "{log}");
    assert_eq!(log[0]["actor"], "agent:claude-code");
}

#[test]
fn a_try_of_a_hook_shows_the_alerts_that_the_hook_would_show() {
    let world = World::new();
    world.stored("-t rules -c 'Never push to main on Fridays' -i critical");
    world.ok("alert set --session boss 'Hurry with the parser'");
    world.ok("alert set --session s1 'Run the tests again'");
    let variables = [("ICM_SESSION", "s1"), ("ICM_SESSION_PARENT", "boss")];
    let tried = |event: &str| {
        let mut command = world.command(["hook", "claude-code", event, "--try", "parser"]);
        // The exit code is 1 if there is nothing to show.
        run(command.envs(variables), b"").out
    };
    let input = |event: &str| {
        json!({"session_id": "s1", "cwd": world.path(""), "hook_event_name": event,
               "source": "startup", "prompt": "parser"})
    };
    let hooked = |event: &str| {
        let mut command = world.command(["hook", "claude-code", event]);
        let input = input(event).to_string();
        let command = command.envs(variables).stdin(Stdio::piped());
        run(command, input.as_bytes()).ok().out
    };
    let texts = ["Hurry with the parser", "Run the tests again", "on Fridays"];
    // The session was not woken, so its first prompt brings the pack.
    for event in ["SessionStart", "UserPromptSubmit"] {
        let tried = tried(event);
        texts.iter().for_each(|text| tried.says(text));
    }
    let told = hooked("UserPromptSubmit");
    texts.iter().for_each(|text| told.says(text));
    for event in ["SessionStart", "UserPromptSubmit"] {
        let tried = tried(event);
        texts[..2].iter().for_each(|text| tried.lacks(text));
    }
    hooked("UserPromptSubmit").lacks("on Fridays");
}

/// The clock of this machine, this many milliseconds away.
struct Away(i64);

impl Env for Away {
    fn now_ms(&self) -> u64 {
        SystemEnv.now_ms().saturating_add_signed(self.0)
    }
    fn fill_random(&self, bytes: &mut [u8]) {
        SystemEnv.fill_random(bytes);
    }
    fn machine_id(&self) -> Option<String> {
        SystemEnv.machine_id()
    }
}

/// Opens the store of a world by a clock that is wrong.
fn by_clock(world: &World, away_ms: i64) -> Service {
    let options = OpenOptions {
        dir: world.store(),
        lock_wait: Duration::from_secs(5),
        read_only: false,
    };
    let ground = Ground {
        env: Arc::new(Away(away_ms)),
        ..Ground::system()
    };
    Service::open_on(options, ground).unwrap()
}

/// Asks for the alerts of a session by such a clock, and returns their texts.
fn asked_by_clock(world: &World, away_ms: i64, session: &str) -> Vec<String> {
    let service = by_clock(world, away_ms);
    let request = AlertsRequest {
        session: Some(session.to_owned()),
        ..AlertsRequest::default()
    };
    let (answer, delivery) = service.alerts(&Caller::default(), &request).unwrap();
    if let Some(delivery) = delivery {
        service.record_delivery(delivery).unwrap();
    }
    answer.alerts.into_iter().map(|alert| alert.text).collect()
}

#[test]
fn a_clock_that_jumps_ten_years_neither_loses_nor_doubles_what_falls_due() {
    const TEN_YEARS_MS: i64 = 3_652 * 86_400_000;
    let world = World::new();
    world.ok("alert set --session s1 Now");
    world.ok("alert set --session s1 --due 'in 2h' 'In two hours'");
    world.ok("alert set --session s1 --due 'in 8000d' 'In twenty years'");
    let id = world.stored("-t demo -c 'The demo is on Thursday' --expires 'time 30d'");
    let living = || world.count("list");
    let shown = || {
        let run = world.icm("alerts --session s1 --json");
        let alerts = run.json()["alerts"].clone();
        let alerts = alerts.as_array().unwrap().clone();
        let texts = alerts
            .iter()
            .map(|it| it["text"].as_str().unwrap().to_owned());
        texts.collect::<Vec<_>>()
    };

    // Back: nothing is due that was not due at once, and nothing is expired.
    assert_eq!(asked_by_clock(&world, -TEN_YEARS_MS, "s1"), ["Now"]);
    assert_eq!(shown(), [""; 0]);
    // Forth: what fell due meanwhile is shown once.
    assert_eq!(asked_by_clock(&world, TEN_YEARS_MS, "s1"), ["In two hours"]);
    let later = by_clock(&world, TEN_YEARS_MS);
    assert!(later.list(&ListRequest::default()).unwrap().is_empty());
    drop(later);
    for away_ms in [TEN_YEARS_MS, -TEN_YEARS_MS, TEN_YEARS_MS] {
        assert_eq!(asked_by_clock(&world, away_ms, "s1"), [""; 0]);
    }
    // By the right clock again, the memory is there, and no alert comes twice.
    assert_eq!(shown(), [""; 0]);
    assert_eq!(living(), 1, "{id}");
    let waiting = world.json("alerts --all");
    assert_eq!(waiting["alerts"].texts("text"), ["In twenty years"]);
    // An alert that is set by a clock ten years ahead is due at once by any clock.
    let service = by_clock(&world, TEN_YEARS_MS);
    for (text, due) in [("Ahead", None), ("Ahead by a day", Some("in 1d"))] {
        let request = AlertSetRequest {
            text: text.to_owned(),
            session: Some("s1".to_owned()),
            due: due.map(str::to_owned),
            ..AlertSetRequest::default()
        };
        service.set_alert(&Caller::default(), request).unwrap();
    }
    drop(service);
    assert_eq!(shown(), ["Ahead"]);
    assert_eq!(shown(), [""; 0]);
    let day_ms = 86_400_000;
    let by_then = asked_by_clock(&world, TEN_YEARS_MS + 2 * day_ms, "s1");
    assert_eq!(by_then, ["Ahead by a day"]);
    assert_eq!(world.events("--kind alert.delivered").count(), 4);
    assert_eq!(world.events("--kind alert.set").count(), 5);
    world.ok("rebuild");
    assert_eq!(shown(), [""; 0]);
    assert_eq!(world.json("alerts --all")["alerts"].count(), 1);
    world.ok("verify");
}

#[test]
fn an_alert_is_lost_by_no_kill() {
    let world = World::new();
    let (mut by_killed, mut again) = (0, 0);
    for n in 0..24_u64 {
        let text = format!("reminder number {n}.");
        world.ok(["alert", "set", "--session", "s1", &text]);
        let mut command = world.command("alerts --session s1");
        let command = command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut asking = command.spawn().unwrap();
        // Each process is killed at another moment.
        let (begun, lives) = (Instant::now(), Duration::from_millis(2 * n));
        while begun.elapsed() < lives {
            std::hint::spin_loop();
        }
        asking.kill().unwrap();
        let killed = asking.wait_with_output().unwrap().stdout;
        let killed = String::from_utf8_lossy(&killed).contains(&text);
        let later = world.icm("alerts --session s1").out.contains(&text);
        assert!(killed || later, "{text} is lost");
        world.icm("alerts --session s1").ends(1);
        by_killed += u32::from(killed);
        again += u32::from(later);
    }
    assert!(
        by_killed > 0 && again > 0,
        "{by_killed} shown by killed, {again} later"
    );
}

#[cfg(unix)]
#[test]
fn alerts_in_a_folder_that_cannot_be_written_name_the_way_to_see_them() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    world.ok("alert set --session s1 'Run the tests again'");
    let shut = |mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(world.store(), permissions).unwrap();
    };
    shut(0o555);
    let probe = world.store().join("probe");
    let is_shut = std::fs::write(&probe, b"").is_err();
    let run = world.icm("alerts --session s1");
    let look = world.icm("alerts --session s1 --read-only");
    shut(0o755);
    // The superuser writes anywhere.
    if is_shut {
        assert_ne!(run.code, 0, "{run:?}");
        run.err.says("`icm alerts --read-only` shows them");
        look.ok().out.says("Run the tests again");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_alert_whose_answer_did_not_get_out_is_shown_again() {
    let world = World::new();
    world.ok("alert set --session s1 'Run the tests again'");
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let mut command = world.command("alerts --session s1");
    command.stdout(std::process::Stdio::from(full));
    run(&mut command, b"").fails(2, "cannot write the answer");
    let told = world.ok("alerts --session s1");
    told.out.says("Run the tests again");
    world.icm("alerts --session s1").ends(1);
}

#[test]
fn an_alert_travels_with_the_log_and_is_shown_on_one_machine() {
    let world = World::new();
    let [a, b] = ["a", "b"].map(|db| world.at(db));
    a.ok("alert set --session s1 'Run the tests again'");
    crate::exchange::carry(&world, "a", "b");
    b.ok("alerts --session s1").out.says("Run the tests again");
    crate::exchange::carry(&world, "b", "a");
    a.icm("alerts --session s1").ends(1);
    // A redacted alert is gone on both machines.
    let set = a.json("alert set --session s1 'A private thing'");
    crate::exchange::carry(&world, "a", "b");
    a.ok(format!("redact @{} --yes", set["position"]));
    a.icm("alerts --session s1").ends(1);
    crate::exchange::carry(&world, "a", "b");
    b.icm("alerts --session s1").ends(1);
}
