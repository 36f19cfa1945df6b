//! Entries that are there already: of icm, of another icm, and of other tools.

use super::*;

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
