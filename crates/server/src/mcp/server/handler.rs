//! Answers the requests of the protocol.

use std::sync::Arc;

use rmcp::handler::server::ServerHandler;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, DiscoverResult, ErrorCode, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ResourceContents, ResourceUpdatedNotificationParam, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, model};

use super::call::failed;
use super::method::{KNOWN, KNOWN_BEFORE, KNOWN_SINCE, shape_of};
use super::refusal::{about, only_page};
use super::revision::{Revision, is_stateless};
use super::{CLIENT_MAX_BYTES, LISTENERS_MAX, Server};
use crate::mcp::resources::Named;
use crate::mcp::tools::Tool;
use crate::mcp::{complete, instructions, offer, prompts, resources, watch};
use icm_guard::sanitize::clean_line;

/// Time for which a client may keep a list, in milliseconds. Lists change only with the program and its options.
/// Raised, clients notice an update later.
const LIST_TTL_MS: u64 = 3_600_000;

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
            .with_instructions(instructions(self.options))
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
                    let near = offer::near(name).filter(|near| self.router.has_route(near));
                    let near: Vec<&str> = near.collect();
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
        // A stale tip causes one needless notification at most.
        let known = self.service.log_handle().tip().map(|tip| tip.event);
        tokio::select! {
            () = watch::watch(Arc::clone(&self.service), known, tell), if watches => {}
            () = context.cancelled() => {}
            () = self.ends.cancelled() => {}
        }
        Ok(())
    }

    // The older revisions know no other subscription.
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
        // Events after the answer are announced.
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

    /// Answers a request that rmcp cannot parse.
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
