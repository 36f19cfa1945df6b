//! `icm init`, `icm uninstall` and `icm doctor --clients`, in a home folder with clients.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::world::{Look, Says, World, tree};

const CURSOR: &str =
    "{\n\t// mine\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"x\"}\n\t}\n}\n";

/// A home folder with Cursor, Codex and Amp.
struct Home {
    world: World,
    path: PathBuf,
}

impl Home {
    fn new() -> Home {
        let world = World::new();
        let path = world.store().parent().unwrap().to_path_buf();
        let home = Home { world, path };
        home.write(".cursor/mcp.json", CURSOR);
        home.write(".codex/config.toml", "model = \"x\" # mine\n");
        home.write(".config/amp/settings.json", "");
        home
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path.join(name)).unwrap()
    }

    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        tree(&self.path).into_iter().collect()
    }
}

fn program() -> Value {
    env!("CARGO_BIN_EXE_icm").into()
}

#[test]
fn a_machine_without_clients_is_told_how_to_name_one() {
    let world = World::new();
    let run = world.icm("init --yes").ends(1);
    run.err.says("no agent client was found");
    run.err.says("`--client NAME`");
    let json = world.icm("init --json").ends(1).json();
    assert_eq!(json["steps"], Value::Array(Vec::new()));
    let run = world.icm("init --client cursr");
    run.err.says("'cursor'");
    assert_eq!(run.code, 2);
}

#[test]
fn init_shows_asks_writes_and_is_taken_back() {
    let home = Home::new();
    let before = home.files();
    let run = home.world.icm("init").ends(2);
    run.err.says("writing 5 files has to be confirmed");
    assert_eq!(home.files(), before);

    let run = home.world.ok("init --dry-run");
    run.err.begins("found 3 agent clients\n");
    run.out.says("+\t\t\"icm\": {");
    run.out.says("+[mcp_servers.icm]");
    run.out.lacks("-\t// mine");
    run.err.says("would write 5 files");
    assert_eq!(home.files(), before);

    let run = home.world.ok("init --yes");
    run.err.says("wrote 5 files");
    run.err.says("check Codex CLI: `codex mcp list`");
    let store = home.world.store().display().to_string();
    assert!(home.read(".cursor/mcp.json").contains("// mine"));
    assert!(
        home.read(".codex/config.toml")
            .contains(&format!("ICM_DB = \"{store}\""))
    );
    assert!(
        home.read(".codex/hooks.json")
            .contains("hook codex SessionStart --db")
    );
    let once = home.files();

    let run = home.world.ok("init --yes");
    run.err.says("all files are up to date");
    assert_eq!(home.files(), once);

    let run = home.world.icm("uninstall --check").ends(1);
    run.err.says("5 files have entries of icm");
    let run = home.world.icm("uninstall").ends(2);
    run.err.says("has to be confirmed");
    home.world.ok("uninstall --dry-run");
    assert_eq!(home.files(), once);
    let run = home.world.ok("uninstall --yes");
    run.err.lacks("also changes the files of the user");
    assert_eq!(home.files(), before);
    home.world.ok("uninstall --check");
    home.world.ok("uninstall --yes");
}

#[test]
fn uninstall_in_a_project_says_that_it_is_about_the_user_too() {
    let home = Home::new();
    home.world.ok("init --yes --client cursor");
    let project = home.world.path("project");
    fs::create_dir_all(project.join(".git")).unwrap();
    let uninstall = |more: &str| {
        let mut command = home.world.command(format!("uninstall '{more}'"));
        crate::world::run(command.current_dir(&project), b"")
    };
    let run = uninstall("--check").ends(1);
    run.err.says("also changes the files of the user");
    uninstall("--yes").ok();
    let run = uninstall("--check").ok();
    run.err.lacks("also changes the files of the user");
}

#[test]
fn a_broken_file_is_left_alone_and_the_others_are_written() {
    let home = Home::new();
    home.write(".codex/config.toml", "{\"mcp_servers\": {}}");
    let answer = home
        .world
        .icm("init --mode mcp --yes --json")
        .ends(1)
        .json();
    let steps = answer["steps"].as_array().unwrap();
    let codex = steps
        .iter()
        .find(|step| step["file"].as_str().unwrap().contains(".codex"))
        .unwrap();
    let reason = codex["pieces"][0]["reason"].as_str().unwrap();
    reason.says("does not parse as TOML");
    assert_eq!(
        (&codex["changes"], &answer["done"]),
        (&false.into(), &true.into())
    );
    assert!(home.read(".cursor/mcp.json").contains("serve"));
    assert_eq!(home.read(".codex/config.toml"), "{\"mcp_servers\": {}}");
    let run = home.world.icm("init --mode mcp --yes").ends(1);
    run.err.says("1 file was left alone");
}

#[test]
fn a_project_gets_files_without_paths_of_this_machine() {
    let home = Home::new();
    let bin = home.path.join("bin");
    fs::create_dir(&bin).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_icm"), bin.join("icm")).unwrap();
    let mut command = home
        .world
        .command("init --project --client claude --mode all --yes");
    crate::world::run(command.env("PATH", &bin), b"").ok();
    let entry: Value = serde_json::from_str(&home.read("work/.mcp.json")).unwrap();
    let entry = &entry["mcpServers"]["icm"];
    entry.has(json!({"command": "icm", "env": null}));
    assert!(home.read("work/CLAUDE.md").contains("icm_memory_recall"));
    assert!(home.path.join("work/.claude/skills/icm/SKILL.md").exists());
    home.world.ok("uninstall --yes");
    assert!(!home.path.join("work/.mcp.json").exists() && !home.path.join("work/.claude").exists());
}

#[test]
fn the_list_names_every_client() {
    let home = Home::new();
    let list = home.world.json("init --list");
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 27);
    let cursor = list
        .iter()
        .find(|client| client["client"] == "cursor")
        .unwrap();
    cursor["found"].as_str().unwrap().finishes(".cursor");
    assert_eq!(
        list.iter()
            .filter(|client| !client["found"].is_null())
            .count(),
        3
    );
}

#[track_caller]
fn check(home: &Home, code: i32, client: &str, status: &str, words: &str) -> Value {
    let answer = home.world.icm("doctor --clients --json").ends(code).json();
    let checks = answer["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["name"] == client);
    let found = found.unwrap_or_else(|| panic!("no {client}: {answer:#}"));
    assert_eq!(found["status"], status, "{found:#}");
    found["message"].as_str().unwrap().says(words);
    found["command"].clone()
}

#[test]
fn doctor_starts_entries_and_says_where_they_lead() {
    let home = Home::new();
    assert_eq!(
        check(&home, 0, "clients", "warning", "no client has an entry"),
        "icm init"
    );
    home.world.ok("init --mode mcp --yes");
    let before = home.files();
    let store = home.world.store().display().to_string();
    for client in ["cursor", "codex", "amp"] {
        assert_eq!(
            check(&home, 0, client, "ok", &format!("store {store}")),
            Value::Null
        );
    }
    assert_eq!(home.files(), before, "it has written");

    let entry = |program: &Value, store: &str| {
        serde_json::json!({"mcpServers": {"icm": {"command": program, "args": ["serve"], "env": {"ICM_DB": store}}}}).to_string()
    };
    let elsewhere = home.path.join("elsewhere").display().to_string();
    home.write(".cursor/mcp.json", &entry(&program(), &elsewhere));
    let mend = check(&home, 0, "cursor", "warning", "but this shell's store is");
    assert_eq!(mend, "icm init --client cursor");
    home.world.ok("init --client cursor --mode mcp --yes");
    check(&home, 0, "cursor", "ok", &store);

    home.write(".cursor/mcp.json", &entry(&"/nowhere/icm".into(), &store));
    check(
        &home,
        1,
        "cursor",
        "problem",
        "`/nowhere/icm serve` does not start",
    );
    home.world.ok("init --mode hook --client amp cursor --yes");
    let hooks = home.read(".cursor/hooks.json");
    home.write(".cursor/hooks.json", &hooks.replace("/icm\\", "/old/icm\\"));
    home.write(".cursor/mcp.json", "{}");
    let mend = check(&home, 0, "cursor", "warning", "the hooks run another icm");
    assert_eq!(mend, "icm init --client cursor --mode hook");
    home.write(".cursor/mcp.json", "{");
    check(&home, 1, "cursor", "problem", "does not parse as JSON");
    home.write(".cursor/mcp.json", &entry(&"/bin/other".into(), &store));
    let mend = check(
        &home,
        0,
        "cursor",
        "warning",
        "another server is called icm",
    );
    assert_eq!(mend, "icm init --client cursor --force");
}

/// Makes a shell script named icm.
#[cfg(unix)]
fn script(home: &Home, text: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = home.path.join("scripts/icm");
    home.write("scripts/icm", &format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[cfg(unix)]
#[test]
fn doctor_waits_for_no_server_for_ever() {
    let home = Home::new();
    let write = |program: &Path| {
        let entry =
            serde_json::json!({"mcpServers": {"icm": {"command": program, "args": ["serve"]}}});
        home.write(".cursor/mcp.json", &entry.to_string());
    };
    write(&script(&home, "echo hello; cat >/dev/null"));
    check(&home, 1, "cursor", "problem", "is not JSON");
    write(&script(&home, "exit 3"));
    check(
        &home,
        1,
        "cursor",
        "problem",
        "the server ended before it answered",
    );
    write(&script(&home, "exec sleep 60"));
    check(
        &home,
        1,
        "cursor",
        "problem",
        "no answer to initialize in time",
    );
}

#[cfg(unix)]
#[test]
fn the_question_comes_after_the_files() {
    let home = Home::new();
    let before = home.files();
    let no = home.world.icm_asked("-q init --mode mcp", "n\n").ends(1);
    let shown = no.err.find("+  Cursor     server  /");
    assert!(
        shown.is_some() && shown < no.err.find("Write 3 files? [y/N]"),
        "{no:#?}"
    );
    assert_eq!(home.files(), before);
    let no = home.world.icm_asked("init --mode mcp", "n\n").ends(1);
    no.err.says("nothing was written");
    no.err.lacks("check");
    home.world.icm_asked("init --mode mcp", "y\n").ok();
    let no = home.world.icm_asked("uninstall", "n\n").ends(1);
    no.err.says("Change or remove 3 files? [y/N]");
    home.world.icm_asked("uninstall", "y\n").ok();
    assert_eq!(home.files(), before);
}

#[test]
fn doctor_looks_at_hooks_and_at_entries_for_one_folder() {
    let home = Home::new();
    home.world
        .ok("init --client cursor gemini --mode hook --yes");
    check(
        &home,
        0,
        "cursor",
        "ok",
        "hooks.json: the hooks run this icm",
    );
    home.write(".cursor/hooks.json", "{");
    check(&home, 1, "cursor", "problem", "does not parse as JSON");
    home.world.icm("uninstall --yes");

    // A file with servers and hooks is reported once.
    home.write(".gemini/settings.json", "{");
    let answer = home.world.icm("doctor --clients --json").ends(1);
    let answer = answer.json();
    let checks = answer["checks"].as_array().unwrap();
    let of_gemini = checks.iter().filter(|check| check["name"] == "gemini-cli");
    assert_eq!(of_gemini.count(), 1, "{answer:#}");

    let folder = home.path.join("work").display().to_string();
    let mut entry = serde_json::json!({"projects": {}});
    entry["projects"][&folder] =
        serde_json::json!({"mcpServers": {"icm": {"command": "/nowhere/icm", "args": ["serve"]}}});
    home.write(".claude.json", &entry.to_string());
    let mend = check(
        &home,
        1,
        "claude-code",
        "problem",
        &format!("for {folder} alone"),
    );
    assert_eq!(
        mend,
        format!("cd '{folder}' && claude mcp remove --scope local icm")
    );
    // Nothing shows that this program is this icm.
    let run = home.world.ok("uninstall --check");
    run.err.says("`/nowhere/icm serve`");
    entry["projects"][&folder]["mcpServers"]["icm"]["command"] = program();
    home.write(".claude.json", &entry.to_string());
    home.world.icm("uninstall --check").ends(1);
    home.world.icm("uninstall --yes");
    let left: Value = serde_json::from_str(&home.read(".claude.json")).unwrap();
    assert_eq!(
        left["projects"][&folder]["mcpServers"],
        serde_json::json!({})
    );
}

#[test]
fn a_client_without_servers_is_told_what_to_do() {
    let home = Home::new();
    let run = home.world.icm("init --client aider --yes");
    run.err
        .says("Aider has no MCP servers: `icm init --client aider --mode rules`");
    let run = (home.world).ok("init --client aider codex --mode rules --yes");
    run.err.says("check Aider: ");
    run.err.lacks("check Codex CLI: ");
    assert!(home.read(".aider.icm.md").contains("icm"));
}

/// A project must not be able to let doctor start its programs.
#[cfg(unix)]
#[test]
fn doctor_starts_no_program_of_a_project() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let trap = home.path.join("trapped");
    let evil = format!("#!/bin/sh\ntouch '{}'\n", trap.display());
    home.write("work/bin/icm", &evil);
    let program = home.path.join("work/bin/icm");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let own = env!("CARGO_BIN_EXE_icm");
    let write = |command: &str, args: &[&str], env: Value| {
        let entry = serde_json::json!({"mcpServers": {"icm": {"command": command, "args": args, "env": env}}});
        home.write("work/.mcp.json", &entry.to_string());
    };
    let none = || serde_json::json!({});
    for (command, args, env) in [
        (program.to_str().unwrap(), &["serve"][..], none()),
        ("./bin/icm", &["serve"], none()),
        ("bin/../bin/icm", &["serve"], none()),
        (own, &["store", "-t", "a", "-c", "serve"], none()),
        (
            own,
            &["serve"],
            serde_json::json!({"LD_PRELOAD": "bin/icm"}),
        ),
    ] {
        write(command, args, env);
        let mend = check(&home, 0, "claude-code", "warning", "not started");
        assert_eq!(mend, "icm init --client claude-code --project");
    }
    assert!(!trap.exists());
    // The other clients that read this file are not installed.
    let answer = home.world.ok("doctor --clients --json").json();
    let told = answer["checks"].as_array().unwrap().iter();
    let told = told.filter(|check| check["message"].as_str().unwrap().contains(".mcp.json"));
    assert_eq!(told.count(), 1, "{answer:#}");
    let store = home.world.store().display().to_string();
    write(own, &["serve"], serde_json::json!({"ICM_DB": store}));
    check(&home, 0, "claude-code", "ok", &store);
}
