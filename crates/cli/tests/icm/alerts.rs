//! `icm alert set`, `icm alerts`, and alerts that a hook shows.

use serde_json::{Value, json};

use crate::world::{Look, Says, World, run};

/// Runs a command in a session.
fn within(world: &World, session: &str, args: &str) -> crate::world::Run {
    run(world.command(args).env("ICM_SESSION", session), b"")
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
    let position = later["position"].as_u64().unwrap();
    world.ok(format!("undo @{position} --yes"));
    world.icm("alerts --all").ends(1);
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
