//! `ICM_LOG` and `-v`: what happens inside, on stderr.

use tracing_subscriber::EnvFilter;

use crate::error::CliError;

/// Sets logging up when somebody asked for it. Otherwise nothing is initialised: the filter alone
/// would cost more than the rest of a start.
pub(crate) fn init(verbose: u8) -> Result<(), CliError> {
    let wanted = std::env::var("ICM_LOG").ok().filter(|v| !v.is_empty());
    let directives = match (wanted, verbose) {
        (Some(directives), _) => directives,
        (None, 0) => return Ok(()),
        (None, 1) => "warn,icm=info,icm_server=info,icm_projections=info,icm_log=info".into(),
        (None, 2) => "info,icm=debug,icm_server=debug,icm_projections=debug,icm_log=debug".into(),
        (None, _) => "trace".into(),
    };
    let filter = EnvFilter::try_new(&directives).map_err(|e| {
        CliError::invalid(format!("`ICM_LOG` is not a filter: {e}"))
            .with_hint("for example `ICM_LOG=debug` or `ICM_LOG=icm_log=trace,warn`")
    })?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
    Ok(())
}
