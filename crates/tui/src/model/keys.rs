//! Keys, and the deed of each.

use icm_api::{Sort, UndoRequest};

use super::view::{Kind, View};
use super::{Leave, Model, Order, Purpose};
use crate::ask::{Answer, Ask};
use crate::pages::log;
use crate::row::Target;

/// Characters of a typed line at most. Raised, a line is longer than any search reads.
const INPUT_MAX: usize = 1000;
/// Results of a search that are asked for at first. Raised, a search takes longer.
const SEARCH_ROWS: usize = 50;

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Ctrl(char),
    Enter,
    Esc,
    Backspace,
    Tab,
    BackTab,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
}

impl Model {
    /// Does what a key asks for.
    pub(crate) fn press(&mut self, key: Key) {
        self.message = None;
        match key {
            Key::Ctrl('c') => self.leave = Some(Leave::End),
            Key::Ctrl('z') => self.leave = Some(Leave::Suspend),
            Key::Ctrl('l') => self.leave = Some(Leave::Redraw),
            key if self.input.is_some() => self.type_key(key),
            key if matches!(self.view().kind, Kind::Undo(_)) && self.undo_key(key) => {}
            key if self.move_key(key) => {}
            key => self.page_key(key),
        }
    }

    fn move_key(&mut self, key: Key) -> bool {
        let height = self.height();
        let page = isize::try_from(height.saturating_sub(1))
            .unwrap_or(1)
            .max(1);
        let rows = match key {
            Key::Down | Key::Char('j') => 1,
            Key::Up | Key::Char('k') => -1,
            Key::PageDown | Key::Char(' ') | Key::Ctrl('f') => page,
            Key::PageUp | Key::Char('b') | Key::Ctrl('b') => -page,
            Key::Ctrl('d') => (page / 2).max(1),
            Key::Ctrl('u') => -(page / 2).max(1),
            Key::Home | Key::Char('g') => isize::MIN,
            Key::End | Key::Char('G') => isize::MAX,
            _ => return false,
        };
        let view = self.view_mut();
        view.move_by(rows, height);
        if view.grow() {
            self.ask();
        }
        true
    }

    fn page_key(&mut self, key: Key) {
        match key {
            Key::Char('q') => self.leave = Some(Leave::End),
            Key::Char(digit @ '1'..='4') => self.go_to_page(digit as usize - '1' as usize),
            Key::Tab => self.go_to_page((self.page + 1) % self.pages.len()),
            Key::BackTab => self.go_to_page((self.page + self.pages.len() - 1) % self.pages.len()),
            Key::Char('?') if matches!(self.view().kind, Kind::Help) => self.back(),
            Key::Char('?') => self.open(Kind::Help),
            Key::Char('/') => {
                let purpose = match self.view().kind {
                    Kind::Log(..) => Purpose::Filter,
                    _ => Purpose::Search,
                };
                let known = match &self.view().kind {
                    Kind::Log(filter, ..) => filter.clone(),
                    Kind::Memories(wanted) => wanted.query.clone().unwrap_or_default(),
                    _ => String::new(),
                };
                self.input = Some((purpose, known));
            }
            Key::Char('@' | 'd') => self.input = Some((Purpose::Date, String::new())),
            Key::Enter => self.open_target(),
            Key::Esc | Key::Backspace => self.back(),
            Key::Char('[') => self.step(false),
            Key::Char(']') => self.step(true),
            Key::Char('{') => self.step_day(false),
            Key::Char('}') => self.step_day(true),
            Key::Char('n') => self.go_to(None),
            Key::Char('a') => match self.view().event() {
                Some(position) if position < self.newest => {
                    self.go_to(Some(format!("@{position}")))
                }
                Some(_) => self.go_to(None),
                None => self.say("a shows the moment of an event: choose a row with one"),
            },
            Key::Char('t') => self.open(Kind::Topics),
            Key::Char('s') => self.sort(),
            Key::Char('u') => self.undo(),
            _ => {}
        }
    }

    fn say(&mut self, line: &str) {
        self.message = Some((line.to_owned(), false));
    }

    /// Opens the thing of the chosen row.
    fn open_target(&mut self) {
        let Some(target) = self.view().target().cloned() else {
            return;
        };
        match target {
            Target::Memory(id) => self.open(Kind::Memory(id)),
            Target::Event(position) => self.open(Kind::Event(position)),
            Target::Topic(topic) => {
                if let Kind::Memories(wanted) = &mut self.pages[1].kind {
                    wanted.topic = Some(topic);
                    wanted.query = None;
                }
                self.go_to_first(1);
            }
            Target::Session(id) => self.filter(format!("session:{id}")),
            Target::Day(day) => match day == self.clock.today().to_string() {
                true => self.go_to(None),
                false => self.look_up_at(day),
            },
        }
    }

    /// Shows a page from its first row.
    fn go_to_first(&mut self, page: usize) {
        self.pages[page].cursor = 0;
        self.pages[page].answer = None;
        self.go_to_page(page);
    }

    /// Goes back to the view below, or takes a search, a topic or a filter away.
    fn back(&mut self) {
        if self.above.pop().is_some() {
            self.ask();
            self.lay_out();
            return;
        }
        let page = self.page;
        let had_any = match &mut self.pages[page].kind {
            Kind::Memories(wanted) => {
                wanted.limit = super::view::ROWS;
                wanted.query.take().is_some() || wanted.topic.take().is_some()
            }
            Kind::Log(filter, request, _) if !filter.is_empty() => {
                filter.clear();
                **request = icm_api::LogRequest::default();
                true
            }
            _ => false,
        };
        if had_any {
            self.go_to_first(page);
        }
    }

    fn sort(&mut self) {
        if self.above.is_empty()
            && let Kind::Memories(wanted) = &mut self.pages[self.page].kind
        {
            wanted.sort = match wanted.sort {
                Sort::Created => Sort::Weight,
                Sort::Weight => Sort::Accessed,
                Sort::Accessed => Sort::Created,
            };
            self.go_to_first(1);
        }
    }

    fn filter(&mut self, text: String) {
        match log::parse(&text) {
            Ok(request) => {
                self.pages[2].kind = Kind::Log(text, Box::new(request), super::view::ROWS);
                self.go_to_first(2);
            }
            Err(error) => self.message = Some((super::told(&error), true)),
        }
    }

    fn type_key(&mut self, key: Key) {
        let Some((purpose, line)) = &mut self.input else {
            return;
        };
        match key {
            Key::Char(character) if line.chars().count() < INPUT_MAX => line.push(character),
            Key::Backspace if line.is_empty() => self.input = None,
            Key::Backspace => _ = line.pop(),
            Key::Ctrl('u') => line.clear(),
            Key::Ctrl('w') => {
                let kept = line.trim_end().rfind(' ').map_or(0, |at| at + 1);
                line.truncate(kept);
            }
            Key::Esc => self.input = None,
            Key::Enter => {
                let (purpose, line) = (*purpose, line.trim().to_owned());
                self.input = None;
                self.entered(purpose, line);
            }
            _ => {}
        }
    }

    fn entered(&mut self, purpose: Purpose, line: String) {
        match purpose {
            Purpose::Search => {
                if let Kind::Memories(wanted) = &mut self.pages[1].kind {
                    wanted.limit = match line.is_empty() {
                        true => super::view::ROWS,
                        false => SEARCH_ROWS,
                    };
                    wanted.query = Some(line).filter(|line| !line.is_empty());
                }
                self.go_to_first(1);
            }
            Purpose::Filter => self.filter(line),
            Purpose::Date if line.is_empty() || line == "now" => self.go_to(None),
            Purpose::Date => self.look_up_at(line),
        }
    }

    /// Shows the preview of an undo.
    fn undo(&mut self) {
        if self.read_only {
            return self.say("read-only: start `icm tui` without `--read-only` to undo");
        }
        let Some(position) = self.view().event() else {
            return self.say("u undoes an event: choose a row with one, on the log or in a memory");
        };
        if self.at.is_some() {
            return self.say("a past moment is shown: n returns to now, then u undoes");
        }
        self.open(Kind::Undo(Box::new(UndoRequest {
            events: vec![format!("@{position}")],
            dry_run: true,
            ..UndoRequest::default()
        })));
    }

    /// Does what a key asks for in the preview of an undo; `false` for other keys.
    fn undo_key(&mut self, key: Key) -> bool {
        if self.undoing.is_some() {
            return true;
        }
        match key {
            Key::Char('y') => self.confirm(),
            Key::Char('o' | 'c') => {
                if let Kind::Undo(request) = &mut self.view_mut().kind {
                    match key {
                        Key::Char('o') => request.only = !request.only,
                        _ => request.cascade = !request.cascade,
                    }
                }
                self.ask();
            }
            Key::Esc | Key::Backspace | Key::Char('N') => {
                self.back();
                self.say("nothing was undone");
            }
            // A moment of the past and other views have no place here.
            Key::Char('[' | ']' | '{' | '}' | '@' | 'd' | 'n' | 'a' | 'u' | 't' | 's' | '/') => {}
            _ => return false,
        }
        true
    }

    fn confirm(&mut self) {
        let View {
            kind: Kind::Undo(request),
            answer: Some(Answer::Undo(preview)),
            asked: None,
            failed: None,
            ..
        } = self.view()
        else {
            return;
        };
        if preview.events == 0 {
            return self.say("there is nothing to undo");
        }
        let mut request = request.clone();
        request.dry_run = false;
        request.plan = Some(preview.plan.clone());
        self.asked += 1;
        self.undoing = Some(self.asked);
        self.orders
            .push(Order::Ask(self.asked, Ask::Undo { request }));
    }
}
