//! The choice of files, and files that are left alone.

use super::*;

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
