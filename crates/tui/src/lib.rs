//! The terminal view: a store in a terminal, at any moment of its log.
//!
//! ```text
//! key ─▶ model ─▶ order ─▶ workers ─▶ fetch (asks the service)
//!          ▲                  │
//!          └──── news ◀───────┘        model ─▶ pages (rows) ─▶ draw (cells)
//! ```
//!
//! The model is state alone: keys and news change it, and it hands out orders. It knows neither a terminal nor the
//! store, so tests press keys and read rows. The drawing knows only the model. Texts of the store are cleaned when they
//! become rows.
//!
//! Two processes run: [`watch`] starts the program again and gives the terminal back if that process is killed. On
//! Windows there is one.
//!
//! This crate knows no file of the store and writes nothing but an undo that the person has confirmed. It never records
//! a recall.
//!
//! ```no_run
//! # use std::{sync::Arc, time::Duration};
//! # use icm_api::Caller;
//! # use icm_service::{OpenOptions, Service};
//! # let dir = std::env::temp_dir();
//! let options = OpenOptions { dir, lock_wait: Duration::from_secs(1), read_only: true };
//! let service = Arc::new(Service::open(options)?);
//! icm_tui::run(&service, &Caller::default(), icm_tui::Manner { read_only: true, paints: false })?;
//! # Ok::<(), icm_api::error::ServiceError>(())
//! ```

// A test that meets `None` has failed, and the error names the line.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod ask;
mod clock;
mod draw;
mod fetch;
mod model;
mod pages;
mod row;
mod screen;
mod text;
mod timeline;
#[cfg(unix)]
mod watch;
mod workers;

#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;

use icm_api::Caller;
use icm_api::error::{Result, ServiceError};
use icm_service::Service;
use icm_wait::bounds;
use ratatui::crossterm::event::{self, KeyCode, KeyEventKind, KeyModifiers};

use ask::News;
use clock::Clock;
use model::{Key, Leave, Model};
use screen::Screen;
use workers::Workers;

/// The manner of the view.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Manner {
    /// Offer no change.
    pub read_only: bool,
    /// Use colours.
    pub paints: bool,
}

/// The end of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The person or a signal ended it.
    Asked,
    /// The watching process was killed. A shell that was back at once has shown its prompt on the screen of the view, which
    /// is gone.
    Alone,
}

/// Runs the view in another process, and gives the terminal back if that process is killed. Returns its exit code;
/// `None` if this process is the one that has to draw.
///
/// # Errors
/// `Io` if the process cannot be started.
#[cfg(unix)]
pub fn watch() -> Result<Option<u8>> {
    match watch::role() {
        watch::Role::Draws(_) => Ok(None),
        watch::Role::Watches => {
            let code = watch::watch().map_err(failed("the view cannot be started"))?;
            Ok(Some(code))
        }
    }
}

/// Returns `None`: this process has to draw.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn watch() -> Result<Option<u8>> {
    Ok(None)
}

/// Shows the store until the person ends it, a signal does, or the watching process is gone.
///
/// # Errors
/// `Io` if the terminal cannot be read or written. Errors of queries are shown on the page.
pub fn run(service: &Arc<Service>, caller: &Caller, manner: Manner) -> Result<End> {
    let (tell, news) = channel();
    #[cfg(unix)]
    end_on_signals(&tell).map_err(failed("signals cannot be handled"))?;
    let workers =
        Workers::start(service, caller, &tell).map_err(failed("a thread cannot be started"))?;
    let mut screen = Screen::take().map_err(failed("the terminal cannot be used"))?;
    let size = screen
        .size()
        .map_err(failed("the terminal cannot be used"))?;
    thread::Builder::new()
        .name("icm-tui-keys".to_owned())
        .spawn(move || read_keys(&tell))
        .map_err(failed("a thread cannot be started"))?;
    let watched = Watched::now();
    let clock = Clock {
        now_ms: service.now_ms(),
        zone: service.zone(),
    };
    let mut model = Model::new(size, clock, manner.paints, manner.read_only);
    loop {
        for order in model.take_orders() {
            workers.order(order);
        }
        screen
            .draw(&model)
            .map_err(failed("the terminal cannot be written"))?;
        // The next drawing waits until all answers at hand are taken in.
        let Some(first) = next(&news, &mut model, service, &watched) else {
            break;
        };
        let mut is_over = false;
        for event in std::iter::once(first).chain(news.try_iter()) {
            match event {
                Event::Key(key) => model.press(key),
                Event::Resize(columns, lines) => model.resize((columns, lines)),
                Event::News(news) => model.learn(news),
                Event::End => is_over = true,
                Event::Broken(error) => {
                    return Err(failed("the terminal cannot be read")(error));
                }
            }
        }
        model.set_now(service.now_ms());
        match model.leave.take() {
            _ if is_over => break,
            Some(Leave::End) => break,
            Some(Leave::Redraw) => screen
                .redraw()
                .map_err(failed("the terminal cannot be written"))?,
            Some(Leave::Suspend) => suspend(&mut screen, &mut model)?,
            None => {}
        }
    }
    Ok(watched.give_back(&mut screen))
}

/// Waits for the next event. Returns `None` if the watching process is gone.
fn next(
    news: &std::sync::mpsc::Receiver<Event>,
    model: &mut Model,
    service: &Service,
    watched: &Watched,
) -> Option<Event> {
    loop {
        match news.recv_timeout(bounds::LOOK_EVERY) {
            Ok(event) => return Some(event),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) if watched.is_alone() => return None,
            Err(RecvTimeoutError::Timeout) => {
                let now_ms = service.now_ms();
                // Once a minute the ages on the page are drawn again.
                if now_ms / 60_000 != model.clock.now_ms / 60_000 {
                    let size = model.size;
                    return Some(Event::Resize(size.0, size.1));
                }
            }
        }
    }
}

/// Something that happens to the view.
enum Event {
    Key(Key),
    Resize(u16, u16),
    News(News),
    /// A signal asks for the end.
    End,
    /// The terminal cannot be read.
    Broken(io::Error),
}

impl From<News> for Event {
    fn from(news: News) -> Event {
        Event::News(news)
    }
}

fn read_keys(tell: &Sender<Event>) {
    loop {
        let event = match event::read() {
            Ok(event::Event::Key(key)) => key_of(key).map(Event::Key),
            Ok(event::Event::Resize(columns, lines)) => Some(Event::Resize(columns, lines)),
            Ok(_) => None,
            Err(error) => {
                let _ = tell.send(Event::Broken(error));
                return;
            }
        };
        if event.is_some_and(|event| tell.send(event).is_err()) {
            return;
        }
    }
}

fn key_of(key: event::KeyEvent) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    Some(match key.code {
        KeyCode::Char(character) if key.modifiers.contains(KeyModifiers::CONTROL) => {
            Key::Ctrl(character.to_ascii_lowercase())
        }
        KeyCode::Char(character) => Key::Char(character),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}

/// A signal ends the view as `q` does, so that the terminal is given back.
#[cfg(unix)]
fn end_on_signals(tell: &Sender<Event>) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let tell = tell.clone();
    thread::Builder::new()
        .name("icm-tui-signals".to_owned())
        .spawn(move || {
            for _ in signals.forever() {
                if tell.send(Event::End).is_err() {
                    return;
                }
            }
        })?;
    Ok(())
}

/// The process that watches this one, and the modes of the terminal while this one draws.
#[cfg(unix)]
struct Watched {
    watcher: Option<u32>,
    modes: watch::Saved,
}

#[cfg(unix)]
impl Watched {
    fn now() -> Watched {
        Watched {
            watcher: match watch::role() {
                watch::Role::Draws(watcher) => Some(watcher),
                watch::Role::Watches => None,
            },
            modes: watch::Saved::now(),
        }
    }

    /// Returns `true` if the watching process was killed.
    fn is_alone(&self) -> bool {
        self.watcher.is_some_and(watch::is_orphan)
    }

    /// Gives the terminal back. A shell that is back at its prompt already keeps the modes that it has set.
    fn give_back(&self, screen: &mut Screen) -> End {
        let is_alone = self.is_alone();
        match is_alone && self.modes.is_changed() {
            true => screen.give_back_screen(),
            false => screen.give_back(),
        }
        match is_alone {
            true => End::Alone,
            false => End::Asked,
        }
    }
}

/// Nobody watches.
#[cfg(not(unix))]
struct Watched;

#[cfg(not(unix))]
impl Watched {
    fn now() -> Watched {
        Watched
    }

    fn is_alone(&self) -> bool {
        false
    }

    fn give_back(&self, screen: &mut Screen) -> End {
        screen.give_back();
        End::Asked
    }
}

#[cfg(unix)]
fn suspend(screen: &mut Screen, model: &mut Model) -> Result<()> {
    screen.give_back();
    watch::suspend();
    let again = screen.take_again().and_then(|()| screen.size());
    model.resize(again.map_err(failed("the terminal cannot be used"))?);
    Ok(())
}

#[cfg(not(unix))]
fn suspend(_: &mut Screen, _: &mut Model) -> Result<()> {
    Ok(())
}

fn failed(doing: &'static str) -> impl Fn(io::Error) -> ServiceError {
    move |source| ServiceError::Io {
        doing: doing.to_owned(),
        source,
    }
}
