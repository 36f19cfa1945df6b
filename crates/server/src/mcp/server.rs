//! What answers a request: the tools on offer, run off the event loop, and the work that follows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::header::USER_AGENT;
use axum::http::request::Parts;
use rmcp::handler::server::ServerHandler;
use rmcp::handler::server::tool::{ToolCallContext, ToolRoute, ToolRouter};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
    CompleteResult, ContentBlock, CustomRequest, CustomResult, DiscoverResult, ErrorCode,
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, model};
use serde_json::json;
use tokio::sync::{Notify, OwnedRwLockWriteGuard, RwLock, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::offer;
use super::progress::Watched;
use super::resources;
use super::resources::Named;
use super::schema::Args;
use super::session::session_in;
use super::tools::{Call, Reply, Tool, offered};
use super::watch;
use super::watch::Subscribed;
use super::words::{bounded, explained};
use super::{INSTRUCTIONS, McpOptions, complete, prompts};
use icm_api::clients;
use icm_api::clients::AGENT;
use icm_api::error::ServiceError;
use icm_api::{Caller, Progress};
use icm_guard::frame;
use icm_guard::sanitize::{clean, clean_line};
use icm_service::Service;

/// The list of tools is a constant of the program and its options.
const LIST_TTL_MS: u64 = 3_600_000;
/// Longest name and version of a client that get into the log.
const CLIENT_MAX_BYTES: usize = 64;

/// Requests whose params have a shape: what comes here with such a name is malformed.
const KNOWN: [&str; 8] = [
    "completion/complete",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "tools/call",
    "tools/list",
];
/// Such requests before 2026-07-28, which did away with them, and those that it brought.
const KNOWN_BEFORE: [&str; 3] = ["initialize", "resources/subscribe", "resources/unsubscribe"];
const KNOWN_SINCE: [&str; 1] = ["subscriptions/listen"];
/// Longest name of a resource that an error repeats.
const URI_SHOWN_MAX_BYTES: usize = 1_024;

/// How long work that an answer leaves behind waits for more of its kind, and how long after it was done last it is not
/// done again, however many answers there are.
const LULL: Duration = Duration::from_millis(2);
const REST: Duration = Duration::from_millis(20);

/// Tools that may work for minutes: what comes after them does not wait for them.
const MAY_TAKE_LONG: [&str; 2] = ["icm_memory_consolidate", "icm_memory_embed_all"];

/// Who may listen at once.
const LISTENERS_MAX: usize = 64;
/// How long the last words on a call's progress may take.
const LAST_WORDS_MAX: Duration = Duration::from_millis(100);

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
            turns: Some(Arc::default()),
        }
    }

    /// For requests that come one by one, each on its own, until `ends`.
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

fn route(tool: &'static Tool, options: McpOptions) -> ToolRoute<Server> {
    ToolRoute::new_dyn(
        tool.definition(options),
        move |context: ToolCallContext<'_, Server>| Box::pin(call(tool, context)),
    )
}

/// Runs one tool. Everything a model can put right comes back as a result, not as an error of the
/// protocol, which most clients would not show it.
async fn call(
    tool: &'static Tool,
    context: ToolCallContext<'_, Server>,
) -> Result<CallToolResponse, ErrorData> {
    let server = context.service;
    let mut args = match Args::check(tool.params, context.arguments.unwrap_or_default()) {
        Ok(args) => args,
        Err(complaint) => return Ok(failed(&complaint)),
    };
    let notes = args.take_notes();
    let caller = server.caller_of(&context.request_context);
    let revision = Revision::of(&context.request_context);
    let service = Arc::clone(&server.service);
    let options = server.options;
    let (progress, telling) = Watched::of(&context.request_context);
    let run = move || {
        // It waited for its turn, and nobody waits for it.
        if progress.is_cancelled() {
            return Err(ServiceError::invalid("called off"));
        }
        let call = Call {
            service: &service,
            caller: &caller,
            options,
            progress: &progress,
        };
        let mut reply = (tool.run)(&call, args)?;
        reply.tell_notes(&notes);
        if tool.hints.read_only
            && let Some(damage) = service.damage()
        {
            reply.tell_damage(&damage);
        }
        Ok(reply)
    };
    let turn = match tool.hints.read_only || MAY_TAKE_LONG.contains(&tool.name) {
        true => {
            server.what_was_asked_before().await;
            None
        }
        false => server.turn_to_write().await,
    };
    let outcome = tokio::task::spawn_blocking(run).await;
    drop(turn);
    if let Some(telling) = telling {
        // After the answer nothing is told any more.
        let _ = tokio::time::timeout(LAST_WORDS_MAX, telling).await;
    }
    if tool.leaves_work {
        server.follow_up.leave();
    }
    Ok(match outcome {
        Ok(Ok(Reply { text, structured })) => {
            let text = frame::bounded(text, options.answer_max_bytes);
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            if options.structured && revision.has_structure() {
                result.structured_content = Some(structured);
            }
            result.into()
        }
        Ok(Err(error)) => failed(&explained(&error, tool)),
        // A panic ends with the task; the panic hook has written the details to stderr.
        Err(error) => {
            tracing::error!(tool = tool.name, %error, "a tool panicked");
            failed("internal error: a bug in icm; the server goes on, details are in its log")
        }
    })
}

/// An error of the protocol, for what is no tool.
fn refused(error: &ServiceError) -> ErrorData {
    let message = match error.hint() {
        Some(hint) => format!("{error}: {hint}"),
        None => error.to_string(),
    };
    let message = bounded(&clean_line(&message));
    match error {
        ServiceError::NotFound { .. } | ServiceError::Nothing { .. } => {
            ErrorData::resource_not_found(message, None)
        }
        ServiceError::Invalid { .. } | ServiceError::Ambiguous { .. } => {
            ErrorData::invalid_params(message, None)
        }
        _ => ErrorData::internal_error(message, None),
    }
}

/// An error with the resource that there is not, where programs look for it.
fn about(uri: &str, mut error: ErrorData) -> ErrorData {
    if error.code == ErrorCode::RESOURCE_NOT_FOUND && uri.len() <= URI_SHOWN_MAX_BYTES {
        error.data = Some(json!({ "uri": uri }));
    }
    error
}

/// No list is so long that it has a second page.
fn only_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        Some(_) => Err(ErrorData::invalid_params(
            "this list has one page: leave `cursor` out",
            None,
        )),
        None => Ok(()),
    }
}

fn failed(message: &str) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(clean(message))]).into()
}

/// A name as it may stand in an actor: one line, bounded, without blanks.
pub(crate) fn short_name(name: &str) -> String {
    let name = clean_line(name.trim()).replace(' ', "-");
    name[..name.floor_char_boundary(CLIENT_MAX_BYTES)].to_owned()
}

/// The revision of the protocol that an answer keeps to.
struct Revision(ProtocolVersion);

impl Revision {
    /// Of a request: the one that it names, else the one that the handshake agreed on, which is the newest where there
    /// was none.
    fn of(context: &RequestContext<RoleServer>) -> Revision {
        Revision(
            context
                .protocol_version()
                .unwrap_or(ProtocolVersion::LATEST),
        )
    }

    fn is_stateless(&self) -> bool {
        self.0 >= ProtocolVersion::V_2026_07_28
    }

    /// Structured content, output schemas, titles and `_meta` of tools came with 2025-06-18.
    fn has_structure(&self) -> bool {
        self.0 >= ProtocolVersion::V_2025_06_18
    }

    /// Annotations of tools and the capability of completions came with 2025-03-26.
    fn has_annotations(&self) -> bool {
        self.0 >= ProtocolVersion::V_2025_03_26
    }

    /// A tool as this revision knows it.
    fn tool(&self, mut tool: model::Tool) -> model::Tool {
        if !self.has_structure() {
            tool.title = None;
            tool.output_schema = None;
            tool.meta = None;
        }
        if !self.has_annotations() {
            tool.annotations = None;
        }
        tool
    }

    /// Leaves in a server's description what this revision knows.
    fn info(&self, info: &mut InitializeResult) {
        if !self.has_structure() {
            info.server_info.title = None;
        }
        if !self.has_annotations() {
            info.capabilities.completions = None;
        }
    }
}

fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    Revision::of(context).is_stateless()
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("icm", env!("CARGO_PKG_VERSION"))
            .with_title("icm: infinite context memory");
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .build();
        InitializeResult::new(capabilities)
            .with_server_info(about)
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        if self.subscribed.is_none()
            && let Some(resources) = &mut result.capabilities.resources
        {
            resources.subscribe = None;
        }
        Revision(result.protocol_version.clone()).info(&mut result);
        Ok(result)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        only_page(request)?;
        let revision = Revision::of(&context);
        let tools = self.router.list_all().into_iter();
        let tools = tools.map(|tool| revision.tool(tool)).collect();
        let list = ListToolsResult::with_all_items(tools);
        if revision.is_stateless() {
            return Ok(list
                .with_ttl_ms(LIST_TTL_MS)
                .with_cache_scope(CacheScope::Public));
        }
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<model::Tool> {
        self.router.get(name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !self.router.has_route(&request.name) {
            let name = clean_line(&request.name);
            let name = &name[..name.floor_char_boundary(CLIENT_MAX_BYTES)];
            return match Tool::named(&request.name) {
                Some(tool) => Ok(failed(
                    &match self.options.read_only && !tool.hints.read_only {
                        true => format!(
                            "{name} is switched off: only what reads is offered, by this server or at this path"
                        ),
                        false => format!(
                            "{name} is switched off: whoever starts this server can offer it with \
                         --tools or --toolsets"
                        ),
                    },
                )),
                None => {
                    let near = offer::near(name);
                    let near = near.iter().filter(|near| self.router.has_route(near));
                    let near: Vec<&str> = near.copied().collect();
                    let hint = match near.is_empty() {
                        true => "see tools/list".to_owned(),
                        false => format!("did you mean {}?", near.join(", ")),
                    };
                    let why = format!("no tool `{name}`; {hint}");
                    Err(ErrorData::invalid_params(why, None))
                }
            };
        }
        self.router
            .call(ToolCallContext::new(self, request, context))
            .await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        only_page(request)?;
        let mut resources = resources::list();
        if !Revision::of(&context).has_structure() {
            resources.iter_mut().for_each(|it| it.title = None);
        }
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        only_page(request)?;
        let mut templates = resources::templates();
        if !Revision::of(&context).has_structure() {
            templates.iter_mut().for_each(|it| it.title = None);
        }
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let Some(named) = Named::of(&uri) else {
            let shown = clean_line(&uri);
            let shown = &shown[..shown.floor_char_boundary(CLIENT_MAX_BYTES)];
            let why =
                format!("no resource {shown}: see resources/list and resources/templates/list");
            return Err(about(&uri, ErrorData::resource_not_found(why, None)));
        };
        let ttl_ms = match named.is_past() {
            true => LIST_TTL_MS,
            false => 0,
        };
        let read = self.ask(&context, move |service, caller, options| {
            named.read(service, caller, options)
        });
        let read = read.await.map_err(|error| about(&uri, error))?;
        let contents = ResourceContents::text(read, uri);
        let result = ReadResourceResult::new(vec![contents]);
        if is_stateless(&context) {
            let result = result
                .with_ttl_ms(ttl_ms)
                .with_cache_scope(CacheScope::Private);
            return Ok(result.into());
        }
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        only_page(request)?;
        let mut prompts = prompts::list(self.options);
        if !Revision::of(&context).has_structure() {
            prompts.iter_mut().for_each(|it| it.title = None);
        }
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let name = request.name;
        let given = prompts::argument(&name).and_then(|argument| {
            let given = request.arguments.as_ref()?.get(argument)?;
            Some(given.as_str()?.to_owned())
        });
        let messages = self.ask(&context, move |service, caller, options| {
            prompts::messages(service, caller, options, &name, given.as_deref())
        });
        let messages = messages.await?;
        self.follow_up.leave();
        Ok(GetPromptResult::new(messages).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let complete = self.ask(&context, move |service, _, _| {
            let argument = &request.argument;
            complete::complete(service, &request.r#ref, &argument.name, &argument.value)
        });
        Ok(CompleteResult::new(complete.await?))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let wanted = requested.resource_subscriptions.iter().flatten();
        let log = wanted.filter(|uri| *uri == resources::LOG);
        let accepted = SubscriptionFilter::builder();
        Some(accepted.resource_subscriptions(log.cloned()).build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let tell = || async {
            let sink = context.sink();
            sink.notify_resource_updated(resources::LOG).await.is_ok()
        };
        let accepted = &context.accepted().resource_subscriptions;
        let watches = accepted.iter().flatten().next().is_some();
        let Ok(_permit) = self.listening.try_acquire() else {
            return Err(ErrorData::internal_error(
                format!("{LISTENERS_MAX} who listen are the most at once: try again later"),
                None,
            ));
        };
        // At worst it tells of something that was known.
        let known = self.service.log_handle().tip().map(|tip| tip.event);
        tokio::select! {
            () = watch::watch(Arc::clone(&self.service), known, tell), if watches => {}
            () = context.cancelled() => {}
            () = self.ends.cancelled() => {}
        }
        Ok(())
    }

    // The older revisions know no other way.
    #[allow(deprecated)]
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if request.uri != resources::LOG {
            return Err(ErrorData::invalid_params(
                format!("only {} can be subscribed to", resources::LOG),
                None,
            ));
        }
        let Some(subscribed) = &self.subscribed else {
            return Err(ErrorData::invalid_params(
                "nothing can be told over HTTP in this revision: ask for 2026-07-28 and subscriptions/listen",
                None,
            ));
        };
        let (service, peer) = (Arc::clone(&self.service), context.peer.clone());
        let tell = move || {
            let peer = peer.clone();
            async move {
                let updated = ResourceUpdatedNotificationParam::new(resources::LOG);
                peer.notify_resource_updated(updated).await.is_ok()
            }
        };
        // What comes after the answer is told.
        let known = watch::newest(&service).await;
        let watching = tokio::spawn(watch::watch(service, known, tell));
        subscribed.set(Some(watching.abort_handle()));
        Ok(())
    }

    #[allow(deprecated)]
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if let Some(subscribed) = &self.subscribed
            && request.uri == resources::LOG
        {
            subscribed.set(None);
        }
        Ok(())
    }

    /// What rmcp could not read as a request it knows.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = clean_line(&request.method);
        let method = &method[..method.floor_char_boundary(CLIENT_MAX_BYTES)];
        let of_its_time = match is_stateless(&context) {
            true => &KNOWN_SINCE[..],
            false => &KNOWN_BEFORE[..],
        };
        if KNOWN.contains(&method) || of_its_time.contains(&method) {
            let why = format!("the params of {method} are malformed: {}", shape_of(method));
            return Err(ErrorData::invalid_params(why, None));
        }
        Err(ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("no method {method}"),
            None,
        ))
    }
}

/// What the params of a method are, for who has them otherwise.
fn shape_of(method: &str) -> &'static str {
    match method {
        "tools/call" => "`name` is text, `arguments` an object",
        "prompts/get" => "`name` is text, `arguments` an object of texts",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "`uri` is text",
        "completion/complete" => {
            "`ref` is a prompt or a resource, `argument` an object of the texts `name` and `value`"
        }
        "initialize" => "`protocolVersion` is text, `capabilities` and `clientInfo` are objects",
        "subscriptions/listen" => "`notifications` is an object",
        _ => "they are an object, `cursor` in it is text",
    }
}

/// The work that calls leave behind, done when their answers are out: recalls are recorded, views
/// brought up to date. Several calls in a row share one round.
#[derive(Default)]
pub(crate) struct FollowUp {
    left: AtomicBool,
    finished: AtomicBool,
    wake: Notify,
    ending: Notify,
}

impl FollowUp {
    /// A call has left work.
    pub(crate) fn leave(&self) {
        self.left.store(true, Ordering::Release);
    }

    /// Answers are out.
    pub(crate) fn answered(&self) {
        if self.left.load(Ordering::Acquire) {
            self.wake.notify_one();
        }
    }

    /// An answer is out that has left work.
    pub(crate) fn leave_and_tell(&self) {
        self.leave();
        self.answered();
    }

    /// No more answers will come; what is left is still done.
    pub(crate) fn finish(&self) {
        self.finished.store(true, Ordering::Release);
        self.ending.notify_one();
        self.wake.notify_one();
    }

    /// Does the work until [`FollowUp::finish`].
    pub(crate) async fn run(self: Arc<Self>, service: Arc<Service>) {
        // Making a graph takes minutes, so the next round does not wait for it.
        let mut tending: Option<JoinHandle<()>> = None;
        let mut rested = Instant::now();
        loop {
            self.wake.notified().await;
            // Calls often come in bursts, and the next one should not wait for the store.
            let lull = tokio::time::sleep_until(rested.max(Instant::now() + LULL));
            tokio::select! {
                () = lull => {}
                () = self.ending.notified() => {}
            }
            let finished = self.finished.load(Ordering::Acquire);
            if self.left.swap(false, Ordering::AcqRel) || finished {
                let working = Arc::clone(&service);
                let work = move || {
                    working.record_recalls();
                    if finished {
                        working.settle();
                    } else {
                        working.settle_between();
                    }
                    let more = !finished && working.embed_behind();
                    for notice in working.take_notices() {
                        tracing::warn!("{notice}");
                    }
                    more
                };
                match tokio::task::spawn_blocking(work).await {
                    Ok(true) => self.leave_and_tell(),
                    Ok(false) => {}
                    Err(error) => tracing::error!(%error, "the work after an answer failed"),
                }
                rested = Instant::now() + REST;
                if !finished && tending.as_ref().is_none_or(JoinHandle::is_finished) {
                    ended(tending.take()).await;
                    let (service, this) = (Arc::clone(&service), Arc::clone(&self));
                    tending = Some(tokio::task::spawn_blocking(move || {
                        service.tend_graph(&|| !this.finished.load(Ordering::Relaxed));
                    }));
                }
            }
            if finished {
                ended(tending).await;
                return;
            }
        }
    }
}

/// Waits for whoever makes a graph.
async fn ended(tending: Option<JoinHandle<()>>) {
    if let Some(tending) = tending
        && let Err(error) = tending.await
    {
        tracing::error!(%error, "making a graph failed");
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rmcp::ServiceExt;
    use serde_json::Value;
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

    use super::*;
    use crate::mcp::Offer;
    use crate::mcp::tools::Hints;
    use crate::mcp::transport::LineTransport;
    use icm_service::OpenOptions;

    static BROKEN: Tool = Tool {
        name: "broken",
        title: "Broken",
        description: "",
        hints: Hints {
            read_only: true,
            destructive: false,
            idempotent: true,
        },
        leaves_work: false,
        search_hint: "",
        params: &[],
        output: None,
        run: |_, _| panic!("on purpose"),
    };

    fn server(folder: &tempfile::TempDir) -> Server {
        let service = Service::open(OpenOptions {
            dir: folder.path().join("store"),
            lock_wait: Duration::from_secs(10),
            read_only: false,
        });
        Server::new(
            Arc::new(service.expect("a store")),
            Caller {
                actor: "user".into(),
                ..Caller::default()
            },
            McpOptions {
                offer: Offer::ALL,
                structured: true,
                ..McpOptions::default()
            },
            Arc::new(FollowUp::default()),
        )
    }

    /// The replies to a handshake and to calls of tools without arguments or with them.
    async fn replies(server: Server, calls: &[(&str, Value)]) -> Vec<Value> {
        let (mut input, reader) = tokio::io::duplex(1 << 16);
        let (writer, output) = tokio::io::duplex(1 << 16);
        let (transport, _) = LineTransport::start(reader, writer, || {});
        let serving = tokio::spawn(server.serve(transport));
        let mut output = BufReader::new(output).lines();
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        });
        let calls = calls
            .iter()
            .map(|(name, arguments)| ("tools/call", json!({"name": name, "arguments": arguments})));
        let mut replies = Vec::new();
        for (method, params) in std::iter::once(("initialize", hello)).chain(calls) {
            let id = replies.len();
            let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            let line = format!("{request}\n");
            input.write_all(line.as_bytes()).await.expect("write");
            let line = output.next_line().await.expect("read").expect("a line");
            let reply: Value = serde_json::from_str(&line).expect("JSON");
            assert_eq!(reply["id"], id);
            replies.push(reply["result"].clone());
        }
        serving.abort();
        replies
    }

    #[tokio::test]
    async fn a_panic_in_a_tool_is_an_answer_and_the_server_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut server = server(&folder);
        Arc::get_mut(&mut server.router)
            .expect("nobody else has it")
            .add_route(route(&BROKEN, McpOptions::default()));
        let calls = [("broken", json!({})), ("icm_memory_stats", json!({}))];
        let replies = replies(server, &calls).await;
        assert_eq!(replies[1]["isError"], true, "{replies:?}");
        let text = replies[1]["content"][0]["text"].as_str().expect("a text");
        assert!(text.starts_with("internal error"), "{text}");
        assert_ne!(replies[2]["isError"], true, "{replies:?}");
        assert_eq!(replies[2]["structuredContent"]["memories"], 0);
    }

    #[tokio::test]
    async fn a_handshake_counts_where_the_connection_lasts() {
        let stored = ("icm_memory_store", json!({"topic": "t", "content": "c"}));
        let calls = [stored, ("icm_log", json!({"limit": 1, "kind": "memory"}))];
        for (over_http, subscribe, actor) in
            [(false, json!(true), "agent:t"), (true, Value::Null, "user")]
        {
            let folder = tempfile::tempdir().expect("a folder");
            let server = server(&folder);
            let server = match over_http {
                true => server.over_http(CancellationToken::new()),
                false => server,
            };
            let replies = replies(server, &calls).await;
            assert_eq!(
                replies[0]["capabilities"]["resources"]["subscribe"],
                subscribe
            );
            let event = &replies[2]["structuredContent"]["events"][0];
            assert_eq!(event["actor"], actor, "{event}");
        }
    }
}
