//! Who is who: by address, by token, by name, and how many of them.

extern crate std;

use core::net::{IpAddr, Ipv4Addr};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde_json::{Value, json};

use super::restart_tests::Pieces;
use super::tests::{Room, config};
use super::*;
use crate::json::Slice;

fn address(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, last))
}

fn registration(name: &str, endpoint: &str) -> String {
    json!({"jsonrpc":"2.0","method":"register_player","id":1,"params":{
        "protocol":"league.v2","message_type":"LEAGUE_REGISTER_REQUEST","sender":"player:x",
        "timestamp":"2025-01-15T10:05:00Z","conversation_id":"conv_1","player_meta":{
        "display_name":name,"version":"1.0.0","game_types":["even_odd"],"contact_endpoint":endpoint}}})
    .to_string()
}

fn register_from(room: &mut Room, from: u8, name: &str, endpoint: &str) -> Value {
    room.send_via(Via::Post, from, &registration(name, endpoint)).0["result"].take()
}

fn referee(room: &mut Room, from: u8, name: &str, port: u16) -> Value {
    let body = json!({"jsonrpc":"2.0","method":"register_referee","id":1,"params":{
        "message_type":"REFEREE_REGISTER_REQUEST","referee_meta":{"display_name":name,
        "contact_endpoint":format!("http://localhost:{port}/mcp")}}});
    room.send_via(Via::Post, from, &body.to_string()).0["result"].take()
}

/// What is answered to a message from any address at all.
fn send_from(room: &mut Room, from: IpAddr, body: &str) -> Value {
    let answer = room.venue.request(room.now, from, Via::Post, body.as_bytes());
    let mut buf = [0; 4096];
    let mut sink = Slice::new(&mut buf);
    room.venue.write_answer(&answer, &mut sink).unwrap();
    serde_json::from_slice(sink.written()).unwrap()
}

fn called(room: &Room, player: usize) -> String {
    room.venue.players()[player].contact.to_string()
}

fn rules(room: &Room, player: usize) -> Vec<&'static str> {
    room.venue.players()[player].compliance.broken().map(|(rule, ..)| rule.code()).collect()
}

const ADA: &str = "http://10.0.0.7:8101/mcp";

#[test]
fn a_token_goes_only_to_the_address_it_first_went_to() {
    let mut room = Room::new(config());
    room.venue.keep_facts();
    let first = register_from(&mut room, 7, "Ada", ADA);
    register_from(&mut room, 8, "Bob", "http://10.0.0.8:8101/mcp");
    let mapped = IpAddr::V6(Ipv4Addr::new(10, 0, 0, 7).to_ipv6_mapped());
    for is_cut in [false, true] {
        let other = register_from(&mut room, 66, "Ada", ADA);
        assert_eq!(other["reason"], "Duplicate display name");
        assert_eq!(other["auth_token"], Value::Null);
        for from in [address(7), mapped] {
            let again = send_from(&mut room, from, &registration("Ada", ADA));
            assert_eq!(again["result"]["auth_token"], first["auth_token"], "{from}");
        }
        if !is_cut {
            let mut journal = Pieces::default();
            journal.keep(&mut room.venue);
            room.venue = journal.restore();
            room.venue.resume(room.now);
        }
    }
    room.venue.command(room.now, Command::Start).unwrap();
    let other = register_from(&mut room, 66, "Ada", ADA);
    assert_eq!((&other["status"], &other["auth_token"]), (&json!("REJECTED"), &Value::Null));
    assert_eq!(register_from(&mut room, 7, "Ada", ADA)["auth_token"], first["auth_token"]);
}

#[test]
fn a_referees_token_goes_only_to_the_address_it_first_went_to() {
    let mut room = Room::new(config());
    let first = referee(&mut room, 7, "Whistle", 8001);
    assert_eq!(first["status"], "ACCEPTED");
    assert_eq!(referee(&mut room, 66, "Whistle", 8001)["reason"], "Duplicate display name");
    assert_eq!(referee(&mut room, 7, "Whistle", 8001)["auth_token"], first["auth_token"]);
}

/// Two players in a match, both asked whether they join.
fn invited() -> Room {
    let mut room = Room::new(config());
    register_from(&mut room, 7, "Ada", ADA);
    register_from(&mut room, 8, "Bob", "http://10.0.0.8:8101/mcp");
    room.venue.command(room.now, Command::Start).unwrap();
    for player in 0..2 {
        room.answer(player, json!({"jsonrpc":"2.0","result":{"status":"ok"},"id":1}));
        assert_eq!(room.call(player).unwrap()["params"]["message_type"], "GAME_INVITATION");
    }
    room
}

fn join(fields: Value) -> String {
    let mut params = json!({"message_type": "GAME_JOIN_ACK", "accept": true});
    params.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({"jsonrpc":"2.0","method":"game_join_ack","id":5,"params":params}).to_string()
}

#[test]
fn an_answer_without_a_token_is_the_players_only_from_its_own_address() {
    let by_id = join(json!({"player_id": "P01"}));
    let by_sender = join(json!({"sender": "player:P01"}));
    let by_nothing = join(json!({"player_id": "my own id"}));
    for body in [&by_id, &by_sender, &by_nothing] {
        let mut room = invited();
        assert_eq!(room.send_via(Via::Post, 66, body).0["result"]["error_code"], "E011", "{body}");
        let (answer, caller) = room.send_via(Via::Post, 7, body);
        assert_eq!((&answer["result"]["status"], caller), (&json!("RECEIVED"), None), "{body}");
    }
    let mut room = invited();
    let (answer, _) = room.send_via(Via::Post, 8, &by_id);
    assert_eq!(answer["result"]["status"], "RECEIVED", "whatever it calls itself, it is who lives there");
    assert_eq!(room.send_via(Via::Post, 7, &by_id).0["result"]["status"], "RECEIVED", "and nobody else");
    let wrong = join(json!({"player_id": "P01", "auth_token": "tok_p01_0"}));
    assert_eq!(invited().send_via(Via::Post, 7, &wrong).0["result"]["error_code"], "E012");
}

#[test]
fn of_two_players_at_one_address_the_id_says_who_answers_without_a_token() {
    let mut room = Room::with_players(2);
    room.venue.command(room.now, Command::Start).unwrap();
    for player in 0..2 {
        room.answer(player, json!({"jsonrpc":"2.0","result":{"status":"ok"},"id":1}));
    }
    assert_eq!(room.send(&join(json!({"player_id": "nobody"})))["result"]["error_code"], "E011");
    assert_eq!(room.send(&join(json!({"player_id": "P02"})))["result"]["status"], "RECEIVED");
    assert_eq!(room.send(&join(json!({"player_id": "P02"})))["result"]["status"], "IGNORED");
    assert_eq!(room.send(&join(json!({"player_id": "P01"})))["result"]["status"], "RECEIVED");
}

#[test]
fn in_strict_mode_an_answer_needs_its_token_and_so_does_leaving_in_every_mode() {
    let mut room = invited();
    room.venue.config.mode = Mode::Strict;
    assert_eq!(room.send_via(Via::Post, 7, &join(json!({"player_id": "P01"}))).0["result"]["error_code"], "E011");
    room.venue.config.mode = Mode::Lenient;
    let leave = json!({"jsonrpc":"2.0","method":"deregister_player","id":1,"params":{"player_id":"P01"}}).to_string();
    for from in [7, 66] {
        assert_eq!(room.send_via(Via::Post, from, &leave).0["result"]["error_code"], "E011");
    }
}

#[test]
fn a_player_is_called_where_it_registered_from_whatever_host_it_names() {
    let mut room = Room::new(config());
    for (number, host) in
        (0..).zip(["192.168.1.5", "[::ffff:127.0.0.1]", "127.1", "2130706433", "localhost.", "nas.local"])
    {
        let answer = register_from(&mut room, 7, &format!("N{number}"), &format!("http://{host}:8101/x{number}"));
        assert_eq!(answer["status"], "ACCEPTED", "{host}");
        assert_eq!(called(&room, number), "10.0.0.7:8101", "{host}");
        assert_eq!(rules(&room, number), ["endpoint_host"], "{host}");
    }
    register_from(&mut room, 7, "Right", ADA);
    assert!(rules(&room, 6).is_empty());
}

#[test]
fn in_strict_mode_another_host_is_refused_and_what_means_ones_own_computer_is_not() {
    let mut room = Room::new(Config { mode: Mode::Strict, ..config() });
    for host in ["192.168.1.5", "nas.local", "[2001:db8::1]"] {
        let answer = register_from(&mut room, 7, "Ada", &format!("http://{host}:8101/mcp"));
        assert_eq!(answer["reason"], "Invalid endpoint", "{host}");
        assert!(answer["detail"].as_str().unwrap().contains("other_hosts"), "{answer}");
    }
    assert_eq!(register_from(&mut room, 7, "Ada", "http://127.1:8101/mcp")["status"], "ACCEPTED");
}

#[test]
fn the_owner_may_allow_other_hosts_and_they_are_called_after_a_restart_too() {
    for mode in Mode::ALL {
        let mut room = Room::new(Config { mode, other_hosts: true, ..config() });
        room.venue.keep_facts();
        register_from(&mut room, 7, "Ada", "http://192.168.1.5:8101/mcp");
        register_from(&mut room, 7, "Bob", "http://127.0.0.1:8102/mcp");
        let mut journal = Pieces::default();
        journal.keep(&mut room.venue);
        let change = Change { other_hosts: Some(false), ..Change::default() };
        room.venue.configure(room.now, change).unwrap();
        journal.keep(&mut room.venue);
        room.venue = journal.restore();
        assert_eq!((called(&room, 0), called(&room, 1)), ("192.168.1.5:8101".into(), "10.0.0.7:8102".into()));
        assert_eq!(room.venue.players()[0].contact.from(), address(7));
    }
}

#[test]
fn the_box_never_calls_itself() {
    let own: &'static [core::net::SocketAddr] =
        std::vec!["0.0.0.0:80".parse().unwrap(), "172.16.0.1:8000".parse().unwrap()].leak();
    let mut room = Room::new(Config { other_hosts: true, own: Some(own), ..config() });
    let refused = |room: &mut Room, from: &str, endpoint: &str| {
        let answer = send_from(room, from.parse().unwrap(), &registration("Loop", endpoint));
        let detail = answer["result"]["detail"].as_str().unwrap_or_default().to_string();
        assert_eq!(answer["result"]["reason"], "Invalid endpoint", "{endpoint} from {from}: {answer}");
        assert!(detail.contains("the box itself"), "{detail}");
    };
    for (from, endpoint) in [
        ("10.0.0.7", "http://10.0.0.1:8000/mcp"),
        ("10.0.0.7", "http://10.1:8000/"),
        ("10.0.0.7", "http://[::ffff:10.0.0.1]:8000/mcp"),
        ("10.0.0.7", "http://10.0.0.1/"),
        ("10.0.0.7", "http://172.16.0.1:8000/mcp"),
        ("10.0.0.1", "http://localhost:8000/mcp"),
        ("127.0.0.1", "http://localhost:8000/mcp"),
        ("127.0.0.9", "http://0.0.0.0:8000/mcp"),
        ("::1", "http://localhost:8000/mcp"),
        ("::ffff:127.0.0.1", "http://127.0.0.1:80/mcp"),
    ] {
        refused(&mut room, from, endpoint);
    }
    let other = send_from(&mut room, "127.0.0.1".parse().unwrap(), &registration("Near", "http://localhost:8001/mcp"));
    assert_eq!(other["result"]["status"], "ACCEPTED");
}

#[test]
fn no_registration_takes_over_an_agent_of_the_other_protocol() {
    let mut room = Room::new(config());
    let (_, agent) = room.enrol_from(7, "Ada");
    let key = agent["apiKey"].as_str().unwrap();
    let dialling = registration("Ada", "").replace("\"contact_endpoint\":\"\",", "");
    for via in [Via::Held, Via::Post] {
        let (answer, caller) = room.send_via(via, 7, &registration("Ada", ADA));
        assert_eq!((&answer["result"]["reason"], caller), (&json!("Duplicate display name"), None));
    }
    assert_eq!(room.send_via(Via::Held, 7, &dialling).1, None);
    let flat = json!({"display_name": "Ada", "endpoint": ADA}).to_string();
    assert_eq!(room.send_via(Via::Register, 7, &flat).0["reason"], "Duplicate display name");
    assert!(
        room.venue.agent_of_key(key.chars()).is_some() && room.venue.players()[0].session.name() == "league_of_agents"
    );
    // Nor the other way round.
    let bob = room.send_via(Via::Held, 8, &registration("Bob", "")).0["result"].take();
    assert_eq!(room.enrol_from(8, "Bob").0, 409);
    let again = room.send_via(Via::Held, 8, &registration("Bob", "")).0["result"].take();
    assert_eq!(again["auth_token"], bob["auth_token"]);
}

#[test]
fn names_that_look_alike_are_taken_however_they_come() {
    let mut room = Room::new(config());
    register_from(&mut room, 7, "Ada Lovelace", ADA);
    room.enrol_from(8, "Grace");
    referee(&mut room, 9, "Whistle", 8001);
    for name in ["ada lovelace", "AdaLovelace", "Ada\u{200b} Lovelace", "Grace ", "GRACE"] {
        for from in [7, 66] {
            let taken = json!("Duplicate display name");
            assert_eq!(register_from(&mut room, from, name, "http://localhost:8200/mcp")["reason"], taken, "{name}");
            assert_eq!(room.send_via(Via::Held, from, &registration(name, "")).0["result"]["reason"], taken, "{name}");
            let flat = json!({"display_name": name, "endpoint": "http://localhost:8200"}).to_string();
            assert_eq!(room.send_via(Via::Register, from, &flat).0["reason"], taken, "{name}");
        }
    }
    assert_eq!(room.enrol_from(7, "ada LOVELACE").0, 409);
    assert_eq!(referee(&mut room, 66, "whistle", 8002)["reason"], "Duplicate display name");
}

#[test]
fn names_that_turn_a_line_around_or_show_nothing_are_refused_however_they_come() {
    let mut room = Room::new(config());
    for name in ["\u{202e}adA", "A\u{0}b", "A\nb", "A\u{2066}b", "\u{200b}\u{200b}", "\u{3164}\u{3164}"] {
        let bad = json!("Invalid display name");
        assert_eq!(register_from(&mut room, 7, name, ADA)["reason"], bad, "{name:?}");
        assert_eq!(room.send_via(Via::Held, 7, &registration(name, "")).0["result"]["reason"], bad, "{name:?}");
        let flat = json!({"display_name": name, "endpoint": ADA}).to_string();
        assert_eq!(room.send_via(Via::Register, 7, &flat).0["reason"], bad, "{name:?}");
        assert_eq!(referee(&mut room, 7, name, 8001)["reason"], bad, "{name:?}");
        assert_eq!(room.enrol_from(7, name).0, 400, "{name:?}");
    }
    assert!(room.venue.players().is_empty());
}

#[test]
fn a_quarter_of_the_seats_is_left_to_other_addresses_unless_the_owner_says_otherwise() {
    let mut room = Room::new(Config { per_address: None, ..config() });
    let many = json!("Too many players from this address");
    for n in 0..5 {
        assert_eq!(room.register(&format!("N{n}"), 8101 + n)["status"], "ACCEPTED");
    }
    assert_eq!(room.enrol_from(9, "Fifth").0, 201);
    let refused = room.register("Seventh", 8200);
    assert_eq!(refused["reason"], many);
    assert!(refused["detail"].as_str().unwrap().contains("per_address"), "{refused}");
    assert_eq!(room.send_via(Via::Held, 9, &registration("Seventh", "")).0["result"]["reason"], many);
    let (status, error) = room.enrol_from(9, "Seventh");
    assert!(status == 403 && error["error"].as_str().unwrap().contains("per_address"), "{error}");
    assert_eq!(room.register("N0", 8101)["status"], "ACCEPTED", "who is in is in");
    let mapped = IpAddr::V6(Ipv4Addr::new(10, 0, 0, 9).to_ipv6_mapped());
    assert_eq!(send_from(&mut room, mapped, &registration("Seventh", ADA))["result"]["reason"], many);
    assert_eq!(register_from(&mut room, 10, "Seventh", ADA)["status"], "ACCEPTED", "from another address");
    let change = Change { per_address: Some(Some(7)), ..Change::default() };
    room.venue.configure(room.now, change).unwrap();
    assert_eq!(room.register("Eighth", 8200)["status"], "ACCEPTED");
    assert_eq!(room.register("Ninth", 8201)["reason"], "League full");
}

#[test]
fn every_loopback_address_is_a_machine_of_its_own() {
    let mut room = Room::new(Config { per_address: Some(1), ..config() });
    for n in 1..=4_u8 {
        let from = IpAddr::V4(Ipv4Addr::new(127, 0, 0, n));
        for (name, is_in) in [(format!("A{n}"), true), (format!("B{n}"), false)] {
            let answer = send_from(&mut room, from, &registration(&name, "http://localhost:8101/mcp"));
            assert_eq!(answer["result"]["status"] == "ACCEPTED", is_in, "{answer}");
        }
        assert_eq!(called(&room, usize::from(n) - 1), format!("127.0.0.{n}:8101"));
    }
}

#[test]
fn one_address_does_not_take_all_places_of_referees() {
    let mut room = Room::new(Config { per_address: None, ..config() });
    for n in 0..6 {
        assert_eq!(referee(&mut room, 7, &format!("R{n}"), 8001 + n)["status"], "ACCEPTED");
    }
    assert_eq!(referee(&mut room, 7, "R6", 8007)["reason"], "Too many players from this address");
    assert_eq!(referee(&mut room, 8, "R6", 8007)["status"], "ACCEPTED");
}

#[test]
fn the_players_of_an_address_are_removed_one_after_the_other_and_nobody_else() {
    for is_running in [false, true] {
        let mut room = Room::new(config());
        for (name, from) in [("Ada", 7), ("Eve 1", 66), ("Bob", 8), ("Eve 2", 66)] {
            register_from(&mut room, from, name, "http://localhost:8101/mcp");
        }
        if is_running {
            room.venue.command(room.now, Command::Start).unwrap();
        }
        let mut removed = 0;
        while room.venue.remove_one_from(room.now, address(66)).unwrap() {
            removed += 1;
        }
        assert_eq!(removed, 2);
        let left = room.venue.players().iter().filter(|player| !player.is_removed());
        assert_eq!(left.map(|player| player.name.as_str()).collect::<Vec<_>>(), ["Ada", "Bob"]);
        assert_eq!(room.venue.remove_one_from(room.now, address(66)), Ok(false));
    }
}

#[test]
fn a_player_is_known_by_its_token_or_its_key_and_a_referee_is_no_player() {
    let mut room = Room::new(config());
    let ada = register_from(&mut room, 7, "Ada", ADA);
    let (_, grace) = room.enrol_from(8, "Grace");
    let whistle = referee(&mut room, 9, "Whistle", 8001);
    let who = |room: &Room, text: &Value| room.venue.player_of_credential(text.as_str().unwrap());
    assert_eq!(who(&room, &ada["auth_token"]), Some(1));
    assert_eq!(who(&room, &grace["apiKey"]), Some(2));
    assert_eq!(who(&room, &whistle["auth_token"]), None);
    for wrong in ["", "tok_p01_", "tok_p01_00000000000000000000000000000000", "tok_p99_0", "x"] {
        assert_eq!(room.venue.player_of_credential(wrong), None);
    }
}
