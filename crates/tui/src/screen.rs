//! The terminal while the view has it: taken over, drawn on, given back.

use std::io::{self, Stdout, Write, stdout};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::style::ResetColor;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::{Position, Rect};

use crate::draw::draw;
use crate::model::Model;

/// The terminal. It is given back when this is dropped, also by a panic.
///
/// Only raw mode and the alternate screen are switched on: no mouse, no paste mode, no key protocol. So there is little
/// that a killed process could leave behind.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    is_taken: bool,
}

impl Screen {
    /// Takes the terminal over.
    pub(crate) fn take() -> io::Result<Screen> {
        let mut screen = Screen {
            terminal: Terminal::new(CrosstermBackend::new(stdout()))?,
            is_taken: false,
        };
        screen.take_again()?;
        Ok(screen)
    }

    /// Takes the terminal over after it was given back.
    pub(crate) fn take_again(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        self.is_taken = true;
        execute!(stdout(), EnterAlternateScreen)?;
        self.redraw()
    }

    /// Forgets what is on the screen, so that the next drawing draws everything.
    pub(crate) fn redraw(&mut self) -> io::Result<()> {
        // `clear` would ask the terminal where the cursor is, and the answer would be read as keys.
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }

    /// Gives the terminal back.
    pub(crate) fn give_back(&mut self) {
        if std::mem::take(&mut self.is_taken) {
            // A terminal that is gone needs nothing.
            let _ = disable_raw_mode();
            let _ = leave_alternate_screen();
        }
    }

    /// Leaves the alternate screen, and leaves the modes of the terminal as they are.
    #[cfg(unix)]
    pub(crate) fn give_back_screen(&mut self) {
        self.is_taken = false;
        let _ = leave_alternate_screen();
    }

    /// Returns columns and lines.
    pub(crate) fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.terminal.size()?;
        Ok((size.width, size.height))
    }

    /// Draws the state.
    pub(crate) fn draw(&mut self, model: &Model) -> io::Result<()> {
        self.terminal.draw(|frame| {
            if let Some(cursor) = draw(model, frame.buffer_mut()) {
                frame.set_cursor_position(cursor);
            }
        })?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// Leaves the alternate screen and shows the cursor.
pub(crate) fn leave_alternate_screen() -> io::Result<()> {
    let mut out = stdout();
    execute!(out, LeaveAlternateScreen, ResetColor, Show)?;
    out.flush()
}
