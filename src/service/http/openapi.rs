//! The OpenAPI document (3.1), made of the table of routes and the descriptors, so that it cannot drift from either.

use std::sync::LazyLock;

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use prost_reflect::{FieldDescriptor, MethodDescriptor};
use serde_json::{Map, Value, json};

use super::routes::{ROUTES, Route, Verb};
use crate::service::hooks::{EventName, HookProgram};
use crate::wire::json::{Direction, camel, comment, descriptors, parameter, reference, schemas};

static DOCUMENT: LazyLock<Vec<u8>> = LazyLock::new(|| document().to_string().into_bytes());

const ABOUT: &str = "The operations of tripnote as JSON (proto3 JSON), the same as over gRPC. A refusal is a 200 that holds \
    a `trip`, never an error: do not retry it, give `trip.text` to the model. 64-bit numbers come as strings, and what is \
    absent or unset is left out.";

pub(super) async fn answer() -> Response {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT.as_slice()).into_response()
}

fn document() -> Value {
    let mut paths = Map::new();
    let mut messages = vec![];
    for route in &ROUTES {
        let Some(method) = method(route) else { continue };
        let at = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Some(verbs) = at.as_object_mut() {
            verbs.insert(verb(route.verb).to_owned(), operation(route, &method));
        }
        if route.verb == Verb::Post {
            messages.push((method.input(), Direction::In));
        }
        messages.push((method.output(), Direction::Out));
    }
    for program in HookProgram::ALL {
        paths.insert(format!("/v1/hooks/{}", program.word()), hook(*program));
    }
    for (path, what) in [
        ("/healthz", "The process answers."),
        ("/readyz", "The service takes calls."),
        ("/metrics", "The metrics, for Prometheus."),
    ] {
        let answers = json!({"description": what, "content": {"text/plain": {"schema": {"type": "string"}}}});
        paths.insert(
            path.to_owned(),
            json!({"get": {
                "operationId": path.trim_start_matches('/'), "tags": ["Service"], "summary": what,
                "responses": {"200": answers.clone(), "503": answers},
            }}),
        );
    }
    let mut all = schemas(messages);
    all.insert("Problem".to_owned(), problem());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "tripnote", "version": env!("CARGO_PKG_VERSION"), "description": ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": all},
    })
}

fn method(route: &Route) -> Option<MethodDescriptor> {
    let service = descriptors().services().find(|of| of.name() == route.rpc.0)?;
    service.methods().find(|of| of.name() == route.rpc.1)
}

const fn verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Get => "get",
        Verb::Post => "post",
    }
}

fn operation(route: &Route, method: &MethodDescriptor) -> Value {
    let said = comment(&method.parent_file(), method.path());
    let answer = if method.is_server_streaming() {
        json!({"text/event-stream": {"schema": {"type": "string"}}})
    } else {
        json!({"application/json": {"schema": reference(&method.output())}})
    };
    let summary = said.split_inclusive(". ").next().unwrap_or_default().trim();
    let mut operation = json!({
        "operationId": method.name(),
        "tags": [route.rpc.0],
        "summary": summary,
        "description": said,
        "parameters": parameters(route, method),
        "responses": {"200": {"description": "The answer.", "content": answer}, "default": failed()},
    });
    if let (Verb::Post, Some(members)) = (route.verb, operation.as_object_mut()) {
        let content = json!({"application/json": {"schema": reference(&method.input())}});
        members.insert("requestBody".to_owned(), json!({"required": false, "content": content}));
    }
    operation
}

fn parameters(route: &Route, method: &MethodDescriptor) -> Vec<Value> {
    let of_field = |path: &&str, place: &str, name: &str| {
        let field = field(method, path)?;
        let description = comment(&field.parent_file(), field.path());
        let is_due = place == "path";
        let mut schema = parameter(&field);
        if let Some(members) = schema.as_object_mut().filter(|of| is_due && of.get("type") == Some(&"string".into())) {
            members.insert("minLength".to_owned(), 1.into());
        }
        Some(json!({"name": name, "in": place, "required": is_due, "description": description, "schema": schema}))
    };
    let id = route.id.iter().filter_map(|path| of_field(path, "path", "id"));
    let query = route.query.iter().filter_map(|path| {
        let name = camel(path.rsplit('.').next().unwrap_or(path));
        of_field(path, "query", &name)
    });
    let mut all: Vec<Value> = id.chain(query).collect();
    if method.is_server_streaming() {
        let description = "The `id` of the last event that was read: what came after it is sent first.";
        all.push(json!({
            "name": "Last-Event-ID", "in": "header", "required": false, "description": description,
            "schema": {"type": "string", "pattern": "^([0-9]+-)?[0-9]+$"},
        }));
    }
    all
}

/// The field at a dotted path.
fn field(method: &MethodDescriptor, path: &str) -> Option<FieldDescriptor> {
    let mut message = method.input();
    let mut names = path.split('.').peekable();
    while let Some(name) = names.next() {
        let field = message.get_field_by_name(name)?;
        if names.peek().is_none() {
            return Some(field);
        }
        message = field.kind().as_message()?.clone();
    }
    None
}

fn hook(program: HookProgram) -> Value {
    let events: Vec<&str> = EventName::ALL.iter().map(|name| name.word()).collect();
    let text = json!({"type": ["string", "null"]});
    let body = json!({
        "type": "object",
        "required": ["hook_event_name", "session_id"],
        "properties": {
            "hook_event_name": {"type": "string", "enum": events},
            "session_id": {"type": "string", "minLength": 1},
            "tool_name": text, "tool_use_id": text,
        },
    });
    let name = match program {
        HookProgram::ClaudeCode => "Claude Code",
        HookProgram::Codex => "Codex",
    };
    let what = format!("One event of a hook of {name}, as that program documents it; the answer is what it reads.");
    json!({"post": {
        "operationId": format!("hook_{}", program.word().replace('-', "_")),
        "tags": ["Hooks"],
        "summary": what,
        "requestBody": {"required": true, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": {
                "description": "What the program is to do; nothing is an empty object, never a permission.",
                "content": {"application/json": {"schema": {"type": "object"}}},
            },
            "default": failed(),
        },
    }})
}

fn failed() -> Value {
    json!({
        "description": "What is wrong; `429` and `503` say with `Retry-After` when to come again.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    })
}

fn problem() -> Value {
    let text = |what: &str| json!({"type": "string", "description": what});
    let fault = json!({
        "type": "object",
        "required": ["field", "message"],
        "properties": {
            "field": text("The path of the field in the message, as gRPC names it, such as `calls[3].target`."),
            "message": text("What is wrong and what would be right: one line in lower case."),
        },
    });
    json!({
        "type": "object",
        "description": "What is wrong with a request (RFC 9457), with the text that gRPC gives.",
        "required": ["type", "title", "status", "detail", "code"],
        "properties": {
            "type": text("Always `about:blank`."),
            "title": text("The status in words."),
            "status": {"type": "integer", "description": "The status of the answer."},
            "detail": text("What is wrong and what would be right: one line in lower case."),
            "code": text("The code of gRPC, such as `INVALID_ARGUMENT`."),
            "errors": {"type": "array", "items": fault, "description": "The fields at fault."},
            "retryAfterMs": {"type": "integer", "description": "When to come again, in milliseconds. Absent: not by time."},
        },
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_route_is_described_and_every_reference_leads_somewhere() {
        let document = document();
        for route in &ROUTES {
            let operation = &document["paths"][route.path][verb(route.verb)];
            assert_eq!(operation["operationId"], route.rpc.1, "{}", route.path);
            assert!(operation["summary"].as_str().unwrap().len() > 10, "{operation}");
        }
        let text = document.to_string();
        let referred: BTreeSet<&str> =
            text.split("#/components/schemas/").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        assert!(referred.len() > 40, "{referred:?}");
        for name in referred {
            assert!(document["components"]["schemas"][name].is_object(), "{name}");
        }
    }

    #[test]
    fn an_id_of_a_path_is_due_and_a_query_is_not() {
        let document = document();
        let parameters = document["paths"]["/v1/sessions/{id}/evidence"]["get"]["parameters"].as_array().unwrap();
        let shown = parameters.iter().map(|of| (of["name"].as_str().unwrap(), of["required"].as_bool().unwrap()));
        assert_eq!(shown.collect::<Vec<_>>(), [("id", true), ("caller", false), ("currentTaskOnly", false)]);
    }
}
