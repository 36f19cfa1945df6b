//! Draws the state into the cells of a terminal.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use crate::clock::ms_of;
use crate::model::view::Kind;
use crate::model::{CHROME, Model};
use crate::pages::{help, undo};
use crate::row::{Look, Row};
use crate::text::{self, number};
use crate::timeline::bar;

/// Columns of the density at least; a terminal with less room has none.
const DENSITY_MIN: usize = 12;

/// Draws everything. Returns the column and line of the cursor, if a line is typed.
pub(crate) fn draw(model: &Model, buffer: &mut Buffer) -> Option<(u16, u16)> {
    let area = buffer.area;
    buffer.set_style(area, Style::reset());
    if area.width < 4 || area.height < 1 {
        return None;
    }
    let pen = Pen {
        paints: model.paints,
        area,
    };
    let last = area.height - 1;
    // The page comes first: on a terminal of few lines, pages and keys are drawn over it.
    page(model, &pen, buffer);
    if usize::from(area.height) > CHROME {
        pen.row(buffer, 0, 0, &pages_row(model, area.width.into()));
        time_row(model, &pen, buffer, 1);
        pen.rule(buffer, 2);
    }
    bottom(model, &pen, buffer, last)
}

struct Pen {
    paints: bool,
    area: Rect,
}

impl Pen {
    fn style(&self, look: Look) -> Style {
        let style = Style::new();
        let colour = |colour| match self.paints {
            true => style.fg(colour),
            false => style,
        };
        match look {
            Look::Plain => style,
            Look::Dim => style.add_modifier(Modifier::DIM),
            Look::Bold | Look::Heading => style.add_modifier(Modifier::BOLD),
            Look::Name => colour(Color::Cyan),
            Look::Good | Look::New => colour(Color::Green),
            Look::Warn => colour(Color::Yellow),
            Look::Bad => colour(Color::Red).add_modifier(Modifier::BOLD),
            Look::Gone => colour(Color::Red).add_modifier(Modifier::CROSSED_OUT),
        }
    }

    /// Draws a text, and returns the column behind it. Text outside of the terminal is left out.
    fn text(
        &self,
        buffer: &mut Buffer,
        (x, y): (u16, u16),
        text: &str,
        style: Style,
        room: usize,
    ) -> u16 {
        if x >= self.area.right() || y >= self.area.bottom() {
            return x;
        }
        buffer.set_stringn(x, y, text, room, style).0
    }

    fn row(&self, buffer: &mut Buffer, x: u16, y: u16, row: &Row) {
        self.row_within(
            buffer,
            (x, y),
            row,
            usize::from(self.area.width.saturating_sub(x)),
        );
    }

    fn row_within(&self, buffer: &mut Buffer, (x, y): (u16, u16), row: &Row, columns: usize) {
        let mut column = x;
        for span in &row.spans {
            let room = columns.saturating_sub(usize::from(column - x));
            column = self.text(buffer, (column, y), &span.text, self.style(span.look), room);
        }
    }

    fn rule(&self, buffer: &mut Buffer, y: u16) {
        let line = "─".repeat(self.area.width.into());
        self.text(buffer, (0, y), &line, self.style(Look::Dim), line.len());
    }
}

fn pages_row(model: &Model, columns: usize) -> Row {
    let mut row = Row::new().with(" icm ", Look::Bold);
    for (at, page) in model.pages.iter().enumerate() {
        let is_shown = at == model.page;
        let look = if is_shown { Look::Name } else { Look::Dim };
        let name = match (is_shown, columns < 50) {
            (true, _) => format!(" [{} {}]", at + 1, page.kind.name()),
            (false, true) => format!("  {}", at + 1),
            (false, false) => format!("  {} {}", at + 1, page.kind.name()),
        };
        row = row.with(&name, look);
    }
    for view in &model.above {
        row = row
            .with(" › ", Look::Dim)
            .with(view.kind.name(), Look::Name);
    }
    let state = match (model.view().asked.is_some(), model.read_only, &model.at) {
        (true, ..) if model.view().answer.is_none() => "reading",
        (_, true, _) => "read-only",
        (_, false, None) => "live",
        (_, false, Some(_)) => "past",
    };
    let used = row.width() + text::width(state) + 1;
    match used < columns {
        true => {
            let look = if state == "live" {
                Look::Good
            } else {
                Look::Warn
            };
            row.plain(&" ".repeat(columns - used)).with(state, look)
        }
        false => row,
    }
}

/// Draws the moment, and the density of events over the whole log with the moment in it.
fn time_row(model: &Model, pen: &Pen, buffer: &mut Buffer, y: u16) {
    let row = moment(model);
    pen.row(buffer, 1, y, &row);
    let columns = usize::from(pen.area.width);
    let used = row.width() + 3;
    if model.timeline.is_empty() || columns < used + DENSITY_MIN + 1 {
        return;
    }
    let wide = columns - used - 1;
    let density = model.timeline.density(wide);
    let most = density.iter().copied().max().unwrap_or(0);
    let shown_ms = match (&model.at, &model.basis) {
        (Some(_), Some(basis)) => ms_of(&basis.at),
        _ => None,
    };
    let here = shown_ms.map(|ms| model.timeline.column(ms, wide));
    for (at, events) in density.iter().enumerate() {
        let character = match bar(*events, most) {
            ' ' => '·',
            bar => bar,
        };
        let look = match (here, *events) {
            // Later events are not known at the moment.
            (Some(here), _) if at > here => Look::Dim,
            (_, 0) => Look::Dim,
            _ => Look::Name,
        };
        let mut style = pen.style(look);
        if here == Some(at) {
            style = style.add_modifier(Modifier::REVERSED);
        }
        let x = u16::try_from(used + at).unwrap_or(u16::MAX);
        pen.text(buffer, (x, y), character.encode_utf8(&mut [0; 4]), style, 1);
    }
}

fn moment(model: &Model) -> Row {
    let newest = number(model.newest);
    let position = model.position();
    let Some(at) = &model.at else {
        let row = Row::new().with("now", Look::Good);
        return match model.newest {
            0 => row,
            _ => row.with(&format!("  event {newest}"), Look::Dim),
        };
    };
    let row = Row::new().with("as of ", Look::Warn);
    let row = match &model.basis {
        Some(basis) if basis.position == position => {
            row.with(&model.clock.local(&basis.at), Look::Warn)
        }
        _ => row.with(at, Look::Warn),
    };
    row.with(
        &format!("  event {} of {newest}", number(position)),
        Look::Dim,
    )
}

fn page(model: &Model, pen: &Pen, buffer: &mut Buffer) {
    let area = pen.area;
    let first = match usize::from(area.height) > CHROME {
        true => CHROME as u16 - 1,
        false => 0,
    };
    let end = area.height - 1;
    let (columns, beside) = model.columns();
    let view = model.view();
    let mut y = first;
    for row in view.page.head.iter() {
        if y + 1 >= end.max(1) {
            break;
        }
        pen.row_within(buffer, (1, y), row, columns);
        y += 1;
    }
    let body = y;
    for (place, row) in view.page.rows.iter().enumerate().skip(view.top) {
        if y >= end.max(1) {
            break;
        }
        pen.row_within(buffer, (1, y), row, columns);
        if place == view.cursor {
            pen.text(buffer, (0, y), "›", pen.style(Look::Bold), 1);
            if row.target.is_some() {
                let wide = u16::try_from(columns)
                    .unwrap_or(u16::MAX)
                    .min(area.width - 1);
                buffer.set_style(
                    Rect::new(1, y, wide, 1),
                    Style::new().add_modifier(Modifier::REVERSED),
                );
            }
        }
        y += 1;
    }
    let Some((wide, rows)) = beside.zip(model.beside()) else {
        return;
    };
    let line = u16::try_from(columns + 2).unwrap_or(u16::MAX);
    for (y, row) in (body..end).zip(rows.iter().map(Some).chain(std::iter::repeat(None))) {
        pen.text(buffer, (line, y), "│", pen.style(Look::Dim), 1);
        if let Some(row) = row {
            pen.row_within(buffer, (line + 2, y), row, wide);
        }
    }
}

/// Draws the line at the bottom: what is typed, a question, a message, or the keys.
fn bottom(model: &Model, pen: &Pen, buffer: &mut Buffer, y: u16) -> Option<(u16, u16)> {
    let columns = usize::from(pen.area.width);
    // A page that is longer than the terminal does not shine through.
    let blank = " ".repeat(columns);
    pen.text(buffer, (0, y), &blank, Style::reset(), columns);
    if let Some((purpose, line)) = &model.input {
        let prompt = Row::new().with(purpose.prompt(), Look::Bold);
        pen.row(buffer, 1, y, &prompt);
        let start = prompt.width() + 1;
        let room = columns.saturating_sub(start + 1);
        // The end of a long line is shown.
        let typed = icm_guard::sanitize::clean_line(line);
        let shown = icm_guard::terminal::end(&typed, room);
        let x = u16::try_from(start).unwrap_or(u16::MAX);
        let end = pen.text(buffer, (x, y), shown, Style::new(), room);
        return Some((end.min(pen.area.right() - 1), y));
    }
    let view = model.view();
    let no_changes = model.read_only || model.at.is_some();
    let row = match (&model.message, &view.kind, &view.answer) {
        (Some((line, is_error)), ..) => {
            let look = if *is_error { Look::Bad } else { Look::Warn };
            Row::new().plain(" ").rest(line, columns, look)
        }
        (None, Kind::Undo(_), Some(crate::ask::Answer::Undo(preview))) if columns >= 60 => {
            let keys = help::line(&view.kind.keys(no_changes), columns / 2);
            let row = Row::new()
                .plain(" ")
                .with(&undo::question(preview), Look::Bold);
            match row.width() + keys.width() + 2 <= columns {
                true => {
                    let mut row = row.plain("  ");
                    row.spans.extend(keys.spans);
                    row
                }
                false => help::line(&view.kind.keys(no_changes), columns),
            }
        }
        _ => help::line(&view.kind.keys(no_changes), columns),
    };
    pen.row(buffer, 0, y, &row);
    None
}
