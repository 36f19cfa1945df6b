//! A store with a clock of its own, and the view of it: keys go in, the cells of a screen come out.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use icm_api::{
    AlertSetRequest, Caller, FactRequest, LinkRequest, RecallRequest, StoreRequest, UpdateRequest,
};
use icm_log::env::Env;
use icm_service::{Ground, OpenOptions, Service};
use icm_wait::bounds;
use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use tempfile::TempDir;
use unicode_width::UnicodeWidthStr;

use crate::ask::News;
use crate::clock::Clock;
use crate::draw::draw;
use crate::fetch;
use crate::model::{Key, Model, Order};

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
pub(super) struct World {
    _folder: TempDir,
    env: Arc<Fixed>,
    pub(super) service: Arc<Service>,
    pub(super) agent: Caller,
    pub(super) person: Caller,
    pub(super) model: Model,
}

const HOUR_MS: u64 = 3_600_000;

impl World {
    pub(super) fn empty(size: (u16, u16)) -> World {
        let folder = tempfile::tempdir().unwrap();
        let env = Arc::new(Fixed {
            now_ms: AtomicU64::new(1_800_000_000_000),
            random: AtomicU64::new(7),
        });
        let options = OpenOptions {
            dir: folder.path().join("store"),
            lock_wait: bounds::PEER,
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
    pub(super) fn new(size: (u16, u16)) -> World {
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

    pub(super) fn store(&self, topic: &str, content: &str) -> String {
        let request = StoreRequest::new(topic, content);
        self.service.store(&self.agent, request).unwrap().id
    }

    pub(super) fn update(&self, id: &str, content: &str) {
        let request = UpdateRequest {
            id: id.to_owned(),
            content: Some(content.to_owned()),
            ..UpdateRequest::default()
        };
        self.service.update(&self.person, request).unwrap();
    }

    pub(super) fn set_fact(&self, value: &str) {
        let request = FactRequest::new("deploy", "version", value);
        self.service.set_fact(&self.person, request).unwrap();
    }

    pub(super) fn set_alert(&self, text: &str) {
        let request = AlertSetRequest {
            text: text.to_owned(),
            session: Some("billing".to_owned()),
            ..AlertSetRequest::default()
        };
        self.service.set_alert(&self.person, request).unwrap();
    }

    pub(super) fn later(&self, hours: u64) {
        self.env
            .now_ms
            .fetch_add(hours * HOUR_MS, Ordering::Relaxed);
    }

    /// Does what the threads of the view do, until nothing is left.
    pub(super) fn tick(&mut self) {
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
    pub(super) fn press(&mut self, keys: &str) {
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
    pub(super) fn screen(&mut self) -> String {
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
    pub(super) fn shows(&mut self, texts: &[&str]) {
        let screen = self.screen();
        for text in texts {
            assert!(screen.contains(text), "{text:?} is not on:\n{screen}");
        }
    }

    #[track_caller]
    pub(super) fn lacks(&mut self, text: &str) {
        let screen = self.screen();
        assert!(!screen.contains(text), "{text:?} is on:\n{screen}");
    }

    /// Compares the screen with a file; `ICM_UPDATE_SNAPSHOTS` writes the file.
    #[track_caller]
    pub(super) fn is_frozen(&mut self, name: &str) {
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
