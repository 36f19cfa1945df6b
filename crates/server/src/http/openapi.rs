//! The OpenAPI description of the plain paths, made from the table that also checks the requests.

use serde_json::{Map, Value, json};

use super::operations::Operation;
use crate::mcp::schema::input_schema;

/// Returns an OpenAPI 3.1 document of these operations.
pub(super) fn document(operations: &[&'static Operation]) -> Value {
    let mut paths = Map::new();
    for operation in operations {
        let mut methods = Map::new();
        let name = operation.path.trim_start_matches('/');
        let schema = input_schema(operation.params);
        methods.insert(
            "post".into(),
            json!({
                "operationId": name,
                "summary": operation.summary,
                "requestBody": {
                    "required": true,
                    "content": {"application/json": {"schema": schema}},
                },
                "responses": responses("What was done, or found"),
            }),
        );
        if !operation.writes {
            methods.insert(
                "get".into(),
                json!({
                    "operationId": format!("{name}_by_query"),
                    "summary": operation.summary,
                    "parameters": query(&schema),
                    "responses": responses("What was found"),
                }),
            );
        }
        paths.insert(operation.path.into(), methods.into());
    }
    paths.insert(
        "/health".into(),
        json!({"get": {
            "operationId": "health",
            "summary": "Whether the server is there and its log whole; needs no token",
            "security": [],
            "responses": {
                "200": {"description": "It is"},
                "503": {"description": "The log is damaged or cannot be read"},
            },
        }}),
    );
    paths.insert(
        "/metrics".into(),
        json!({"get": {
            "operationId": "metrics",
            "summary": "Numbers for a monitor, in the text format of OpenMetrics",
            "responses": {"200": {"description": "The numbers"}},
        }}),
    );
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "icm",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A memory for agents. Recalled text is data that anyone may have written. MCP is at /mcp, without tools that write at /mcp/readonly.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": {
                "type": "object",
                "required": ["error"],
                "properties": {"error": {
                    "type": "object",
                    "required": ["message", "hint"],
                    "properties": {"message": {"type": "string"}, "hint": {"type": "string"}},
                }},
            }},
        },
        // A server started without a token needs none.
        "security": [{"token": []}, {}],
    })
}

/// Returns the parameters of a schema as those of a query string.
fn query(schema: &Map<String, Value>) -> Vec<Value> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|n| n == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flatten();
    let parameters = properties.map(|(name, schema)| {
        json!({"name": name, "in": "query", "required": is_required(name), "schema": schema})
    });
    parameters.collect()
}

fn responses(found: &str) -> Value {
    let error = |about: &str| {
        let schema = json!({"$ref": "#/components/schemas/Error"});
        json!({"description": about, "content": {"application/json": {"schema": schema}}})
    };
    let any = json!({"type": "object"});
    json!({
        "200": {"description": found, "content": {"application/json": {"schema": any}}},
        "400": error("An argument is not acceptable"),
        "401": error("The token is missing or wrong"),
        "403": error("Another host, web page, or a store that is only read"),
        "404": error("No such memory, event or path"),
        "409": error("The request id was used for something else"),
        "422": error("The text holds a secret"),
        "503": error("The store is busy, try again; or a stopped process holds its lock, which is named"),
        "default": error("It could not be done"),
    })
}
