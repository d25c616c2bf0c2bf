//! A whole box plays leagues over a network that cuts, delays, refuses and breaks: what the lines to the players do.

use crate::net_support::{Does, Door, Heard, Plan, Player, play};
use appliance::clock::Clock;

const ROUND: [&str; 6] = [
    "ROUND_ANNOUNCEMENT",
    "GAME_INVITATION",
    "CHOOSE_PARITY_CALL",
    "GAME_OVER",
    "LEAGUE_STANDINGS_UPDATE",
    "ROUND_COMPLETED",
];

/// What a player that answers well is told in a league of four.
fn whole_league() -> Vec<&'static str> {
    let mut names = ROUND.repeat(3);
    names.push("LEAGUE_COMPLETED");
    names
}

/// Whether a player was told the end of every match, every round and the league.
fn is_told_everything(player: &Player<'_>) -> bool {
    let names = player.names();
    let count = |wanted: &str| names.iter().filter(|name| *name == wanted).count();
    ["GAME_OVER", "LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED"].map(count) == [3; 3]
        && names.last().is_some_and(|last| last == "LEAGUE_COMPLETED")
}

fn calls(player: &Player<'_>, name: &str) -> Vec<Heard> {
    player.heard.borrow().iter().filter(|heard| heard.name() == name).cloned().collect()
}

fn technical_losses(results: &[String]) -> usize {
    results.iter().filter(|line| line.contains("TECHNICAL_LOSS") || line.contains("technical")).count()
}

#[test]
fn a_league_of_four_completes_over_a_network_that_cuts_at_random() {
    let calm = play(Plan::new(4), async |scene| {
        scene.whole_league().await;
        scene.results().await
    });
    assert_eq!(calm.len(), 7, "a head and six matches: {calm:?}");
    for seed in 0..120 {
        play(Plan { seed: Some(seed), ..Plan::new(4) }, async |scene| {
            scene.whole_league().await;
            assert_eq!(scene.results().await, calm, "seed {seed}");
            for player in scene.players {
                assert_eq!(player.names(), whole_league(), "seed {seed}");
                assert_eq!((player.port.most.get(), player.port.dialled.get()), (1, 1), "seed {seed}");
            }
        });
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_at_the_same_moments() {
    let run = |seed| {
        play(Plan { seed: Some(seed), ..Plan::new(4) }, async |scene| {
            let mut seen = Vec::new();
            for player in scene.players {
                seen.push(scene.register(player).await);
            }
            seen.push(scene.admin("start").await);
            scene.leaguebox.league_over().await;
            for path in ["standings.json", "schedule.json", "players.json", "status.json", "results.csv", "log.jsonl"] {
                seen.push(scene.get(&format!("/api/{path}")).await);
            }
            let heard: Vec<_> = scene.players.iter().map(|player| player.heard.borrow().clone()).collect();
            (seen, heard)
        })
    };
    for seed in 0..5 {
        assert_eq!(run(seed), run(seed));
    }
    assert_ne!(run(1).1, run(2).1, "a seed that changes nothing tests nothing");
}

#[test]
fn a_player_has_one_call_at_a_time_and_all_players_of_a_round_have_theirs_at_once() {
    let thinks = |heard: &Heard, _| if heard.name() == "GAME_INVITATION" { Does::After(900) } else { Does::Answer };
    let plan = (0..4).fold(Plan { seed: Some(7), ..Plan::new(4) }, |plan, player| plan.with(player, thinks));
    play(plan, async |scene| {
        scene.whole_league().await;
        for round in 0..3 {
            let invited = |player| calls(player, "GAME_INVITATION").swap_remove(round);
            let all: Vec<_> = scene.players.iter().map(invited).collect();
            let last_asked = all.iter().map(|heard| heard.at).max();
            let first_answered = all.iter().filter_map(|heard| heard.answered).min();
            assert!(last_asked < first_answered, "round {round}: {all:?}");
        }
        for player in scene.players {
            assert_eq!(player.port.most.get(), 1);
            let heard = player.heard.borrow();
            assert!(heard.windows(2).all(|two| two[0].answered.unwrap() <= two[1].at));
        }
    });
}

#[test]
fn a_kept_connection_carries_the_whole_league() {
    play(Plan::new(4), async |scene| {
        scene.whole_league().await;
        for player in scene.players {
            assert_eq!(player.port.dialled.get(), 1);
            assert!(player.heard.borrow().iter().all(|heard| heard.connection == 1));
        }
    });
}

#[test]
fn a_player_that_closes_its_kept_connection_is_called_on_a_fresh_one_and_loses_nothing() {
    for seed in 0..30 {
        let plan = Plan { seed: Some(seed), ..Plan::new(4) }.with(1, |_, _| Does::AnswerAndClose);
        play(plan, async |scene| {
            scene.whole_league().await;
            let player = &scene.players[1];
            assert_eq!(player.names(), whole_league(), "every call arrives, and once");
            assert_eq!(player.port.most.get(), 1);
            assert_eq!(technical_losses(&scene.results().await), 0);
            let report = scene.get("/api/players/P02.json").await.json();
            assert_eq!(report["violations"], 0, "seed {seed}: {report}");
        });
    }
}

#[test]
fn what_a_player_says_between_calls_answers_none_of_them() {
    for seed in [None, Some(1), Some(2), Some(3)] {
        // Its next call waits for as long as the other one thinks.
        let twice = |heard: &Heard, _| if heard.name() == "GAME_INVITATION" { Does::Twice } else { Does::Answer };
        let thinks = |heard: &Heard, _| if heard.name() == "GAME_INVITATION" { Does::After(500) } else { Does::Answer };
        play(Plan { seed, ..Plan::new(2) }.with(0, twice).with(1, thinks), async |scene| {
            scene.whole_league().await;
            assert_eq!(scene.players[0].names().len(), 7, "every call arrives, and once");
            assert_eq!(scene.get("/api/players/P01.json").await.json()["violations"], 0);
            assert_eq!(scene.players[0].port.dialled.get(), 2);
        });
    }
}

#[test]
fn a_connection_the_player_has_closed_is_not_held() {
    let closes = |heard: &Heard, _| match heard.name() {
        "GAME_INVITATION" => Does::AnswerAndClose,
        _ => Does::Answer,
    };
    let thinks = |heard: &Heard, _| if heard.name() == "GAME_INVITATION" { Does::After(2_000) } else { Does::Answer };
    play(Plan { seed: Some(1), ..Plan::new(2) }.with(0, closes).with(1, thinks), async |scene| {
        scene.register_all().await;
        scene.admin("start").await;
        scene.world.sleep(1_000).await;
        assert_eq!(scene.players[0].names().last().unwrap(), "GAME_INVITATION");
        assert_eq!(scene.players[0].port.open.get(), 0);
        assert_eq!(scene.players[1].port.open.get(), 1);
        scene.leaguebox.league_over().await;
    });
}

#[test]
fn a_hung_player_is_given_up_at_its_deadline_and_the_others_finish_meanwhile() {
    let hangs = |heard: &Heard, _| if heard.name() == "GAME_INVITATION" { Does::Hang } else { Does::Answer };
    for seed in [None, Some(1), Some(2)] {
        play(Plan { seed, ..Plan::new(4) }.with(3, hangs), async |scene| {
            scene.register_all().await;
            let start = scene.world.now();
            scene.admin("start").await;
            scene.leaguebox.league_over().await;
            let asked = calls(&scene.players[3], "GAME_INVITATION");
            // Five seconds to join, then the retries of one, two and four.
            let waits: Vec<_> = asked.windows(2).map(|two| two[1].at - two[0].at).take(3).collect();
            for (wait, least) in waits.iter().zip([5_000, 1_000, 2_000]) {
                assert!((least..least + least / 5 + 100).contains(wait), "{waits:?}");
            }
            assert_eq!(
                scene.players[3].port.most.get(),
                2,
                "the first question may still be answered, others are hung up"
            );
            // Whoever does not play against it plays its round while the box waits.
            let over = calls(&scene.players[0], "GAME_OVER")[0].at;
            assert!(over - start < 1_000, "{over}");
            assert!(scene.players[..3].iter().all(is_told_everything));
            assert_eq!(scene.results().await.iter().filter(|line| line.contains(",TECHNICAL_LOSS,")).count(), 3);
        });
    }
}

#[test]
fn an_answer_on_the_first_connection_counts_while_the_player_is_asked_again_on_another() {
    for question in ["GAME_INVITATION", "CHOOSE_PARITY_CALL"] {
        let limit = if question == "GAME_INVITATION" { 5_000 } else { 30_000 };
        for (seed, late) in [(None, 1_000), (Some(1), 400), (Some(2), 6_000)] {
            let first = std::cell::Cell::new(true);
            let thinks = move |heard: &Heard, _| match heard.name() {
                name if name == question && first.take() => Does::After(limit + late),
                // Its server takes the rest, and does nothing about it while the first call is being thought about.
                name if name == question || name == "GAME_ERROR" => Does::Hang,
                _ => Does::Answer,
            };
            play(Plan { seed, ..Plan::new(2) }.with(1, thinks), async |scene| {
                scene.whole_league().await;
                assert_eq!(technical_losses(&scene.results().await), 0, "{question}, {late} ms late");
                assert!(!calls(&scene.players[1], "GAME_ERROR").is_empty(), "it was asked again meanwhile");
                assert_eq!(scene.players[1].names().last().unwrap(), "LEAGUE_COMPLETED");
                assert!(scene.world.now() <= limit + late + 10_000, "{}", scene.world.now());
            });
        }
    }
}

#[test]
fn who_never_answers_news_slows_nobody_and_hears_it_before_the_next_question() {
    let ignores = |heard: &Heard, _| match heard.name() {
        "GAME_INVITATION" | "CHOOSE_PARITY_CALL" => Does::Answer,
        _ => Does::Hang,
    };
    for seed in [None, Some(1), Some(2)] {
        play(Plan { seed, ..Plan::new(4) }.with(2, ignores), async |scene| {
            scene.register_all().await;
            let start = scene.world.now();
            scene.admin("start").await;
            scene.leaguebox.league_over().await;
            assert_eq!(technical_losses(&scene.results().await), 0);
            let last = calls(&scene.players[0], "CHOOSE_PARITY_CALL").last().unwrap().at;
            assert!(last - start < 1_000, "{} ms", last - start);
            assert!(scene.world.now() - last <= 11_000, "the end is told within ten seconds");
            assert!(scene.players.iter().all(is_told_everything));
            let names = scene.players[2].names();
            let at =
                |name: &str, n: usize| names.iter().enumerate().filter(|(_, heard)| *heard == name).nth(n).unwrap().0;
            assert!((0..2).all(|n| at("GAME_OVER", n) < at("GAME_INVITATION", n + 1)), "{names:?}");
            let report = scene.get("/api/players/P03.json").await.body;
            assert!(report.contains("news_unanswered"), "{report}");
        });
    }
}

#[test]
fn a_player_that_takes_connections_and_reads_nothing_is_given_up_too() {
    play(Plan::new(2), async |scene| {
        scene.players[1].is_deaf.set(true);
        scene.whole_league().await;
        assert_eq!(scene.players[1].port.most.get(), 2, "the first question may still be answered");
        assert_eq!(scene.results().await.len(), 2);
    });
}

#[test]
fn a_player_nobody_can_reach_costs_the_others_little() {
    for door in [Door::Shut, Door::Nowhere] {
        play(Plan { seed: Some(3), ..Plan::new(4) }, async |scene| {
            scene.register_all().await;
            scene.players[2].port.door.set(door);
            scene.admin("start").await;
            scene.leaguebox.league_over().await;
            assert_eq!(scene.players[2].port.most.get(), 1);
            assert!([0, 1, 3].iter().all(|&player| is_told_everything(&scene.players[player])));
            let report = scene.get("/api/players/P03.json").await.json();
            let rules: Vec<_> =
                report["compliance"].as_array().unwrap().iter().map(|row| row["rule"].clone()).collect();
            let rule = if door == Door::Shut { "unreachable" } else { "no_answer" };
            assert!(rules.iter().any(|broken| broken == rule), "{report}");
        });
    }
}

#[test]
fn a_connection_that_breaks_within_an_answer_is_asked_again() {
    for seed in 0..20 {
        let plan = Plan { seed: Some(seed), ..Plan::new(4) };
        let breaks_once = |heard: &Heard, _| match heard.call["params"]["message_type"].as_str() {
            Some("CHOOSE_PARITY_CALL") if heard.connection == 1 => Does::Cut,
            Some("GAME_OVER") if heard.connection == 2 => Does::Close,
            _ => Does::Answer,
        };
        play(plan.with(0, breaks_once), async |scene| {
            scene.whole_league().await;
            let player = &scene.players[0];
            assert_eq!(player.port.most.get(), 1);
            assert_eq!(player.names().iter().filter(|name| *name == "CHOOSE_PARITY_CALL").count(), 4);
            assert_eq!(technical_losses(&scene.results().await), 0, "seed {seed}");
        });
    }
}

#[test]
fn an_answer_that_drips_counts_if_it_is_whole_by_the_deadline() {
    let drips = |heard: &Heard, _| if heard.name() == "CHOOSE_PARITY_CALL" { Does::Drip(20) } else { Does::Answer };
    play(Plan { seed: Some(4), ..Plan::new(2) }.with(0, drips), async |scene| {
        scene.whole_league().await;
        assert_eq!(scene.players[0].names().len(), 7);
        assert_eq!(technical_losses(&scene.results().await), 0);
    });
}

#[test]
fn a_reply_longer_than_any_buffer_is_unusable_and_never_unreachable() {
    let long = |heard: &Heard, _| if heard.name() == "GAME_INVITATION" { Does::Long(4000) } else { Does::Answer };
    for seed in [None, Some(1), Some(2), Some(3)] {
        play(Plan { seed, ..Plan::new(2) }.small(1024).with(1, long), async |scene| {
            scene.whole_league().await;
            let report = scene.get("/api/players/P02.json").await.json();
            let rules: Vec<_> =
                report["compliance"].as_array().unwrap().iter().map(|row| row["rule"].as_str().unwrap()).collect();
            assert_eq!(rules, ["reply_too_long"], "{report}");
            let log = scene.get("/api/log.jsonl").await.body;
            assert!(!log.contains("CIRCUIT") && !log.contains("E009"), "{log}");
        });
    }
}

#[test]
fn a_reply_longer_than_the_slots_buffer_counts_if_a_larger_one_holds_it() {
    let long = |_: &Heard, _| Does::Long(2000);
    for seed in [None, Some(1), Some(2), Some(3)] {
        play(Plan { seed, ..Plan::new(2) }.small(1024).with(1, long).with(0, long), async |scene| {
            scene.whole_league().await;
            let report = scene.get("/api/players/P02.json").await.json();
            assert_eq!(report["violations"], 0, "{report}");
            assert_eq!(technical_losses(&scene.results().await), 0);
        });
    }
}

#[test]
fn a_message_longer_than_the_slots_buffer_arrives_whole() {
    let told = |line, seed| {
        play(Plan { seed, ..Plan::new(4) }.small(line), async |scene| {
            scene.whole_league().await;
            let texts = |player: &Player<'_>| {
                let heard = player.heard.borrow();
                heard.iter().map(|heard| (heard.name().to_owned(), without_time(&heard.call))).collect::<Vec<_>>()
            };
            scene.players.iter().map(texts).collect::<Vec<_>>()
        })
    };
    let whole = told(4096, None);
    for (line, seed) in [(400, None), (500, Some(1)), (700, Some(2)), (1000, Some(3))] {
        assert_eq!(told(line, seed), whole, "a buffer of {line} bytes");
    }
}

#[test]
fn who_reads_slowly_is_never_told_half_of_two_tables() {
    // Who sits a round out can still be reading the last table when the next round is over, which does not wait for it.
    let rests = |heard: &Heard, _| if heard.name() == "GAME_OVER" { Does::Rest(3_000) } else { Does::Answer };
    for player in 0..5 {
        for line in [400, 512] {
            let plan = Plan { seed: Some(line as u64), window: 256, ..Plan::new(5) }.small(line);
            play(plan.with(player, rests), async |scene| {
                scene.whole_league().await;
                let tables = |player| {
                    let heard = calls(player, "LEAGUE_STANDINGS_UPDATE").into_iter();
                    heard.map(|mut heard| heard.call["params"]["standings"].take()).collect::<Vec<_>>()
                };
                let others = tables(&scene.players[(player + 1) % 5]);
                let player = &scene.players[player];
                let mixed = tables(player).into_iter().find(|table| !others.contains(table));
                assert_eq!(mixed, None, "nobody else was ever told this");
                assert_eq!(player.names().last().unwrap(), "LEAGUE_COMPLETED");
                assert_eq!(technical_losses(&scene.results().await), 0);
            });
        }
    }
}

/// A call without what depends on when it was made.
fn without_time(call: &serde_json::Value) -> serde_json::Value {
    let mut call = call.clone();
    call["id"].take();
    call["params"]["timestamp"].take();
    call["params"]["deadline"].take();
    call
}
