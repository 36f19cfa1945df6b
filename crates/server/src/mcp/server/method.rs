//! Methods with params of a known shape, and the shapes in words.

/// Methods whose params have a shape. rmcp hands over such a request only if its params are malformed.
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

/// Such methods of the revisions before 2026-07-28 only, and of the revisions since.
pub(super) const KNOWN_BEFORE: [&str; 3] =
    ["initialize", "resources/subscribe", "resources/unsubscribe"];

pub(super) const KNOWN_SINCE: [&str; 1] = ["subscriptions/listen"];

/// Returns the shape of a method's params, for an error.
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
