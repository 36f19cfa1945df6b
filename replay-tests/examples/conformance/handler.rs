//! A handler that answers for the fixtures itself and passes everything else on.

use std::time::Duration;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, DiscoverResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Reference, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, model::ProtocolVersion};
use serde_json::Value;

use super::rounds::{Step, check_required, step};
use super::table::{Fixture, Named, TABLE, Template};

/// Pause between two progress messages.
const PAUSE: Duration = Duration::from_millis(50);

/// The fixtures in front of `inner`.
#[derive(Clone)]
pub(crate) struct Fixtures<H> {
    pub(crate) inner: H,
}

type Context = RequestContext<RoleServer>;

impl<H: ServerHandler> ServerHandler for Fixtures<H> {
    fn get_info(&self) -> ServerConfig {
        self.inner.get_info()
    }

    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [ProtocolVersion]> {
        self.inner.supported_protocol_versions()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        self.inner.initialize(request, context).await
    }

    async fn discover(&self, context: Context) -> Result<DiscoverResult, ErrorData> {
        self.inner.discover(context).await
    }

    async fn ping(&self, context: Context) -> Result<(), ErrorData> {
        self.inner.ping(context).await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = self.inner.list_tools(request, context).await?;
        list.tools.extend(TABLE.tools.iter().map(Fixture::tool));
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let fixture = TABLE.tool(name).map(Fixture::tool);
        fixture.or_else(|| self.inner.get_tool(name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(fixture) = TABLE.tool(&request.name) else {
            return self.inner.call_tool(request, context).await;
        };
        let able = capabilities(&context);
        check_required(fixture, &able)?;
        let (answers, state) = (request.input_responses, request.request_state);
        if let Step::Ask(asked) = step(fixture, &able, answers.as_ref(), state.as_deref())? {
            return Ok(asked.into());
        }
        tell(fixture, &context).await;
        let result: CallToolResult = fixture.result(request.arguments.as_ref());
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut list = self.inner.list_resources(request, context).await?;
        list.resources
            .extend(TABLE.resources.iter().map(Named::resource));
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = self.inner.list_resource_templates(request, context).await?;
        list.resource_templates
            .extend(TABLE.templates.iter().map(Template::template));
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match TABLE.read::<ReadResourceResult>(&request.uri) {
            Some(read) => Ok(read.into()),
            None => self.inner.read_resource(request, context).await,
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut list = self.inner.list_prompts(request, context).await?;
        list.prompts
            .extend(TABLE.prompts.iter().map(Fixture::prompt));
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Some(fixture) = TABLE.prompt(&request.name) else {
            return self.inner.get_prompt(request, context).await;
        };
        let able = capabilities(&context);
        let (answers, state) = (request.input_responses, request.request_state);
        if let Step::Ask(asked) = step(fixture, &able, answers.as_ref(), state.as_deref())? {
            return Ok(asked.into());
        }
        let result: GetPromptResult = fixture.result(request.arguments.as_ref());
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        match &request.r#ref {
            Reference::Prompt(prompt) if TABLE.prompt(&prompt.name).is_some() => {
                Ok(CompleteResult::default())
            }
            _ => self.inner.complete(request, context).await,
        }
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.inner.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.inner.listen(context).await
    }

    // The older revisions know no other subscription.
    #[allow(deprecated)]
    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        match is_fixture(&request.uri) {
            true => Ok(()),
            false => self.inner.subscribe(request, context).await,
        }
    }

    #[allow(deprecated)]
    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        match is_fixture(&request.uri) {
            true => Ok(()),
            false => self.inner.unsubscribe(request, context).await,
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        self.inner.on_custom_request(request, context).await
    }
}

fn is_fixture(uri: &str) -> bool {
    TABLE.resources.iter().any(|named| named.uri == uri)
}

/// Returns the capabilities that the client has declared, as JSON.
fn capabilities(context: &Context) -> Value {
    let declared = context.client_capabilities().unwrap_or_default();
    serde_json::to_value(declared).expect("capabilities are JSON")
}

/// Sends the progress messages of a fixture to a client that asked for them.
async fn tell(fixture: &Fixture, context: &Context) {
    let Some(token) = context.meta.get_progress_token() else {
        return;
    };
    for done in &fixture.progress {
        let word = ProgressNotificationParam::new(token.clone(), f64::from(*done));
        // The client may be gone.
        if context
            .peer
            .notify_progress(word.with_total(100.0))
            .await
            .is_err()
        {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}
