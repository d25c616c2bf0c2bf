//! Players that dial in, with other people's clients and with none: whole leagues, alone and beside players that are called.

use std::io::{Read, Write};
use std::net::TcpStream;

use host_tests::crowd::Crowd;
use host_tests::leaguebox::LeagueBox;
use host_tests::python::Player;
use host_tests::results::{self, Row};
use host_tests::settings::Settings;
use host_tests::wait_for;
use host_tests::websocket::{Frame, WebSocket, masked};

/// What an impatient teacher sets.
fn deadlines(players: usize) -> Settings {
    Settings { join_timeout_ms: 2_000, move_timeout_ms: 4_000, retry_base_ms: 50, ..Settings::start_at(players) }
}

fn rows(leaguebox: &LeagueBox, players: usize) -> Vec<Row> {
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert_eq!(rows.len(), players * (players - 1) / 2, "every match ends");
    results::assert_points_follow(&rows);
    results::assert_standings_follow(&leaguebox.get_json("/api/standings.json"), &rows);
    rows
}

fn technical_losses(rows: &[Row]) -> usize {
    rows.iter().filter(|row| row.get("status") == "TECHNICAL_LOSS").count()
}

/// A player of `dialling_player.py` beside one that dials in and one that is called. Says how many matches were lost.
fn league_with(kind: &str) -> (Player, LeagueBox, usize) {
    let leaguebox = LeagueBox::start(deadlines(3));
    let mut player = Player::start(&leaguebox, "dialling_player", kind, kind, &[]);
    player.wait_until_registered();
    let mut crowd = Crowd::of(&leaguebox, 1);
    crowd.dial_in(&leaguebox, 1);
    crowd.wait_for_the_end();
    leaguebox.wait_for_the_champion();
    let lost = technical_losses(&rows(&leaguebox, 3));
    (player, leaguebox, lost)
}

/// Nobody is wronged: the player hears all, breaks nothing, and every match is played.
fn plays_a_whole_league(mut player: Player, leaguebox: LeagueBox) {
    let id = player.wait_until_registered()["player_id"].as_str().expect("an id").to_owned();
    let mut crowd = Crowd::of(&leaguebox, 1);
    crowd.dial_in(&leaguebox, 1);
    player.wait_for_the_end();
    crowd.wait_for_the_end();
    assert_eq!(technical_losses(&rows(&leaguebox, 3)), 0);
    assert_eq!(player.received_of("GAME_OVER").len(), 2);
    let report = leaguebox.get_json(&format!("/api/players/{id}.json"));
    assert_eq!(
        (report["contact_endpoint"].as_str(), report["violations"].as_u64()),
        (Some("dials in"), Some(0)),
        "{report}"
    );
}

#[test]
fn thirty_two_players_dial_in_and_play_a_league() {
    let leaguebox = LeagueBox::start(Settings::start_at(32));
    let mut crowd = Crowd::new();
    crowd.dial_in(&leaguebox, 31);
    wait_for("all of them at once", || {
        let connected = leaguebox.get("/api/players.json").body.matches("\"connected\":true").count();
        (connected == 31).then_some(())
    });
    crowd.dial_in(&leaguebox, 1);
    // A board shows by some rounds that it has room for all of them; `device_cost.rs` has a whole league of 32 on it.
    if cfg!(feature = "board") {
        wait_for("six rounds are played", || {
            let told = crowd.events().iter().filter(|event| event.is("GAME_OVER")).count();
            (told >= 6 * 32).then_some(())
        });
        let rows = results::parse(&leaguebox.get("/api/results.csv").body);
        assert!(rows.len() >= 6 * 16, "{rows:?}");
        results::assert_points_follow(&rows);
        assert_eq!(technical_losses(&rows), 0);
        return;
    }
    crowd.wait_for_the_end();
    assert_eq!(technical_losses(&rows(&leaguebox, 32)), 0);
}

#[test]
fn players_that_dial_in_and_players_that_are_called_play_one_league() {
    let leaguebox = LeagueBox::start(Settings::start_at(6));
    let mut crowd = Crowd::of(&leaguebox, 2);
    crowd.dial_in(&leaguebox, 2);
    crowd.enlist(&leaguebox, 1);
    crowd.dial_in(&leaguebox, 1);
    crowd.wait_for_the_end();
    assert_eq!(technical_losses(&rows(&leaguebox, 6)), 0);
}

#[test]
fn who_breaks_a_rule_of_the_frames_is_told_which() {
    let leaguebox = LeagueBox::start(Settings::default());
    for (bytes, code) in [
        (vec![0x81, 2, b'{', b'}'], 1002),
        (masked(0xC1, b"{}"), 1002),
        (masked(0x83, b"{}"), 1002),
        (masked(0x89, &[0; 126]), 1002),
        (masked(0x88, &[3]), 1002),
        (masked(0x82, b"{}"), 1003),
        (masked(0x81, b"\xCE\xBA\xED\xA0\x80"), 1007),
        (masked(0x81, &[b' '; 60_000])[..8].to_vec(), 1009),
    ] {
        let mut link = WebSocket::dial(leaguebox.address);
        link.send_bytes(&bytes).expect("a link");
        match link.frame() {
            Ok(Frame::Close(found, reason)) => assert!(found == code && !reason.is_empty(), "{code}: {found} {reason}"),
            other => panic!("{code}: {other:?}"),
        }
        assert!(link.frame().is_err(), "then it hangs up");
    }
}

#[test]
fn pings_are_answered_within_a_message_and_a_close_with_its_code() {
    let leaguebox = LeagueBox::start(Settings::default());
    let mut link = WebSocket::dial(leaguebox.address);
    let call = br#"{"jsonrpc":"2.0","method":"ping","params":{},"id":7}"#;
    let (left, right) = call.split_at(20);
    link.send_bytes(&masked(0x01, left)).expect("a link");
    link.send_bytes(&masked(0x89, b"are you there")).expect("a link");
    assert_eq!(link.frame().expect("a pong"), Frame::Pong(b"are you there".to_vec()));
    link.send_bytes(&masked(0x80, right)).expect("a link");
    assert!(link.receive().expect("an answer").contains("\"pong\""));
    link.send_bytes(&masked(0x88, &4001_u16.to_be_bytes())).expect("a link");
    assert_eq!(link.frame().expect("a close"), Frame::Close(4001, String::new()));
}

#[test]
fn ten_that_dial_in_at_once_are_all_greeted() {
    let leaguebox = LeagueBox::start(Settings::default());
    let ready = std::sync::Barrier::new(10);
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                ready.wait();
                // A board without a socket that listens refuses. This one has enough of them.
                let mut link = WebSocket::try_dial(leaguebox.address, "/ws").expect("a link at once");
                link.send(r#"{"jsonrpc":"2.0","method":"ping","params":{},"id":7}"#).expect("a link");
                assert!(link.receive().expect("an answer").contains("\"pong\""));
                ready.wait();
            });
        }
    });
}

#[test]
fn what_is_no_handshake_is_answered_in_http() {
    let leaguebox = LeagueBox::start(Settings::default());
    for (extra, status) in [
        ("", "426"),
        ("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\n", "426"),
        ("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n", "400"),
    ] {
        let mut stream = wait_for("a connection", || TcpStream::connect(leaguebox.address).ok());
        let request = format!("GET /ws HTTP/1.1\r\nHost: {}\r\n{extra}\r\n", leaguebox.address);
        stream.write_all(request.as_bytes()).expect("a connection");
        let mut head = [0; 12];
        stream.read_exact(&mut head).expect("an answer");
        assert_eq!(&head[9..], status.as_bytes());
    }
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn pythons_websockets_plays_a_whole_league() {
    let leaguebox = LeagueBox::start(Settings::start_at(3));
    plays_a_whole_league(Player::start(&leaguebox, "dialling_player", "websockets", "Ada", &[]), leaguebox);
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn pythons_websocket_client_plays_a_whole_league() {
    let leaguebox = LeagueBox::start(Settings::start_at(3));
    plays_a_whole_league(Player::start(&leaguebox, "dialling_player", "websocket-client", "Ada", &[]), leaguebox);
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn nodes_ws_plays_a_whole_league() {
    let leaguebox = LeagueBox::start(Settings::start_at(3));
    plays_a_whole_league(Player::node(&leaguebox, "Ada"), leaguebox);
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_example_that_dials_in_plays_a_whole_league() {
    let leaguebox = LeagueBox::start(Settings::start_at(2));
    let _ada = Player::dialling_example(&leaguebox, "dial_in", "Ada", &[]);
    let _grace = Player::dialling_example(&leaguebox, "dial_in", "Grace", &[]);
    leaguebox.wait_for_the_champion();
    assert_eq!(technical_losses(&rows(&leaguebox, 2)), 0);
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn who_hangs_up_in_a_match_and_comes_back_with_its_token_loses_nothing() {
    let (player, leaguebox, lost) = league_with("returning");
    assert_eq!(lost, 0);
    let (asked, again) = (player.entries("hung up"), player.received_of("CHOOSE_PARITY_CALL"));
    assert_eq!(asked[0]["message"]["params"]["match_id"], again[0]["match_id"], "the same question, once more");
    assert!(leaguebox.get("/api/log.jsonl").body.contains("Disconnected."));
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn who_never_answers_loses_its_matches_and_no_others() {
    assert_eq!(league_with("silent").2, 2);
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn who_floods_is_answered_and_costs_nobody_else_a_match() {
    let (mut player, leaguebox, _) = league_with("flooding");
    let id = player.wait_until_registered()["player_id"].as_str().expect("an id").to_owned();
    // Its own answers wait behind its own questions, and may come late.
    let rows = rows(&leaguebox, 3);
    let others = rows.iter().filter(|row| ["player_a", "player_b"].iter().all(|seat| row.get(seat) != id));
    assert!({ others }.all(|row| row.get("status") != "TECHNICAL_LOSS"), "{rows:?}");
    assert!(!player.entries("answered").is_empty());
}
