//! Sets up logging for `ICM_LOG`, `-v` and `--log-dir`, on stderr or in files.

use std::io::{ErrorKind, IsTerminal as _};
use std::path::Path;

use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;

use crate::error::CliError;

/// Log files that are kept, one a day. Raised, they take more space.
const FILES_MAX: usize = 7;

/// The logging that a command wants by itself.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wanted<'a> {
    /// `true` for warnings at least.
    pub(crate) warnings: bool,
    /// The folder for the files.
    pub(crate) dir: Option<&'a Path>,
}

/// Sets up logging if it is asked for. Otherwise nothing is initialised: the filter alone takes longer than the rest of
/// a start.
pub(crate) fn init(verbose: u8, wanted: Wanted<'_>) -> Result<(), CliError> {
    let directives = std::env::var("ICM_LOG").ok().filter(|v| !v.is_empty());
    let directives = match (directives, verbose) {
        (Some(directives), _) => directives,
        (None, 0) if wanted.dir.is_none() && !wanted.warnings => return Ok(()),
        (None, 0) if wanted.dir.is_none() => "warn,rmcp=error".into(),
        (None, 0 | 1) => "warn,icm=info".into(),
        (None, 2) => "info,icm=debug".into(),
        (None, _) => "trace".into(),
    };
    let filter = EnvFilter::try_new(&directives).map_err(|e| {
        CliError::invalid(format!("`ICM_LOG` is not a filter: {e}"))
            .with_hint("for example `ICM_LOG=debug` or `ICM_LOG=icm_log=trace,warn`")
    })?;
    // Lower levels of `rmcp` log whole requests, with texts and refused secrets.
    let filter = match directives.contains("rmcp") {
        true => filter,
        false => filter.add_directive("rmcp=warn".parse().expect("it is a directive")),
    };
    let lines = tracing_subscriber::fmt().with_env_filter(filter);
    match wanted.dir {
        Some(dir) => lines.json().with_writer(files(dir)?).init(),
        None => {
            let stderr = std::io::stderr;
            let lines = lines.with_ansi(stderr().is_terminal());
            lines.with_writer(stderr).init();
        }
    }
    Ok(())
}

/// Returns a writer of one file a day, `icm.2026-03-01.jsonl`, in a folder for this user only.
fn files(dir: &Path) -> Result<RollingFileAppender, CliError> {
    let mut folder = std::fs::DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    let doing = || format!("cannot log to {}", dir.display());
    folder.create(dir).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            CliError::io(doing(), &error).with_hint("give a folder, or the name of one to be made")
        }
        _ => CliError::io(doing(), &error),
    })?;
    RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .max_log_files(FILES_MAX)
        .filename_prefix("icm")
        .filename_suffix("jsonl")
        .build(dir)
        .map_err(|error| {
            CliError::failed(format!("{}: {error}", doing()))
                .with_hint("give a folder that you may write in")
        })
}
