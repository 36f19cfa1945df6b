//! Readers that close their pipe.

use std::io::Read;
use std::process::Stdio;

use crate::world::{Says, World};

#[test]
fn a_closed_pipe_ends_quietly() {
    let world = World::new();
    let mut input = String::new();
    for i in 0..3_000 {
        input.push_str(&format!(
            "{{\"topic\":\"t\",\"content\":\"memory number {i} with some words in it\"}}\n"
        ));
    }
    world.icm_with("import jsonl -", input.as_bytes()).ok();
    for args in [
        "log",
        "log --json",
        "list --all",
        "list --all --json",
        "export jsonl",
        "export markdown",
        "recall memory -l 1000",
        "completions bash",
        "man",
        "--help",
    ] {
        let mut child = world.command(args).spawn().unwrap();
        let mut few = [0; 10];
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut few).unwrap();
        drop(out);
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {err}");
        assert!(!err.contains("error"), "{args:?}: {err}");
    }
}

#[test]
fn a_closed_stderr_is_no_failure() {
    let world = World::with_memories();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = world.command("recall invoices");
    command.stderr(Stdio::from(writer));
    crate::world::run(&mut command, b"").ok();
}

/// If a standard stream is closed, the first opened file gets its number.
#[cfg(unix)]
#[test]
fn no_file_is_taken_for_a_stream_that_was_closed() {
    let world = World::with_memories();
    let store = |closed: &str| {
        let content = format!("with {closed}");
        let icm = world.command(format!("store -t closed -c '{content}'"));
        let mut command = std::process::Command::new("/bin/sh");
        command
            .arg("-c")
            .arg(format!("exec \"$0\" \"$@\" {closed}"));
        command.arg(icm.get_program()).args(icm.get_args());
        command
            .env_clear()
            .current_dir(icm.get_current_dir().unwrap());
        for (name, value) in icm.get_envs() {
            command.env(name, value.unwrap());
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).env("ICM_LOG", "trace");
        crate::world::run(&mut command, b"").ok()
    };
    // The texts that would end up in a file.
    let open = store("");
    open.err.says("DEBUG");
    open.out.begins("stored 01");
    for closed in ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"] {
        store(closed);
    }
    world.ok("verify");
    let listed = world.ok("list -t closed");
    assert_eq!(listed.out.lines().count(), 5, "{}", listed.out);
    let (mut folders, mut files) = (vec![world.store()], 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap_or_default();
            for told in ["DEBUG", "stored 01"] {
                let mut parts = bytes.windows(told.len());
                assert!(
                    !parts.any(|part| part == told.as_bytes()),
                    "{}",
                    path.display()
                );
            }
            files += 1;
        }
    }
    assert!(files > 2, "{files}");
}

#[test]
fn there_are_no_escape_codes_in_a_pipe_unless_asked_for() {
    let world = World::with_memories();
    let run = world.ok("recall invoices");
    assert!(!run.out.contains('\u{1b}'), "{:?}", run.out);
    let config = world.write("color.toml", "[output]\ncolor = 'always'\n");
    let mut command = world.command("recall invoices");
    command.env("ICM_CONFIG", &config);
    let run = crate::world::run(&mut command, b"").ok();
    assert!(run.out.contains('\u{1b}'), "{:?}", run.out);
}

#[test]
fn long_text_is_not_cut_in_a_pipe() {
    let world = World::new();
    let text = "word ".repeat(100);
    world.ok(format!("store -t a -c '{}'", text.trim()));
    let run = world.ok("list");
    run.out.says(text.trim());
    assert_eq!(run.out.lines().count(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_is_told_apart_from_the_change() {
    let world = World::with_memories();
    let full = || {
        std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap()
    };
    let mut command = world.command("store -t a -c b");
    command.stdout(Stdio::from(full()));
    let run = crate::world::run(&mut command, b"").fails(2, "cannot write the answer");
    run.err.says("the change was made");
    let mut command = world.command("list");
    command.stdout(Stdio::from(full()));
    let run = crate::world::run(&mut command, b"").fails(2, "cannot write the answer");
    run.err.lacks("the change was made");
}
