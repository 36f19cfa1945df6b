//! Methods with params of a known shape, and what these are.

/// Requests whose params have a shape: what comes here with such a name is malformed.
pub(super) const KNOWN: [&str; 8] = [
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
pub(super) const KNOWN_BEFORE: [&str; 3] =
    ["initialize", "resources/subscribe", "resources/unsubscribe"];

pub(super) const KNOWN_SINCE: [&str; 1] = ["subscriptions/listen"];

/// What the params of a method are, for who has them otherwise.
pub(super) fn shape_of(method: &str) -> &'static str {
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
