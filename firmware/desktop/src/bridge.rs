//! `leaguebox mcp`: MCP over standard input and output, for programs that know no other way. A plain bridge: each line is posted to the
//! box's `/mcp`, and each answer printed on one line. What the box wants to see in headers is taken from the line. A question that
//! waits keeps no other waiting: each is asked on a connection of its own.

use std::io::{self, BufRead, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::failure::Failure;

/// How long the box may take for an answer. The longest that it waits on purpose is 25 s.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where the box is.
struct Place {
    address: SocketAddr,
    /// As it was written.
    host: String,
}

/// Bridges until the input ends.
pub fn bridge(url: &str) -> Result<(), Failure> {
    let place = find(url)?;
    let (out, revision) = (Mutex::new(io::stdout()), Mutex::new(None));
    // The input ends when its last question is answered.
    thread::scope(|scope| {
        for line in io::stdin().lock().lines() {
            let line = line.map_err(|error| Failure::work(format!("cannot read standard input: {error}")))?;
            if line.trim().is_empty() {
                continue;
            }
            let is_handshake = method(&line).is_some_and(|method| method == "initialize");
            let (place, out, revision) = (&place, &out, &revision);
            let ask = move || {
                let answer = answer(place, &line, revision);
                if let Some(answer) = answer
                    && let Ok(mut out) = out.lock()
                {
                    // Whoever reads no more has ended the conversation.
                    let _ = out.write_all(answer.as_bytes()).and_then(|()| out.flush());
                }
            };
            if is_handshake {
                // What follows depends on what it answers.
                ask();
            } else {
                scope.spawn(ask);
            }
        }
        Ok(())
    })
}

fn find(url: &str) -> Result<Place, Failure> {
    let rest = url.strip_prefix("http://").unwrap_or(url);
    let authority = rest.split('/').next().unwrap_or(rest);
    let host = if authority.rsplit(':').next().is_some_and(|port| port.parse::<u16>().is_ok()) {
        authority.to_string()
    } else {
        format!("{authority}:80")
    };
    let found = host.to_socket_addrs().ok().and_then(|mut all| all.next());
    let address = found.ok_or_else(|| Failure::work(format!("--box {url}: nobody knows where that is")))?;
    Ok(Place { address, host })
}

fn method(line: &str) -> Option<String> {
    serde_json::from_str::<Value>(line).ok()?["method"].as_str().map(String::from)
}

/// What is printed for a line, if anything is.
fn answer(place: &Place, line: &str, revision: &Mutex<Option<String>>) -> Option<String> {
    let message: Value = serde_json::from_str(line).unwrap_or_default();
    let id = message.get("id").cloned();
    let failed = |why: String| {
        // What wants no answer gets none.
        let error = json!({"jsonrpc": "2.0", "id": id.clone()?, "error": {"code": -32603, "message": why}});
        Some(format!("{error}\n"))
    };
    let known = revision.lock().ok().and_then(|known| known.clone());
    let (status, body) = match post(place, line, &headers(&message, known)) {
        Ok(told) => told,
        Err(error) => return failed(format!("the box at {} does not answer: {error}", place.host)),
    };
    if body.is_empty() {
        return None;
    }
    match serde_json::from_str::<Value>(&body) {
        Ok(told) if told.get("jsonrpc").is_some() => {
            if let Some(agreed) = told["result"]["protocolVersion"].as_str()
                && message["method"] == "initialize"
                && let Ok(mut known) = revision.lock()
            {
                *known = Some(agreed.into());
            }
            // Between two members of JSON a line ends nothing; within a text it is escaped.
            Some(format!("{}\n", body.replace(['\r', '\n'], " ").trim_end()))
        }
        Ok(told) => failed(told["error"].as_str().map_or_else(|| format!("status {status}"), String::from)),
        Err(_) => failed(format!("status {status}, and no JSON")),
    }
}

/// The headers that say what the message says.
fn headers(message: &Value, agreed: Option<String>) -> String {
    let params = &message["params"];
    let own = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str().map(String::from);
    let named = [&params["name"], &params["uri"]].into_iter().find_map(Value::as_str);
    let said = [
        ("MCP-Protocol-Version", own.as_deref().or(agreed.as_deref())),
        ("Mcp-Method", message["method"].as_str()),
        ("Mcp-Name", named),
    ];
    let plain = |value: &&str| value.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    let lines = said.iter().filter_map(|(name, value)| {
        let value = (*value)?;
        // What no header can say: the box takes it for said.
        Some(format!("{name}: {}\r\n", if plain(&value) { value } else { "=?base64??=" }))
    });
    lines.collect()
}

/// Posts a message: the status and the body of the answer. By HTTP/1.0, whose answers end with their connection.
fn post(place: &Place, body: &str, headers: &str) -> io::Result<(u16, String)> {
    let mut stream = TcpStream::connect_timeout(&place.address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let head = format!(
        "POST /mcp HTTP/1.0\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         {headers}Content-Length: {}\r\n\r\n",
        place.host,
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or(io::ErrorKind::InvalidData)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or(io::ErrorKind::InvalidData)?;
    Ok((status, body.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_say_what_the_message_says() {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
        let call = json!({"method": "tools/call", "params": {"_meta": meta, "name": "play"}});
        assert_eq!(
            headers(&call, None),
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: play\r\n"
        );
        let ping = json!({"method": "ping"});
        let agreed = Some("2025-06-18".to_string());
        assert_eq!(headers(&ping, agreed), "MCP-Protocol-Version: 2025-06-18\r\nMcp-Method: ping\r\n");
        let odd = json!({"method": "x\r\nHost: evil", "params": {"name": "é"}});
        assert_eq!(headers(&odd, None), "Mcp-Method: =?base64??=\r\nMcp-Name: =?base64??=\r\n");
    }

    #[test]
    fn a_box_is_found_by_its_url_and_one_that_is_not_there_is_an_error_of_each_question() {
        assert_eq!(find("http://127.0.0.1:8000/mcp").map(|place| place.host).unwrap(), "127.0.0.1:8000");
        assert_eq!(find("127.0.0.1").map(|place| place.address.port()).unwrap(), 80);
        assert!(find("http://no such host:1").is_err());
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let place = Place { address: closed, host: closed.to_string() };
        let told = answer(&place, r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, &Mutex::new(None)).unwrap();
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!((&told["id"], &told["error"]["code"]), (&json!(7), &json!(-32603)));
        assert_eq!(answer(&place, r#"{"jsonrpc":"2.0","method":"notifications/x"}"#, &Mutex::new(None)), None);
    }
}
