//! `icm tui` on a terminal: its pages, and the terminal after its end.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use icm_wait::{Deadline, until};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::terminal::{side, terminal};
use crate::world::World;

const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";

/// A view on a terminal of its own.
struct Viewed {
    child: Child,
    keyboard: File,
    /// The program side stays open, so that its modes can be read after the end.
    held: File,
    screen: Arc<Mutex<Vec<u8>>>,
}

impl Viewed {
    fn start(world: &World, args: &str, variables: &[(&str, &str)]) -> Viewed {
        let (master, path) = terminal();
        let held = side(&path);
        let size = Winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&held, size).unwrap();
        let mut command = world.command(args);
        command
            .stdin(side(&path))
            .stdout(side(&path))
            .stderr(side(&path))
            .env("TERM", "xterm")
            .envs(variables.iter().copied());
        let child = command.spawn().unwrap();
        let screen = Arc::new(Mutex::new(Vec::new()));
        let (mut read, into) = (master.try_clone().unwrap(), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(len @ 1..) = read.read(&mut bytes) {
                into.lock().unwrap().extend_from_slice(&bytes[..len]);
            }
        });
        Viewed {
            child,
            keyboard: master,
            held,
            screen,
        }
    }

    fn drawn(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
    }

    /// Waits until a text was drawn.
    #[track_caller]
    fn sees(&self, text: &str) {
        let seen = until(Deadline::after(Duration::from_secs(30)), || {
            self.drawn().contains(text).then_some(())
        });
        assert!(seen.is_some(), "{text:?} is not in {:?}", self.drawn());
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    fn is_raw(&self) -> bool {
        let modes = tcgetattr(&self.held).unwrap().local_modes;
        !modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Waits for the end, after which the terminal must be as it was.
    #[track_caller]
    fn ends(mut self) -> ExitStatus {
        let status = until(Deadline::after(Duration::from_secs(30)), || {
            self.child.try_wait().unwrap()
        });
        let status = status.expect("it ends");
        self.sees(LEAVE);
        let calm = until(Deadline::after(Duration::from_secs(30)), || {
            (!self.is_raw()).then_some(())
        });
        assert!(calm.is_some(), "the terminal is left in raw mode");
        let drawn = self.drawn();
        let last = |text: &str| drawn.rfind(text).expect("it was drawn");
        assert!(last(LEAVE) > last(ENTER), "{drawn:?}");
        assert!(
            last("\u{1b}[?25h") > last("\u{1b}[?25l"),
            "the cursor is hidden"
        );
        status
    }
}

fn pid(id: u32) -> Pid {
    Pid::from_raw(i32::try_from(id).unwrap()).unwrap()
}

/// Returns the process that a process has started.
#[cfg(target_os = "linux")]
fn child_of(id: u32) -> Pid {
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    Pid::from_raw(children.trim().parse().expect("one child")).unwrap()
}

#[test]
fn the_pages_are_drawn_and_q_gives_the_terminal_back() {
    let world = World::with_memories();
    let before = world.ok("log --json").out;
    let mut view = Viewed::start(&world, "tui", &[]);
    view.sees("Newest");
    view.sees("memory.stored");
    assert!(view.is_raw());
    view.press("2");
    view.sees("PostgreSQL");
    view.press("/money");
    view.sees("search:");
    view.press("\r");
    view.sees("1 result");
    // A memory of another process appears by itself.
    view.press("3");
    view.sees("newest");
    world.ok("store -t news -c ZZYZXQ");
    view.sees("ZZYZXQ");
    view.press("\u{1b}");
    view.press("q");
    assert!(view.ends().success());
    let after = world.ok("log --json").out;
    assert_eq!(
        after.lines().count(),
        before.lines().count() + 1,
        "looking wrote:\n{after}"
    );
}

#[test]
fn a_signal_ends_the_view_as_q_does() {
    let world = World::with_memories();
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let view = Viewed::start(&world, "tui --read-only", &[]);
        view.sees("read-only");
        kill_process(pid(view.child.id()), signal).unwrap();
        assert!(view.ends().success(), "{signal:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_terminal_is_given_back_whichever_process_is_killed() {
    let world = World::with_memories();
    let view = Viewed::start(&world, "tui", &[]);
    view.sees("Newest");
    kill_process(child_of(view.child.id()), Signal::KILL).unwrap();
    assert_eq!(view.ends().code(), Some(128 + 9));
    let view = Viewed::start(&world, "tui", &[]);
    view.sees("Newest");
    kill_process(pid(view.child.id()), Signal::KILL).unwrap();
    assert!(!view.ends().success());
}

#[test]
fn without_colours_none_is_drawn() {
    let world = World::with_memories();
    let is_colour =
        regex::Regex::new("\u{1b}\\[([0-9;]*;)?(3[0-7]|4[0-7]|9[0-7]|38|48)[;m]").unwrap();
    for (value, paints) in [("1", false), ("", true)] {
        let mut view = Viewed::start(&world, "tui", &[("NO_COLOR", value)]);
        view.sees("Newest");
        view.press("q");
        let screen = Arc::clone(&view.screen);
        view.ends();
        let drawn = String::from_utf8_lossy(&screen.lock().unwrap()).into_owned();
        assert_eq!(is_colour.is_match(&drawn), paints, "{drawn:?}");
    }
}

#[test]
fn a_terminal_that_cannot_be_drawn_on_is_refused() {
    let world = World::with_memories();
    world.fails("tui => 2: stdout is no terminal");
    let view = Viewed::start(&world, "tui", &[("TERM", "dumb")]);
    view.sees("TERM=dumb");
    view.sees("icm list");
    let mut child = view.child;
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert!(!String::from_utf8_lossy(&view.screen.lock().unwrap()).contains(ENTER));
}
