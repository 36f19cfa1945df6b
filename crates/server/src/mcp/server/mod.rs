//! The handler behind a connection: the tools on offer, run off the event loop.

mod call;
mod handler;
mod method;
mod refusal;
mod revision;

use std::sync::Arc;

use http::header::USER_AGENT;
use http::request::Parts;
use rmcp::RoleServer;
use rmcp::handler::server::tool::ToolRouter;
use rmcp::model::{ErrorData, Implementation};
use rmcp::service::RequestContext;
use tokio::sync::{OwnedRwLockWriteGuard, RwLock, Semaphore};
use tokio_util::sync::CancellationToken;

use super::McpOptions;
use super::follow_up::FollowUp;
use super::nudge::Nudges;
use super::session::session_in;
use super::tools::offered;
use super::watch::Subscribed;
use call::route;
use icm_api::clients::AGENT;
use icm_api::error::ServiceError;
use icm_api::{Caller, clients};
use icm_guard::sanitize::clean_line;
use icm_service::Service;
use refusal::refused;

/// Longest name and version of a client that get into the log.
const CLIENT_MAX_BYTES: usize = 64;

/// Who may listen at once.
const LISTENERS_MAX: usize = 64;

/// The handler behind one connection. It keeps nothing between requests but a subscription, and whose turn it is.
#[derive(Clone)]
pub(crate) struct Server {
    service: Arc<Service>,
    caller: Caller,
    options: McpOptions,
    router: Arc<ToolRouter<Server>>,
    follow_up: Arc<FollowUp>,
    /// `None` where there is no connection that outlives an answer.
    subscribed: Option<Arc<Subscribed>>,
    /// Cancelled when nothing more will be told.
    ends: CancellationToken,
    /// Room for those who listen, each of whom keeps a connection.
    listening: Arc<Semaphore>,
    nudges: Arc<Nudges>,
    /// Held by who writes, in the order of the requests; `None` where they come on connections of their own.
    turns: Option<Arc<RwLock<()>>>,
}

impl Server {
    pub(crate) fn new(
        service: Arc<Service>,
        caller: Caller,
        options: McpOptions,
        follow_up: Arc<FollowUp>,
    ) -> Server {
        let mut router = ToolRouter::new();
        for tool in offered(options) {
            router.add_route(route(tool, options));
        }
        Server {
            service,
            caller,
            options,
            router: Arc::new(router),
            follow_up,
            subscribed: Some(Arc::default()),
            ends: CancellationToken::new(),
            listening: Arc::new(Semaphore::new(LISTENERS_MAX)),
            nudges: Arc::default(),
            turns: Some(Arc::default()),
        }
    }

    /// For requests that come one by one, each on its own, until `ends`.
    #[cfg(feature = "http")]
    pub(crate) fn over_http(mut self, ends: CancellationToken) -> Server {
        self.subscribed = None;
        self.turns = None;
        self.ends = ends;
        self
    }

    /// Waits until what was asked for before on the connection is written.
    async fn what_was_asked_before(&self) {
        // Not kept: who reads for long holds nobody up.
        if let Some(turns) = &self.turns {
            drop(turns.read().await);
        }
    }

    /// The same, and what comes later waits for whoever holds the answer.
    async fn turn_to_write(&self) -> Option<OwnedRwLockWriteGuard<()>> {
        let turns = self.turns.as_ref()?;
        Some(Arc::clone(turns).write_owned().await)
    }

    /// Runs what may wait for the disk, off the event loop.
    async fn ask<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        ask: impl FnOnce(&Service, &Caller, McpOptions) -> Result<T, ServiceError> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let (service, caller) = (Arc::clone(&self.service), self.caller_of(context));
        let options = self.options;
        self.what_was_asked_before().await;
        let asked = tokio::task::spawn_blocking(move || ask(&service, &caller, options)).await;
        match asked {
            Ok(answer) => answer.map_err(|error| refused(&error)),
            Err(error) => {
                tracing::error!(%error, "a question panicked");
                Err(ErrorData::internal_error(
                    "a bug in icm; details are in its log",
                    None,
                ))
            }
        }
    }

    /// Returns the caller: the client's own name if it gives one, and the session that the request names. It is what the
    /// client says, no more.
    fn caller_of(&self, context: &RequestContext<RoleServer>) -> Caller {
        let mut caller = self.caller.clone();
        if let Some(session) = session_in(&context.meta.0.0) {
            caller.session = Some(session);
            caller.session_is_made = false;
        }
        if let Some(client) = self.client_of(context) {
            let name = short_name(&client.name);
            if !name.is_empty() {
                caller.actor = format!("{AGENT}{}", clients::agent_name(&name));
                let version = short_name(&client.version);
                caller.client = Some(match version.as_str() {
                    "" => name,
                    _ => format!("{name}/{version}"),
                });
            }
        }
        caller
    }

    /// What the client calls itself. Over HTTP an older revision says so in the handshake alone, which is
    /// another connection's; what is left is the program that asks.
    fn client_of(&self, context: &RequestContext<RoleServer>) -> Option<Implementation> {
        if self.subscribed.is_some() {
            return context.client_info();
        }
        context.meta.client_info().or_else(|| {
            let request = context.extensions.get::<Parts>()?;
            let agent = request.headers.get(USER_AGENT)?.to_str().ok()?;
            let (name, version) = agent.split(' ').next()?.split_once('/')?;
            Some(Implementation::new(name, version))
        })
    }
}

/// A name as it may stand in an actor: one line, bounded, without blanks.
pub(crate) fn short_name(name: &str) -> String {
    let name = clean_line(name.trim()).replace(' ', "-");
    name[..name.floor_char_boundary(CLIENT_MAX_BYTES)].to_owned()
}

#[cfg(test)]
mod tests;
