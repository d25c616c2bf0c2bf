//! The next league: another game, the same players, and whoever came since.

extern crate std;

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde_json::{Value, json};

use super::restart_tests::{Pieces, results, standings};
use super::tests::{Room, config, perfect};
use super::*;

fn game(game: GameKind) -> Change {
    Change { game: Some(game), ..Change::default() }
}

/// Registers a player that names these games, or none.
fn register(room: &mut Room, name: &str, port: u16, games: Option<&[&str]>) -> Value {
    let mut body = json!({"jsonrpc":"2.0","method":"register_player","id":1,"params":{
        "protocol":"league.v2","message_type":"LEAGUE_REGISTER_REQUEST","sender":format!("player:{name}"),
        "timestamp":"2025-01-15T10:05:00Z","conversation_id":"conv_1","player_meta":{
        "display_name":name,"version":"1.0.0","contact_endpoint":format!("http://localhost:{port}/mcp")}}});
    if let Some(games) = games {
        body["params"]["player_meta"]["game_types"] = json!(games);
    }
    room.send(&body.to_string())["result"].take()
}

/// Two who play only even_odd, two who play both of its forms, one who plays anything.
fn class() -> Room {
    let mut room = Room::new(config());
    for (index, name) in ["Ada", "Bob", "Cleo", "Dan", "Eve"].into_iter().enumerate() {
        let games: Option<&[&str]> = match index {
            0 | 1 => Some(&["even_odd", "backgammon"]),
            2 | 3 => Some(&["even_odd", "even_odd_10"]),
            _ => None,
        };
        assert_eq!(register(&mut room, name, 8101 + index as u16, games)["status"], "ACCEPTED");
    }
    room
}

fn sitting_out(room: &Room) -> Vec<String> {
    let players = room.venue.players().iter();
    players.filter(|player| room.venue.sits_out(player).is_some()).map(|player| player.name.to_string()).collect()
}

fn play(room: &mut Room, command: Command) {
    room.venue.command(room.now, command).unwrap();
    room.run(perfect);
    assert!(room.venue.is_over());
}

#[test]
fn the_next_league_is_of_another_game_and_who_cannot_play_it_sits_out() {
    let mut room = class();
    play(&mut room, Command::Start);
    assert_eq!(room.venue.status().matches_completed, 10);
    assert!(sitting_out(&room).is_empty());
    room.venue.configure(room.now, game(GameKind::EvenOdd10)).unwrap();
    assert_eq!(sitting_out(&room), ["Ada", "Bob"]);
    room.heard.clear();
    play(&mut room, Command::Rematch);
    assert_eq!(room.venue.status().matches_completed, 3);
    assert_eq!(room.venue.league_id().to_string(), "league_even_odd_10_2", "it has its own name");
    assert!(room.heard.iter().all(|(player, _)| *player > 1), "who sits out is not called, nor told of it");
    room.venue.configure(room.now, game(GameKind::EvenOdd)).unwrap();
    assert!(sitting_out(&room).is_empty());
    play(&mut room, Command::Rematch);
    assert_eq!(room.venue.status().matches_completed, 10, "everybody plays again");
    room.venue.refresh_standings();
    assert!(room.venue.standings().all(|row| row.technical_losses == 0));
}

#[test]
fn a_finished_league_is_told_as_it_was_played_whatever_is_set_for_the_next() {
    let mut room = class();
    play(&mut room, Command::Start);
    let id = MatchId { round: 1, table: 1 };
    let seen = |room: &mut Room| {
        let status = serde_json::to_string(&room.venue.status()).unwrap();
        let (seed, schedule) = (room.venue.revealed_seed(id).map(|seed| seed.to_string()), room.venue.schedule());
        (status, seed, schedule, results(&room.venue), standings(&mut room.venue))
    };
    let before = seen(&mut room);
    let change = Change { seed: Some(Some(Seed([7; 32]))), pace: Some(Pace::Watch), ..game(GameKind::Dance) };
    room.venue.configure(room.now, change).unwrap();
    assert!(room.venue.seed_is_chosen());
    assert_eq!(seen(&mut room), before);
    room.venue.configure(room.now, game(GameKind::EvenOdd)).unwrap();
    play(&mut room, Command::Rematch);
    assert_eq!(room.venue.origin().master, Seed([7; 32]));
}

#[test]
fn a_latecomer_is_refused_while_a_league_runs_and_plays_in_the_next() {
    let mut room = Room::with_players(2);
    room.venue.command(room.now, Command::Start).unwrap();
    let refused = register(&mut room, "Late", 8200, None);
    assert_eq!((&refused["status"], &refused["error_code"]), (&json!("REJECTED"), &json!("E010")));
    room.run(perfect);
    let accepted = register(&mut room, "Late", 8200, None);
    assert_eq!((&accepted["status"], &accepted["player_id"]), (&json!("ACCEPTED"), &json!("P03")));
    assert!(room.venue.is_over(), "the league that is over stays it");
    assert_eq!(room.venue.status().total_matches, 1);
    // The owner can send it away again.
    room.venue.remove(room.now, 3).unwrap();
    assert_eq!(register(&mut room, "Later", 8201, None)["status"], "ACCEPTED");
    play(&mut room, Command::Rematch);
    assert_eq!(room.venue.players().len(), 3);
    assert_eq!(room.venue.status().matches_completed, 3);
}

#[test]
fn the_game_may_change_while_players_wait_and_a_league_begins_with_those_who_play_it() {
    let mut room = class();
    room.venue.configure(room.now, game(GameKind::EvenOdd10)).unwrap();
    assert_eq!((sitting_out(&room), room.venue.takers()), (["Ada", "Bob"].map(String::from).to_vec(), 3));
    let turned = register(&mut room, "Fay", 8300, Some(&["even_odd"]));
    assert_eq!(turned["reason"], "Unsupported game type");
    room.venue.configure(room.now, Change { start_at: Some(Some(4)), ..Change::default() }).unwrap();
    assert_eq!(room.venue.stage(), Stage::Waiting, "who sits out does not count");
    register(&mut room, "Gus", 8301, Some(&["even_odd_10"]));
    room.run(perfect);
    assert_eq!(room.venue.status().matches_completed, 6);
    assert!(room.venue.is_over());
}

#[test]
fn too_few_who_can_play_the_game_are_told_from_too_few() {
    let mut room = class();
    room.venue.configure(room.now, game(GameKind::Echo)).unwrap();
    let refusal = room.venue.command(room.now, Command::Start).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "a league needs at least two players of this game; the others who are here sit out"
    );
}

#[test]
fn the_next_league_is_the_same_after_a_power_cut_whenever_that_comes() {
    let mut room = class();
    room.venue.keep_facts();
    let mut journal = Pieces::default();
    play(&mut room, Command::Start);
    journal.keep(&mut room.venue);
    let change = Change { seed: Some(Some(Seed([7; 32]))), ..game(GameKind::EvenOdd10) };
    room.venue.configure(room.now, change).unwrap();
    register(&mut room, "Late", 8200, Some(&["even_odd_10"]));
    journal.keep(&mut room.venue);
    let seen = |venue: &mut super::tests::Small| {
        let of = |player: &Player| (player.number, player.name.to_string(), venue.sits_out(player));
        let mut players: Vec<_> = venue.players().iter().map(of).collect();
        players.sort();
        (players, venue.config().game, venue.game(), venue.seed_is_chosen(), results(venue), standings(venue))
    };
    let before = seen(&mut room.venue);
    for _ in 0..2 {
        room.venue = journal.restore();
        room.venue.resume(room.now);
        assert_eq!(seen(&mut room.venue), before);
    }
    room.venue.command(room.now, Command::Rematch).unwrap();
    journal.keep(&mut room.venue);
    assert_eq!(room.venue.origin().master, Seed([7; 32]));
    let before = seen(&mut room.venue);
    room.venue = journal.restore();
    room.venue.resume(room.now);
    assert_eq!(seen(&mut room.venue), before);
    room.run(perfect);
    assert_eq!(room.venue.status().matches_completed, 6, "Cleo, Dan, Eve and the latecomer");
}
