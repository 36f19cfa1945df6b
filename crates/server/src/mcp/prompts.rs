//! Prompts: texts that a user inserts by name, with memories put in as data.

use icm_agents::wake_up::{WakeUpRequest, wake_up};
use rmcp::model::{Prompt, PromptArgument, PromptMessage, Role};

use super::McpOptions;
use super::resources::{framed, of_topic, shown_max};
use super::tools::for_offer;
use icm_api::error::{Result, ServiceError};
use icm_api::{Caller, ContextRequest, ListRequest, RecallRequest, Sort};
use icm_service::Service;

/// Newest memories in a prompt without a query. Raised, a prompt takes more of the context.
const NEWEST: usize = 20;
/// Budget of a recall in a prompt, in tokens. Raised, a prompt takes more of the context.
const BUDGET: usize = 2_000;

/// A prompt.
struct Template {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    argument: (&'static str, &'static str, bool),
}

const TEMPLATES: [Template; 4] = [
    Template {
        name: "consolidate",
        title: "Consolidate a topic",
        about: "Put one summary in the place of a topic's memories",
        argument: ("topic", "the topic", true),
    },
    Template {
        name: "recap",
        title: "Recap a topic",
        about: "Say what is known of a topic, and what does not fit together",
        argument: ("topic", "the topic", true),
    },
    Template {
        name: "session-start",
        title: "Start a session",
        about: "Begin with what is remembered of the task at hand",
        argument: (
            "task",
            "what the session is about; else the newest memories",
            false,
        ),
    },
    Template {
        name: "wake-up",
        title: "Wake up",
        about: "Begin with pinned and important memories, preferences, and what changed",
        argument: (
            "budget",
            "tokens of the memories, 50 to 15000; else 800",
            false,
        ),
    },
];

/// Returns the prompts on offer. A read-only server leaves out the prompt that asks for a change.
fn offered(options: McpOptions) -> impl Iterator<Item = &'static Template> {
    let of_use = move |it: &&Template| !(options.read_only && it.name == "consolidate");
    TEMPLATES.iter().filter(of_use)
}

/// Returns the descriptions of the prompts on offer.
pub(super) fn list(options: McpOptions) -> Vec<Prompt> {
    let prompt = |template: &Template| {
        let (name, about, required) = template.argument;
        let argument = PromptArgument::new(name)
            .with_description(about)
            .with_required(required);
        Prompt::new(template.name, Some(template.about), Some(vec![argument]))
            .with_title(template.title)
    };
    offered(options).map(prompt).collect()
}

/// Returns the name of the argument of a prompt; `None` for an unknown prompt.
pub(super) fn argument(prompt: &str) -> Option<&'static str> {
    let template = TEMPLATES.iter().find(|template| template.name == prompt)?;
    Some(template.argument.0)
}

/// Returns the messages of a prompt; `given` is its argument.
///
/// # Errors
/// `Invalid` for an unknown prompt, and for a missing topic; `NotFound` for a topic without memories.
pub(super) fn messages(
    service: &Service,
    caller: &Caller,
    options: McpOptions,
    name: &str,
    given: Option<&str>,
) -> Result<Vec<PromptMessage>> {
    let given = given.map(str::trim).filter(|given| !given.is_empty());
    let then = for_offer(
        "[; use {icm_memory_recall} once the task is known]",
        options,
    );
    let topic = || {
        given.ok_or_else(|| {
            ServiceError::invalid_with("`topic` is missing", "name the topic; see icm://topics")
        })
    };
    let (task, data) = match name {
        "session-start" => match given {
            Some(task) => (
                "We are about to work on what the next message names. Take into account what icm \
                 remembers that may matter, and say in a sentence or two what of it does."
                    .to_owned(),
                [
                    recalled(service, caller, options, task)?,
                    format!("The task: {task}"),
                ]
                .join("\n\n"),
            ),
            None => (
                format!(
                    "A new session begins. Take into account what icm remembers, of which this is \
                     the newest{then}."
                ),
                newest(service, options)?,
            ),
        },
        "wake-up" => {
            let budget = match given.map(str::parse) {
                None => icm_agents::wake_up::BUDGET,
                Some(Ok(budget)) => budget,
                Some(Err(_)) => {
                    return Err(ServiceError::invalid_with(
                        "`budget` is no number of tokens",
                        "leave it out, or give for instance 400",
                    ));
                }
            };
            (
                format!("A new session begins. Take into account what icm remembers of it{then}."),
                woken(service, caller, options, budget)?,
            )
        }
        "recap" => {
            let memories = of_topic(service, topic()?)?;
            let mut task = "Say what these memories tell of their topic: what holds now, what was \
                            decided and why, what is open, and which of them contradict one another \
                            or are out of date."
                .to_owned();
            let shown = memories.len().min(shown_max(options));
            if memories.len() > shown {
                task.push_str(&format!(
                    " They are the newest {shown} of {}.",
                    memories.len()
                ));
            }
            (task, framed(&memories[..shown], options, &service.zone()))
        }
        "consolidate" if !options.read_only => {
            let memories = of_topic(service, topic()?)?;
            let bytes = memories.iter().filter_map(|it| it.content.as_ref());
            let bytes: usize = bytes.map(String::len).sum();
            // A summary replaces all memories of the topic, so its author must have seen them whole.
            if memories.len() > shown_max(options) || bytes > options.room_bytes() / 2 {
                return Err(ServiceError::invalid_with(
                    format!(
                        "the topic has {} memories of {bytes} bytes, more than a prompt can show",
                        memories.len()
                    ),
                    "consolidate the topics below it one by one, or have a command do it: \
                     icm consolidate --command",
                ));
            }
            (
                for_offer(
                    "Write one summary that keeps everything worth keeping of these memories, show it \
                     to me, and once I agree store it with [{icm_memory_consolidate} or ]`icm consolidate` \
                     for their topic. The originals stay in history.",
                    options,
                ),
                framed(&memories, options, &service.zone()),
            )
        }
        _ => {
            let known: Vec<&str> = offered(options).map(|template| template.name).collect();
            return Err(ServiceError::invalid_with(
                "there is no such prompt",
                format!("there are {}", known.join(", ")),
            ));
        }
    };
    let message = |text| PromptMessage::new_text(Role::User, text);
    Ok(vec![message(task), message(data)])
}

fn recalled(service: &Service, caller: &Caller, options: McpOptions, task: &str) -> Result<String> {
    let request = ContextRequest {
        recall: RecallRequest {
            query: task.to_owned(),
            record: !options.read_only,
            ..RecallRequest::default()
        },
        budget: BUDGET,
        markdown: false,
    };
    let context = service.recall_context(caller, &request)?;
    Ok(match context.results.is_empty() {
        true => "(nothing is remembered that fits)".to_owned(),
        false => context.text,
    })
}

fn woken(service: &Service, caller: &Caller, options: McpOptions, budget: usize) -> Result<String> {
    let request = WakeUpRequest {
        budget,
        record: !options.read_only,
        ..WakeUpRequest::default()
    };
    let pack = wake_up(service, caller, &request)?;
    Ok(match pack.items.is_empty() {
        true => "(nothing is remembered that a session should begin with)".to_owned(),
        false => pack.text,
    })
}

fn newest(service: &Service, options: McpOptions) -> Result<String> {
    let memories = service.list(&ListRequest {
        limit: Some(NEWEST),
        sort: Sort::Created,
        ..ListRequest::default()
    })?;
    Ok(match memories.is_empty() {
        true => "(nothing is remembered yet)".to_owned(),
        false => framed(&memories, options, &service.zone()),
    })
}
