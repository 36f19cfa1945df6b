//! Installs for every client, in files as people have them.

use super::*;

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
