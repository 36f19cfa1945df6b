//! Help, completions, manual pages.

use crate::world::{Run, Says, World};

/// Returns the commands that a help text lists.
fn listed(help: &str) -> Vec<String> {
    help.lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_string)
        .collect()
}

/// The words of a command, with its help.
type Command = (Vec<String>, String);

/// Walks the whole tree of commands, beginning with `icm` itself.
fn every_command(world: &World, path: &[String], found: &mut Vec<Command>) {
    let mut args = path.to_vec();
    args.push("--help".into());
    let help = world.icm(args).ok();
    check(&help, path);
    let below = listed(&help.out);
    found.push((path.to_vec(), help.out));
    for name in below {
        let mut path = path.to_vec();
        path.push(name);
        every_command(world, &path, found);
    }
}

fn check(help: &Run, path: &[String]) {
    assert_eq!(help.err, "", "{path:?}");
    assert!(help.out.contains("Usage: icm"), "{path:?}: {}", help.out);
    for flag in [
        "--db",
        "--config",
        "--json",
        "--quiet",
        "--verbose",
        "--yes",
    ] {
        assert!(help.out.contains(flag), "{path:?} {flag}");
    }
    let about = help.out.lines().next().unwrap_or_default();
    assert!(about.len() > 10, "{path:?} has no description");
    assert!(about.chars().count() <= 80, "{path:?}: {about}");
    assert!(!about.ends_with('.'), "{path:?}: {about}");
    let last = help.out.rsplit_once("\nExamples:\n").unwrap_or_default().1;
    let examples = last.lines().filter(|line| line.starts_with("  ")).count();
    assert!((2..=3).contains(&examples), "{path:?}: examples: {last}");
    for line in help.out.lines() {
        assert!(line.chars().count() <= 100, "{path:?}: {line}");
    }
}

#[test]
fn every_command_has_help() {
    let world = World::new();
    let mut found = Vec::new();
    every_command(&world, &[], &mut found);
    let names: Vec<String> = found.iter().map(|(path, _)| path.join(" ")).collect();
    for expected in [
        "store",
        "recall",
        "get",
        "list",
        "update",
        "forget",
        "revive",
        "undo",
        "consolidate",
        "decay",
        "prune",
        "redact",
        "topics",
        "tags",
        "tags rename",
        "tags merge",
        "stats",
        "health",
        "history",
        "why",
        "diff",
        "log",
        "log show",
        "log verify",
        "log heads",
        "log repair",
        "replay",
        "rebuild",
        "verify",
        "doctor",
        "extract",
        "review",
        "import jsonl",
        "export jsonl",
        "export markdown",
        "backup",
        "bench recall",
        "restore",
        "model list",
        "model install",
        "model use",
        "model remove",
        "serve",
        "config show",
        "config init",
        "demo",
        "completions",
        "man",
    ] {
        assert!(names.iter().any(|n| n == expected), "{expected}: {names:?}");
    }
    assert!(!world.store().exists(), "help has touched the store");
    let texts: Vec<String> = (found.iter())
        .map(|(path, help)| {
            format!(
                "$ icm {}\n{help}",
                [path, &["--help".into()][..]].concat().join(" ")
            )
        })
        .collect();
    crate::frozen::check("help.txt", &texts.join("\n"));
}

#[test]
fn version_names_the_program() {
    let run = World::new().ok("--version");
    assert_eq!(run.out.trim(), concat!("icm ", env!("CARGO_PKG_VERSION")));
}

#[test]
fn without_a_command_the_usage_is_shown() {
    let run = World::new().icm("").ends(2);
    assert_eq!(run.out, "");
    run.err.says("Usage: icm");
}

#[test]
fn completions_for_every_shell() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = world.ok(format!("completions '{shell}'"));
        assert!(run.out.contains("recall"), "{shell}");
        assert!(run.out.contains("heads"), "{shell}");
        // The scripts of other shells complete no values.
        if ["bash", "zsh", "fish"].contains(&shell) {
            assert!(run.out.contains("ranking.floor="), "{shell}");
        }
    }
    world.fails("completions tcsh => 2: tcsh");
    assert!(!world.store().exists());
}

#[test]
fn the_bash_completion_is_a_script_that_bash_reads() {
    let world = World::new();
    let run = world.ok("completions bash");
    let script = world.write("icm.bash", &run.out);
    let Ok(status) = std::process::Command::new("bash")
        .arg("-n")
        .arg(script)
        .status()
    else {
        return; // no bash here
    };
    assert!(status.success());
}

#[test]
fn manual_pages() {
    let world = World::new();
    let page = world.ok("man");
    page.out.says(".TH icm 1");

    let dir = world.path("man/deep");
    world.ok(format!("man --dir '{}'", dir.display()));
    for name in [
        "icm.1",
        "icm-store.1",
        "icm-log-verify.1",
        "icm-import-jsonl.1",
    ] {
        let page = std::fs::read_to_string(dir.join(name)).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{name}");
    }
}

#[test]
fn completions_and_man_work_whatever_the_config_says() {
    let world = World::new();
    let config = world.write("broken.toml", "= = =");
    for args in ["completions bash", "man -q"] {
        let mut command = world.command(args);
        command.env("ICM_CONFIG", &config);
        crate::world::run(&mut command, b"").ok();
    }
}
