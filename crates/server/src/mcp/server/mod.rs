//! The handler of a connection: runs the tools on offer outside the event loop.

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

/// Longest name and version of a client that are logged, in bytes. Raised, events get longer.
const CLIENT_MAX_BYTES: usize = 64;

/// Subscribers at the same time. Raised, they can hold more connections.
const LISTENERS_MAX: usize = 64;

/// The handler of a connection. Between requests it keeps a subscription, the order of writes and the counts of calls.
#[derive(Clone)]
pub(crate) struct Server {
    service: Arc<Service>,
    caller: Caller,
    options: McpOptions,
    router: Arc<ToolRouter<Server>>,
    follow_up: Arc<FollowUp>,
    /// `None` if no connection outlives an answer.
    subscribed: Option<Arc<Subscribed>>,
    /// Cancelled when no more notifications will be sent.
    ends: CancellationToken,
    /// Permits for subscribers: each holds a connection.
    listening: Arc<Semaphore>,
    nudges: Arc<Nudges>,
    /// Write-locked by a request that writes, in the order of the requests; `None` if each request has its own
    /// connection.
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

    /// Prepares the handler for requests on connections of their own, until `ends`.
    #[cfg(feature = "http")]
    pub(crate) fn over_http(mut self, ends: CancellationToken) -> Server {
        self.subscribed = None;
        self.turns = None;
        self.ends = ends;
        self
    }

    /// Waits until the writes requested before on this connection are done.
    async fn what_was_asked_before(&self) {
        // The guard is dropped at once: a long read must not delay later writes.
        if let Some(turns) = &self.turns {
            drop(turns.read().await);
        }
    }

    /// Waits as [`Server::what_was_asked_before`] does; later requests wait until the guard is dropped.
    async fn turn_to_write(&self) -> Option<OwnedRwLockWriteGuard<()>> {
        let turns = self.turns.as_ref()?;
        Some(Arc::clone(turns).write_owned().await)
    }

    /// Runs a query, which may wait for the disk, outside the event loop.
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

    /// Returns the caller: the name that the client gives, and the session that the request names. Neither is verified.
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

    /// Returns the name and version of the client. Over HTTP, an older revision gives them in the handshake only, which
    /// is on another connection; then the header `User-Agent` is used.
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

/// Returns a name fit for an actor: one line, bounded, without blanks.
pub(crate) fn short_name(name: &str) -> String {
    let name = clean_line(name.trim()).replace(' ', "-");
    name[..name.floor_char_boundary(CLIENT_MAX_BYTES)].to_owned()
}

#[cfg(test)]
mod tests;
