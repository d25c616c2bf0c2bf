//! JSON-RPC 2.0 at `/mcp`, to the byte.

use host_tests::http::Response;
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use serde_json::json;

fn leaguebox() -> LeagueBox {
    LeagueBox::start(Settings::default())
}

/// The error's code, after checking that it is a well-formed JSON-RPC error.
fn error_code(response: &Response) -> i64 {
    assert_eq!(response.status, 200, "{response:?}");
    let answer = response.json();
    assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
    assert!(answer.get("result").is_none(), "an error has no result: {answer}");
    assert!(answer["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no code in {answer}"))
}

#[test]
fn what_is_not_json_is_a_parse_error_with_a_null_id() {
    let leaguebox = leaguebox();
    // Not much longer, because a board would say 413.
    let deep = "[".repeat(500);
    for text in ["", "{", r#"{"jsonrpc":"2.0","method":"#, "{'a':1}", r#"{"a":"\ud800"}"#, "{\"a\":\"\u{1}\"}", &deep] {
        let response = leaguebox.post("/mcp", text);
        assert_eq!(error_code(&response), -32700, "{text:.40}");
        assert!(response.json()["id"].is_null());
    }
}

#[test]
fn json_that_is_no_request_is_an_invalid_request() {
    let leaguebox = leaguebox();
    let no_requests =
        ["1", "null", "\"x\"", "[]", "{}", r#"{"jsonrpc":"2.0","id":1}"#, r#"{"jsonrpc":"2.0","method":5,"id":1}"#];
    for text in no_requests {
        assert_eq!(error_code(&leaguebox.post("/mcp", text)), -32600, "{text}");
    }
}

#[test]
fn batches_are_rejected_as_a_whole() {
    let leaguebox = leaguebox();
    let batch = r#"[{"jsonrpc":"2.0","method":"ping","id":1},{"jsonrpc":"2.0","method":"ping","id":2}]"#;
    assert_eq!(error_code(&leaguebox.post("/mcp", batch)), -32600);
}

#[test]
fn an_unknown_method_is_named_in_the_error() {
    let response = leaguebox().post("/mcp", r#"{"jsonrpc":"2.0","method":"fly_to_the_moon","params":{},"id":1}"#);
    assert_eq!(error_code(&response), -32601);
    assert!(response.body.contains("fly_to_the_moon"), "{response:?}");
}

#[test]
fn parameters_that_are_no_object_are_invalid() {
    let leaguebox = leaguebox();
    for params in ["5", "\"x\"", "[1,2]", "true"] {
        let call = format!(r#"{{"jsonrpc":"2.0","method":"register_player","params":{params},"id":1}}"#);
        assert_eq!(error_code(&leaguebox.post("/mcp", &call)), -32602, "{params}");
    }
}

#[test]
fn a_missing_field_is_named() {
    let response = leaguebox().post(
        "/mcp",
        r#"{"jsonrpc":"2.0","method":"register_player","params":{"player_meta":{"display_name":"No Door"}},"id":1}"#,
    );
    assert_eq!(response.status, 200);
    assert!(response.body.contains("contact_endpoint"), "the answer names the field: {response:?}");
    assert!(!response.body.contains("ACCEPTED"), "{response:?}");
}

#[test]
fn the_id_comes_back_byte_for_byte() {
    let leaguebox = leaguebox();
    let ids = ["1", "\"x\"", "1.50", "null", "\"\\u05d0\"", "-0", "1e3", "12345678901234567890"];
    for method in ["ping", "fly_to_the_moon"] {
        for id in ids {
            let call = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{}},"id":{id}}}"#);
            let body = leaguebox.post("/mcp", &call).body;
            let echoed = [format!("\"id\":{id},"), format!("\"id\":{id}}}")];
            assert!(echoed.iter().any(|text| body.contains(text)), "{method} with id {id}: {body}");
        }
    }
}

#[test]
fn an_id_of_another_kind_is_no_request_and_params_may_be_null() {
    let leaguebox = leaguebox();
    for id in ["[1]", "{\"a\":1}", "true"] {
        let answer = leaguebox.post("/mcp", &format!(r#"{{"jsonrpc":"2.0","method":"ping","id":{id}}}"#)).json();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&(-32600).into(), &serde_json::Value::Null), "{id}");
    }
    let answer = leaguebox.post("/mcp", r#"{"jsonrpc":"2.0","method":"ping","params":null,"id":1}"#).json();
    assert_eq!(answer["result"]["status"], "pong", "{answer}");
}

#[test]
fn the_order_of_members_and_white_space_do_not_matter() {
    let response =
        leaguebox().post("/mcp", "\r\n {\"id\" : 7 ,\t\"params\":{ },\"method\":\"ping\",\"jsonrpc\":\"2.0\"}\n");
    assert_eq!(response.json()["id"], 7);
    assert!(response.json().get("result").is_some(), "{response:?}");
}

#[test]
fn a_notification_gets_no_body() {
    let leaguebox = leaguebox();
    // The first is MCP's, which has a status of its own for it.
    for (method, status) in [("notifications/initialized", 202), ("fly_to_the_moon", 204)] {
        let response = leaguebox.post("/mcp", &json!({"jsonrpc": "2.0", "method": method}).to_string());
        assert_eq!((response.status, response.body.as_str()), (status, ""), "{method}");
    }
}

/// Some agents register without an id. By the letter that is a notification, but they wait for the answer.
#[test]
fn a_registration_without_an_id_is_answered() {
    let meta = json!({"display_name": "No Id", "contact_endpoint": "http://127.0.0.1:9/mcp"});
    let params = json!({"message_type": "LEAGUE_REGISTER_REQUEST", "player_meta": meta});
    let response =
        leaguebox().post("/mcp", &json!({"jsonrpc": "2.0", "method": "register_player", "params": params}).to_string());
    assert_eq!(response.json()["result"]["status"], "ACCEPTED", "{response:?}");
}

#[test]
fn no_answer_has_both_a_result_and_an_error() {
    let leaguebox = leaguebox();
    for body in [r#"{"jsonrpc":"2.0","method":"ping","id":1}"#, r#"{"jsonrpc":"2.0","method":"nope","id":1}"#, "{"] {
        let answer = leaguebox.post("/mcp", body).json();
        assert_ne!(answer.get("result").is_some(), answer.get("error").is_some(), "{answer}");
    }
}

#[test]
fn mcp_clients_find_the_tools_they_may_call() {
    let leaguebox = leaguebox();
    let hello =
        json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let server = &leaguebox.rpc("initialize", hello)["result"];
    for field in ["protocolVersion", "capabilities", "serverInfo"] {
        assert!(server.get(field).is_some(), "{field} in {server}");
    }
    let tools = &leaguebox.rpc("tools/list", json!({}))["result"]["tools"];
    let tools = tools.as_array().unwrap_or_else(|| panic!("no list of tools: {tools}"));
    for tool in tools {
        assert!(tool["name"].is_string() && tool["inputSchema"]["type"] == "object", "{tool}");
    }
    for name in ["register_player", "league_query"] {
        assert!(tools.iter().any(|tool| tool["name"] == name), "{name} in {tools:?}");
    }
    assert!(leaguebox.rpc("resources/list", json!({}))["result"]["resources"].is_array());
}
