//! Hooks that cannot do their work: the client goes on.

use super::*;

#[test]
fn whatever_goes_wrong_the_client_goes_on() {
    let world = World::with_memories();
    let session = Session::new(&world, "claude-code", "s1");
    let huge = vec![b'x'; 17 << 20];
    let cut_off = br#"{"session_id":"s1","prom"#;
    let other = br#"{"session_id":7,"prompt":"a"}"#;
    let inputs: [(&str, &[u8]); 8] = [
        ("UserPromptSubmit", b""),
        ("UserPromptSubmit", b"not json"),
        ("UserPromptSubmit", b"[]"),
        ("UserPromptSubmit", cut_off),
        ("UserPromptSubmit", other),
        ("UserPromptSubmit", &huge),
        ("NoSuchEvent", b"{}"),
        ("", b"{}"),
    ];
    let mut lines = 0;
    for (event, input) in inputs {
        let run = session.raw(event, input).ok();
        assert_eq!((run.out.as_str(), run.err.as_str()), ("", ""), "{event}");
        lines += 1;
        let journal = std::fs::read_to_string(world.store().join("cache/hooks.log")).unwrap();
        assert_eq!(journal.lines().count(), lines, "{journal}");
    }
    for args in ["hook no-client Stop", "hook codex Stop --what"] {
        assert_eq!(world.icm_with(args, b"{}").ok().out, "", "{args:?}");
    }
    // An invalid config file, and an unreadable log.
    world.write("config.toml", "[recall]\nlimit = 'many'\n");
    let config = world.path("config.toml");
    let args = [
        "--config",
        config.to_str().unwrap(),
        "hook",
        "claude-code",
        "Stop",
    ];
    world.icm_with(args, b"{}").ok();
    let logs: Vec<_> = crate::world::tree(&world.store())
        .into_iter()
        .filter(|(path, _)| path.extension().is_some_and(|it| it == "icmlog"))
        .collect();
    assert!(!logs.is_empty());
    for (path, bytes) in logs {
        std::fs::write(world.store().join(path), &bytes[..bytes.len() / 3]).unwrap();
    }
    let run = session
        .hook("UserPromptSubmit", json!({"prompt": "tea"}))
        .ok();
    assert_eq!(run.err, "");
}

#[cfg(unix)]
#[test]
fn a_full_disk_lets_the_client_go_on() {
    let world = World::with_memories();
    let session = Session::new(&world, "claude-code", "s1");
    session.start("startup");
    let before = world.out("log --json");
    let input = json!({
        "session_id": "s2", "cwd": session.project, "hook_event_name": "SessionStart", "source": "startup",
    });
    for event in ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"] {
        let icm = env!("CARGO_BIN_EXE_icm");
        let mut command = world.command("hook");
        let mut shell = std::process::Command::new("sh");
        shell
            .args([
                "-c",
                &format!("ulimit -f 0; exec {icm} hook claude-code {event}"),
            ])
            .env_clear()
            .envs(
                command
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .current_dir(world.path(""))
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        command.stdin(std::process::Stdio::null());
        let run = crate::world::run(&mut shell, input.to_string().as_bytes()).ok();
        assert_eq!(run.out, "", "{event}: {run:?}");
    }
    assert_eq!(world.out("log --json"), before, "nothing is half written");
    world.ok("verify");
}

#[test]
fn only_the_command_hook_never_fails() {
    let world = World::with_memories();
    world.icm("recall hook").ends(1);
    world.icm("get hook").ends(1);
    world.icm("--db hook get x").ends(1);
    world.icm("hook off --what").ends(2);
    world.fails("hook of => 2: names no event of a client");
    world.fails("hook claude-code on => 2: names no event of a client");
    let store = world.store();
    let args = [
        "--db",
        store.to_str().unwrap(),
        "--json",
        "hook",
        "codex",
        "NoSuchEvent",
    ];
    world.icm_with(args, b"{}").ok();
}

#[test]
fn a_config_file_that_cannot_be_read_switches_hooks_off() {
    let world = World::new();
    world.stored("-t rules -c 'Never push to main' -i critical");
    let config = world.write("config.toml", "[hooks]\nenabled = false\nnosuch = 1\n");
    let config = config.to_str().unwrap();
    let before = world.out("log --json");
    let input = br#"{"session_id":"s1","source":"startup"}"#;
    let run = world
        .icm_with(
            format!("--config '{config}' hook claude-code SessionStart"),
            input,
        )
        .ok();
    assert_eq!(run.out, "");
    assert_eq!(world.out("log --json"), before);
    let journal = std::fs::read_to_string(world.store().join("cache/hooks.log")).unwrap();
    journal.says("nosuch");
}

#[test]
fn an_input_that_does_not_end_is_not_waited_for() {
    let world = World::new();
    world.stored("-t rules -c 'Never push to main' -i critical");
    for input in ["", r#"{"session_id":"s1","source":"startup"}"#] {
        let mut command = world.command("hook claude-code SessionStart");
        let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut pipe, input.as_bytes()).unwrap();
        // The pipe stays open until the hook has ended.
        let output = child.wait_with_output().unwrap();
        drop(pipe);
        assert!(output.status.success());
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            told.contains("Never push to main"),
            !input.is_empty(),
            "{told}"
        );
    }
}
