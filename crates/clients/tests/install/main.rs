//! Entries in a made-up home folder, for all clients and for files as they occur in practice.

#![allow(clippy::unwrap_used)]

mod entries;
mod every_client;
mod files;
mod hostile;
mod ledger;
mod shells;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use icm_clients::install::{Machine, Os, Outcome, Plan, Request, Scope, What, has};
use icm_clients::names::Client;
use tempfile::TempDir;

/// The path of the installing icm.
const ICM: &str = "/opt/a b/icm";

/// A home folder with a project and a folder for icm's list.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Home {
        // Thousands of files are synced. In a memory file system that takes seconds.
        let memory = Path::new("/dev/shm");
        let folder = match memory.is_dir() {
            true => tempfile::tempdir_in(memory),
            false => tempfile::tempdir(),
        };
        let folder = folder.unwrap();
        fs::create_dir_all(folder.path().join("home/project")).unwrap();
        Home { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("home")
    }

    fn ledger(&self) -> PathBuf {
        self.folder.path().join("data/icm-clients")
    }

    fn machine(&self) -> Machine {
        Machine {
            home: self.path(),
            env: BTreeMap::new(),
            programs: Vec::new(),
            os: Os::Unix,
        }
    }

    fn request(&self, client: Client) -> Request {
        Request {
            clients: vec![client],
            what: What::ALL.to_vec(),
            env: [("ICM_DB".to_owned(), "/data/a store".to_owned())].into(),
            ..Request::new(ICM)
        }
    }

    fn plan(&self, request: &Request) -> Plan {
        Plan::install(request, &self.machine(), &self.ledger()).unwrap()
    }

    /// Applies a request; every step must succeed.
    #[track_caller]
    fn install(&self, request: &Request) -> Plan {
        let plan = self.plan(request);
        for done in plan.apply() {
            done.unwrap();
        }
        plan
    }

    #[track_caller]
    fn uninstall(&self) -> Plan {
        let project = self.path().join("project");
        let plan = Plan::removal(
            Path::new(ICM),
            Some(&project),
            &self.machine(),
            &self.ledger(),
        )
        .unwrap();
        for done in plan.apply() {
            done.unwrap();
        }
        plan
    }

    /// Returns every file and folder below the home folder, with bytes, mode or target of a link.
    fn tree(&self) -> BTreeMap<PathBuf, String> {
        let mut tree = BTreeMap::new();
        walk(&self.path(), &mut tree);
        tree
    }

    fn write(&self, file: &Path, text: &str) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
}

fn walk(folder: &Path, tree: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let about = fs::symlink_metadata(&path).unwrap();
        let mode = mode(&about);
        if about.is_symlink() {
            tree.insert(
                path.clone(),
                format!("to {}", fs::read_link(&path).unwrap().display()),
            );
        } else if about.is_dir() {
            tree.insert(path.clone(), format!("folder {mode}"));
            walk(&path, tree);
        } else {
            let bytes = fs::read(&path).unwrap();
            tree.insert(path, format!("{mode} {}", String::from_utf8_lossy(&bytes)));
        }
    }
}

#[cfg(unix)]
fn mode(about: &fs::Metadata) -> String {
    use std::os::unix::fs::PermissionsExt;
    format!("{:o}", about.permissions().mode())
}

#[cfg(not(unix))]
fn mode(_: &fs::Metadata) -> String {
    String::new()
}

/// Returns a person's file with other servers, hooks and comments, in the format that the name tells; `None` for a file
/// of icm's own.
fn rich(file: &Path) -> Option<String> {
    let name = file.file_name().unwrap().to_str().unwrap();
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    if file.to_str().unwrap().contains("hooks/icm") || file.to_str().unwrap().contains("skills/icm")
    {
        return None;
    }
    let text = match end {
        "json" | "jsonc" => {
            "{\n    // settings of a person\n    \"theme\": \"dark\", \"version\": 1,\n    \"mcpServers\": {\"other\": {\"command\": \"x\", \"args\": [ 1,2 ]}},\n    \"amp.mcpServers\": {\n        \"other\": {\"command\": \"x\"} /* kept */\n    },\n    \"servers\": {\n    },\n    \"context_servers\": {\n        // none yet\n    },\n    \"mcp\": {\"other\": {\"type\": \"local\", \"command\": [\"x\"]}},\n    \"hooks\": {\n        \"SessionStart\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"other hook\"}]}],\n        \"stop\": [{\"command\": \"other\"}], \"agentStop\": [{\"bash\": \"other\"}]\n    },\n    \"last\": [1, 2, 3] // the end\n}\n"
        }
        "toml" => {
            "# settings of a person\nmodel = \"x\"   # kept\n\n[[hooks]]\nevent = \"Stop\"\ncommand = 'other'\n\n[mcp_servers.other]\ncommand = 'x' # kept\n\n[profiles]\n'a' = {b=1}\n# the end\n"
        }
        "yaml" => {
            "# settings of a person\nname: me\nextensions:\n  # kept\n  other:\n    enabled: true   # kept\n\nmcpServers:\n- name: other\n  command: x # kept\n# the end\nlast: [1, 2]\n"
        }
        "md" | "goosehints" => "# Rules of a person\n\n- one\n- two",
        _ => return None,
    };
    Some(text.to_owned())
}

/// Prepares a file of a client before icm is installed.
type Wild = fn(&Home, &Path, &str);

fn crlf(home: &Home, file: &Path, text: &str) {
    home.write(file, &text.replace('\n', "\r\n"));
}

fn mixed(home: &Home, file: &Path, text: &str) {
    home.write(file, &text.replacen('\n', "\r\n", 3));
}

fn marked(home: &Home, file: &Path, text: &str) {
    home.write(file, &format!("\u{feff}{text}"));
}

fn tabs(home: &Home, file: &Path, text: &str) {
    let is_json = file
        .extension()
        .is_some_and(|end| end.to_str().unwrap().starts_with("json"));
    home.write(
        file,
        &if is_json {
            text.replace("    ", "\t")
        } else {
            text.to_owned()
        },
    );
}

fn endless(home: &Home, file: &Path, text: &str) {
    home.write(file, text.trim_end());
}

#[cfg(unix)]
fn private(home: &Home, file: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    home.write(file, text);
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
}

#[cfg(unix)]
fn linked(home: &Home, file: &Path, text: &str) {
    let name = format!(
        "{}-{}",
        file.parent()
            .unwrap()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap(),
        file.file_name().unwrap().to_str().unwrap()
    );
    let folder = match file.starts_with(home.path().join("project")) {
        true => home.path().join("project"),
        false => home.path(),
    };
    let real = folder.join("dotfiles").join(name);
    home.write(&real, text);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(real, file).unwrap();
}

fn wilds() -> Vec<(&'static str, Wild)> {
    let mut wilds: Vec<(&'static str, Wild)> = vec![
        ("absent", |_, _, _| {}),
        ("empty", |home, file, _| home.write(file, "")),
        ("rich", Home::write),
        ("crlf", crlf),
        ("mixed", mixed),
        ("marked", marked),
        ("tabs", tabs),
        ("endless", endless),
        ("minimal", |home, file, _| {
            let is_json = file
                .extension()
                .is_some_and(|end| end.to_str().unwrap().starts_with("json"));
            home.write(file, if is_json { "{}" } else { "# only a comment" });
        }),
    ];
    #[cfg(unix)]
    wilds.extend([("private", private as Wild), ("linked", linked as Wild)]);
    wilds
}

/// Returns the files of a client that may hold other people's text.
fn files(request: &Request) -> Vec<PathBuf> {
    let home = Home::new();
    let request = Request {
        scope: moved(&request.scope, &home),
        ..request.clone()
    };
    let plan = home.plan(&request);
    let steps = plan
        .steps
        .iter()
        .map(|step| step.file.strip_prefix(home.path()).unwrap().to_path_buf());
    steps.filter(|file| rich(file).is_some()).collect()
}

fn moved(scope: &Scope, home: &Home) -> Scope {
    match scope {
        Scope::User => Scope::User,
        Scope::Project(_) => Scope::Project(home.path().join("project")),
    }
}

fn requests(client: Client) -> Vec<Request> {
    let user = Home::new().request(client);
    let project = Request {
        scope: Scope::Project(PathBuf::new()),
        ..user.clone()
    };
    vec![user, project]
}

#[test]
fn twice_is_once_and_uninstall_gives_every_byte_back() {
    let mut written = 0;
    for client in Client::ALL {
        for request in requests(*client) {
            let files = files(&request);
            for (wild, prepare) in wilds() {
                let home = Home::new();
                let request = Request {
                    scope: moved(&request.scope, &home),
                    ..request.clone()
                };
                for file in &files {
                    prepare(&home, &home.path().join(file), &rich(file).unwrap());
                }
                let case = format!("{client:?} {:?} {wild}", request.scope);
                let before = home.tree();
                let plan = home.install(&request);
                let once = home.tree();
                for step in &plan.steps {
                    assert!(
                        step.refused().is_none(),
                        "{case}: {:?}: {:?}",
                        step.file,
                        step.refused()
                    );
                    assert!(step.changes(), "{case}: {:?}", step.file);
                    assert_eq!(fs::read(&step.file).ok(), step.after, "{case}");
                    written += 1;
                }
                let targets: Vec<&PathBuf> = plan.steps.iter().map(|step| &step.target).collect();
                for (path, now) in &once {
                    let is_written = targets.iter().any(|target| target.starts_with(path));
                    assert!(
                        is_written || before.get(path) == Some(now),
                        "{case}: {path:?} changed"
                    );
                    for word in ["kept", "the end"] {
                        let count = |text: &str| text.matches(word).count();
                        let old = before.get(path).map_or(0, |text| count(text));
                        assert_eq!(count(now), old, "{case}: {path:?} lost a comment: {now}");
                    }
                }
                let again = home.install(&request);
                assert!(
                    again.steps.iter().all(|step| !step.changes()),
                    "{case}: twice"
                );
                assert_eq!(home.tree(), once, "{case}: twice");

                home.uninstall();
                assert_eq!(home.tree(), before, "{case}: uninstalled");
                assert!(!home.ledger().exists(), "{case}: the list is left");
            }
        }
    }
    assert!(written > 500, "only {written} files were written");
}

#[test]
fn text_added_since_the_install_stays() {
    for client in Client::ALL {
        for request in requests(*client) {
            for wild in [Home::write as Wild, |_: &Home, _: &Path, _: &str| {}] {
                for keeps_list in [true, false] {
                    let home = Home::new();
                    let request = Request {
                        scope: moved(&request.scope, &home),
                        ..request.clone()
                    };
                    for file in files(&request) {
                        wild(&home, &home.path().join(&file), &rich(&file).unwrap());
                    }
                    let plan = home.install(&request);
                    for step in plan.steps.iter().filter(|step| rich(&step.file).is_some()) {
                        let text = fs::read_to_string(&step.file).unwrap();
                        fs::write(&step.file, add(&step.file, &text)).unwrap();
                    }
                    if !keeps_list {
                        let _ = fs::remove_dir_all(home.ledger());
                    }
                    home.uninstall();
                    let case = format!("{client:?} {:?} {keeps_list}", request.scope);
                    for (path, text) in home.tree() {
                        assert!(!text.contains("a b/icm"), "{case}: {path:?} keeps {text}");
                    }
                    for step in plan.steps.iter().filter(|step| rich(&step.file).is_some()) {
                        let text = fs::read_to_string(&step.file).unwrap();
                        assert!(
                            text.contains("since"),
                            "{case}: {:?} lost words: {text}",
                            step.file
                        );
                        if let Some(before) = &step.before {
                            let wanted = add(&step.file, std::str::from_utf8(before).unwrap());
                            assert_eq!(
                                squeezed(&text),
                                squeezed(&wanted),
                                "{case}: {:?}",
                                step.file
                            );
                        }
                    }
                }
            }
        }
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Returns the text with a person's addition.
fn add(file: &Path, text: &str) -> String {
    match file
        .extension()
        .and_then(|end| end.to_str())
        .unwrap_or_default()
    {
        "json" | "jsonc" => text.replacen('{', "{\"since\": 1,", 1),
        "toml" => format!("since = 1\n{text}"),
        "yaml" => format!("since: 1\n{text}"),
        _ => format!("since\n\n{text}"),
    }
}

#[test]
fn broken_files_are_left_alone_and_named() {
    let texts: [(&str, &[u8]); 6] = [
        ("cut", b"{\"mcpServers\": {"),
        ("twice", b"{\"a\": 1, \"a\": 2}"),
        ("latin", b"\xe9 = 1"),
        ("list", b"[1, 2]"),
        ("wide", b"\xff\xfe{\0}\0"),
        ("toml", b"[a]\nb = 1\nb = 2\n"),
    ];
    let mut refused = 0;
    for client in Client::ALL {
        for request in requests(*client) {
            for (name, bytes) in texts {
                let home = Home::new();
                let request = Request {
                    scope: moved(&request.scope, &home),
                    ..request.clone()
                };
                for file in files(&request) {
                    home.write(&home.path().join(&file), "");
                    fs::write(home.path().join(&file), bytes).unwrap();
                }
                let before = home.tree();
                let plan = home.install(&request);
                let after = home.tree();
                for step in &plan.steps {
                    let Some(error) = step.refused() else {
                        continue;
                    };
                    refused += 1;
                    let error = error.to_string();
                    assert!(
                        !error.contains('\n') && error.contains(": ") || error.contains("; "),
                        "{error}"
                    );
                    assert_eq!(before[&step.file], after[&step.file], "{client:?} {name}");
                }
                let is_settings = |file: &PathBuf| {
                    !file.ends_with(".goosehints")
                        && file.extension().is_some_and(|end| end != "md")
                };
                let settings = files(&request).into_iter().filter(is_settings).count();
                let told = plan
                    .steps
                    .iter()
                    .filter(|step| step.refused().is_some())
                    .count();
                let is_clear = name == "cut" || name == "latin" || name == "wide";
                assert!(
                    !is_clear || told >= settings,
                    "{client:?} {name}: {told} of {settings}"
                );
                home.uninstall();
                assert_eq!(home.tree(), before, "{client:?} {name}");
            }
        }
    }
    assert!(refused > 200, "only {refused}");
}

#[test]
fn a_server_of_another_tool_is_replaced_by_force_alone() {
    let home = Home::new();
    let file = home.path().join(".cursor/mcp.json");
    let text = "{\"mcpServers\": {\"icm\": {\"command\": \"image-color-manager\", \"args\": [\"serve\"]}}}";
    home.write(&file, text);
    let mut request = Request {
        what: vec![What::Server],
        ..home.request(Client::Cursor)
    };
    let plan = home.install(&request);
    let error = plan.steps[0].refused().unwrap().to_string();
    assert_eq!(
        error,
        "another server called icm is there (`image-color-manager serve`): give `--force` to replace it"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert!(home.uninstall().steps.is_empty());

    request.force = true;
    home.install(&request);
    assert!(fs::read_to_string(&file).unwrap().contains("/opt/a b/icm"));
    home.uninstall();
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

/// The hooks come into the file beside a server that `init` refuses to replace.
#[test]
fn a_server_that_was_refused_is_not_listed_as_removed() {
    for (command, is_edited, is_repeated) in [
        ("other-icm", false, false),
        ("other-icm", true, false),
        ("other-icm", true, true),
        ("/opt/other/icm", false, false),
        ("/opt/other/icm", true, false),
        ("/opt/other/icm", true, true),
    ] {
        let case = format!("{command} {is_edited} {is_repeated}");
        let home = Home::new();
        let file = home.path().join(".gemini/settings.json");
        let before = format!(
            r#"{{"mcpServers":{{"icm":{{"command":"{command}","args":["serve"]}}}},"theme":"light"}}"#
        );
        home.write(&file, &before);
        let request = Request {
            what: vec![What::Server, What::Hooks],
            ..home.request(Client::GeminiCli)
        };
        let refuses = |plan: &Plan| plan.steps.iter().any(|step| step.refused().is_some());
        assert!(refuses(&home.install(&request)), "{case}");
        let edited = |text: &str| text.replace("light", "dark");
        if is_edited {
            let text = fs::read_to_string(&file).unwrap();
            assert!(text.contains("hooks"), "{case}: {text}");
            fs::write(&file, edited(&text)).unwrap();
        }
        if is_repeated {
            let other = Request {
                icm: "/moved/icm".into(),
                ..request
            };
            assert!(refuses(&home.install(&other)), "{case}");
        }

        let plan = home.uninstall();
        let pieces = plan.steps.iter().flat_map(|step| &step.pieces);
        let pieces: Vec<What> = pieces.map(|piece| piece.what).collect();
        assert_eq!(pieces, [What::Hooks], "{case}");
        let named = plan.notes.iter().filter(|note| note.contains(command));
        assert_eq!(named.count(), 1, "{case}: {:?}", plan.notes);
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let expected = match is_edited {
            true => edited(&before),
            false => before,
        };
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(value(&text), value(&expected), "{case}");
    }
}

#[test]
fn an_older_entry_is_brought_up_to_date() {
    for client in Client::ALL
        .iter()
        .filter(|client| has(**client, What::Server))
    {
        let home = Home::new();
        let mut request = home.request(*client);
        home.install(&request);
        request.icm = "/new/icm".into();
        request.env = BTreeMap::new();
        let plan = home.install(&request);
        let updated = plan.steps.iter().flat_map(|step| &step.pieces);
        let updated = updated
            .filter(|piece| matches!(piece.outcome, Outcome::Updated))
            .count();
        assert!(updated > 0, "{client:?}");
        for (path, text) in home.tree() {
            assert!(
                !text.contains("a b/icm") && !text.contains("/data/a store"),
                "{client:?}: {path:?} {text}"
            );
        }
        assert!(
            home.plan(&request).steps.iter().all(|step| !step.changes()),
            "{client:?}"
        );
        home.uninstall();
        assert_eq!(home.tree().len(), 1, "{client:?}: only the project is left");
    }
}

/// A second run must find the hooks of the first one, whatever their commands escape.
#[test]
fn a_folder_with_quotes_gets_its_hooks_once() {
    let mut clients = 0;
    for client in Client::ALL
        .iter()
        .filter(|client| has(**client, What::Hooks))
    {
        let home = Home::new();
        let mut request = home.request(*client);
        request.what = vec![What::Hooks];
        for icm in [r#"/opt/a"b/icm"#, "/opt/it's/icm", r"/opt/a\$`/icm"] {
            request.icm = icm.into();
            home.install(&request);
            let once = home.tree();
            let again = home.install(&request);
            let is_idle = again.steps.iter().all(|step| !step.changes());
            assert!(is_idle && home.tree() == once, "{client:?} {icm}: twice");
        }
        home.uninstall();
        assert_eq!(home.tree().len(), 1, "{client:?}: only the project is left");
        clients += 1;
    }
    assert!(clients > 10, "{clients}");
}

/// Other programs may have the same name and the same argument.
#[test]
fn a_server_of_another_icm_stays_unless_forced() {
    let home = Home::new();
    let file = home.path().join(".claude.json");
    let other = r#"{"mcpServers": {"icm": {"command": "/usr/local/bin/icm", "args": ["serve"], "env": {"TOKEN": "t"}}}}"#;
    home.write(&file, other);
    let request = Request {
        what: vec![What::Server],
        ..home.request(Client::ClaudeCode)
    };
    let plan = home.install(&request);
    assert!(plan.steps.iter().any(|step| step.refused().is_some()));
    assert_eq!(fs::read_to_string(&file).unwrap(), other);
    home.install(&Request {
        force: true,
        ..request.clone()
    });
    assert!(fs::read_to_string(&file).unwrap().contains("/opt/a b/icm"));
    // An entry that icm wrote is updated, wherever the program lies now.
    let moved = home.install(&Request {
        icm: "/moved/icm".into(),
        ..request
    });
    assert!(moved.steps.iter().all(|step| step.refused().is_none()));
    assert!(fs::read_to_string(&file).unwrap().contains("/moved/icm"));
    home.uninstall();
    assert_eq!(fs::read_to_string(&file).unwrap(), other);
}

#[test]
fn settings_of_a_person_in_the_entry_stay() {
    let home = Home::new();
    let file = home.path().join(".claude.json");
    home.write(&file, r#"{"mcpServers": {"icm": {"type": "stdio", "command": "icm", "args": ["serve"], "alwaysLoad": true, "timeout": 5}}}"#);
    home.install(&Request {
        what: vec![What::Server],
        ..home.request(Client::ClaudeCode)
    });
    let value: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let entry = &value["mcpServers"]["icm"];
    assert_eq!(entry["command"], "/opt/a b/icm");
    assert_eq!(
        (&entry["alwaysLoad"], &entry["timeout"]),
        (&true.into(), &5.into())
    );
    assert_eq!(entry["env"]["ICM_DB"], "/data/a store");
}

/// An update changes the command and the variables of icm, and no other byte.
#[test]
fn an_update_leaves_the_rest_of_the_entry_byte_for_byte() {
    let json = |start: &str, end: &str, env: &str| {
        format!(
            "{{\n  // mine\n  \"mcpServers\": {{\n    \"icm\": {{ \"transport\": {start}\"command\": \"{{ICM}}\", /* here */ \"args\": [\"serve\"],\n      \
             \"env\": {{ \"MINE\": \"1\"{env} }}{end}, \"timeout\": -1, \"ratio\": 2.50, \"none\": null,\n      \"big\": 1e400 }}\n  }}\n}}\n"
        )
    };
    let db = ", \"ICM_DB\": \"{DB}\"";
    let toml = "[mcp_servers.icm]\ncommand = \"{ICM}\" # here\nargs = [ 'serve' ] # kept\nstartup_timeout_sec = 2.50\nmost = -1\n\
                since = 2026-11-26\ntransport = 'stdio'\n\n[mcp_servers.icm.env]\nMINE = '1'\nICM_DB = \"{DB}\" # the store\n\n[other]\na = 1\n";
    let goose = "extensions:\n  icm:\n    name: icm\n    cmd: {ICM} # here\n    args: [serve]\n    timeout: -1\n    ratio: 2.50\n    none: null\n    \
                 type: stdio\n    enabled: no\n    description: mine\n    envs:\n      MINE: 1\n      ICM_DB: {DB}\n";
    let cn = "mcpServers:\n  - name: other\n    command: x\n  - name: icm # mine\n    command: {ICM}\n    args:\n      - serve\n    ratio: 2.50\n    \
              env:\n      MINE: ~\n      ICM_DB: {DB}\n";
    let mut updates = 0;
    for (client, file, text) in [
        (
            Client::ClaudeCode,
            ".claude.json",
            json("\"http\", ", "", db),
        ),
        (
            Client::ClaudeCode,
            ".claude.json",
            json("\"http\", ", "", ""),
        ),
        (Client::Cline, ".cline/mcp.json", json("{ ", "}", db)),
        (Client::Codex, ".codex/config.toml", toml.to_owned()),
        (Client::Goose, ".config/goose/config.yaml", goose.to_owned()),
        (Client::Continue, ".continue/config.yaml", cn.to_owned()),
    ] {
        let filled = |icm: &str, db: &str| text.replace("{ICM}", icm).replace("{DB}", db);
        let home = Home::new();
        let request = home.request(client);
        let file = match client {
            Client::Cline => home.plan(&request).steps[0].file.clone(),
            _ => home.path().join(file),
        };
        home.write(&file, &filled("icm", "/old/store"));
        let mut request = Request {
            what: vec![What::Server],
            icm: "/new/icm".into(),
            ..request
        };
        request.env.insert("ICM_DB".into(), "/new/store".into());
        if !text.contains("{DB}") {
            request.env.clear();
        }
        home.install(&request);
        let now = fs::read_to_string(&file).unwrap();
        assert_eq!(now, filled("/new/icm", "/new/store"), "{client:?}");
        assert!(!home.plan(&request).steps[0].changes(), "{client:?}: twice");
        // A variable that is no longer wanted is removed; a person's stays.
        request.env.clear();
        home.install(&request);
        let now = fs::read_to_string(&file).unwrap();
        assert!(now.contains("MINE") && !now.contains("ICM_DB"), "{now}");
        assert!(!home.plan(&request).steps[0].changes(), "{client:?}: twice");
        updates += 1;
    }
    assert_eq!(updates, 6);
}

/// A person may have changed the timeout of a hook, or the message that its client shows.
#[test]
fn an_update_of_a_hook_changes_its_command_alone() {
    for (client, file, key, before) in [
        (
            Client::ClaudeCode,
            ".claude/settings.json",
            "Stop",
            "{\"hooks\": [{ ",
        ),
        (Client::Cursor, ".cursor/hooks.json", "stop", "{ "),
    ] {
        let home = Home::new();
        let request = Request {
            what: vec![What::Hooks],
            ..home.request(client)
        };
        home.install(&request);
        let file = home.path().join(file);
        let value: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let now = match &value["hooks"][key][0] {
            group if group.get("hooks").is_some() => group["hooks"][0]["command"].to_string(),
            hook => hook["command"].to_string(),
        };
        let old = now.replace("/opt/a b/icm", "/old/icm");
        assert_ne!(now, old, "{client:?}");
        let end = if before.contains('[') { " }]}" } else { " }" };
        let text = |command: &str| {
            format!(
                "{{\"version\": 1, \"hooks\": {{\"{key}\": [{before}\"timeout\": 2.5, \"command\": {command}, \"mine\": null{end}]}}}}\n"
            )
        };
        home.uninstall();
        home.write(&file, &text(&old));
        home.install(&request);
        let text_now = fs::read_to_string(&file).unwrap();
        let hook = format!("{before}\"timeout\": 2.5, \"command\": {now}, \"mine\": null{end}");
        assert!(text_now.contains(&hook), "{client:?}: {text_now}");
        assert!(!home.plan(&request).steps[0].changes(), "{client:?}: twice");
    }
}

#[test]
fn a_client_that_is_there_twice_is_written_twice() {
    let home = Home::new();
    home.write(&home.path().join(".config/amp/settings.json"), "{}");
    home.write(&home.path().join(".amp/settings.json"), "{}");
    let plan = home.install(&Request {
        what: vec![What::Server],
        ..home.request(Client::Amp)
    });
    assert_eq!(plan.steps.len(), 2);
    let text = fs::read_to_string(home.path().join(".config/amp/settings.json")).unwrap();
    assert!(text.contains("amp.mcpServers"), "{text}");

    let home = Home::new();
    for editor in ["Code", "VSCodium"] {
        let folder = home.path().join(format!(
            ".config/{editor}/User/globalStorage/saoudrizwan.claude-dev"
        ));
        fs::create_dir_all(folder).unwrap();
    }
    fs::create_dir_all(home.path().join(".cline")).unwrap();
    let plan = home.install(&Request {
        what: vec![What::Server],
        ..home.request(Client::Cline)
    });
    assert_eq!(plan.steps.len(), 3, "{:?}", plan.steps);
}

#[test]
fn the_file_that_exists_is_chosen() {
    let home = Home::new();
    home.write(&home.path().join(".config/opencode/opencode.json"), "{}");
    let plan = home.install(&Request {
        what: vec![What::Server],
        ..home.request(Client::OpenCode)
    });
    assert!(
        plan.steps[0].file.ends_with("opencode.json"),
        "{:?}",
        plan.steps[0].file
    );
}

#[test]
fn codex_gets_the_folders_that_it_drops() {
    let home = Home::new();
    let mut machine = home.machine();
    machine.env.insert("XDG_DATA_HOME".into(), "/data".into());
    let request = Request {
        what: vec![What::Server],
        ..home.request(Client::Codex)
    };
    let plan = Plan::install(&request, &machine, &home.ledger()).unwrap();
    let text = String::from_utf8(plan.steps[0].after.clone().unwrap()).unwrap();
    assert_eq!(
        text,
        "[mcp_servers.icm]\ncommand = \"/opt/a b/icm\"\nargs = [\"serve\"]\n\n[mcp_servers.icm.env]\nICM_DB = \"/data/a store\"\nXDG_DATA_HOME = \"/data\"\n"
    );
}

#[test]
fn big_files_and_folders_are_left_alone() {
    let home = Home::new();
    let file = home.path().join(".cursor/mcp.json");
    home.write(&file, &" ".repeat(10_000_000));
    let plan = home.plan(&Request {
        what: vec![What::Server],
        ..home.request(Client::Cursor)
    });
    assert!(
        plan.steps[0]
            .refused()
            .unwrap()
            .to_string()
            .contains("10000000 bytes")
    );
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let plan = home.plan(&Request {
        what: vec![What::Server],
        ..home.request(Client::Cursor)
    });
    assert!(
        plan.steps[0]
            .refused()
            .unwrap()
            .to_string()
            .contains("not a regular file")
    );
}

#[cfg(unix)]
#[test]
fn a_read_only_file_is_left_alone() {
    use std::os::unix::fs::PermissionsExt;
    for client in Client::ALL {
        let home = Home::new();
        let request = home.request(*client);
        for file in files(&request) {
            let file = home.path().join(file);
            home.write(&file, &rich(&file).unwrap());
            fs::set_permissions(file, fs::Permissions::from_mode(0o444)).unwrap();
        }
        let before = home.tree();
        let plan = home.install(&request);
        let told = plan.steps.iter().filter(|step| step.refused().is_some());
        assert_eq!(told.count(), files(&request).len(), "{client:?}");
        home.uninstall();
        assert_eq!(home.tree(), before, "{client:?}");
    }
}

#[test]
fn a_file_that_changed_since_the_plan_is_left_alone() {
    let home = Home::new();
    let file = home.path().join(".cursor/mcp.json");
    home.write(&file, "{}");
    let plan = home.plan(&Request {
        what: vec![What::Server],
        ..home.request(Client::Cursor)
    });
    fs::write(&file, "{\"a\": 1}").unwrap();
    assert!(plan.apply()[0].is_err());
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\"a\": 1}");
    assert!(!home.ledger().exists());
}

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

#[test]
fn a_home_that_does_not_exist_is_made_and_removed() {
    let home = Home::new();
    let mut machine = home.machine();
    machine.home = home.path().join("nobody");
    let request = home.request(Client::ClaudeCode);
    let plan = Plan::install(&request, &machine, &home.ledger()).unwrap();
    assert!(plan.apply().iter().all(Result::is_ok));
    let plan = Plan::removal(Path::new(ICM), None, &machine, &home.ledger()).unwrap();
    assert!(plan.apply().iter().all(Result::is_ok));
    assert!(!machine.home.exists());
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

#[test]
fn a_hook_of_another_tool_is_left_alone() {
    let home = Home::new();
    let file = home.path().join(".cline/hooks/TaskStart");
    home.write(&file, "#!/bin/sh\necho theirs\n");
    let request = Request {
        what: vec![What::Hooks],
        ..home.request(Client::Cline)
    };
    let plan = home.install(&request);
    let refused = plan.steps.iter().filter_map(|step| step.refused());
    let refused: Vec<String> = refused.map(ToString::to_string).collect();
    assert_eq!(
        refused,
        ["another file is there already: give `--force` to replace it"]
    );
    home.uninstall();
    let text = || fs::read_to_string(&file).unwrap();
    assert_eq!(text(), "#!/bin/sh\necho theirs\n");

    home.install(&Request {
        force: true,
        ..request
    });
    fs::write(&file, format!("{}# since\n", text())).unwrap();
    home.uninstall();
    assert_eq!(text(), "#!/bin/sh\necho theirs\n");
}

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

const LOCAL: &str = r#"{
  "projects": {
    "/src/a": {"mcpServers": {"icm": {"command": "icm", "args": ["serve"]}, "other": {"command": "x"}}},
    "/src/b": {"mcpServers": {"icm": {"command": "theirs"}}},
    "/src/c": 7
  },
  "numStartups": 4
}
"#;

#[test]
fn entries_for_one_folder_are_found_and_taken_out() {
    use icm_clients::install::entries;

    let home = Home::new();
    let file = home.path().join(".claude.json");
    home.write(&file, LOCAL);
    let found = entries(None, &home.machine()).into_iter();
    let found = found.map(|(_, _, entry)| entry.unwrap());
    let found: Vec<_> = found
        .map(|entry| (entry.folder.clone(), entry.is_local, entry.is_icm()))
        .collect();
    assert_eq!(
        found,
        [
            ("/src/a".into(), true, true),
            ("/src/b".into(), true, false)
        ]
    );
    let plan = home.uninstall();
    assert_eq!(plan.clients, [Client::ClaudeCode]);
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(
        text,
        LOCAL.replace(r#""icm": {"command": "icm", "args": ["serve"]},"#, "")
    );
    assert!(home.uninstall().steps.is_empty());

    // The user's entry is beside them, and both are removed.
    home.write(&file, LOCAL);
    home.install(&Request {
        what: vec![What::Server],
        ..home.request(Client::ClaudeCode)
    });
    assert_eq!(entries(None, &home.machine()).len(), 3);
    home.uninstall();
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains("serve") && text.contains("theirs"), "{text}");
    home.write(&file, LOCAL);
    home.install(&Request {
        what: vec![What::Server],
        ..home.request(Client::ClaudeCode)
    });
    let text = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        text.replace("\"numStartups\": 4", "\"numStartups\": 5"),
    )
    .unwrap();
    home.uninstall();
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains("serve"), "{text}");
}
