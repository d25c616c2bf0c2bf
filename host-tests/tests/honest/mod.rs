//! An honest agent among hostile ones.

use host_tests::http::{Response, request};
use host_tests::leaguebox::LeagueBox;
use host_tests::wait_for;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

/// How long an honest agent may have to wait for a box under attack, in the box's own time.
const SECONDS: Duration = Duration::from_secs(10);

/// Fails the test unless an agent that comes now can register and ask for the standings within seconds, trying again when it
/// is refused, and the box has not been reset meanwhile.
pub fn assert_an_honest_agent_is_served(leaguebox: &LeagueBox) {
    static NEXT: AtomicU16 = AtomicU16::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let begun = leaguebox.clock();
    let meta = json!({"display_name": format!("Honest {number}"), "version": "1.0.0", "game_types": ["even_odd"],
        "contact_endpoint": format!("http://{}:{}/mcp", leaguebox.home(), 41000 + number)});
    let registration = json!({"message_type": "LEAGUE_REGISTER_REQUEST", "player_meta": meta});
    let registered = patiently(leaguebox, "register_player", &registration);
    assert_eq!(registered["result"]["status"], "ACCEPTED", "{registered}");
    let query = json!({"message_type": "LEAGUE_QUERY", "query_type": "GET_STANDINGS",
        "auth_token": registered["result"]["auth_token"]});
    let answer = patiently(leaguebox, "league_query", &query);
    assert_eq!(answer["result"]["status"], "SUCCESS", "{answer}");
    let waited = leaguebox.clock() - begun;
    assert!(waited < SECONDS, "an honest agent had to wait {waited:?}");
    assert_eq!(leaguebox.resets(), Vec::<String>::new(), "the box was reset");
}

/// Calls until it is answered: a box under attack may refuse a connection, or give it up.
fn patiently(leaguebox: &LeagueBox, method: &str, params: &Value) -> Value {
    let call = json!({"jsonrpc": "2.0", "method": method, "params": params, "id": 1}).to_string();
    let head = "Content-Type: application/json\r\n";
    let served = |response: &Response| response.status == 200;
    let post = || request(leaguebox.address, "POST", "/mcp", head, &call).ok().filter(served);
    wait_for("an honest agent is answered", post).json()
}
