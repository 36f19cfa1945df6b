//! icm's list of its entries: lost, of a newer version, and left by killed runs.

use super::*;

#[test]
fn a_list_of_a_newer_icm_is_not_touched() {
    let home = Home::new();
    home.write(
        &home.ledger().join("ledger.json"),
        "{\"version\": 9, \"files\": {}}",
    );
    let error = Plan::removal(Path::new(ICM), None, &home.machine(), &home.ledger())
        .unwrap_err()
        .to_string();
    assert!(error.contains("a newer icm"), "{error}");
    home.write(&home.ledger().join("ledger.json"), "{");
    assert!(Plan::removal(Path::new(ICM), None, &home.machine(), &home.ledger()).is_err());
}

#[cfg(unix)]
#[test]
fn running_servers_tell_their_version() {
    use icm_clients::install::{Running, running};
    use std::os::unix::fs::PermissionsExt;

    let home = Home::new();
    let proc = home.path().join("proc");
    for (pid, words, version) in [
        ("12", "/opt/icm\0serve\0", "echo icm 9.9.9"),
        ("13", "/opt/icm\0recall\0x\0", "echo icm 9.9.9"),
        ("14", "/opt/other\0serve\0", "echo icm 9.9.9"),
        ("15", "icm\0--db\0/x\0serve\0", "exit 1"),
        ("self", "icm\0serve\0", "echo icm 9.9.9"),
        ("16", "/opt/icm\0serve\0", "echo icm 9.9.9"),
    ] {
        let folder = proc.join(pid);
        home.write(&folder.join("cmdline"), words);
        home.write(&folder.join("exe"), &format!("#!/bin/sh\n{version}\n"));
        fs::set_permissions(folder.join("exe"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    // Only root gives files away. The program of another user's process must not be started.
    if std::os::unix::fs::chown(proc.join("16"), Some(65_534), None).is_err() {
        fs::remove_dir_all(proc.join("16")).unwrap();
    }
    let found = running(&proc, std::time::Duration::from_secs(10));
    let version = |pid, version: Option<&str>| Running {
        pid,
        version: version.map(str::to_owned),
    };
    assert_eq!(found, [version(12, Some("9.9.9")), version(15, None)]);
}

#[test]
fn a_lost_list_leaves_no_file_of_icms_own() {
    for client in Client::ALL {
        let home = Home::new();
        let request = home.request(*client);
        let plan = home.install(&request);
        let _ = fs::remove_dir_all(home.ledger());
        home.uninstall();
        for step in plan.steps {
            let text = fs::read_to_string(&step.file).unwrap_or_default();
            assert!(!text.contains("icm"), "{client:?}: {:?}: {text}", step.file);
            let is_own = step.file.components().any(|part| part.as_os_str() == "icm")
                || step.file.file_stem().is_some_and(|stem| stem == "icm")
                || step.file.parent().unwrap().ends_with(".cline/hooks");
            assert_eq!(step.file.exists(), !is_own, "{client:?}: {:?}", step.file);
        }
    }
}

/// Another program can be called icm and run a server, too. Without the list, nothing tells that this icm wrote the
/// entry.
#[test]
fn a_lost_list_leaves_servers_of_another_icm() {
    for (command, goes) in [
        (ICM, true),
        // No folder of `PATH` has the bare name, so its program is unknown here.
        ("icm", true),
        ("/opt/other/icm", false),
        ("icm-server", false),
    ] {
        let home = Home::new();
        let file = home.path().join(".cursor/mcp.json");
        let text = format!(
            r#"{{"mcpServers": {{"icm": {{"command": "{command}", "args": ["serve"]}}}}}}"#
        );
        home.write(&file, &text);
        let plan = home.uninstall();
        let now = fs::read_to_string(&file).unwrap();
        assert_eq!(now != text, goes, "{command}: {now}");
        let named = plan.notes.iter().filter(|note| note.contains(command));
        let named: Vec<_> = named.collect();
        assert_eq!(
            named.len(),
            usize::from(command == "/opt/other/icm"),
            "{named:?}"
        );
        assert!(
            plan.notes
                .iter()
                .all(|note| note.contains("by hand") && note.contains("mcp.json"))
        );
    }
}

/// A program can have several paths, and `PATH` can lead to another program.
#[cfg(unix)]
#[test]
fn a_lost_list_knows_the_program_by_its_file() {
    let home = Home::new();
    let programs = home.folder.path().canonicalize().unwrap().join("bin");
    let this = programs.join("this/icm");
    home.write(&this, "this");
    home.write(&programs.join("other/icm"), "other");
    fs::create_dir(programs.join("link")).unwrap();
    std::os::unix::fs::symlink(&this, programs.join("link/icm")).unwrap();
    let file = home.path().join(".cursor/mcp.json");
    let written = |command: &Path| {
        format!(r#"{{"mcpServers": {{"icm": {{"command": {command:?}, "args": ["serve"]}}}}}}"#)
    };
    for (command, in_path, goes) in [
        (programs.join("link/icm"), "other", true),
        (programs.join("other/icm"), "this", false),
        (PathBuf::from("icm"), "this", true),
        (PathBuf::from("icm"), "link", true),
        (PathBuf::from("icm"), "other", false),
    ] {
        home.write(&file, &written(&command));
        let machine = Machine {
            programs: vec![programs.join(in_path)],
            ..home.machine()
        };
        let plan = Plan::removal(&this, None, &machine, &home.ledger()).unwrap();
        let changes = plan.steps.iter().any(|step| step.changes());
        assert_eq!(changes, goes, "{command:?} {in_path}");
        assert_eq!(plan.notes.is_empty(), goes, "{:?}", plan.notes);
    }
}

#[cfg(unix)]
#[test]
fn a_run_takes_away_what_killed_ones_left() {
    let home = Home::new();
    let mut ended = std::process::Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let folder = home.path().join(".cursor");
    let left = |process: u32, random: &str| {
        let file = folder.join(format!(".icm-init-{process}-{random}"));
        home.write(&file, "half");
        file
    };
    let gone = left(ended.id(), "aB3xyz");
    let own = left(std::process::id(), "aB3xyz");
    let others = [
        left(ended.id(), "notes"),
        folder.join(".icm-ignore"),
        folder.join(".icm-init"),
    ];
    home.write(&others[1], "");
    home.write(&others[2], "");
    let request = home.request(Client::Cursor);
    home.install(&request);
    assert!(!gone.exists());
    assert!(own.exists() && others.iter().all(|file| file.exists()));

    left(ended.id(), "aB3xyz");
    home.uninstall();
    assert!(!gone.exists());
    assert!(own.exists() && others.iter().all(|file| file.exists()));
}
