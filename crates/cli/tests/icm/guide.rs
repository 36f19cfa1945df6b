//! The pages for users: each `console` block is run, and its output is compared with what the page shows.
//!
//! A page is one session of `sh` in a world of its own. `ICM_UPDATE_SNAPSHOTS=1` writes what differs into the pages.

#![allow(clippy::print_stderr)]

mod compare;
mod mask;
mod page;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::world::{Says, World};
use compare::{Names, compare, updated};
use page::{Page, Step};

/// Pages of which nothing can be run: indexes, tables and lists.
const WITHOUT_RUNS: [&str; 13] = [
    "docs/guide/src/SUMMARY.md",
    "docs/guide/src/clients.md",
    "docs/guide/src/configuration.md",
    "docs/guide/src/exit-codes.md",
    "docs/guide/src/explorer.md",
    "docs/guide/src/glossary.md",
    "docs/guide/src/json.md",
    "docs/guide/src/known-limits.md",
    "docs/guide/src/limits.md",
    "docs/guide/src/reference/configuration.md",
    "docs/guide/src/reference/events.md",
    "docs/guide/src/reference/tools.md",
    "docs/guide/src/tui.md",
];

/// The home folder in pages, and the program.
const HOME: &str = "/home/you";
const PROGRAM: &str = "/home/you/.cargo/bin/icm";

/// The port of servers in pages. Each run takes a free one.
const PORT: &str = ":7437";

/// Printed by the shell after each command.
const END: &str = "-- the command has ended --";

fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// Returns README.md and every page of the guide, relative to the repository.
fn pages() -> BTreeSet<String> {
    let root = repository();
    let mut pages = BTreeSet::from(["README.md".to_owned()]);
    let mut folders = vec![root.join("docs/guide/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "md") {
                let name = path.strip_prefix(&root).unwrap();
                pages.insert(name.to_str().unwrap().to_owned());
            }
        }
    }
    pages
}

/// One `sh` for a whole page, so that `cd` and `export` last.
struct Shell {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// Texts of pages with those of the run.
    texts: Vec<(&'static str, String)>,
}

impl Shell {
    fn new(world: &World) -> Self {
        let home = world.store().parent().unwrap().to_path_buf();
        let bin = home.join(".cargo/bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_icm"), bin.join("icm")).unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut child = world
            .shell()
            .env("PATH", format!("{}:{path}", bin.display()))
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"exec 2>&1\n").unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let program = Path::new(env!("CARGO_BIN_EXE_icm")).canonicalize().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        Shell {
            child,
            input: Some(input),
            output,
            texts: vec![
                (PROGRAM, program.to_str().unwrap().to_owned()),
                (HOME, home.to_str().unwrap().to_owned()),
                (PORT, format!(":{}", free.local_addr().unwrap().port())),
            ],
        }
    }

    /// Runs a command and returns its lines. The last line says so if the command ended the shell.
    fn run(&mut self, command: &str) -> Vec<String> {
        let replace = |text: String, (page, run): &(&str, String)| text.replace(page, run);
        let command = self.texts.iter().fold(command.to_owned(), replace);
        let quoted = command.replace('\'', r"'\''");
        let script = format!("eval '{quoted}' </dev/null\nprintf '\\n%s\\n' '{END}'\n");
        let input = self.input.as_mut().unwrap();
        // A shell that has ended is seen at the end of its output.
        let _ = input.write_all(script.as_bytes());
        let mut lines = Vec::new();
        loop {
            let mut line = Vec::new();
            if self.output.read_until(b'\n', &mut line).unwrap() == 0 {
                lines.push("(the shell has ended)".to_owned());
                return lines;
            }
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches('\n');
            if line == END {
                break;
            }
            let replace = |text: String, (page, run): &(&str, String)| text.replace(run, page);
            lines.push(self.texts.iter().fold(line.to_owned(), replace));
        }
        page::trim_end(&mut lines);
        lines
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // A server of the page ends with it.
        let _ = self.input.take().unwrap().write_all(b"kill $!\n");
        let _ = self.child.wait();
    }
}

/// Runs the blocks of a page, and has icm read the arguments of commands that are only listed. Returns how many blocks were run, and a report of each step that differs. In the page the
/// outputs of these steps are replaced.
fn run_page(name: &str, page: &mut Page) -> (usize, String) {
    let world = World::new();
    let mut shell = Shell::new(&world);
    let mut names = Names::default();
    let mut report = String::new();
    let mut replaced: Vec<(Step, Vec<String>)> = Vec::new();
    for step in page.steps() {
        let shown = page.output(&step);
        let command = match names.command(&step.command) {
            Ok(command) => command,
            Err(why) => {
                let _ = writeln!(report, "{name}:{}: {}\n  {why}", step.line, step.command);
                continue;
            }
        };
        let real = shell.run(&command);
        if let Err(difference) = compare(&shown, &real, page.any_position(), &mut names) {
            let _ = writeln!(
                report,
                "{name}:{}: $ {}\n{difference}",
                step.line, step.command
            );
            let lines = updated(&shown, &names.adopt(&real), page.any_position());
            replaced.push((step, lines));
        }
    }
    for (line, command) in page.listed() {
        // Arguments are read up to `--help`, so that nothing else is done.
        let answer = shell.run(&format!("{command} --help"));
        if let Some(error) = answer.iter().find(|it| it.starts_with("error: ")) {
            let _ = writeln!(report, "{name}:{line}: {command}\n  {error}");
        }
    }
    for (step, lines) in replaced.iter().rev() {
        page.replace(step, lines);
    }
    (page.blocks_run(), report)
}

/// Whether the programs of a page are on this machine. Building icm needs no others.
fn is_possible(name: &str) -> bool {
    name != "docs/guide/src/http.md" || Command::new("curl").arg("--version").output().is_ok()
}

/// Returns the report of a page, and writes the page if snapshots are to be updated.
fn check(name: &str, is_updated: bool) -> String {
    let path = repository().join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let mut page = match Page::read(&text) {
        Ok(page) => page,
        Err(why) => return format!("{name}:{why}\n"),
    };
    if !is_possible(name) {
        eprintln!("{name} is not run: a program that it shows is not installed");
        return String::new();
    }
    let (blocks, report) = run_page(name, &mut page);
    let is_without = WITHOUT_RUNS.contains(&name);
    if blocks == 0 && !is_without {
        return format!("{name}: no `console` block is run; is the page without any?\n");
    }
    if blocks > 0 && is_without {
        return format!("{name}: has `console` blocks, so it is to leave `WITHOUT_RUNS`\n");
    }
    if is_updated && !report.is_empty() {
        std::fs::write(&path, page.text()).unwrap();
    }
    report
}

#[test]
fn every_console_block_prints_as_shown() {
    let is_updated = std::env::var_os("ICM_UPDATE_SNAPSHOTS").is_some();
    // A single page, while somebody writes it.
    let only = std::env::var("ICM_GUIDE_PAGE").unwrap_or_default();
    let pages = pages();
    for name in WITHOUT_RUNS {
        assert!(pages.contains(name), "{name} is in `WITHOUT_RUNS` only");
    }
    let reports: Vec<String> = std::thread::scope(|threads| {
        let checks: Vec<_> = pages
            .iter()
            .filter(|name| name.contains(&only))
            .map(|name| threads.spawn(move || check(name, is_updated)))
            .collect();
        checks.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert!(!reports.is_empty(), "no page is called {only}");
    let report = reports.concat();
    assert!(
        report.is_empty() || is_updated,
        "pages show something else than icm prints (-: the page, +: icm); if that is wanted, run the test with \
         ICM_UPDATE_SNAPSHOTS=1 and look at the difference\n\n{report}"
    );
    eprint!("{report}");
}

#[test]
fn a_page_that_differs_is_reported_and_updated() {
    let text = "\
```console
$ icm store -t a -c 'One thing'
stored 01M8CA6D2RJ5T7N50XTXG2HXNM in a @3
$ icm get 01M8CA6D2R
…
  │ Another thing
```
";
    let mut page = Page::read(text).unwrap();
    let (blocks, report) = run_page("page.md", &mut page);
    assert_eq!(blocks, 1);
    report.begins("page.md:4: $ icm get 01M8CA6D2R\n");
    report.says("-   │ Another thing\n");
    report.says("+   │ One thing\n");
    let updated = page.text();
    updated.says("\n  │ One thing\n");
    updated.lacks("Another");
    let (_, report) = run_page("page.md", &mut Page::read(&updated).unwrap());
    assert_eq!(report, "");
}

#[test]
fn an_argument_that_icm_does_not_know_is_reported() {
    let text = "```sh\nicm list --sort weight  # --nope\nicm list --nope\n```\n";
    let (_, report) = run_page("page.md", &mut Page::read(text).unwrap());
    let expected = "page.md:3: icm list --nope\n  error: unexpected argument '--nope' found\n";
    assert_eq!(report, expected);
}

#[test]
fn a_shell_keeps_its_folder_and_names_its_end() {
    let world = World::new();
    let mut shell = Shell::new(&world);
    assert_eq!(
        shell.run("mkdir sub; cd sub; A='x y'"),
        Vec::<String>::new()
    );
    assert_eq!(shell.run("pwd; echo \"$A\""), ["/home/you/work/sub", "x y"]);
    assert_eq!(shell.run("cat <<'EOF' | sort\nb\na\nEOF"), ["a", "b"]);
    assert_eq!(shell.run("cat; echo out; echo err >&2"), ["out", "err"]);
    assert_eq!(shell.run("exit"), ["(the shell has ended)"]);
}
