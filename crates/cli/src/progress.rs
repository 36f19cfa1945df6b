//! Shows a progress bar on stderr during long work.

use std::sync::Mutex;

use icm_api::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::ui::Ui;

/// A progress bar; silent with `-q`, and if stderr is no terminal.
pub(crate) struct Bar {
    shown: bool,
    bar: Mutex<Option<ProgressBar>>,
}

impl Bar {
    pub(crate) fn new(ui: &Ui) -> Self {
        Bar {
            shown: !ui.is_quiet() && std::io::IsTerminal::is_terminal(&std::io::stderr()),
            bar: Mutex::new(None),
        }
    }

    /// Starts a phase that is counted in bytes.
    pub(crate) fn start_bytes(&self, phase: &str, total: u64) {
        let template = "{msg} [{bar:30}] {bytes}/{total_bytes} {eta}";
        self.show(phase, ProgressBar::new(total), template);
    }

    fn show(&self, phase: &str, next: ProgressBar, template: &str) {
        self.with(|bar| {
            if let Ok(style) = ProgressStyle::with_template(template) {
                next.set_style(style.progress_chars("=> "));
            }
            // The target is set last, so that no other style is ever drawn.
            next.set_message(phase.to_string());
            next.set_draw_target(ProgressDrawTarget::stderr());
            if let Some(previous) = bar.replace(next) {
                previous.finish_and_clear();
            }
        });
    }

    fn with(&self, work: impl FnOnce(&mut Option<ProgressBar>)) {
        if self.shown
            && let Ok(mut bar) = self.bar.lock()
        {
            work(&mut bar);
        }
    }
}

impl Progress for Bar {
    fn start(&self, phase: &str, total: Option<u64>) {
        match total {
            Some(total) => self.show(
                phase,
                ProgressBar::new(total),
                "{msg} [{bar:30}] {human_pos}/{human_len} {eta}",
            ),
            None => self.show(
                phase,
                ProgressBar::new_spinner(),
                "{msg} {spinner} {human_pos}",
            ),
        }
    }

    fn advance(&self, steps: u64) {
        self.with(|bar| {
            if let Some(bar) = bar {
                bar.inc(steps);
            }
        });
    }

    fn finish(&self) {
        self.with(|bar| {
            if let Some(bar) = bar.take() {
                bar.finish_and_clear();
            }
        });
    }
}

#[cfg(feature = "models")]
impl icm_embedders::Watch for Bar {
    fn phase(&self, what: &str, total_bytes: Option<u64>) {
        match total_bytes {
            Some(total) => self.start_bytes(what, total),
            None => self.start(what, None),
        }
    }

    fn advance(&self, bytes: u64) {
        Progress::advance(self, bytes);
    }

    fn finish(&self) {
        Progress::finish(self);
    }
}

impl Drop for Bar {
    // An error during the work must not leave half a bar on the screen.
    fn drop(&mut self) {
        Progress::finish(self);
    }
}
