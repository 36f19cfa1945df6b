//! `icm sync` through each kind of target: the same stores, the same result.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::servers;
use crate::world::{Args, Run, Says, World, run, tree};

/// A target with its environment.
struct Target {
    world: World,
    url: String,
    env: Vec<(&'static str, String)>,
    more: Vec<String>,
    /// The folder with the target's files, if it has one.
    files: Option<PathBuf>,
    _server: Option<servers::Server>,
}

impl Target {
    fn folder() -> Target {
        let world = World::new();
        Target {
            url: format!("file://{}", world.path("target").display()),
            files: Some(world.path("target")),
            world,
            env: Vec::new(),
            more: Vec::new(),
            _server: None,
        }
    }

    fn s3() -> Target {
        let world = World::new();
        fs::create_dir_all(world.path("s3/bucket")).unwrap();
        let server = servers::s3(&world.path("s3"));
        Target {
            url: "s3://bucket/my/icm".to_owned(),
            env: vec![
                ("AWS_ACCESS_KEY_ID", servers::ACCESS_KEY.to_owned()),
                ("AWS_SECRET_ACCESS_KEY", servers::SECRET_KEY.to_owned()),
                ("AWS_ENDPOINT_URL", format!("http://{}", server.address)),
            ],
            more: Vec::new(),
            files: Some(world.path("s3/bucket/my/icm")),
            _server: Some(server),
            world,
        }
    }

    fn gcs() -> Target {
        let world = World::new();
        fs::create_dir_all(world.path("gcs/bucket")).unwrap();
        let server = servers::gcs(&world.path("gcs"));
        Target {
            url: "gs://bucket/my/icm".to_owned(),
            env: vec![
                (
                    "GOOGLE_SERVICE_ACCOUNT_KEY",
                    serde_json::json!({
                        "private_key": "", "private_key_id": "", "client_email": "", "disable_oauth": true
                    })
                    .to_string(),
                ),
                ("GOOGLE_BASE_URL", format!("http://{}", server.address)),
            ],
            more: Vec::new(),
            files: Some(world.path("gcs/bucket/my/icm")),
            _server: Some(server),
            world,
        }
    }

    fn webdav() -> Target {
        let world = World::new();
        fs::create_dir_all(world.path("dav")).unwrap();
        let server = servers::webdav(&world.path("dav"));
        Target {
            url: format!("http://mira:tea@{}/my/icm", server.address),
            env: Vec::new(),
            more: Vec::new(),
            files: Some(world.path("dav/my/icm")),
            _server: Some(server),
            world,
        }
    }

    fn git() -> Target {
        let target = Target::folder();
        Target {
            more: vec!["--git".to_owned()],
            url: "tree/icm".to_owned(),
            files: Some(target.world.path("tree/icm")),
            ..target
        }
        .with_repository()
    }

    #[cfg(unix)]
    fn ssh() -> Target {
        let world = World::new();
        let ssh = stand_in(&world, "ssh", "exec sh -c \"$*\"");
        Target {
            url: format!("ssh://box{}", world.path("there").display()),
            env: vec![("ICM_SSH", ssh)],
            more: vec!["--icm".to_owned(), env!("CARGO_BIN_EXE_icm").to_owned()],
            files: None,
            _server: None,
            world,
        }
    }

    fn run_git(&self, dir: &str, words: &str) -> String {
        fs::create_dir_all(self.world.path(dir)).unwrap();
        let mut git = std::process::Command::new("git");
        git.arg("-C").arg(self.world.path(dir)).args(words.args());
        git.env("HOME", self.world.path(".."))
            .env("GIT_CONFIG_NOSYSTEM", "1");
        let output = git.output().unwrap();
        assert!(output.status.success(), "{words:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn with_repository(self) -> Target {
        let git = |dir: &str, words: &str| _ = self.run_git(dir, words);
        git("origin", "init --quiet --bare");
        fs::write(
            self.world.path("../.gitconfig"),
            "[user]\nname = Mira\nemail = mira@example.org\n[push]\ndefault = current\n",
        )
        .unwrap();
        git(".", "clone --quiet origin tree");
        git("tree", "commit --quiet --allow-empty -m begun");
        git("tree", "push --quiet -u origin HEAD");
        git(".", "clone --quiet origin other");
        Target {
            env: vec![("PATH", std::env::var("PATH").unwrap())],
            files: Some(self.world.path("tree/icm")),
            ..self
        }
    }

    fn icm(&self, db: &str, words: impl Args) -> Run {
        let mut command = self.world.command(words);
        command.arg("--db").arg(self.world.path(db));
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        run(&mut command, b"")
    }

    fn sync(&self, db: &str) -> Run {
        self.sync_at(db, &self.url)
    }

    /// Runs a sync with output for people.
    fn told(&self, db: &str, url: &str) -> Run {
        let more = self.more.iter().map(String::as_str);
        let words: Vec<&str> = ["sync", url].into_iter().chain(more).collect();
        self.icm(db, words)
    }

    fn sync_at(&self, db: &str, url: &str) -> Run {
        let more = self.more.iter().map(String::as_str);
        let words: Vec<&str> = ["sync", url, "--json"].into_iter().chain(more).collect();
        self.icm(db, words)
    }

    fn state(&self, db: &str) -> Value {
        let verified = self.icm(db, "verify --json").ok().json();
        assert_eq!(verified["ok"], true);
        verified["state_hash"].clone()
    }

    fn store(&self, db: &str, content: &str) -> String {
        let stored = self.icm(db, format!("store -t t -c '{content}' --json"));
        stored.ok().json()["id"].as_str().unwrap().to_owned()
    }
}

/// Makes a program in place of ssh: it drops the arguments for ssh, and runs `rest` with those for the shell of the
/// other side.
#[cfg(unix)]
fn stand_in(world: &World, name: &str, rest: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let skip = "while [ \"$1\" != -- ]; do shift; done; shift; shift\necho Welcome";
    let path = world.write(name, format!("#!/bin/sh\n{skip}\n{rest}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path.display().to_string()
}

fn holds(folder: &Path, text: &str) -> bool {
    let has = |bytes: &[u8]| bytes.windows(text.len()).any(|it| it == text.as_bytes());
    tree(folder).iter().any(|(_, bytes)| has(bytes))
}

/// Returns the numbers of received and sent events.
fn moved(answer: &Value) -> (u64, u64) {
    let number = |value: &Value| value.as_u64().unwrap();
    let (came, went) = (&answer["received"]["events"], &answer["sent"]["events"]);
    (number(came), number(went))
}

/// Two stores exchange, redact, and reach the same state.
fn two_machines(target: &Target) {
    let secret = "the safe opens with quartzite";
    let id = target.store("a", secret);
    target.store("b", "The house uses tabs");
    assert_eq!(moved(&target.sync("a").ok().json()), (0, 3));
    let would = target.icm("b", format!("sync {} --dry-run --json", target.url));
    assert_eq!(moved(&would.ok().json()), (3, 3));
    assert_eq!(moved(&target.sync("b").ok().json()), (3, 4));
    assert_eq!(target.sync("a").ok().json()["received"]["events"], 4);
    assert_eq!(target.state("a"), target.state("b"));
    let files = target.files.as_deref().unwrap();
    assert!(holds(files, secret) && holds(&target.world.path("b"), secret));

    target.icm("b", format!("redact {id} --yes")).ok();
    for db in ["b", "a", "b", "a"] {
        target.sync(db).ok();
    }
    for folder in [files, &target.world.path("a"), &target.world.path("b")] {
        let kept: Vec<_> = tree(folder)
            .into_iter()
            .filter(|(path, _)| !path.iter().any(|it| it == ".git"))
            .collect();
        assert!(!kept.is_empty());
        assert!(!holds(folder, secret), "{}", folder.display());
    }
    assert_eq!(target.state("a"), target.state("b"));
    for db in ["a", "b", "a"] {
        assert_eq!(moved(&target.sync(db).ok().json()), (0, 0));
    }

    // A cut file is waited for, a changed one is refused, and both are reported.
    let before = target.state("a");
    target.store("b", "Deploys happen on Tuesdays");
    target.sync("b").ok();
    let newest = |path: &&(PathBuf, Vec<u8>)| holds_text(&path.1, "Tuesdays");
    let (path, bytes) = tree(files).iter().find(newest).unwrap().clone();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let answer = target.sync("a").ok().json();
    assert_eq!(answer["not_there"][0]["reason"], "not_there", "{answer}");
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    fs::write(&path, flipped).unwrap();
    let answer = target.sync("a").ends(3).json();
    assert_eq!(answer["refused"][0]["reason"], "changed", "{answer}");
    assert_eq!(target.state("a"), before);
    fs::write(&path, bytes).unwrap();
    target.sync("a").ok();
    assert_eq!(target.state("a"), target.state("b"));
}

fn holds_text(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|it| it == text.as_bytes())
}

#[test]
fn by_way_of_a_folder() {
    two_machines(&Target::folder());
}

#[test]
fn by_way_of_a_server_that_speaks_s3() {
    let target = Target::s3();
    two_machines(&target);
    // A refusal of access is reported, without retries.
    let wrong = vec![
        ("AWS_ACCESS_KEY_ID", servers::ACCESS_KEY.to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "wrong".to_owned()),
        target.env[2].clone(),
    ];
    let target = Target {
        env: wrong,
        ..target
    };
    target.told("a", &target.url).fails(2, "is not allowed");
    assert!(
        target
            .told("a", "s3://bucket?x=1")
            .fails(2, "`?`")
            .out
            .is_empty()
    );
    target.told("a", "s3://").fails(2, "s3://");
}

#[test]
fn by_way_of_a_server_that_speaks_as_google_cloud_storage_does() {
    two_machines(&Target::gcs());
}

#[test]
fn by_way_of_a_server_that_speaks_webdav() {
    let target = Target::webdav();
    two_machines(&target);
    let told = target.icm("a", format!("sync {}", target.url)).ok();
    assert!(!format!("{told:?}").contains("tea@"), "{told:?}");
    let wrong = target.url.replace("mira:tea", "mira:wrong-word");
    let refused = target.told("a", &wrong).fails(2, "is not allowed");
    assert!(
        !format!("{refused:?}").contains("wrong-word"),
        "{refused:?}"
    );
    // Credentials from the environment.
    let bare = target.url.replace("mira:tea@", "");
    target.told("a", &bare).fails(2, "is not allowed");
    let env = vec![("ICM_HTTP_AUTHORIZATION", servers::BASIC.to_owned())];
    let target = Target { env, ..target };
    target.sync_at("a", &bare).ok();
    // The server is gone.
    let address = target._server.as_ref().unwrap().address;
    let mut gone = target;
    gone._server = None;
    let words = format!("http://{address}/");
    gone.told("a", &format!("{words}x")).fails(2, &words);
}

#[test]
fn by_way_of_a_git_work_tree() {
    let target = Target::git();
    two_machines_of_git(&target);
    target
        .icm("a", "sync elsewhere --git")
        .fails(2, "no git work tree");
    target
        .icm("a", "sync s3://bucket --git")
        .fails(2, "`--git` is for a folder");
}

/// Clones of an empty repository: the first push makes the branch. Line ends are kept, because files are compared byte
/// by byte.
#[test]
fn by_way_of_clones_of_an_empty_repository() {
    let target = Target::git();
    let git = |dir: &str, words: &str| target.run_git(dir, words);
    git("empty", "init --quiet --bare");
    git(".", "clone --quiet empty one");
    git(".", "clone --quiet --config core.autocrlf=true empty two");
    target.store("a", "Mira drinks green tea");
    target.store("b", "The house uses tabs");
    for _ in 0..2 {
        target.sync_at("a", "one/icm").ok();
        target.sync_at("b", "two/icm").ok();
    }
    target.sync_at("a", "one/icm").ok();
    assert_eq!(target.state("a"), target.state("b"));
    assert_eq!(target.icm("b", "stats --json").ok().json()["memories"], 2);
}

/// An uncommitted change in the work tree conflicts with a pulled one.
#[test]
fn an_own_change_that_does_not_fit_what_was_pulled_is_told_of() {
    let target = Target::git();
    let git = |dir: &str, words: &str| target.run_git(dir, words);
    let notes = |dir: &str, text: &str| fs::write(target.world.path(dir).join("notes"), text);
    notes("tree", "one\n").unwrap();
    git("tree", "add notes");
    git("tree", "commit --quiet -m notes");
    git("tree", "push --quiet");
    git("other", "pull --quiet");
    notes("other", "another\n").unwrap();
    git("other", "commit --quiet -am 'other notes'");
    git("other", "push --quiet");
    notes("tree", "mine\n").unwrap();
    target.store("a", "Mira drinks green tea");
    let words = "your change of notes are in conflict";
    target.icm("a", "sync tree/icm --git").fails(2, words);
    assert!(git("tree", "stash list").contains("autostash"));
}

/// Two machines, each with its own work tree.
fn two_machines_of_git(target: &Target) {
    target.store("a", "Mira drinks green tea");
    target.store("b", "The house uses tabs");
    for _ in 0..2 {
        target.sync_at("a", "tree/icm").ok();
        target.sync_at("b", "other/icm").ok();
    }
    assert_eq!(target.state("a"), target.state("b"));
    assert_eq!(target.icm("a", "stats --json").ok().json()["memories"], 2);
    // A sync without news makes no commit.
    let commits = || tree(&target.world.path("origin/objects")).len();
    target.sync_at("a", "tree/icm").ok();
    target.sync_at("b", "other/icm").ok();
    let before = commits();
    for _ in 0..2 {
        assert_eq!(moved(&target.sync_at("a", "tree/icm").ok().json()), (0, 0));
        assert_eq!(moved(&target.sync_at("b", "other/icm").ok().json()), (0, 0));
    }
    assert_eq!(commits(), before);
}

#[cfg(unix)]
#[test]
fn with_the_store_of_another_machine() {
    let target = Target::ssh();
    let secret = "the safe opens with quartzite";
    let id = target.store("a", secret);
    target.store("there", "The house uses tabs");
    let would = target.icm(
        "a",
        format!(
            "sync {} --dry-run --json --icm {}",
            target.url, &target.more[1]
        ),
    );
    assert_eq!(moved(&would.ok().json()), (3, 3));
    assert_eq!(moved(&target.sync("a").ok().json()), (3, 4));
    target.sync("a").ok();
    assert_eq!(target.state("a"), target.state("there"));
    assert_eq!(moved(&target.sync("a").ok().json()), (0, 0));
    target.icm("a", format!("redact {id} --yes")).ok();
    target.sync("a").ok();
    assert!(!holds(&target.world.path("there"), secret));
    assert_eq!(target.state("a"), target.state("there"));
    // A new machine, and a store that is asked for the first time.
    assert_eq!(target.sync("c").ok().json()["received"]["events"], 10);
    let fresh = target.url.replace("/there", "/fresh it's");
    target.sync_at("a", &fresh).ok();
    assert_eq!(target.state("a"), target.state("fresh it's"));

    target.told("a", "ssh://").fails(2, "there is no host");
    target
        .told("a", "ssh://-oProxyCommand=x/")
        .fails(2, "there is no host");
    let away = target.icm("a", format!("sync {} --icm no-such-icm", target.url));
    away.fails(2, "did not answer as icm does");
    target
        .icm("a", format!("sync {} --anew", target.url))
        .fails(2, "another store has no files");
    target.icm("a", "sync --answer").ok();
}

/// The connection breaks after some bytes in either direction: both stores stay undamaged, and the next sync completes.
#[cfg(unix)]
#[test]
fn a_connection_that_is_cut_anywhere() {
    let target = Target::ssh();
    for n in 0..3 {
        target.store("a", &format!("{n} Mira drinks green tea"));
        target.store("there", &format!("{n} The house uses tabs"));
    }
    let whole = fs::metadata(target.world.path("a/log")).is_ok();
    assert!(whole);
    let icm = &target.more[1];
    let mut failed = 0;
    for bytes in [0, 1, 9, 40, 200, 700, 900, 1_300, 1_700, 2_100, 2_400] {
        for way in ["in", "out"] {
            let pipe = match way {
                "in" => format!("dd bs=1 count={bytes} status=none | sh -c \"$*\""),
                _ => format!(
                    "mkfifo $$.pipe; exec 3<&0; sh -c \"$*\" <&3 3<&- > $$.pipe &\nexec 3<&-; dd bs=1 count={bytes} status=none < $$.pipe; kill $! 2>&-"
                ),
            };
            let ssh = stand_in(&target.world, "cut", &pipe);
            let mut command = target
                .world
                .command(format!("sync {} --icm '{icm}'", target.url));
            command
                .arg("--db")
                .arg(target.world.path("a"))
                .env("ICM_SSH", ssh);
            let cut = run(&mut command, b"");
            assert!([0, 2, 3].contains(&cut.code), "{way} {bytes}: {cut:?}");
            failed += usize::from(cut.code != 0);
            cut.err.lacks("panicked");
            target.state("a");
            target.state("there");
        }
    }
    assert!(failed >= 8, "{failed}");
    for _ in 0..2 {
        target.sync("a").ok();
    }
    assert_eq!(target.state("a"), target.state("there"));
    assert_eq!(moved(&target.sync("a").ok().json()), (0, 0));
}

/// Events of more than one bundle's size are sent in several.
#[test]
fn a_large_store_goes_in_parts() {
    let folder = Target::folder();
    large(&folder, 2);
    let answer = folder.sync("b").ok().json();
    assert_eq!(answer["received"]["files"], 2, "{answer}");
    assert_eq!(folder.state("a"), folder.state("b"));
    #[cfg(unix)]
    {
        let ssh = Target::ssh();
        large(&ssh, 2);
        assert_eq!(ssh.state("a"), ssh.state("there"));
        let fresh = ssh.sync("c").ok().json();
        assert_eq!(fresh["received"]["files"], 2, "{fresh}");
        ssh.sync("a").ok();
        assert_eq!(ssh.state("c"), ssh.state("there"));
    }
}

fn large(target: &Target, files: u64) {
    let excerpt = "x".repeat(62_000);
    let line = |n: usize| {
        let memory = serde_json::json!({ "topic": "t", "content": format!("memory {n}"), "raw_excerpt": excerpt });
        format!("{memory}\n")
    };
    // Each import is one batch, and batches are not split.
    for part in 0..4 {
        let lines: String = (part * 200..part * 200 + 200).map(line).collect();
        let file = target.world.write("large.jsonl", lines);
        let file = file.to_str().unwrap();
        target.icm("a", format!("import jsonl '{file}'")).ok();
    }
    let answer = target.sync("a").ok().json();
    assert_eq!(answer["sent"]["files"], files, "{}", answer["sent"]);
    assert_eq!(answer["sent"]["events"].as_u64().unwrap() / 800, 1);
}
