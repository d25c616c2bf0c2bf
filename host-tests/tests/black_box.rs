//! Whole leagues, from registration to champion, seen from outside.

mod schema;

use host_tests::crowd::{Crowd, Event, GOMOKU};
use host_tests::leaguebox::LeagueBox;
use host_tests::results;
use host_tests::settings::Settings;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Plays a league of `count` and checks its exports against each other and against the rules.
fn play(count: usize, game: &'static str) -> Crowd {
    play_at(&LeagueBox::start(Settings { game, ..Settings::start_at(count) }), count, count * (count - 1) / 2)
}

/// The same in this box, where everybody has an equal part in so many matches.
fn play_at(leaguebox: &LeagueBox, count: usize, matches: usize) -> Crowd {
    let crowd = Crowd::of(leaguebox, count);
    crowd.wait_for_the_end();

    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert_eq!(rows.len(), matches);
    let seats = rows[0].players().count();
    assert!(rows.iter().all(|row| row.get("status") != "TECHNICAL_LOSS"), "nobody misbehaved: {rows:?}");
    results::assert_points_follow(&rows);
    results::assert_standings_follow(&leaguebox.get_json("/api/standings.json"), &rows);

    let events = crowd.events();
    schema::assert_calls_are_valid(events.iter().map(|event| &event.message));
    for player in 0..count {
        let told = |kind| events.iter().filter(|event| event.player == player && event.is(kind)).count();
        assert_eq!(told("GAME_OVER"), matches * seats / count, "player {player} hears every result");
        assert_eq!(told("LEAGUE_COMPLETED"), 1);
        let last = events.iter().rfind(|event| event.player == player).expect("messages");
        assert!(last.is("LEAGUE_COMPLETED"), "LEAGUE_COMPLETED is the very last message, not {last:?}");
    }
    for line in leaguebox.get("/api/log.jsonl").body.lines() {
        let line: Value = serde_json::from_str(line).expect("a log line is JSON");
        assert_eq!(schema::faults("spec/log-line", &line), Vec::<String>::new(), "{line}");
    }
    crowd
}

#[test]
fn two_players_play_a_league() {
    play(2, "even_odd");
}

#[test]
fn three_players_play_a_league_with_byes() {
    play(3, "even_odd");
}

#[test]
fn five_players_play_a_league_with_byes() {
    play(5, "even_odd");
}

#[test]
#[cfg_attr(feature = "emulator", ignore = "minutes; device_cost plays the same league there, and looks into the board")]
fn thirty_two_players_play_a_league() {
    play(32, "even_odd");
}

#[test]
fn the_ten_turn_game_is_played_with_generic_moves() {
    let crowd = play(4, "even_odd_10");
    let events = crowd.events();
    let moves = events.iter().filter(|event| event.is("MOVE_REQUEST")).count();
    assert_eq!(moves, 6 * 2 * 10, "six matches, two players, ten turns");
    assert!(!events.iter().any(|event| event.is("CHOOSE_PARITY_CALL")));
}

/// The calls for a move of one match, in order.
fn asked<'e>(events: &'e [Event], match_id: &str) -> Vec<&'e Value> {
    let of_match = events.iter().filter(|event| event.is("MOVE_REQUEST") && event.message["match_id"] == match_id);
    of_match.map(|event| &event.message).collect()
}

/// What a match ended with.
fn result<'e>(events: &'e [Event], match_id: &str) -> &'e Value {
    let over = events.iter().find(|event| event.is("GAME_OVER") && event.message["match_id"] == match_id);
    &over.expect("an end").message["game_result"]
}

#[test]
fn a_league_of_echo_is_played_with_generic_moves() {
    let events = play(4, "echo").events();
    assert_eq!(events.iter().filter(|event| event.is("MOVE_REQUEST")).count(), 6 * 2 * 5, "six matches of five rounds");
    assert_eq!(events.iter().filter(|event| event.is("MOVE_VALIDATION")).count(), 6 * 2 * 5);
    let first = asked(&events, "R1M1")[0];
    assert_eq!(
        first["game_state"]["game_specific_state"],
        json!({"extra": {"currentRound": 1, "maxRounds": 5, "scores": {"P01": 0, "P02": 0}}})
    );
    // Players 0 and 1 of the crowd play 4 and 1, 7 and 4, 10 and 7, 3 and 10, 6 and 3.
    let told = result(&events, "R1M1");
    assert_eq!(told["final_score"], json!({"P01": 4, "P02": 1}));
    assert_eq!(told["reason"], "Player 1 won 4 of 5 rounds, Player 2 1");
}

#[test]
fn a_league_of_blotto_is_played_with_generic_moves() {
    let events = play(3, "blotto").events();
    let asked = asked(&events, "R1M1");
    assert_eq!(asked.len(), 2 * 5);
    let history = |message: &Value| message["game_state"]["game_specific_state"]["extra"]["history"].clone();
    for message in asked {
        let turn = message["game_state"]["turn_number"].as_u64().expect("a number");
        assert_eq!(history(message).as_array().expect("a list").len() as u64, turn - 1, "only rounds that are over");
    }
}

#[test]
fn a_league_of_skill_gomoku_is_played_with_its_skills_and_long_states() {
    let events = play(3, "skill-gomoku").events();
    let asked = asked(&events, "R1M1");
    assert_eq!(asked.len(), GOMOKU.len());
    for (message, turn) in asked.iter().zip(1..) {
        let state = &message["game_state"]["game_specific_state"];
        assert!(message.to_string().len() > 2_000, "a state is longer than any buffer of the box");
        assert_eq!(message["game_state"]["turn_number"], turn);
        assert_eq!(state["extra"]["currentPlayer"], message["player_id"], "only who is to move is asked");
        assert_eq!(state["grid"].as_array().map(Vec::len), Some(15));
    }
    let sealed = &asked[5]["game_state"]["game_specific_state"];
    assert_eq!(sealed["extra"]["sealedStones"], json!([{"row": 7, "col": 7, "owner": 1, "expiresAtMove": 11}]));
    assert_eq!((&sealed["grid"][7][7], &sealed["grid"][6][7]), (&json!("🔒"), &json!("🚫")));
    let stirred = &asked[7]["game_state"]["game_specific_state"]["extra"];
    assert_eq!(stirred["lastSkillEffect"]["skill"], "uproot");
    assert_eq!(stirred["board"][7][7], 1, "a sealed stone stays");
    assert_eq!(stirred["energy"], json!([0, 1]));
    let told = result(&events, "R1M1");
    assert_eq!((&told["total_moves"], &told["ended_by"]), (&json!(GOMOKU.len()), &json!("five")));
    let black = asked[0]["player_id"].as_str();
    assert_eq!(told["winner_player_id"].as_str(), black);
}

#[test]
fn five_players_dance_a_league_of_a_game_for_four() {
    let leaguebox = LeagueBox::start(Settings { game: "dance-battle", ..Settings::start_at(5) });
    let events = play_at(&leaguebox, 5, 5).events();
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    for row in &rows {
        let ahead = results::ahead(row);
        let winner = if let [seat] = ahead[..] { row.get(&format!("player_{seat}")) } else { "" };
        assert_eq!(row.get("winner"), winner, "{row:?}");
        assert_eq!(row.players().count(), 4);
    }
    assert!(rows.iter().any(|row| !row.get("winner").is_empty()), "some match is won: {rows:?}");
    // What the page reads, in the schedule and of one match.
    let schedule = leaguebox.get_json("/api/schedule.json");
    for (round, row) in schedule["rounds"].as_array().expect("rounds").iter().zip(&rows) {
        let played = &round["matches"][0];
        let one = leaguebox.get_json(&format!("/api/matches/{}.json", row.get("match_id")));
        for (place, (seat, player)) in row.players().enumerate() {
            let points: u64 = row.get(&format!("points_{seat}")).parse().expect("a number");
            let name = format!("Player {}", player.trim_start_matches("P0"));
            for of_match in [played, &one] {
                let told = ["player_id", "display_name", "points"].map(|field| &of_match["players"][place][field]);
                assert_eq!(told, [&json!(player), &json!(name), &json!(points)]);
            }
            assert_eq!(played[format!("player_{}_id", seat.to_ascii_uppercase())], player);
            assert_eq!(one["game_result"]["score"][player], points);
        }
    }
    // Everybody has each seat, and is told of the three others.
    let invitations: Vec<&Value> =
        events.iter().filter(|event| event.is("GAME_INVITATION")).map(|event| &event.message).collect();
    assert_eq!(invitations.len(), 5 * 4);
    for role in ["PLAYER_A", "PLAYER_B", "PLAYER_C", "PLAYER_D"] {
        assert_eq!(invitations.iter().filter(|message| message["role_in_match"] == role).count(), 5);
    }
    for message in invitations {
        let others = message["opponent_ids"].as_array().expect("a list");
        assert_eq!((others.len(), &others[0]), (3, &message["opponent_id"]));
        assert!(!others.contains(&message["player_id"]));
    }
    let announced = events.iter().find(|event| event.is("ROUND_ANNOUNCEMENT")).expect("an announcement");
    for field in ["player_C_id", "player_D_id", "player_C_endpoint", "player_D_endpoint"] {
        assert!(announced.message["matches"][0][field].is_string(), "{field}");
    }
}

#[test]
fn four_players_meet_in_the_specifications_order() {
    let leaguebox = LeagueBox::start(Settings::start_at(4));
    let crowd = Crowd::of(&leaguebox, 4);
    crowd.wait_for_the_end();
    let schedule = leaguebox.get_json("/api/schedule.json");
    let mut table = Vec::new();
    for round in schedule["rounds"].as_array().expect("rounds") {
        for pairing in round["matches"].as_array().expect("matches") {
            let text = |field: &str| pairing[field].as_str().unwrap_or_default().to_owned();
            table.push((text("match_id"), text("player_A_id"), text("player_B_id")));
            assert!(text("match_id").starts_with(&format!("R{}M", round["round_id"])));
        }
    }
    let expected = [
        ("R1M1", "P01", "P02"),
        ("R1M2", "P03", "P04"),
        ("R2M1", "P03", "P01"),
        ("R2M2", "P04", "P02"),
        ("R3M1", "P04", "P01"),
        ("R3M2", "P03", "P02"),
    ];
    assert_eq!(table, expected.map(|(id, a, b)| (id.to_owned(), a.to_owned(), b.to_owned())));
}

#[test]
fn a_round_is_announced_then_played_then_ranked_then_completed() {
    let leaguebox = LeagueBox::start(Settings::start_at(4));
    let crowd = Crowd::of(&leaguebox, 4);
    crowd.wait_for_the_end();
    for player in 0..4 {
        let events = crowd.events();
        let heard: Vec<_> = events
            .iter()
            .filter(|event| event.player == player)
            .map(|event| event.message["message_type"].as_str().unwrap_or_default())
            .collect();
        let round = [
            "ROUND_ANNOUNCEMENT",
            "GAME_INVITATION",
            "CHOOSE_PARITY_CALL",
            "GAME_OVER",
            "LEAGUE_STANDINGS_UPDATE",
            "ROUND_COMPLETED",
        ];
        let mut expected: Vec<&str> = [round, round, round].concat();
        expected.push("LEAGUE_COMPLETED");
        assert_eq!(heard, expected, "player {player}");
    }
}

#[test]
#[cfg_attr(feature = "board", ignore = "a board never ends")]
fn once_means_the_box_prints_the_table_and_ends() {
    let leaguebox = LeagueBox::start_once(Settings::start_at(4));
    let crowd = Crowd::of(&leaguebox, 4);
    let (status, printed) = leaguebox.wait_until_it_ends();
    assert!(status.success(), "{status}");
    for member in &crowd.members {
        assert!(printed.contains(&member.name), "the final table names {}:\n{printed}", member.name);
    }
}

#[test]
fn the_admin_starts_the_league_and_nobody_else() {
    let leaguebox = LeagueBox::start(Settings::default());
    let crowd = Crowd::of(&leaguebox, 2);
    assert_eq!(leaguebox.post("/api/admin/start", "").status, 401);
    assert!(crowd.events().is_empty());
    assert_eq!(leaguebox.admin("start").status, 200);
    crowd.wait_for_the_end();
}

#[test]
fn one_seed_gives_one_league() {
    let league = || {
        let leaguebox = LeagueBox::start(Settings { seed: Some([7; 32]), ..Settings::start_at(4) });
        let crowd = Crowd::of(&leaguebox, 4);
        crowd.wait_for_the_end();
        let mut drawn: Vec<_> = results::parse(&leaguebox.get("/api/results.csv").body)
            .iter()
            .map(|row| (row.get("match_id").to_owned(), row.get("drawn_number").to_owned()))
            .collect();
        drawn.sort();
        drawn
    };
    assert_eq!(league(), league());
}

#[test]
fn the_seed_told_at_the_end_is_the_one_committed_to_at_the_start() {
    let leaguebox = LeagueBox::start(Settings::start_at(4));
    let crowd = Crowd::of(&leaguebox, 4);
    crowd.wait_for_the_end();
    let events = crowd.events();
    let overs: Vec<_> = events.iter().filter(|event| event.is("GAME_OVER")).collect();
    assert_eq!(overs.len(), 12);
    for over in overs {
        let is_its_invitation = |event: &&Event| {
            event.is("GAME_INVITATION")
                && event.player == over.player
                && event.message["match_id"] == over.message["match_id"]
        };
        let invitation = events.iter().find(is_its_invitation).expect("an invitation");
        let seed = over.message["match_seed"].as_str().expect("a seed");
        let bytes: Vec<u8> = (0..seed.len())
            .step_by(2)
            .map(|place| u8::from_str_radix(&seed[place..place + 2], 16).expect("the seed is in hexadecimal"))
            .collect();
        let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(invitation.message["seed_commitment"], hash, "{}", over.message);
    }
}

#[test]
fn no_public_page_tells_a_token() {
    let leaguebox = LeagueBox::start(Settings::start_at(2));
    let crowd = Crowd::of(&leaguebox, 2);
    crowd.wait_for_the_end();
    let pages = [
        "standings.json",
        "schedule.json",
        "players.json",
        "matches/R1M1.json",
        "status.json",
        "results.csv",
        "log.jsonl",
    ];
    for page in pages {
        let response = leaguebox.get(&format!("/api/{page}"));
        assert_eq!(response.status, 200, "{page}");
        for member in &crowd.members {
            assert!(!response.body.contains(&member.token), "{page} gives away a token: {}", response.body);
        }
    }
}

#[test]
fn the_small_documents_agree_with_each_other() {
    let leaguebox = LeagueBox::start(Settings::start_at(4));
    let crowd = Crowd::of(&leaguebox, 4);
    crowd.wait_for_the_end();
    let players = leaguebox.get_json("/api/players.json");
    for member in &crowd.members {
        let listed =
            players["players"].as_array().expect("players").iter().find(|player| player["player_id"] == member.id);
        assert_eq!(listed.expect("everybody is listed")["display_name"], member.name);
    }
    for row in results::parse(&leaguebox.get("/api/results.csv").body) {
        let document = leaguebox.get_json(&format!("/api/matches/{}.json", row.get("match_id")));
        for (field, column) in
            [("match_id", "match_id"), ("player_A_id", "player_a"), ("player_B_id", "player_b"), ("result", "status")]
        {
            assert_eq!(document[field], row.get(column), "{document}");
        }
    }
    assert_eq!(leaguebox.get("/api/matches/R9M9.json").status, 404);
    assert!(leaguebox.get_json("/api/status.json")["state"].is_string());
}

/// As many as the desktop promises. The whole league is 130,816 matches and takes minutes; a round has everybody at a table at once.
#[test]
#[cfg_attr(feature = "board", ignore = "more players than a board holds")]
fn five_hundred_and_twelve_players_all_play_at_once() {
    let leaguebox = LeagueBox::start(Settings::start_at(512));
    let mut crowd = Crowd::forgetful();
    crowd.enlist(&leaguebox, 512);
    host_tests::wait_for("a round is played", || {
        leaguebox.get_json("/api/status.json")["round"].as_u64().filter(|round| *round > 1)
    });
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert_eq!(rows.iter().filter(|row| row.get("round_id") == "1").count(), 256);
}

/// 130,816 matches and 1.5 million calls: `cargo test --release -p host-tests --test black_box -- --ignored`.
#[test]
#[ignore = "takes minutes, and more players than a board holds; run it in release"]
fn five_hundred_and_twelve_players_play_a_league() {
    let leaguebox = LeagueBox::start(Settings::start_at(512));
    let mut crowd = Crowd::forgetful();
    crowd.enlist(&leaguebox, 512);
    crowd.wait_for_the_end();
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert_eq!(rows.len(), 512 * 511 / 2);
    results::assert_standings_follow(&leaguebox.get_json("/api/standings.json"), &rows);
}
