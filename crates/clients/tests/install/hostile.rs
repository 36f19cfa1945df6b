//! Files that were made to do harm: links, owners, sizes, depths.

#[cfg(unix)]
use std::fs;
#[cfg(unix)]
use std::path::PathBuf;

#[cfg(unix)]
use icm_clients::install::Scope;
use icm_clients::install::{Request, What};
use icm_clients::names::Client;

use super::Home;

#[test]
fn a_file_that_nests_too_deep_is_refused_in_one_line() {
    let aliases: String = ('b'..='g')
        .zip('a'..)
        .map(|(name, of)| {
            format!("{name}: &{name} [*{of},*{of},*{of},*{of},*{of},*{of},*{of},*{of}]\n")
        })
        .collect();
    for (client, text) in [
        (Client::Cursor, "[".repeat(200_000)),
        (Client::Cursor, "{\"a\":".repeat(200_000)),
        (Client::Codex, format!("a = {}", "[".repeat(200_000))),
        (Client::Codex, format!("a{} = 1", ".a".repeat(200_000))),
        (Client::Goose, "[".repeat(200_000)),
        (Client::Goose, format!("a: &a [x,x,x,x,x,x,x,x]\n{aliases}")),
    ] {
        let home = Home::new();
        let request = Request {
            what: vec![What::Server],
            ..home.request(client)
        };
        let file = home.plan(&request).steps[0].file.clone();
        home.write(&file, &text);
        let plan = home.plan(&request);
        let error = plan.steps[0].refused().unwrap().to_string();
        assert!(error.contains("does not parse as"), "{error}");
        assert!(error.len() < 400 && !error.contains('\n'), "{error}");
    }
}

/// A project may have another author. Its links must not lead to the user's settings.
#[cfg(unix)]
#[test]
fn a_link_out_of_a_project_is_left_alone() {
    let home = Home::new();
    let project = home.path().join("project");
    home.write(&home.path().join(".bashrc"), "# mine\n");
    home.write(&home.path().join(".ssh/config.json"), "{}");
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(home.path().join(target), project.join(name)).unwrap();
    };
    link(".bashrc", "CLAUDE.md");
    link(".ssh/config.json", ".mcp.json");
    link(".ssh", ".claude");
    let before = home.tree();
    let plan = home.plan(&Request {
        scope: Scope::Project(project.clone()),
        ..home.request(Client::ClaudeCode)
    });
    assert!(plan.apply().iter().all(Result::is_ok));
    assert_eq!(plan.steps.len(), 4);
    for step in &plan.steps {
        let error = step.refused().unwrap().to_string();
        assert!(error.contains("a link out of the project, to /"), "{error}");
    }
    assert_eq!(home.tree(), before);
    // The same links in the home folder are the user's own.
    let user = home.path().join(".claude.json");
    std::os::unix::fs::symlink(home.path().join(".ssh/config.json"), user).unwrap();
    home.install(&Request {
        what: vec![What::Server],
        ..home.request(Client::ClaudeCode)
    });
}

#[cfg(unix)]
#[test]
fn a_file_of_another_user_is_left_alone() {
    let home = Home::new();
    let request = Request {
        what: vec![What::Server],
        ..home.request(Client::Cursor)
    };
    let theirs = home.path().join("theirs.json");
    home.write(&theirs, "{}");
    // Only root gives files away; other users take a file of the system as another user's.
    let target = match std::os::unix::fs::chown(&theirs, Some(65_534), None) {
        Ok(()) => theirs,
        Err(_) => PathBuf::from("/etc/hosts"),
    };
    let bytes = fs::read(&target).unwrap();
    let file = home.path().join(".cursor/mcp.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&target, &file).unwrap();
    let plan = home.install(&request);
    let error = plan.steps[0].refused().unwrap().to_string();
    assert!(error.contains("belongs to another user"), "{error}");
    assert_eq!(fs::read(&target).unwrap(), bytes);
}

/// Root in the home of a user writes only files of that user.
#[cfg(unix)]
#[test]
fn root_follows_no_link_to_its_own_files() {
    let home = Home::new();
    if std::os::unix::fs::chown(home.path(), Some(65_534), None).is_err() {
        return;
    }
    let of_root = home.folder.path().join("system.json");
    fs::write(&of_root, "{}").unwrap();
    let file = home.path().join(".cursor/mcp.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&of_root, &file).unwrap();
    let request = Request {
        what: vec![What::Server],
        ..home.request(Client::Cursor)
    };
    let refused = || {
        home.plan(&request).steps[0]
            .refused()
            .map(ToString::to_string)
    };
    assert!(refused().unwrap().contains("another user"));
    std::os::unix::fs::chown(&of_root, Some(65_534), None).unwrap();
    assert_eq!(refused(), None);
}
