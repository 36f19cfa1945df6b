//! `icm serve --http`

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
#[cfg(feature = "http")]
use icm_server::http::{self, HttpOptions, Token};
use icm_server::mcp::McpOptions;
use icm_service::Service;

use crate::app::App;
use crate::error::CliError;

/// The address of the HTTP server, and the requests that it accepts.
#[derive(Debug, Args)]
#[command(next_help_heading = "HTTP")]
pub(crate) struct HttpArgs {
    /// Serve over HTTP on this address, or on this port of 127.0.0.1
    ///
    /// MCP is at /mcp, without tools that write at /mcp/readonly. Scripts use /store, /recall, /log and /health,
    /// described by /openapi.json; monitors use /metrics. Port 0 takes a free port; `--json` prints it on stdout.
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(super) http: Option<SocketAddr>,
    /// Require the token in this file (or ICM_TOKEN) in each request; made if absent
    ///
    /// Needed on every address except those of this machine alone.
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(super) token_file: Option<PathBuf>,
    /// Also answer web pages of this origin, e.g. https://example.org
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(super) allow_origin: Vec<String>,
    /// Also answer under this host name
    #[arg(long, value_name = "HOST", requires = "http")]
    pub(super) allow_host: Vec<String>,
    /// Print a service file with these options, which starts the server with the session
    #[arg(long, value_name = "KIND", requires = "http")]
    pub(super) print_unit: Option<UnitKind>,
}

/// A manager of services.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnitKind {
    /// A user unit of systemd (Linux)
    Systemd,
    /// An agent of launchd (macOS)
    Launchd,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let text = text.trim();
    if let Ok(port) = text.parse::<u16>() {
        return Ok((IpAddr::from(Ipv4Addr::LOCALHOST), port).into());
    }
    let text = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    let wrong =
        |_| "give an address with a port, for instance 127.0.0.1:7437, or a port alone".to_owned();
    text.parse().map_err(wrong)
}

impl HttpArgs {
    pub(super) fn is_wanted(&self) -> bool {
        self.http.is_some()
    }

    pub(super) fn prints_unit(&self) -> bool {
        self.print_unit.is_some()
    }

    #[cfg(feature = "http")]
    pub(super) fn serve(
        &self,
        app: &App,
        service: Arc<Service>,
        options: McpOptions,
    ) -> Result<(), CliError> {
        let Some(listen) = self.http else {
            return Err(CliError::invalid("no address is given").with_hint("give `--http`"));
        };
        let options_of_http = HttpOptions {
            listen,
            token: self.token(app)?,
            allow_origins: self.allow_origin.clone(),
            allow_hosts: self.allow_host.clone(),
        };
        // The server works for many projects, so its own folder names none.
        let caller = app.caller_in(None)?;
        http::serve(service, caller, options, options_of_http, |address| {
            app.ui.remark(format_args!(
                "MCP is served at http://{address}/mcp; Ctrl-C ends it"
            ));
            if app.ui.json {
                let said =
                    serde_json::json!({"address": address, "mcp": format!("http://{address}/mcp")});
                // A closed stdout does not stop the server.
                let _ = app.ui.json_line(&said).and_then(|()| app.ui.flush());
            }
        })?;
        Ok(())
    }

    /// Checks the options of a server as far as possible without a start.
    #[cfg(feature = "http")]
    pub(super) fn check(&self) -> Result<(), CliError> {
        let Some(listen) = self.http else {
            return Ok(());
        };
        if listen.port() == 0 {
            return Err(
                CliError::invalid("port 0 is another port at each start of the service")
                    .with_hint("give a port, for instance `--http 127.0.0.1:7437`"),
            );
        }
        // The server makes the token's file at its start.
        let token = self
            .token_file
            .as_ref()
            .map(|_| Token::new(&"-".repeat(64)));
        Ok(http::check(&HttpOptions {
            listen,
            token: token.transpose()?,
            allow_origins: self.allow_origin.clone(),
            allow_hosts: self.allow_host.clone(),
        })?)
    }

    #[cfg(feature = "http")]
    fn token(&self, app: &App) -> Result<Option<Token>, CliError> {
        if let Some(path) = &self.token_file {
            let (token, is_new) = Token::of_file(path)?;
            if is_new {
                app.ui
                    .remark(format_args!("wrote a new token to {}", path.display()));
            }
            return Ok(Some(token));
        }
        match std::env::var("ICM_TOKEN") {
            Ok(text) if text.trim().is_empty() => {
                Err(CliError::invalid("ICM_TOKEN is set, and empty")
                    .with_hint("unset it to serve without a token, or put one there"))
            }
            Ok(text) => match Token::new(&text) {
                Ok(token) => Ok(Some(token)),
                Err(error) => Err(CliError::invalid(format!("ICM_TOKEN: {error}"))
                    .with_hint("`--token-file FILE` makes a good one")),
            },
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(CliError::invalid("ICM_TOKEN is not text")
                    .with_hint("`--token-file FILE` makes a good one"))
            }
            Err(std::env::VarError::NotPresent) => Ok(None),
        }
    }
}

/// A build without HTTP accepts the options, and its error says how to get HTTP.
#[cfg(not(feature = "http"))]
impl HttpArgs {
    pub(super) fn serve(&self, _: &App, _: Arc<Service>, _: McpOptions) -> Result<(), CliError> {
        self.check()
    }

    pub(super) fn check(&self) -> Result<(), CliError> {
        Err(crate::error::not_in_this_build("HTTP"))
    }
}
