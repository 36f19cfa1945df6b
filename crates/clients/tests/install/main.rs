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
