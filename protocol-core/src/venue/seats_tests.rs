//! Leagues of games for three and for six, played by agents of both protocols at the same tables.

extern crate std;

use std::collections::BTreeSet;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde_json::{Value, json};

use super::arena_tests::Ear;
use super::tests::{NOTES, Room, config, perfect};
use super::*;

/// A league of this game, of players that are called and agents that are connected, in turn.
struct League {
    room: Room,
    called: Vec<(u16, Value)>,
    agents: Vec<Ear>,
    /// Games in which an agent acted, and how often it was taken.
    acted: BTreeSet<(u16, String)>,
    taken: usize,
}

impl League {
    fn of(game: GameKind, players: u16) -> Self {
        let config = Config { game, per_address: Some(16), ..config() };
        let mut room = Room::new(config.clone());
        let space = std::boxed::Box::leak(std::boxed::Box::new(Space::<16, 4, 120, 64, NOTES, 16_384>::new()));
        room.venue = Venue::new(space.lend(), config, Seed([1; 32]), Seed([2; 32]));
        let (mut called, mut agents) = (Vec::new(), Vec::new());
        for player in 0..players {
            if player % 2 == 0 {
                let answer = room.register(&format!("Called {player}"), 8101 + player);
                assert_eq!(answer["status"], "ACCEPTED", "{answer}");
                called.push((player, answer["auth_token"].clone()));
            } else {
                agents.push(room.agent(&format!("Agent {player}")));
            }
        }
        room.venue.command(room.now, Command::Start).unwrap();
        Self { room, called, agents, acted: BTreeSet::new(), taken: 0 }
    }

    /// Plays it to its end.
    fn run(&mut self, most: u64) {
        for at in 0.. {
            let mut is_quiet = true;
            while self.room.venue.poll_output().is_some() {}
            for &(player, _) in &self.called {
                is_quiet &= !self.room.carry_out(player);
                let Some(call) = self.room.call(player) else { continue };
                let mut answer = perfect(player, &call).unwrap();
                if call["params"]["message_type"] == "MOVE_REQUEST" {
                    answer["result"] = json!({"move": {"say": 1 + (at + u64::from(player)) % most}});
                }
                self.room.heard.push((player, call));
                self.room.answer(player, answer);
                is_quiet = false;
            }
            for agent in &mut self.agents {
                for message in self.room.hears(agent) {
                    is_quiet = false;
                    let line = agent.line;
                    let game = message["gameId"].as_str().unwrap_or_default().to_string();
                    if message["type"] == "your_turn" {
                        let wanted = json!({"say": 1 + (at + u64::from(line)) % most});
                        assert_eq!(self.room.plays(agent, &game, wanted)["success"], true);
                    } else if message["type"] == "game_state"
                        && message["round"].as_u64() > Some(1)
                        && message["players"].as_array().unwrap().iter().any(|player| player["thinking"] == true)
                        && self.acted.insert((line, game.clone()))
                    {
                        let answer = self.room.plays(agent, &game, json!({"cheer": true}));
                        self.taken += usize::from(answer["success"] == true);
                    }
                }
            }
            if is_quiet && self.room.venue.is_over() {
                return;
            }
            if is_quiet {
                let at = self.room.venue.next_deadline().expect("somebody is waited for");
                self.room.now = Now { ms: at, utc: self.room.now.utc_at(at) };
                self.room.venue.handle(self.room.now, Event::Tick);
            }
        }
    }
}

#[test]
fn seven_play_a_league_of_three_at_a_table_over_both_protocols() {
    let mut league = League::of(GameKind::Trio, 7);
    league.run(3);
    let venue = &mut league.room.venue;
    assert_eq!((venue.status().total_rounds, venue.status().matches_completed), (7, 14));
    venue.refresh_standings();
    let rows: Vec<_> = venue.standings().collect();
    assert!(rows.iter().all(|row| row.played == 6 && row.technical_losses == 0), "{rows:?}");
    assert_eq!(rows.iter().map(|row| row.wins).sum::<u16>(), 14, "each match has a winner");
    assert_eq!(rows.iter().map(|row| row.points).sum::<u16>(), 3 * 14);
    assert_eq!(league.taken, 0, "nobody acts unasked in this game");
}

#[test]
fn thirteen_play_a_league_of_six_at_a_table_over_both_protocols_and_cheer_when_it_is_not_their_turn() {
    let mut league = League::of(GameKind::Sextet, 13);
    league.run(6);
    let venue = &mut league.room.venue;
    assert_eq!((venue.status().total_rounds, venue.status().matches_completed), (13, 26));
    venue.refresh_standings();
    let rows: Vec<_> = venue.standings().collect();
    assert!(rows.iter().all(|row| row.played == 12 && row.technical_losses == 0), "{rows:?}");
    // Six agents play twelve matches each, and may always cheer once: before their turn or after it.
    assert!(league.taken > 36, "{}", league.taken);
    let announced = league.room.heard.iter().find(|(_, call)| call["params"]["message_type"] == "ROUND_ANNOUNCEMENT");
    let first = &announced.unwrap().1["params"]["matches"][0];
    let ids = ["A", "B", "C", "D", "E", "F"].map(|seat| first[format!("player_{seat}_id")].as_str().unwrap());
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 6);
    assert!(ids.iter().zip("ABCDEF".chars()).all(|(_, seat)| first[format!("player_{seat}_endpoint")].is_string()));
    let roles = league.room.heard.iter().filter_map(|(_, call)| call["params"]["role_in_match"].as_str());
    assert_eq!(roles.collect::<BTreeSet<_>>().len(), 6);
    let requests = league.room.heard.iter().filter_map(|(_, call)| call["params"]["game_state"].as_object());
    let states: Vec<_> = requests.map(|state| state["game_specific_state"].clone()).collect();
    assert!(states.iter().all(|state| state["board"].as_array().unwrap().len() == 6 && state["cheered"].is_u64()));
    assert!(states.iter().any(|state| state["cheered"] != 0), "it is told to those who are called");
}

#[test]
fn who_is_called_may_also_act_unasked_by_a_message_of_its_own() {
    let mut league = League::of(GameKind::Sextet, 6);
    let mut cheered = 0;
    for _ in 0..200 {
        while league.room.venue.poll_output().is_some() {}
        for (player, _) in league.called.clone() {
            league.room.carry_out(player);
            let Some(call) = league.room.call(player) else { continue };
            let mut answer = perfect(player, &call).unwrap();
            if call["params"]["message_type"] == "MOVE_REQUEST" {
                // Whoever has just been asked is on turn, and everybody else may cheer.
                let (other, token) = league.called.iter().find(|(other, _)| *other != player).unwrap();
                let id = league.room.venue.players()[usize::from(*other)].id().to_string();
                let body = json!({"jsonrpc":"2.0","id":1,"method":"move_response","params":{
                    "protocol":"league.v2","message_type":"MOVE_RESPONSE","sender":format!("player:{id}"),
                    "timestamp":"2025-01-15T10:05:00Z","auth_token":token,"player_id":id,"move":{"cheer":true}}});
                let latency = league.room.venue.players()[usize::from(*other)].latency;
                let receipt = league.room.send(&body.to_string());
                cheered += usize::from(receipt["result"]["status"] == "RECEIVED");
                let after = &league.room.venue.players()[usize::from(*other)].latency;
                assert_eq!(format!("{latency:?}"), format!("{after:?}"), "nobody waited for it");
                answer["result"] = json!({"move": {"say": 1}});
            }
            league.room.answer(player, answer);
        }
        for agent in &mut league.agents {
            for message in league.room.hears(agent) {
                if message["type"] == "your_turn" {
                    let game = message["gameId"].as_str().unwrap().to_string();
                    league.room.plays(agent, &game, json!({"say": 1}));
                }
            }
        }
    }
    // Two of the three are cheered for in each of the five matches: each may once.
    assert!((5..=10).contains(&cheered), "{cheered}");
    assert!(league.room.venue.is_over());
}

#[test]
fn a_league_says_how_many_players_its_game_needs() {
    let refusal = |game, players| {
        let mut room = Room::of(Config { game, ..config() }, players);
        room.venue.command(room.now, Command::Start).unwrap_err().to_string()
    };
    for (game, players, number) in
        [(GameKind::Trio, 2, "three"), (GameKind::Dance, 3, "four"), (GameKind::Sextet, 5, "six")]
    {
        let said = format!("a league of this game needs at least {number} players; register them first");
        assert_eq!(refusal(game, players), said);
    }
    assert_eq!(refusal(GameKind::Echo, 1), "a league needs at least two players; register them first");
}
