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

/// Where HTTP is served, and whom it answers.
#[derive(Debug, Args)]
#[command(next_help_heading = "HTTP")]
pub(crate) struct HttpArgs {
    /// Serve over HTTP on this address, or on this port of 127.0.0.1
    ///
    /// MCP at /mcp, without tools that write at /mcp/readonly; for scripts /store, /recall, /log and /health,
    /// described by /openapi.json; for a monitor /metrics. Port 0 takes a free one; with `--json` a line on stdout says which.
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(super) http: Option<SocketAddr>,
    /// Ask each request for the token in this file (or ICM_TOKEN); made where there is none
    ///
    /// Required on any address but those of this machine alone.
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(super) token_file: Option<PathBuf>,
    /// Answer web pages from there, too, e.g. https://example.org
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(super) allow_origin: Vec<String>,
    /// Another name that this server may be called by
    #[arg(long, value_name = "HOST", requires = "http")]
    pub(super) allow_host: Vec<String>,
    /// Print a service file with these options instead, to start the server with the session
    #[arg(long, value_name = "KIND", requires = "http")]
    pub(super) print_unit: Option<UnitKind>,
}

/// What starts services.
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
        // It works for many projects, not for the one it was started in.
        let caller = app.caller_in(None)?;
        http::serve(service, caller, options, options_of_http, |address| {
            app.ui.remark(format_args!(
                "MCP is served at http://{address}/mcp; Ctrl-C ends it"
            ));
            if app.ui.json {
                let said =
                    serde_json::json!({"address": address, "mcp": format!("http://{address}/mcp")});
                // Nobody may read it any more; whoever asks is served all the same.
                let _ = app.ui.json_line(&said).and_then(|()| app.ui.flush());
            }
        })?;
        Ok(())
    }

    /// What would keep a server with these options from starting, as far as that is known now.
    #[cfg(feature = "http")]
    pub(super) fn check(&self) -> Result<(), CliError> {
        let Some(listen) = self.http else {
            return Ok(());
        };
        if listen.port() == 0 {
            return Err(CliError::invalid(
                "port 0 is another port each time that the service starts",
            )
            .with_hint("give a port, for instance `--http 127.0.0.1:7437`"));
        }
        // A file for the token is made when it starts.
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
                app.ui.remark(format_args!(
                    "a token was made: it is in {}",
                    path.display()
                ));
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
                    .with_hint("with --token-file instead a good one is made there")),
            },
            Err(std::env::VarError::NotUnicode(_)) => {
                Err(CliError::invalid("ICM_TOKEN is not text"))
            }
            Err(std::env::VarError::NotPresent) => Ok(None),
        }
    }
}

/// A build without HTTP takes the same options, to say how to get it.
#[cfg(not(feature = "http"))]
impl HttpArgs {
    pub(super) fn serve(&self, _: &App, _: Arc<Service>, _: McpOptions) -> Result<(), CliError> {
        self.check()
    }

    pub(super) fn check(&self) -> Result<(), CliError> {
        Err(crate::error::not_in_this_build("HTTP"))
    }
}
