//! Matches that are over, looked at again step by step: also after a restart, and only then.

use crate::journal::{Bytes, Slow, blank};
use crate::net_support::{Does, Heard, Plan, Scene, habit, play};
use appliance::clock::Clock;
use appliance::journal::{Chosen, FRAME, State};
use embassy_futures::select::{Either, select};
use protocol_core::games::{Game, GameKind};
use protocol_core::ids::MatchId;
use serde_json::{Value, json};

/// Runs the journal and the film beside a script.
async fn beside(scene: Scene<'_, '_>, [journal, film]: [&Bytes; 2], script: impl AsyncFnOnce()) {
    beside_slow(scene, journal, Slow::new(film, scene.world), script).await;
}

async fn beside_slow<'w>(scene: Scene<'_, 'w>, journal: &Bytes, film: Slow<'w>, script: impl AsyncFnOnce()) {
    let (mut frame, leaguebox) = ([0; FRAME], scene.leaguebox);
    let journal = leaguebox.resume(Slow::new(journal, scene.world), &mut frame, Chosen::default()).await;
    let mut journal = leaguebox.resume_film(journal, film, &mut frame).await;
    match select(leaguebox.keep_journal(&mut journal, &mut frame), script()).await {
        Either::First(never) => never,
        Either::Second(()) => {}
    }
}

async fn moves(scene: Scene<'_, '_>, id: &str) -> Value {
    scene.get(&format!("/api/matches/{id}/moves.json")).await.json()
}

async fn step(scene: Scene<'_, '_>, id: &str, number: usize) -> Value {
    scene.get(&format!("/api/matches/{id}/steps/{number}.json")).await.json()
}

/// Thinks before it moves.
fn slow(heard: &Heard, _: usize) -> Does {
    if heard.name() == "MOVE_REQUEST" { Does::After(100) } else { Does::Answer }
}

/// Looks at all of a match, and says what was seen.
async fn look(scene: Scene<'_, '_>, id: &str) -> Vec<Value> {
    let told = moves(scene, id).await;
    let moves = told["moves"].as_array().unwrap_or_else(|| panic!("{told}"));
    assert_eq!((&told["match_id"], &told["complete"]), (&json!(id), &json!(true)));
    assert_eq!(told["steps"], moves.len());
    assert!(moves.is_sorted_by_key(|line| line["at_ms"].as_u64()));
    let (end, made) = moves.split_last().unwrap();
    assert!(made.iter().all(|line| line.get("ended_against").is_none() && !line["move"].is_null()));
    assert!(end["ended_against"].is_array() && end["move"].is_null() && end["player_id"].is_null(), "{end}");
    let mut seen = vec![step(scene, id, 0).await];
    for (number, line) in (1..).zip(moves) {
        let mut shown = step(scene, id, number).await;
        for (name, value) in line.as_object().unwrap() {
            assert_eq!(shown[name], *value, "{name} of step {number}");
        }
        assert_eq!(shown["state"], if number == moves.len() { "over" } else { shown["state"].as_str().unwrap() });
        assert!(shown["view"].is_object() && shown["players"].is_array(), "{shown}");
        shown["view"].as_object_mut().unwrap().remove("grid");
        seen.push(shown);
    }
    let status = scene.get(&format!("/api/matches/{id}/steps/{}.json", moves.len() + 1)).await.status;
    assert_eq!(status, 404, "no more steps");
    seen
}

#[test]
fn every_match_of_a_league_is_told_step_by_step_and_so_it_is_after_a_restart() {
    let flashes = [blank(), blank()];
    let flashes = [&flashes[0], &flashes[1]];
    let ids = ["R1M1", "R1M2", "R2M1", "R3M2"];
    // One is silent now and then: its matches end before their time.
    let silent = |heard: &Heard, turn: usize| match heard.name() {
        "CHOOSE_PARITY_CALL" if turn > 12 => Does::Hang,
        _ => Does::Answer,
    };
    let before = play(Plan { seed: Some(5), ..Plan::new(4) }.with(2, silent), async |scene| {
        let mut seen = Vec::new();
        beside(scene, flashes, async || {
            assert_eq!(scene.get("/api/matches/R1M1/moves.json").await.status, 404, "not begun");
            scene.whole_league().await;
            for id in ids {
                seen.push(look(scene, id).await);
            }
            for path in
                ["R9M1/moves", "R1M1/steps/x", "R1M1/steps/70000", "R1M1/steps/", "R1M1/", "x/moves", "R1M1/moves/1"]
            {
                assert_eq!(scene.get(&format!("/api/matches/{path}.json")).await.status, 404, "{path}");
            }
        })
        .await;
        seen
    });
    let against = |seen: &Vec<Value>| seen.last().unwrap()["ended_against"].as_array().unwrap().len();
    assert!(before.iter().any(|seen| against(seen) == 1) && before.iter().any(|seen| against(seen) == 0));
    play(Plan::new(4), async |scene| {
        beside(scene, flashes, async || {
            for (id, before) in ids.iter().zip(&before) {
                assert_eq!(look(scene, id).await, *before);
            }
            assert_eq!(scene.admin("reset").await.status, 200);
            assert_eq!(scene.get("/api/matches/R1M1/moves.json").await.status, 404, "of another league");
        })
        .await;
    });
}

#[test]
fn two_who_look_at_long_matches_at_once_do_not_disturb_each_other_and_a_running_one_is_not_told() {
    let flashes = [blank(), blank()];
    let flashes = [&flashes[0], &flashes[1]];
    let plan = Plan { game: GameKind::EvenOdd10, ..Plan::new(3) }.with(0, slow).with(1, slow);
    play(plan, async |scene| {
        beside(scene, flashes, async || {
            scene.register_all().await;
            assert_eq!(scene.admin("start").await.status, 200);
            let id = MatchId { round: 1, table: 1 };
            while scene.leaguebox.venue(|venue| venue.table(id).is_none_or(|table| table.play.game().turn() < 3)) {
                scene.world.sleep(5).await;
            }
            assert_eq!(scene.get("/api/matches/R1M1/moves.json").await.status, 404, "it is being played");
            assert_eq!(scene.get("/api/matches/R1M1/steps/1.json").await.status, 404, "it is being played");
            scene.leaguebox.league_over().await;
            let (first, second) = ("R1M1", "R2M1");
            let whole = [moves(scene, first).await, moves(scene, second).await];
            assert!(whole.iter().all(|told| told["complete"] == true && told["steps"] == 21), "{whole:?}");
            let looked = embassy_futures::join::join(moves(scene, first), moves(scene, second)).await;
            assert_eq!(<[Value; 2]>::from(looked), whole);
            let last = whole[0]["steps"].as_u64().unwrap() as usize;
            for number in [last, 1, 14, 3] {
                let (a, b) = embassy_futures::join::join(step(scene, first, number), step(scene, second, number)).await;
                assert_eq!((&a["step"], &b["step"]), (&json!(number), &json!(number)));
                for (shown, all) in [(&a, &whole[0]), (&b, &whole[1])] {
                    assert_eq!(shown["view"]["previous_moves"].as_array().map(Vec::len), Some((number / 2).min(10)));
                    assert_eq!(shown["player_id"], all["moves"][number - 1]["player_id"]);
                }
            }
        })
        .await;
    });
}

#[test]
fn a_box_without_a_journal_keeps_a_film_all_the_same_and_one_without_both_says_so() {
    let bytes = blank();
    play(Plan::new(2), async |scene| {
        let mut frame = [0; FRAME];
        let flash = Slow::new(&bytes, scene.world);
        let script = async {
            scene.whole_league().await;
            look(scene, "R1M1").await;
            assert_eq!(scene.get("/api/leagues.json").await.json()["journal"], "off");
        };
        match select(scene.leaguebox.keep_film(flash, &mut frame), script).await {
            Either::First(never) => never,
            Either::Second(()) => {}
        }
    });
    play(Plan::new(2), async |scene| {
        scene.whole_league().await;
        let answer = scene.get("/api/matches/R1M1/moves.json").await;
        assert_eq!(answer.status, 404);
        assert!(answer.body.contains("not kept"), "{}", answer.body);
    });
}

#[test]
fn a_film_that_fails_is_given_up_and_the_league_and_its_journal_go_on() {
    let flashes = [blank(), blank()];
    play(Plan::new(4), async |scene| {
        flashes[1].borrow_mut().power = 300;
        beside(scene, [&flashes[0], &flashes[1]], async || {
            scene.whole_league().await;
            assert_eq!(scene.get("/api/status.json").await.json()["journal"], "ok");
            assert_eq!(scene.get("/api/matches/R1M1/moves.json").await.status, 404);
        })
        .await;
    });
}

#[test]
fn flash_beside_a_journal_that_cannot_be_used_is_left_alone_until_a_reset() {
    let strange = || {
        let bytes = blank();
        bytes.borrow_mut().bytes.iter_mut().zip(0u8..=250).for_each(|(byte, at)| *byte = at);
        bytes.borrow_mut().bytes.rotate_right(2048);
        bytes
    };
    let flashes = [strange(), strange()];
    let before = flashes[1].borrow().bytes.clone();
    play(Plan::new(2), async |scene| {
        beside(scene, [&flashes[0], &flashes[1]], async || {
            let status = scene.get("/api/status.json").await.json();
            assert_eq!(status["journal"], "failed: what is in the flash is not a journal");
            scene.whole_league().await;
            assert_eq!(scene.get("/api/matches/R1M1/moves.json").await.status, 404);
            assert!(flashes[1].borrow().bytes == before, "what was in flash is kept");
            assert_eq!(scene.admin("reset").await.status, 200);
            while scene.leaguebox.journal() != State::Ok {
                scene.world.sleep(5).await;
            }
            scene.whole_league().await;
            look(scene, "R1M1").await;
        })
        .await;
    });
}

#[test]
fn who_reads_moves_slowly_keeps_nobody_else_from_looking() {
    let flashes = [blank(), blank()];
    let plan = Plan { game: GameKind::EvenOdd10, window: 300, incoming: 640, outgoing: 512, ..Plan::new(2) };
    play(plan, async |scene| {
        beside(scene, [&flashes[0], &flashes[1]], async || {
            scene.whole_league().await;
            for path in ["matches/R1M1/moves.json", "leagues.json", "leagues/1.json"] {
                let mut slow = scene.dial().await;
                let request = format!("GET /api/{path} HTTP/1.1\r\nHost: 10.0.0.1:8000\r\n\r\n");
                slow.socket.send(request.as_bytes()).await.unwrap();
                scene.world.sleep(500).await;
                let before = scene.world.now();
                assert_eq!(step(scene, "R1M1", 3).await["step"], 3);
                assert!(scene.world.now() - before < 500, "{path}: {} ms", scene.world.now() - before);
            }
        })
        .await;
    });
}

#[test]
fn what_players_say_now_is_not_put_into_a_match_of_before() {
    let flashes = [blank(), blank()];
    let plan = Plan { game: GameKind::Dance, habits: (0..5).map(|_| habit(slow)).collect(), ..Plan::new(5) };
    play(plan, async |scene| {
        beside(scene, [&flashes[0], &flashes[1]], async || {
            scene.register_all().await;
            assert_eq!(scene.admin("start").await.status, 200);
            let second = MatchId { round: 2, table: 1 };
            while scene.leaguebox.venue(|venue| venue.table(second).is_none_or(|table| table.play.game().turn() < 3)) {
                scene.world.sleep(5).await;
            }
            assert!(scene.get("/api/matches/R2M1.json").await.body.contains("Olé"), "it is said");
            assert!(!step(scene, "R1M1", 1).await.to_string().contains("Olé"));
        })
        .await;
    });
}

#[test]
fn who_plays_does_not_wait_for_who_looks_for_another_match() {
    let flashes = [blank(), blank()];
    let plan = Plan { game: GameKind::EvenOdd10, habits: (0..6).map(|_| habit(slow)).collect(), ..Plan::new(6) };
    play(plan, async |scene| {
        let film = Slow::new(&flashes[1], scene.world);
        let reads_for = film.reads_for.clone();
        beside_slow(scene, &flashes[0], film, async || {
            scene.register_all().await;
            assert_eq!(scene.admin("start").await.status, 200);
            let last = MatchId { round: 5, table: 1 };
            while scene.leaguebox.venue(|venue| venue.table(last).is_none()) {
                scene.world.sleep(5).await;
            }
            // From here on reading takes its time, and to find a match of the first round most of a second.
            reads_for.set(20);
            let began = scene.world.now();
            let look = async {
                assert_eq!(step(scene, "R1M1", 1).await["step"], 1);
                scene.world.now() - began
            };
            let turn = || scene.leaguebox.venue(|venue| venue.table(last).map(|table| table.play.game().turn()));
            let watch = async {
                scene.world.sleep(600).await;
                (turn(), flashes[1].borrow().spent)
            };
            let before = flashes[1].borrow().spent;
            let (took, (turn, spent)) = embassy_futures::join::join(look, watch).await;
            assert!(took > 600, "it was still being looked for");
            assert!(turn.is_some_and(|turn| turn > 2), "{turn:?}");
            assert!(spent - before > 500, "the steps of that are kept");
        })
        .await;
    });
}

/// A room in which two agents of MoltGame have placed so many stones, and then passed: its id.
async fn a_game_of_go(scene: Scene<'_, '_>, stones: usize) -> String {
    let mut client = scene.dial().await;
    let mut ask = async |path: &str, key: &str, body: Value| {
        let (path, key) = (format!("/api/v1{path}"), format!("Authorization: Bearer {key}\r\n"));
        let seen = client.ask("POST", &path, &key, &body.to_string()).await.expect("an answer");
        assert_eq!(seen.status, 200, "{path}: {}", seen.body);
        seen.json()
    };
    let mut keys = Vec::new();
    for name in ["Ada", "Bob"] {
        let agent = ask("/agents/register", "", json!({"name": name})).await;
        keys.push(agent["agent"]["api_key"].as_str().unwrap().to_owned());
    }
    let mut room = Value::Null;
    for key in &keys {
        room = ask("/games/00000000-0000-0000-0000-000000000013/match", key, json!({})).await["room_id"].clone();
    }
    for stone in 0..stones + 2 {
        let (mut mover, mut pulse) = ("", Value::Null);
        for key in &keys {
            let told = ask("/agents/heartbeat", key, json!({})).await;
            if told["your_turn"] == true {
                (mover, pulse) = (key, told);
            }
        }
        let legal = pulse["legal_moves"].as_array().unwrap();
        let wanted = if stone < stones { legal.last() } else { legal.first() };
        ask("/agents/move", mover, json!({"room_id": room, "move": wanted})).await;
    }
    room.as_str().unwrap().to_owned()
}

#[test]
fn two_who_read_matches_at_the_same_time_cost_no_more_than_one_after_the_other() {
    let flashes = [blank(), blank()];
    play(Plan::new(0), async |scene| {
        let film = Slow::new(&flashes[1], scene.world);
        let frames = film.frames.clone();
        beside_slow(scene, &flashes[0], film, async || {
            a_game_of_go(scene, 60).await;
            let read = async || {
                let seen = scene.get("/api/matches/R0M1.sgf").await;
                assert!(seen.status == 200 && seen.body.matches(';').count() > 60, "{}", seen.body);
                seen.body
            };
            frames.set(0);
            let whole = read().await;
            let alone = frames.replace(0);
            let both = embassy_futures::join::join(read(), read()).await;
            assert_eq!(both, (whole.clone(), whole));
            assert!(frames.get() <= 2 * alone + 2, "{} frames, one alone {alone}", frames.get());
        })
        .await;
    });
}

#[test]
fn the_end_of_a_log_is_found_without_reading_every_step_by_itself_and_who_asks_for_it_pays() {
    let flashes = [blank(), blank()];
    play(Plan::new(0), async |scene| {
        let film = Slow::new(&flashes[1], scene.world);
        let frames = film.frames.clone();
        beside_slow(scene, &flashes[0], film, async || {
            let room = a_game_of_go(scene, 60).await;
            let path = |query: &str| format!("/api/v1/rooms/{room}/logs?{query}");
            let all = scene.get(&path("")).await.json();
            assert_eq!((&all["total"], all["logs"].as_array().map(Vec::len)), (&json!(66), Some(66)));
            frames.set(0);
            let last = scene.get(&path("offset=65")).await.json();
            assert_eq!(last["logs"], json!([all["logs"][65]]));
            assert!(frames.get() < 60, "{} frames for one row", frames.get());
            frames.set(0);
            assert_eq!(scene.get(&path("offset=60000")).await.json(), json!({"total": 66, "logs": []}));
            let reads = frames.get();
            // Somebody asks for it again and again.
            let mut hasty = scene.dial_from([10, 0, 0, 77].into()).await;
            let mut passed = 0;
            while hasty.ask("GET", &path("offset=60000"), "", "").await.expect("an answer").status == 200 {
                passed += 1;
                assert!(passed < 300, "{reads} frames are read each time, and nobody pays");
            }
            assert_eq!(scene.get(&path("offset=60000")).await.status, 200, "nobody else pays for it");
        })
        .await;
    });
}
