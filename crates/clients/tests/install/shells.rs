//! Scripts and paths of each operating system.

use super::*;

#[cfg(unix)]
#[test]
fn scripts_run_icm_and_let_the_client_go_on_without_it() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let mut request = Request {
        what: vec![What::Hooks],
        ..home.request(Client::Cline)
    };
    request.icm = home.path().join("bin dir/icm");
    home.install(&request);
    let script = home.path().join(".cline/hooks/TaskStart");
    assert_eq!(
        fs::metadata(&script).unwrap().permissions().mode() & 0o100,
        0o100
    );
    let run = || std::process::Command::new(&script).output().unwrap();
    assert!(run().status.success(), "without icm");
    home.write(&request.icm, "#!/bin/sh\necho \"$@\"\n");
    fs::set_permissions(&request.icm, fs::Permissions::from_mode(0o755)).unwrap();
    let out = String::from_utf8(run().stdout).unwrap();
    assert_eq!(out, "hook cline TaskStart --db /data/a store\n");
}

#[test]
fn windows_gets_its_own_paths_and_shells() {
    let home = Home::new();
    let mut machine = home.machine();
    machine.os = Os::Windows;
    let plan = |client, what| {
        let request = Request {
            what: vec![what],
            icm: r"C:\Program Files\icm.exe".into(),
            env: BTreeMap::new(),
            ..home.request(client)
        };
        let plan = Plan::install(&request, &machine, &home.ledger()).unwrap();
        let step = plan.steps.into_iter().next().unwrap();
        let text = String::from_utf8(step.after.unwrap()).unwrap();
        (
            step.file.strip_prefix(home.path()).unwrap().to_path_buf(),
            text,
        )
    };
    let (file, text) = plan(Client::ClaudeDesktop, What::Server);
    assert_eq!(
        file,
        Path::new("AppData/Roaming/Claude/claude_desktop_config.json")
    );
    assert!(
        text.contains(r#""command": "C:\\Program Files\\icm.exe""#),
        "{text}"
    );
    let (_, text) = plan(Client::ClaudeCode, What::Hooks);
    assert!(
        text.contains(r#""command": "\"C:/Program Files/icm.exe\" hook claude-code Stop""#),
        "{text}"
    );
    let (file, text) = plan(Client::Cline, What::Hooks);
    assert!(file.ends_with("TaskStart.ps1"), "{file:?}");
    assert!(
        text.contains(r"$input | & 'C:\Program Files\icm.exe' hook cline TaskStart"),
        "{text}"
    );
    let (_, text) = plan(Client::CopilotCli, What::Hooks);
    assert!(
        text.contains(r#""powershell": "& 'C:\\Program Files\\icm.exe' hook copilot-cli"#),
        "{text}"
    );
}
