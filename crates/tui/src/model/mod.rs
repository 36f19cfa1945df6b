//! The state of the view. Keys and answers change it; it knows neither a terminal nor the store.

mod keys;
pub(crate) mod view;

use std::collections::BTreeMap;

use icm_api::Basis;
use icm_api::error::ServiceError;
use jiff::ToSpan;

use crate::ask::{Answer, Ask, Counts, News};
use crate::clock::{Clock, ms_of};
use crate::pages::{Scene, undo};
use crate::timeline::Timeline;

pub(crate) use keys::Key;
use view::{Kind, Sources, View};

/// Columns from which a list has the chosen thing beside it.
const WIDE: usize = 110;

/// Columns of a page that is read like a text. Raised, its lines are too long to read.
const TEXT: usize = 110;

/// Lines besides the page: pages, time, a rule, keys.
pub(crate) const CHROME: usize = 4;

/// Work for the threads that ask the store.
#[derive(Debug, PartialEq)]
pub(crate) enum Order {
    /// A question with its number.
    Ask(u64, Ask),
    /// The numbers of a moment; they may take a second.
    Counts(Option<String>),
}

/// Why the view gives the terminal back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leave {
    /// For good.
    End,
    /// Until the shell goes on with it.
    Suspend,
    /// Not at all; everything is drawn again.
    Redraw,
}

/// The purpose of a typed line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Search,
    Filter,
    Date,
}

impl Purpose {
    /// Returns the text before the line.
    pub(crate) fn prompt(self) -> &'static str {
        match self {
            Purpose::Search => "search: ",
            Purpose::Filter => "filter: ",
            Purpose::Date => "go to: ",
        }
    }
}

/// The whole state.
#[derive(Debug)]
pub(crate) struct Model {
    /// Columns and lines of the terminal.
    pub(crate) size: (u16, u16),
    pub(crate) read_only: bool,
    pub(crate) paints: bool,
    pub(crate) clock: Clock,
    /// The moment that is shown, as `--at`; `None` for now.
    pub(crate) at: Option<String>,
    /// The event that the moment means, once an answer has told it.
    pub(crate) basis: Option<Basis>,
    /// The newest position of the log.
    pub(crate) newest: u64,
    pub(crate) timeline: Timeline,
    counts: Option<(Option<String>, Box<Counts>)>,
    names: BTreeMap<String, String>,
    /// The four pages.
    pub(crate) pages: [View; 4],
    /// The page that is shown.
    pub(crate) page: usize,
    /// The views that were opened above the page.
    pub(crate) above: Vec<View>,
    /// The line that is typed.
    pub(crate) input: Option<(Purpose, String)>,
    /// A line for the person, `true` for an error; the next key takes it away.
    pub(crate) message: Option<(String, bool)>,
    pub(crate) leave: Option<Leave>,
    orders: Vec<Order>,
    /// Number of the last question.
    asked: u64,
    /// The moment that is looked up before it is shown, with its name if a person gave one.
    looked_up: Option<(u64, Option<String>)>,
    /// The undo that is being done.
    undoing: Option<u64>,
}

impl Model {
    /// Returns the first page of a store whose newest position is not known yet.
    pub(crate) fn new(size: (u16, u16), clock: Clock, paints: bool, read_only: bool) -> Model {
        let pages = [Kind::Now, Kind::memories(), Kind::log(), Kind::Time];
        let mut model = Model {
            size,
            read_only,
            paints,
            clock,
            at: None,
            basis: None,
            newest: 0,
            timeline: Timeline::default(),
            counts: None,
            names: BTreeMap::new(),
            pages: pages.map(View::new),
            page: 0,
            above: Vec::new(),
            input: None,
            message: None,
            leave: None,
            orders: Vec::new(),
            asked: 0,
            looked_up: None,
            undoing: None,
        };
        model.ask();
        model.lay_out();
        model
    }

    /// Returns the view that is shown.
    pub(crate) fn view(&self) -> &View {
        self.above.last().unwrap_or(&self.pages[self.page])
    }

    fn view_mut(&mut self) -> &mut View {
        match self.above.last_mut() {
            Some(view) => view,
            None => &mut self.pages[self.page],
        }
    }

    /// Hands out the work that has come up.
    pub(crate) fn take_orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.orders)
    }

    /// Returns the columns of the list, and of the thing beside it.
    pub(crate) fn columns(&self) -> (usize, Option<usize>) {
        // The first column marks the chosen row, the last one stays free.
        let all = usize::from(self.size.0).saturating_sub(2);
        let has_beside = matches!(self.view().kind, Kind::Memories(_) | Kind::Log(..));
        match all >= WIDE && has_beside {
            true => {
                let list = all * 11 / 20;
                (list, Some(all - list - 3))
            }
            false if self.view().kind.is_list() => (all, None),
            false => (all.min(TEXT), None),
        }
    }

    /// Returns the lines of the page's rows.
    pub(crate) fn height(&self) -> usize {
        let lines = usize::from(self.size.1).saturating_sub(CHROME);
        lines.saturating_sub(self.view().page.head.len()).max(1)
    }

    /// Returns the rows beside the list.
    pub(crate) fn beside(&self) -> Option<Vec<crate::row::Row>> {
        let columns = self.columns().1?;
        self.view().beside(&self.scene(columns))
    }

    fn scene(&self, columns: usize) -> Scene<'_> {
        Scene {
            clock: &self.clock,
            names: &self.names,
            is_now: self.at.is_none(),
            columns,
            paints: self.paints,
        }
    }

    /// Makes the rows of the view that is shown again.
    pub(crate) fn lay_out(&mut self) {
        let columns = self.columns().0;
        let mut view = std::mem::replace(self.view_mut(), View::new(Kind::Help));
        let counts = self.counts.as_ref();
        let sources = Sources {
            counts: counts
                .filter(|(at, _)| *at == self.at)
                .map(|(_, counts)| &**counts),
            timeline: &self.timeline,
            read_only: self.read_only,
        };
        view.lay_out(&self.scene(columns), &sources);
        *self.view_mut() = view;
        let height = self.height();
        self.view_mut().settle(height);
    }

    /// Asks the store for the view that is shown.
    fn ask(&mut self) {
        let ask = self.view().kind.ask(&self.at);
        let is_now_page = matches!(self.view().kind, Kind::Now);
        self.asked += 1;
        let number = self.asked;
        let view = self.view_mut();
        view.is_stale = false;
        view.asked = ask.is_some().then_some(number);
        self.orders.extend(ask.map(|ask| Order::Ask(number, ask)));
        if is_now_page {
            self.orders.push(Order::Counts(self.at.clone()));
        }
    }

    /// Shows a view above the others.
    fn open(&mut self, kind: Kind) {
        self.above.push(View::new(kind));
        self.ask();
        self.lay_out();
    }

    /// Shows one of the four pages.
    fn go_to_page(&mut self, page: usize) {
        self.above.clear();
        self.page = page;
        self.ask();
        self.lay_out();
    }

    /// Shows another moment.
    fn go_to(&mut self, at: Option<String>) {
        self.at = at;
        self.ask();
        self.lay_out();
    }

    /// Returns the position that is shown.
    pub(crate) fn position(&self) -> u64 {
        match (&self.at, &self.basis) {
            (Some(_), Some(basis)) => basis.position,
            _ => self.newest,
        }
    }

    /// Goes some events back or on. On the page of an event it is the event that is stepped.
    fn step(&mut self, on: bool) {
        let Kind::Event(shown) = self.view().kind else {
            // There is no moment before the first event.
            if self.newest > 0 && (!on || self.at.is_some()) {
                let from = self.position();
                self.look_up(None, Ask::Step { from, on });
            }
            return;
        };
        let position = shown.saturating_add_signed(if on { 1 } else { -1 });
        let position = position.clamp(1, self.newest.max(1));
        self.view_mut().kind = Kind::Event(position);
        self.go_to((position < self.newest).then(|| format!("@{position}")));
    }

    /// Goes to the end of the day before, or of the next day with events.
    fn step_day(&mut self, on: bool) {
        let shown = match (&self.at, &self.basis) {
            (Some(_), Some(basis)) => ms_of(&basis.at),
            _ => Some(self.clock.now_ms),
        };
        let Some(day) = shown.and_then(|ms| self.clock.day_of(ms)) else {
            return;
        };
        let today = self.clock.today();
        let other = match on {
            true => self.timeline.day_after(day, &self.clock),
            false => day.checked_sub(1.day()).ok(),
        };
        match other {
            Some(other) if other < today => self.look_up_at(other.to_string()),
            _ => self.go_to(None),
        }
    }

    /// Looks a moment up, and shows it if there is one.
    fn look_up_at(&mut self, at: String) {
        let ask = Ask::Moment {
            at: Some(at.clone()),
        };
        self.look_up(Some(at), ask);
    }

    /// Shows the moment of the answer, by the name that it was given.
    fn look_up(&mut self, at: Option<String>, ask: Ask) {
        self.asked += 1;
        self.looked_up = Some((self.asked, at));
        self.orders.push(Order::Ask(self.asked, ask));
    }

    /// Takes in something that was learned.
    pub(crate) fn learn(&mut self, news: News) {
        match news {
            News::Answer(number, answer) => self.answered(number, answer),
            News::Newest(position) => {
                self.newest = position;
                let view = self.view_mut();
                if view.kind.is_live() && self.at.is_none() {
                    match self.view().asked.is_some() {
                        true => self.view_mut().is_stale = true,
                        false => self.ask(),
                    }
                }
            }
            News::Events(events) => {
                self.timeline.add(&events);
                if matches!(self.view().kind, Kind::Time) {
                    self.lay_out();
                }
            }
            News::Counts(at, counts) => {
                self.counts = Some((at, counts));
                self.lay_out();
            }
            News::Names(names) => {
                self.names.extend(names);
                self.lay_out();
            }
            News::Notice(line) => self.message = Some((line, false)),
        }
    }

    fn answered(&mut self, number: u64, answer: Result<Answer, ServiceError>) {
        if let Some((asked, named)) = self.looked_up.clone()
            && asked == number
        {
            self.looked_up = None;
            match answer.as_ref().map(Answer::basis) {
                Ok(Some(basis)) => {
                    let is_newest = basis.position >= self.newest;
                    let at = named.or((!is_newest).then(|| format!("@{}", basis.position)));
                    self.basis = Some(basis.clone());
                    self.go_to(at);
                }
                Ok(None) => {}
                Err(error) => self.message = Some((told(error), true)),
            }
            return;
        }
        if self.undoing == Some(number) {
            self.undoing = None;
            self.undone(answer);
            return;
        }
        let is_asked = |view: &&mut View| view.asked == Some(number);
        let mut views = self.pages.iter_mut().chain(&mut self.above);
        let Some(view) = views.find(is_asked) else {
            return;
        };
        view.asked = None;
        match answer {
            Ok(answer) => {
                if let Some(basis) = answer.basis() {
                    self.basis = Some(basis.clone());
                    self.newest = self.newest.max(basis.position);
                }
                // The event that is shown may be the moment.
                if let Answer::Event(detail) = &answer
                    && self.at == Some(format!("@{}", detail.entry.position))
                {
                    self.basis = Some(Basis {
                        position: detail.entry.position,
                        event: detail.entry.event.clone(),
                        at: detail.entry.at.clone(),
                        moment: None,
                    });
                }
                view.failed = None;
                view.answer = Some(answer);
            }
            Err(error) => {
                // The message of a panic stands on the screen.
                if matches!(error, ServiceError::Internal(_)) {
                    self.leave = Some(Leave::Redraw);
                }
                view.failed = Some(told(&error));
            }
        }
        let shown = self.view();
        if shown.is_stale && shown.asked.is_none() {
            self.ask();
        }
        self.lay_out();
    }

    fn undone(&mut self, answer: Result<Answer, ServiceError>) {
        match answer {
            Ok(Answer::Undo(done)) => {
                self.message = Some((undo::receipt(&done), false));
                self.above.pop();
                self.ask();
            }
            Ok(_) => {}
            Err(error) => {
                self.message = Some((told(&error), true));
                // The preview is made again: what was shown may no longer hold.
                self.ask();
            }
        }
        self.lay_out();
    }

    /// Sets the clock. The ages of things are made again.
    pub(crate) fn set_now(&mut self, now_ms: u64) {
        let is_other_minute = now_ms / 60_000 != self.clock.now_ms / 60_000;
        self.clock.now_ms = now_ms;
        if is_other_minute {
            self.lay_out();
        }
    }

    /// Takes in another size of the terminal.
    pub(crate) fn resize(&mut self, size: (u16, u16)) {
        self.size = size;
        self.lay_out();
    }
}

/// Returns an error with its advice.
fn told(error: &ServiceError) -> String {
    match error.hint() {
        Some(hint) => format!("{error} — {hint}"),
        None => error.to_string(),
    }
}
