//! Runs tools.

use std::sync::Arc;

use rmcp::handler::server::tool::{ToolCallContext, ToolRoute};
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ErrorData};

use super::Server;
use super::revision::Revision;
use crate::mcp::McpOptions;
use crate::mcp::alerts_of_answer::AlertsOfAnswer;
use crate::mcp::progress::Watched;
use crate::mcp::schema::Args;
use crate::mcp::tools::{Call, Reply, Tool, as_named, offered_as};
use crate::mcp::words::explained;
use icm_api::Progress;
use icm_api::error::ServiceError;
use icm_guard::frame;
use icm_guard::sanitize::clean;
use icm_wait::bounds;

/// Tools that may take minutes: later requests do not wait for them.
const MAY_TAKE_LONG: [&str; 3] = [
    "icm_consolidate",
    "icm_memory_consolidate",
    "icm_memory_embed_all",
];
/// The tool that a hint for the session names.
const STORE: &str = "icm_memory_store";

pub(super) fn route(tool: &'static Tool, options: McpOptions) -> ToolRoute<Server> {
    ToolRoute::new_dyn(
        tool.definition(options),
        move |context: ToolCallContext<'_, Server>| Box::pin(call(tool, context)),
    )
}

/// Runs one tool. Errors that a model can put right come back as a result: most clients do not show errors of the
/// protocol.
async fn call(
    tool: &'static Tool,
    context: ToolCallContext<'_, Server>,
) -> Result<CallToolResponse, ErrorData> {
    let server = context.service;
    let given = as_named(tool, context.arguments.unwrap_or_default());
    let mut args = match Args::check(tool.params, given) {
        Ok(args) => args,
        Err(complaint) => return Ok(failed(&complaint)),
    };
    let notes = args.take_notes();
    let caller = server.caller_of(&context.request_context);
    let revision = Revision::of(&context.request_context);
    let service = Arc::clone(&server.service);
    let options = server.options;
    let nudges = Arc::clone(&server.nudges);
    let (progress, telling) = Watched::of(&context.request_context);
    let alerts = AlertsOfAnswer::of(&context.request_context.extensions);
    let run = move || {
        // The call was cancelled while it waited for its turn.
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
        // An answer in JSON has no room for a hint.
        let is_quiet = options.compact || options.read_only || tool.answers_json();
        if let Some(store) = offered_as(options, STORE).filter(|_| !is_quiet) {
            let writes = !tool.hints.read_only;
            let named = (options.nudge_after, store);
            if let Some(hint) = nudges.count(&service, &caller, writes, named) {
                reply.tell_hint(&hint);
            }
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
        // No progress may be sent after the answer.
        let _ = tokio::time::timeout(bounds::LOOK_EVERY, telling).await;
    }
    if tool.leaves_work {
        server.follow_up.leave();
    }
    Ok(match outcome {
        Ok(Ok(Reply {
            text,
            structured,
            delivery,
        })) => {
            // Without a place for it, the delivery is dropped, and the alerts are shown again.
            if let Some(alerts) = alerts {
                alerts.add(delivery);
            }
            let text = frame::bounded(text, options.answer_max_bytes);
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            if options.structured && revision.has_structure() {
                result.structured_content = Some(structured);
            }
            result.into()
        }
        Ok(Err(error)) => failed(&explained(&error, tool, options)),
        // A panic ends with the task; the panic hook has written the details to stderr.
        Err(error) => {
            tracing::error!(tool = tool.name, %error, "a tool panicked");
            failed("internal error: a bug in icm; the server goes on, details are in its log")
        }
    })
}

pub(super) fn failed(message: &str) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(clean(message))]).into()
}
