//! MoltGame for a whole class: the clients that are printed play every game to its end, 32 agents play in ten rooms at once,
//! a storm of heartbeats makes no move of a league late, and what must outlive a power cut does.

use host_tests::crowd::Crowd;
use host_tests::http::Response;
use host_tests::keep_alive::Connection;
use host_tests::leaguebox::LeagueBox;
use host_tests::moltgame::{
    Agent, BLACKJACK, ECHO, LANDLORD, Played, ROCKPAPER, TEXASHOLDEM, boldest, broken, first, is_refused, read,
};
use host_tests::python::Player;
use host_tests::settings::Settings;
use host_tests::{Over, here, http, results, wait_for};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// So many players fit the smallest box.
const CLASS: usize = 32;

/// Every game of the specification, and how many play it.
const GAMES: [(&str, usize); 4] = [("rockpaper", 2), ("blackjack", 2), ("texasholdem", 2), ("landlord", 3)];

/// A folder that is gone with its test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("leaguebox-moltgame-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A shell that plays. It ends with its test.
struct Shell {
    name: String,
    printed: PathBuf,
    child: Child,
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Nobody who keeps to the pace of the page breaks its rule. An emulated board may live more slowly than its agents, so that
/// their second is less than one of its.
fn assert_nobody_hurried(leaguebox: &LeagueBox, names: &[String]) {
    let hurried: u64 = names.iter().map(|name| broken(leaguebox, name, "too_often")).sum();
    println!("{hurried} heartbeats came too often");
    assert!(hurried == 0 || cfg!(feature = "emulator"));
}

/// Waits until every game is over. Agents that ask once a second take minutes for one, so every move renews the patience.
fn wait_for_all_games(leaguebox: &LeagueBox) {
    let turns = || {
        let game = |number: usize| leaguebox.get(&format!("/api/matches/R0M{number}.json"));
        let pages = (1..=GAMES.len()).map(game).filter(|page| page.status == 200).map(|page| page.json());
        pages.map(|page| (page["state"] == "over", page["turn"].as_u64())).collect::<Vec<_>>()
    };
    let is_over = |turns: &[(bool, Option<u64>)]| turns.len() == GAMES.len() && turns.iter().all(|(over, _)| *over);
    let mut seen = turns();
    while !is_over(&seen) {
        sleep(Duration::from_secs(1));
        seen = wait_for("somebody moves", || Some(turns()).filter(|turns| *turns != seen));
    }
}

/// The rooms of a box that nobody else plays on: all were played to their end, and by nobody but their agents.
fn assert_all_is_over(leaguebox: &LeagueBox, agents: usize) {
    let players = leaguebox.get_json("/api/players.json");
    let rows = players["players"].as_array().expect("players");
    assert_eq!(rows.len(), agents);
    for player in rows {
        assert_eq!(player["rated_games"], 1, "{player}");
    }
    let mut log = leaguebox.get("/api/log.jsonl").body;
    log.retain(|character| !character.is_whitespace());
    assert!(!log.contains("timeout"), "{log}");
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_shell_loop_that_is_printed_plays_each_of_the_four_games_to_its_end() {
    let leaguebox = LeagueBox::start(Settings::default());
    let page = leaguebox.get("/moltgame/skill.md").body;
    let printed = page.split("```sh\n").nth(1).and_then(|rest| rest.split("\n```").next()).expect("a shell loop");
    // The page already names the address it was asked for at.
    let loop_of_it = printed.replace("leaguebox.local:8000", &leaguebox.address.to_string());
    assert!(loop_of_it.contains(&leaguebox.url()), "{loop_of_it}");
    let folder = Folder::new("shell");
    fs::write(folder.0.join("moltgame.sh"), loop_of_it).expect("the loop is saved");
    let mut shells: Vec<Shell> = Vec::new();
    for (game, players) in GAMES {
        for number in 1..=players {
            let name = format!("{game} {number}");
            let printed = folder.0.join(&name);
            let mut command = Command::new("sh");
            command.current_dir(&folder.0).args(["moltgame.sh", &name, game]).stdin(Stdio::null());
            let child = command.stdout(File::create(&printed).expect("a file")).spawn().expect("a shell");
            shells.push(Shell { name, printed, child });
        }
    }
    wait_for_all_games(&leaguebox);
    for shell in &mut shells {
        let ended = wait_for(&format!("{} ends", shell.name), || shell.child.try_wait().expect("a child"));
        let said = fs::read_to_string(&shell.printed).expect("what it printed");
        assert_eq!(ended.code(), Some(0), "{}: {said}", shell.name);
        let standing: Value = serde_json::from_str(said.lines().last().expect("a line")).expect("the standing");
        assert!(standing.as_array().is_some_and(|seats| seats.len() >= 2), "{}: {said}", shell.name);
    }
    assert_all_is_over(&leaguebox, shells.len());
    assert_nobody_hurried(&leaguebox, &shells.iter().map(|shell| shell.name.clone()).collect::<Vec<_>>());
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs other people's clients; cargo xtask clients runs it")]
fn the_example_plays_each_of_the_four_games_to_its_end_and_says_how_it_ended() {
    let leaguebox = LeagueBox::start(Settings::default());
    let (example, url) = (here("../examples/moltgame.py"), leaguebox.url());
    let mut players: Vec<Player> = Vec::new();
    for (game, seats) in GAMES {
        for number in 1..=seats {
            let name = format!("{game} {number}");
            players.push(Player::script(&example, &name, &["--box", &url, "--name", &name, "--game", game]));
        }
    }
    wait_for_all_games(&leaguebox);
    for player in &mut players {
        assert_eq!(player.wait_until_it_ends(), Some(0), "{}: {}", player.name, player.printed());
        assert!(player.printed().contains("It is over: [{"), "{}: {}", player.name, player.printed());
        assert!(!player.printed().contains("Refused"), "{}: {}", player.name, player.printed());
    }
    assert_all_is_over(&leaguebox, players.len());
    assert_nobody_hurried(&leaguebox, &players.iter().map(|player| player.name.clone()).collect::<Vec<_>>());
}

#[test]
fn thirty_two_agents_play_in_ten_rooms_at_once_and_no_move_is_lost() {
    let leaguebox = LeagueBox::start(Settings::room_for(CLASS));
    let rooms: Vec<(&str, usize)> =
        [&[(LANDLORD, 3); 4][..], &[(ROCKPAPER, 2); 4], &[(BLACKJACK, 6)], &[(TEXASHOLDEM, 6)]].concat();
    assert_eq!((rooms.len(), rooms.iter().map(|(_, seats)| seats).sum::<usize>()), (10, CLASS));
    let agents: Vec<Agent> =
        (1..=CLASS).map(|number| Agent::register(&leaguebox, &format!("Agent {number}"))).collect();
    let mut tables: Vec<(String, &[Agent])> = Vec::new();
    let mut left = &agents[..];
    for (game, seats) in rooms {
        let (party, others) = left.split_at(seats);
        let room = party[0].told(&format!("/games/{game}/rooms"), json!({"seats": seats}));
        let id = room["room_id"].as_str().expect("an id").to_owned();
        for agent in &party[1..] {
            agent.told(&format!("/rooms/{id}/join"), json!({}));
        }
        tables.push((id, party));
        left = others;
    }
    for (room, _) in &tables {
        assert_eq!(read(&leaguebox, &format!("/spectate/rooms/{room}"))["status"], "playing");
    }
    let begun = leaguebox.clock();
    let told: BTreeMap<&str, Played> = thread::scope(|scope| {
        let playing: Vec<_> =
            agents.iter().map(|agent| (agent, scope.spawn(|| agent.plays_patiently(boldest)))).collect();
        playing.into_iter().map(|(agent, plays)| (agent.id.as_str(), plays.join().expect("it plays"))).collect()
    });
    let sum = |of: fn(&Played) -> usize| told.values().map(of).sum::<usize>();
    println!(
        "{} times an agent was told to wait, {} connections were closed, {} of them of a move",
        sum(|played| played.put_off),
        sum(|played| played.resets),
        sum(|played| played.unsure)
    );
    assert_eq!(sum(|played| played.resets), 0, "who has a connection is answered on it");
    let moves = sum(|played| played.moves);
    println!("ten rooms, {moves} moves, {:.1} s of the box's time", (leaguebox.clock() - begun).as_secs_f64());
    for (room, party) in tables {
        let rows = wait_for("the end is in the log", || {
            let page = read(&leaguebox, &format!("/rooms/{room}/logs?limit=200"));
            let total = page["total"].as_u64().expect("a number");
            let mut rows = page["logs"].as_array().expect("rows").clone();
            while (rows.len() as u64) < total {
                let page = read(&leaguebox, &format!("/rooms/{room}/logs?offset={}", rows.len()));
                rows.extend(page["logs"].as_array().expect("rows").iter().cloned());
            }
            rows.last().is_some_and(|row| row["type"] == "game_over").then_some(rows)
        });
        for agent in party {
            let Played { end: pulse, moves, unsure, .. } = &told[agent.id.as_str()];
            let kept = rows.iter().filter(|row| row["agent_id"] == agent.id && row["payload"].get("move").is_some());
            let kept = kept.count();
            assert!(
                (*moves..=moves + unsure).contains(&kept),
                "{room}: what was taken is in the log, and nothing else"
            );
            assert_eq!(pulse["game_state"]["standing"], rows.last().expect("an end")["payload"]["standing"]);
            assert_eq!(agent.get("/agents/me").1["games_played"], 1);
        }
        assert!(!rows.iter().any(|row| row["payload"]["reason"] == "timeout"), "{rows:?}");
        let standing = rows.last().expect("an end")["payload"]["standing"].as_array().expect("seats").clone();
        let rank = |seat: &Value| (seat["place"].as_u64(), seat["score"].as_i64());
        for (one, other) in standing.iter().flat_map(|one| standing.iter().map(move |other| (one, other))) {
            let ((place, score), (worse, less)) = (rank(one), rank(other));
            assert!(place >= worse || score >= less, "who has more is placed better: {standing:?}");
        }
    }
    assert_eq!(leaguebox.resets(), Vec::<String>::new());
}

#[test]
fn a_storm_of_heartbeats_makes_no_move_of_a_league_late() {
    const LEAGUE: usize = 10;
    const EVERY: Duration = Duration::from_millis(100);
    let settings =
        Settings { game: "echo", join_timeout_ms: 5_000, move_timeout_ms: 5_000, ..Settings::room_for(CLASS) };
    let leaguebox = LeagueBox::start(settings);
    let mut crowd = Crowd::thinking(Duration::from_millis(200));
    crowd.enlist(&leaguebox, LEAGUE);
    // The smallest box has room for 22 more: there some agents have two programs that poll.
    let agents: Vec<Agent> = (0..CLASS - LEAGUE)
        .map(|number| Agent::register_with(&leaguebox, json!({"name": format!("Storm {number}"), "league": false})))
        .collect();
    assert_eq!(leaguebox.admin("start").status, 200);
    // Most of them play, one waits, some do neither: answers of all kinds.
    agents[..16].iter().for_each(|agent| drop(agent.sits_down(ECHO)));
    agents[16].sits_down(LANDLORD);
    let sources: Vec<_> = if cfg!(feature = "probe") {
        vec![leaguebox.home()]
    } else {
        (1..=8).map(|number| leaguebox.neighbour(number)).collect()
    };
    let over = AtomicBool::new(false);
    let answers: BTreeMap<String, usize> = thread::scope(|scope| {
        let storm = Over(&over);
        let polling: Vec<_> = (0..CLASS)
            .map(|number| {
                let (agent, source, over) = (&agents[number % agents.len()], sources[number % sources.len()], &over);
                let head = format!("Content-Type: application/json\r\nAuthorization: Bearer {}\r\n", agent.key);
                scope.spawn(move || {
                    let mut answers: Vec<String> = Vec::new();
                    while !over.load(Ordering::Relaxed) {
                        let begun = Instant::now();
                        let path = "/moltgame/api/v1/agents/heartbeat";
                        answers.push(match http::post_with(source, agent.address, path, &head, "{}") {
                            Ok(answer) => format!("{} {}", answer.status, answer.json()["error"]),
                            Err(why) => format!("no connection: {:?}", why.kind()),
                        });
                        sleep(EVERY.saturating_sub(begun.elapsed()));
                    }
                    answers
                })
            })
            .collect();
        crowd.wait_for_the_end();
        drop(storm);
        let all = polling.into_iter().flat_map(|thread| thread.join().expect("a storm"));
        all.fold(BTreeMap::new(), |mut answers, answer| {
            *answers.entry(answer).or_default() += 1;
            answers
        })
    });
    println!("what the storm was told: {answers:#?}");
    let known = ["200 null", "400 \"game_not_started\"", "404 \"no_active_game\"", "429 \"rate_limited\""];
    // What the box has no connection for is not answered at all.
    for answer in answers.keys().filter(|answer| !answer.starts_with("no connection")) {
        assert!(known.contains(&answer.as_str()), "{answers:?}");
    }
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert_eq!(rows.len(), LEAGUE * (LEAGUE - 1) / 2);
    assert!(rows.iter().all(|row| row.get("status") != "TECHNICAL_LOSS"), "{rows:?}");
    results::assert_standings_follow(&leaguebox.get_json("/api/standings.json"), &rows);
    for member in &crowd.members {
        for rule in ["no_answer", "unreachable", "circuit_breaker"] {
            assert_eq!(broken(&leaguebox, &member.name, rule), 0, "nobody is late, and nobody is asked twice");
        }
    }
    let players = leaguebox.get_json("/api/players.json");
    let called = players["players"].as_array().expect("players").iter().filter(|player| player["connects"] == "http");
    let slowest = called.filter_map(|player| player["latency"]["p99_ms"].as_u64()).max();
    println!("the league's slowest answers took {slowest:?} ms by the box's clock");
    assert!(answers.contains_key("200 null"));
    assert_eq!(leaguebox.resets(), Vec::<String>::new());
}

#[test]
#[cfg_attr(feature = "probe", ignore = "we do not make the network of a real board")]
fn who_asks_too_often_is_told_when_to_come_again_and_nobody_else_waits_for_it() {
    const STORM: u8 = 4;
    const LAP: Duration = Duration::from_millis(1_000);
    let leaguebox = LeagueBox::with_little_time(Settings::default());
    let beat = |connection: &mut Connection, agent: &Agent| {
        connection.post_as(&agent.key, "/moltgame/api/v1/agents/heartbeat", "{}")
    };
    let agents: Vec<Agent> =
        (1..=STORM + 1).map(|number| Agent::register(&leaguebox, &format!("A {number}"))).collect();
    let (calm, hasty) = agents.split_last().expect("five");
    hasty.iter().for_each(|agent| drop(agent.sits_down(ROCKPAPER)));
    calm.sits_down(LANDLORD);
    let over = AtomicBool::new(false);
    let (slowest, told) = thread::scope(|scope| {
        let storm: Vec<_> = hasty
            .iter()
            .zip(1..)
            .map(|(agent, number)| {
                let (source, leaguebox, over) = (leaguebox.neighbour(number), &leaguebox, &over);
                scope.spawn(move || {
                    let mut connection = Connection::open_from(source, leaguebox.address);
                    let mut answers = Vec::new();
                    while !over.load(Ordering::Relaxed) {
                        answers.push(beat(&mut connection, agent));
                    }
                    // Whoever then waits as long as it is told is answered.
                    let later = answers.iter().filter_map(|answer| answer.header("retry-after")?.parse().ok()).max();
                    let (asked, later) = (leaguebox.clock(), Duration::from_secs(later.unwrap_or(0)));
                    wait_for("the time it was told is over", || (leaguebox.clock() - asked > later).then_some(()));
                    assert_eq!(beat(&mut connection, agent).status, 200);
                    answers
                })
            })
            .collect();
        let over = Over(&over);
        let mut connection = Connection::open(leaguebox.address);
        let mut slowest = Duration::ZERO;
        for _ in 0..8 {
            let asked = leaguebox.clock();
            let answer = beat(&mut connection, calm);
            slowest = slowest.max(leaguebox.clock() - asked);
            assert_eq!((answer.status, answer.json()["error"].as_str()), (400, Some("game_not_started")));
            wait_for("a second is over", || (leaguebox.clock() - asked > LAP).then_some(()));
        }
        drop(over);
        (slowest, storm.into_iter().flat_map(|storm| storm.join().expect("a storm")).collect::<Vec<_>>())
    });
    let refused: Vec<_> = told.iter().filter(|answer| answer.status != 200).collect();
    println!("{} of {} were told to wait; the calm one waited {slowest:?} at most", refused.len(), told.len());
    let is_of_heartbeats = |answer: &&&Response| answer.body.contains("one heartbeat a second");
    assert!(refused.iter().filter(is_of_heartbeats).count() > told.len() / 10, "{} of {}", refused.len(), told.len());
    for answer in refused {
        is_refused((answer.status, answer.json()), 429, "rate_limited");
        assert!(answer.header("retry-after").is_some_and(|later| later.parse().is_ok_and(|later: u64| later > 0)));
    }
    assert!(slowest < Duration::from_millis(500), "{slowest:?}");
    assert!(hasty.iter().zip(1..).all(|(_, number)| broken(&leaguebox, &format!("A {number}"), "too_often") > 0));
    assert_eq!(broken(&leaguebox, &format!("A {}", STORM + 1), "too_often"), 0);
    assert_eq!(leaguebox.resets(), Vec::<String>::new());
}

/// Pulls the plug and puts it back; on the desktop the process is killed.
fn without_power(mut leaguebox: LeagueBox, file: &std::path::Path) -> LeagueBox {
    #[cfg(feature = "emulator")]
    {
        let _ = file;
        let seen = leaguebox.board().log_position();
        leaguebox.board().power_cycle().expect("a plug");
        leaguebox.wait_until_it_is_back(seen);
        leaguebox
    }
    #[cfg(not(feature = "emulator"))]
    {
        let address = leaguebox.address;
        leaguebox = {
            drop(leaguebox);
            LeagueBox::as_and_where_it_was(file, address)
        };
        leaguebox
    }
}

#[test]
#[cfg_attr(feature = "probe", ignore = "nobody pulls its plug")]
fn after_a_power_cut_agents_ratings_and_logs_are_as_they_were_and_rooms_that_were_played_in_are_gone() {
    let folder = Folder::new("power");
    let file = folder.0.join("leaguebox.flash");
    let leaguebox = LeagueBox::with_memory(Settings::default(), &file);
    let agents: Vec<Agent> = ["Ada", "Bob", "Cyd", "Dan", "Eve"].map(|name| Agent::register(&leaguebox, name)).into();
    let [ada, bob, cyd, dan, eve] = &agents[..] else { unreachable!("there are five") };
    ada.sits_down(ROCKPAPER);
    let finished = bob.sits_down(ROCKPAPER);
    thread::scope(|scope| {
        let other = scope.spawn(|| bob.plays(|_| json!(["paper"])));
        ada.plays(|_| json!(["rock"]));
        other.join().expect("Bob plays");
    });
    cyd.sits_down(ECHO);
    let running = dan.sits_down(ECHO);
    cyd.told("/agents/move", json!({"room_id": running, "move": first(&cyd.beat())}));
    let waiting = eve.sits_down(LANDLORD);
    let log = |leaguebox: &LeagueBox| read(leaguebox, &format!("/rooms/{finished}/logs"));
    let before_log = wait_for("the end is on film", || {
        let page = log(&leaguebox);
        page["logs"].as_array().expect("rows").last().is_some_and(|row| row["type"] == "game_over").then_some(page)
    });
    let known = |agent: &Agent| {
        let (status, mut me) = agent.get("/agents/me");
        assert_eq!(status, 200, "{me}");
        me["room_id"].take();
        me
    };
    let before: Vec<Value> = agents.iter().map(known).collect();
    assert!(before[0]["rating"] != before[1]["rating"] && before[0]["games_played"] == 1, "{before:?}");

    let leaguebox = without_power(leaguebox, &file);
    let back: Vec<Agent> = agents.iter().map(|agent| Agent { address: leaguebox.address, ..agent.clone() }).collect();
    assert_eq!(back.iter().map(known).collect::<Vec<_>>(), before);
    assert_eq!(log(&leaguebox), before_log);
    assert_eq!(back[0].told("/agents/heartbeat", json!({"room_id": finished}))["game_over"], true);
    for agent in &back {
        is_refused(agent.post("/agents/heartbeat", json!({})), 404, "no_active_game");
    }
    for (agent, gone) in [(&back[2], &running), (&back[4], &waiting)] {
        is_refused(agent.post("/agents/heartbeat", json!({"room_id": gone})), 404, "game_not_found");
        is_refused(agent.post("/agents/move", json!({"room_id": gone, "move": ["x"]})), 404, "game_not_found");
        is_refused(agent.get(&format!("/rooms/{gone}")), 404, "room_not_found");
        is_refused(agent.get(&format!("/rooms/{gone}/logs")), 404, "room_not_found");
        assert_eq!(agent.get("/agents/me").1["room_id"], Value::Null);
    }
    // And they sit down again, in a room that nobody takes for one of those.
    back[2].sits_down(ECHO);
    let again = back[3].sits_down(ECHO);
    assert!(![&finished, &running, &waiting].contains(&&again), "{again}");
    is_refused(back[4].get(&format!("/rooms/{running}")), 404, "room_not_found");
    thread::scope(|scope| {
        let other = scope.spawn(|| back[3].plays(first));
        back[2].plays(first);
        other.join().expect("Dan plays");
    });
    assert_eq!(back[2].get("/agents/me").1["games_played"], 1);
}
