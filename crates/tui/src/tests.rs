//! Tests of the whole view over a store, without a terminal: keys go in, the cells of a screen come out.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use icm_api::{Caller, LinkRequest, RecallRequest, StoreRequest, UpdateRequest};
use icm_log::env::Env;
use icm_service::{Ground, OpenOptions, Service};
use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use tempfile::TempDir;
use unicode_width::UnicodeWidthStr;

use crate::ask::News;
use crate::clock::Clock;
use crate::draw::draw;
use crate::fetch;
use crate::model::{Key, Leave, Model, Order};
use crate::row::Target;

/// A clock that is set by hand, and random bytes that are the same in each run.
struct Fixed {
    now_ms: AtomicU64,
    random: AtomicU64,
}

impl Env for Fixed {
    fn now_ms(&self) -> u64 {
        self.now_ms.load(Ordering::Relaxed)
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        for byte in bytes {
            let state = self.random.load(Ordering::Relaxed);
            let state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            self.random.store(state, Ordering::Relaxed);
            *byte = (state >> 56) as u8;
        }
    }

    fn machine_id(&self) -> Option<String> {
        None
    }
}

/// A store on 2027-01-15, and the view of it.
struct World {
    _folder: TempDir,
    env: Arc<Fixed>,
    service: Arc<Service>,
    agent: Caller,
    person: Caller,
    model: Model,
}

const HOUR_MS: u64 = 3_600_000;

impl World {
    fn empty(size: (u16, u16)) -> World {
        let folder = tempfile::tempdir().unwrap();
        let env = Arc::new(Fixed {
            now_ms: AtomicU64::new(1_800_000_000_000),
            random: AtomicU64::new(7),
        });
        let options = OpenOptions {
            dir: folder.path().join("store"),
            lock_wait: Duration::from_secs(10),
            read_only: false,
        };
        let ground = Ground {
            env: env.clone(),
            zone: || TimeZone::UTC,
            ..Ground::system()
        };
        let service = Arc::new(Service::open_on(options, ground).unwrap());
        let clock = Clock {
            now_ms: service.now_ms(),
            zone: service.zone(),
        };
        let caller = |actor: &str, session: Option<&str>| Caller {
            actor: actor.to_owned(),
            session: session.map(str::to_owned),
            ..Caller::default()
        };
        World {
            _folder: folder,
            env,
            agent: caller("agent:claude-code", Some("billing")),
            person: caller("user", None),
            model: Model::new(size, clock, true, false),
            service,
        }
    }

    /// Returns the world of most tests: a week of an agent that works on invoices.
    fn new(size: (u16, u16)) -> World {
        let mut world = World::empty(size);
        let database = world.store(
            "decisions",
            "Invoices live in MySQL, in the table `invoices`",
        );
        world.store("decisions/money", "Prices are integer cents, never floats");
        world.later(30);
        let owner = world.store("people", "Mira owns billing. 請求書はミラさんが担当 👩‍💻");
        world.later(50);
        world.update(
            &database,
            "Invoices live in PostgreSQL, in the table `invoices`",
        );
        let link = LinkRequest {
            from: database,
            to: owner.clone(),
            relation: "related".to_owned(),
            reason: Some("who to ask".to_owned()),
            allow_secret: false,
        };
        world.service.link(&world.agent, &link).unwrap();
        world.later(1);
        let question = RecallRequest {
            record: true,
            ..RecallRequest::new("where do invoices live")
        };
        world.service.recall(&world.agent, &question).unwrap();
        world.service.record_recalls();
        let old = world.store("scratch", "Try the staging cluster first");
        world.service.forget(&world.person, &[old]).unwrap();
        world.tick();
        world
    }

    fn store(&self, topic: &str, content: &str) -> String {
        let request = StoreRequest::new(topic, content);
        self.service.store(&self.agent, request).unwrap().id
    }

    fn update(&self, id: &str, content: &str) {
        let request = UpdateRequest {
            id: id.to_owned(),
            content: Some(content.to_owned()),
            ..UpdateRequest::default()
        };
        self.service.update(&self.person, request).unwrap();
    }

    fn later(&self, hours: u64) {
        self.env
            .now_ms
            .fetch_add(hours * HOUR_MS, Ordering::Relaxed);
    }

    /// Does what the threads of the view do, until nothing is left.
    fn tick(&mut self) {
        self.model.set_now(self.service.now_ms());
        let newest = self.service.newest_position().unwrap();
        if newest != self.model.newest {
            self.model.learn(News::Newest(newest));
        }
        let events = fetch::all_events(&self.service).unwrap();
        self.model.learn(News::Events(events));
        let names = fetch::names_after(&self.service, 0).unwrap();
        self.model.learn(News::Names(names));
        loop {
            let orders = self.model.take_orders();
            if orders.is_empty() {
                break;
            }
            for order in orders {
                let news = match order {
                    Order::Ask(number, ask) => {
                        let answer = fetch::answer(&self.service, &self.person, ask);
                        News::Answer(number, answer)
                    }
                    Order::Counts(at) => {
                        let counts = fetch::counts(&self.service, at.as_deref()).unwrap();
                        News::Counts(at, Box::new(counts))
                    }
                };
                self.model.learn(news);
            }
        }
    }

    /// Presses keys: characters, and `<Enter>`, `<Esc>`, `<Tab>`.
    fn press(&mut self, keys: &str) {
        let mut rest = keys;
        while let Some(first) = rest.chars().next() {
            let named = [
                ("<Enter>", Key::Enter),
                ("<Esc>", Key::Esc),
                ("<Tab>", Key::Tab),
            ];
            let named = named.into_iter().find(|(name, _)| rest.starts_with(name));
            let (len, key) = match named {
                Some((name, key)) => (name.len(), key),
                None => (first.len_utf8(), Key::Char(first)),
            };
            self.model.press(key);
            self.tick();
            rest = &rest[len..];
        }
    }

    /// Returns the lines of the screen.
    fn screen(&mut self) -> String {
        let (columns, lines) = self.model.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
        let frame = terminal.draw(|frame| _ = draw(&self.model, frame.buffer_mut()));
        let buffer = frame.unwrap().buffer.clone();
        let mut shown = String::new();
        for y in 0..lines {
            let mut line = String::new();
            let mut x = 0;
            while x < columns {
                let symbol = buffer[(x, y)].symbol();
                line.push_str(symbol);
                x += u16::try_from(symbol.width().max(1)).unwrap();
            }
            shown.push_str(line.trim_end());
            shown.push('\n');
        }
        shown
    }

    #[track_caller]
    fn shows(&mut self, texts: &[&str]) {
        let screen = self.screen();
        for text in texts {
            assert!(screen.contains(text), "{text:?} is not on:\n{screen}");
        }
    }

    #[track_caller]
    fn lacks(&mut self, text: &str) {
        let screen = self.screen();
        assert!(!screen.contains(text), "{text:?} is on:\n{screen}");
    }

    /// Compares the screen with a file; `ICM_UPDATE_SNAPSHOTS` writes the file.
    #[track_caller]
    fn is_frozen(&mut self, name: &str) {
        let (columns, lines) = self.model.size;
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("snapshots");
        let path = folder.join(format!("{name}-{columns}x{lines}.txt"));
        let screen = self.screen();
        if std::env::var_os("ICM_UPDATE_SNAPSHOTS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &screen).unwrap();
        }
        let frozen = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(frozen == screen, "{name} was:\n{frozen}\nand is:\n{screen}");
    }
}

/// Keys that show each page from the first one.
const PAGES: [(&str, &str); 10] = [
    ("now", "1"),
    ("memories", "2"),
    ("search", "2/invoices<Enter>"),
    ("topics", "2t"),
    ("log", "3"),
    ("filtered", "3/memory actor:user<Enter>"),
    ("event", "3jj<Enter>"),
    ("memory", "2/live<Enter><Enter>"),
    ("time", "4"),
    ("help", "?"),
];

#[test]
fn each_page_looks_as_it_did() {
    for size in [(80, 24), (200, 50), (40, 12)] {
        for (name, keys) in PAGES {
            let mut world = World::new(size);
            world.press(keys);
            world.is_frozen(name);
        }
        let mut world = World::new(size);
        world.press("3/memory.updated<Enter>u");
        world.is_frozen("undo");
    }
}

#[test]
fn no_size_of_the_terminal_is_too_small() {
    for (_, keys) in PAGES
        .into_iter()
        .chain([("undo", "3/memory.updated<Enter>u"), ("typed", "/日本語")])
    {
        let mut world = World::new((80, 24));
        world.press(keys);
        for columns in [1, 2, 3, 4, 7, 11, 20, 39, 40, 81, 111, 112, 113, 300] {
            for lines in [1, 2, 3, 4, 5, 6, 9, 80] {
                world.model.resize((columns, lines));
                world.screen();
                world.press("jG");
                world.screen();
            }
        }
    }
}

#[test]
fn a_moment_shows_what_was_known_then() {
    let mut world = World::new((80, 24));
    world.press("2");
    world.shows(&["now", "Invoices live in PostgreSQL", "Mira owns billing"]);
    // The end of the first day.
    world.press("@2027-01-15<Enter>");
    world.shows(&[
        "as of 2027-01-15 08:00:00",
        "event 4 of 12",
        "Invoices live in MySQL",
        "past",
    ]);
    world.lacks("Mira");
    world.press("1");
    world.shows(&["as of", "2 memories"]);
    world.press("3");
    world.shows(&["@4 ", "@1 "]);
    world.lacks("@5 ");
    // The next day with events, and event by event.
    world.press("2}");
    world.shows(&["event 5 of", "Mira owns billing"]);
    world.press("[");
    world.lacks("Mira");
    world.press("]]]");
    world.shows(&["event 7 of", "Invoices live in PostgreSQL"]);
    world.press("{{");
    world.shows(&["event 4 of", "Invoices live in MySQL"]);
    world.press("n");
    world.shows(&["now", "live", "Invoices live in PostgreSQL"]);
    // A moment that is none leaves the page as it is.
    world.press("@gestern<Enter>");
    world.shows(&["`gestern` is no point in time", "now"]);
    world.press("4j<Enter>");
    world.shows(&["as of 2027-01-16"]);
}

#[test]
fn a_memory_shows_its_differences_its_links_and_who_saw_it() {
    let mut world = World::new((80, 48));
    world.model.paints = false;
    world.press("2/live<Enter><Enter>");
    world.shows(&[
        "Invoices live in PostgreSQL, in the table",
        "Invoices live in [-MySQL-]{+PostgreSQL+}, in the table",
        "memory.updated",
        "related → Mira owns billing.",
        "\"where do invoices live\"",
    ]);
    // The row of the update opens its event, and goes to the moment before it.
    let update = world.model.view().page.rows.iter();
    let update = update
        .map(|row| row.target.clone())
        .position(|target| target == Some(Target::Event(7)));
    for _ in 0..update.unwrap() {
        world.press("j");
    }
    world.press("<Enter>");
    world.shows(&["@7", "memory.updated", "Payload"]);
    world.press("[[[[");
    world.shows(&["@3", "memory.stored", "as of"]);
    world.press("<Esc>");
    world.shows(&["Invoices live in MySQL, in the table"]);
    world.lacks("PostgreSQL, in the table");
}

#[test]
fn looking_leaves_no_trace() {
    let mut world = World::new((80, 24));
    let before = world.service.newest_position().unwrap();
    for (_, keys) in PAGES {
        world.press(keys);
        world.press("jG<Enter><Esc><Esc>");
    }
    world.press("n2/invoices<Enter><Enter>");
    world.shows(&["recalled 1"]);
    world.service.record_recalls();
    assert_eq!(world.service.newest_position().unwrap(), before);
}

#[test]
fn an_undo_is_shown_before_it_is_done() {
    let mut world = World::new((80, 24));
    world.press("3/memory.updated<Enter>u");
    world.shows(&[
        "would undo 1 event of 1 command: 1 memory changed",
        "~ changed",
        "- Invoices live in PostgreSQL",
        "+ Invoices live in MySQL",
        "y undo",
    ]);
    let before = world.service.newest_position().unwrap();
    world.press("<Esc>");
    world.shows(&["nothing was undone"]);
    assert_eq!(world.service.newest_position().unwrap(), before);
    world.press("uoy");
    world.shows(&["undone 1 event: 1 memory changed"]);
    assert_eq!(world.service.newest_position().unwrap(), before + 1);
    world.press("2");
    world.shows(&["Invoices live in MySQL"]);
}

#[test]
fn a_preview_that_no_longer_holds_is_shown_again() {
    let mut world = World::new((80, 24));
    world.press("3/memory.updated<Enter>u");
    let id = world
        .service
        .list(&icm_api::ListRequest::default())
        .unwrap();
    let id = id
        .iter()
        .find(|memory| memory.topic == "decisions")
        .unwrap()
        .id
        .clone();
    world.update(&id, "Invoices live in SQLite");
    let before = world.service.newest_position().unwrap();
    world.press("y");
    world.shows(&["nothing was done", "later changes"]);
    assert_eq!(world.service.newest_position().unwrap(), before);
}

#[test]
fn neither_a_reader_nor_the_past_offers_an_undo() {
    let mut world = World::new((80, 24));
    world.press("3a");
    world.press("[u");
    world.shows(&["a past moment is shown"]);
    world.press("n");
    world.model.read_only = true;
    world.press("u");
    world.shows(&["read-only"]);
    assert!(world.model.above.is_empty());
    world.press("?");
    world.lacks("undo the event");
}

#[test]
fn what_agents_store_appears_and_the_chosen_row_stays() {
    let mut world = World::new((80, 24));
    world.press("2");
    world.store("decisions", "The first row is the newest memory");
    world.tick();
    world.shows(&["The first row is the newest memory"]);
    assert_eq!(world.model.view().cursor, 0);
    world.press("j");
    let chosen = world.model.view().target().cloned();
    world.store("decisions", "A second one moves the rows down");
    world.tick();
    world.shows(&["A second one moves"]);
    assert_eq!(world.model.view().target().cloned(), chosen);
    // A past moment stays as it is.
    world.press("1[");
    world.store("decisions", "A third one of later");
    world.tick();
    world.lacks("A third one");
}

#[test]
fn a_long_list_is_loaded_as_one_moves_through_it() {
    let mut world = World::empty((80, 24));
    for n in 0..450 {
        let caller = world.agent.clone();
        let request = StoreRequest::new(format!("t{}", n % 7), format!("memory number {n}"));
        world.service.store(&caller, request).unwrap();
    }
    world.tick();
    world.press("2");
    world.shows(&["200+ memories", "memory number 449"]);
    world.press("G");
    world.shows(&["400+ memories"]);
    world.press("GG");
    world.shows(&["450 memories", "memory number 0"]);
    world.press("g");
    world.shows(&["memory number 449"]);
    world.press("t<Enter>");
    world.shows(&["topic t0", "65 memories"]);
    world.press("<Esc>s");
    world.shows(&["heaviest first"]);
    world.press("3GGG");
    world.shows(&["@1 "]);
}

/// All events of a command have one moment, so that no page shows a half of it.
#[test]
fn a_step_passes_over_a_whole_command() {
    let mut world = World::new((80, 24));
    let texts = [
        "Kettles whistle",
        "Bridges sway in the wind",
        "Snow melts in May",
    ];
    let ids: Vec<String> = texts.map(|text| world.store("bulk", text)).into();
    world.service.forget(&world.person, &ids).unwrap();
    world.press("2");
    world.lacks("Kettles");
    let newest = world.model.newest;
    world.press("[");
    assert_eq!(world.model.position(), newest - 3);
    world.shows(&texts);
    world.press("]");
    assert_eq!((world.model.position(), &world.model.at), (newest, &None));
    // There is nothing before the first command, which wrote two events.
    world.press("@@1<Enter>[");
    assert_eq!(world.model.position(), 2);
}

#[test]
fn an_empty_store_says_what_to_do() {
    let mut world = World::empty((80, 24));
    world.tick();
    world.shows(&["The store is empty", "now"]);
    world.press("2");
    world.shows(&["No memory is stored"]);
    world.press("3");
    world.shows(&["The log has no event yet"]);
    world.press("[{}a<Enter>u");
    world.press("3/colour:red<Enter>");
    world.shows(&["`colour:` is no filter"]);
}

#[test]
fn hostile_texts_are_drawn_as_text() {
    let evil = "a\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{202e}drawkcab\u{202c}\u{2066}x\u{2069}\u{200b}\r\n\u{85}\tz";
    let mut world = World::empty((80, 24));
    let request = StoreRequest {
        raw_excerpt: Some(evil.repeat(20)),
        metadata: Some(serde_json::json!({ "key\u{1b}[1m": evil })),
        source: icm_api::Source {
            file: Some(evil.to_owned()),
            agent: Some(evil.to_owned()),
            ..icm_api::Source::default()
        },
        ..StoreRequest::new("hostile", format!("{evil} {}", "x".repeat(60_000)))
    };
    let id = world.service.store(&world.agent, request).unwrap().id;
    world.update(&id, &format!("{evil} other {evil}"));
    let question = RecallRequest {
        record: true,
        ..RecallRequest::new(format!("drawkcab {evil}"))
    };
    world.service.recall(&world.agent, &question).unwrap();
    world.service.record_recalls();
    world.tick();
    let mut seen = 0;
    for (_, keys) in PAGES
        .into_iter()
        .chain([("undo", "3/memory.updated<Enter>u"), ("typed", "/\u{202e}")])
    {
        for size in [(80, 24), (200, 60)] {
            world.model.resize(size);
            world.press(keys);
            let screen = world.screen();
            let is_bad = |character: &char| {
                (character.is_control() && *character != '\n')
                    || matches!(character, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            };
            assert_eq!(screen.chars().find(is_bad), None, "{keys}:\n{screen}");
            seen += screen.matches("drawkcab").count();
            world.press("<Esc><Esc><Esc>");
        }
    }
    assert!(seen > 10, "the texts were drawn {seen} times");
}

#[test]
fn keys_lead_everywhere_and_out() {
    let mut world = World::new((80, 48));
    world.press("<Tab>");
    assert_eq!(world.model.page, 1);
    world.press("<Tab><Tab><Tab>");
    assert_eq!(world.model.page, 0);
    // A session of the page leads to its events.
    world.press("1<Enter>");
    world.shows(&["session:"]);
    world.press("?");
    world.shows(&["Keys", "back to now"]);
    world.press("??<Esc>");
    world.model.press(Key::Ctrl('z'));
    assert_eq!(world.model.leave.take(), Some(Leave::Suspend));
    // While a line is typed, q is a letter.
    world.press("/q");
    assert_eq!(world.model.leave, None);
    world.press("<Esc>q");
    assert_eq!(world.model.leave, Some(Leave::End));
}
