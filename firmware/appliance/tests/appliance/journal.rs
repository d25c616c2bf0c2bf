//! A whole box with a slow flash: nothing leaves it, be it an answer, a page or a call, before what it tells is in flash.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::net_support::{Does, Heard, Plan, Scene, World, play};
use appliance::clock::Clock;
use appliance::journal::ram::{RamError, RamFlash};
use appliance::journal::{Chosen, FRAME, Log, State, Trouble, restore};
use embassy_futures::block_on;
use embassy_futures::select::{Either, select};
use embedded_storage_async::nor_flash::{ErrorType, MultiwriteNorFlash, NorFlash, ReadNorFlash};
use protocol_core::fair::Seed;
use protocol_core::ids::MatchId;
use protocol_core::journal::Entry;
use protocol_core::journal::bytes::Writer;
use protocol_core::journal::frame::FRAME_BYTES;
use protocol_core::venue::{Config, Space, Stage, Venue};
use serde_json::json;

/// What is in the flash, for whoever wants to look.
pub type Bytes = Rc<RefCell<RamFlash<Vec<u8>>>>;

pub fn blank() -> Bytes {
    Rc::new(RefCell::new(RamFlash::new(vec![0xff; 16 * 2048])))
}

/// A flash that takes its time.
pub struct Slow<'w> {
    ram: Bytes,
    world: &'w World,
    /// What reading a whole frame takes, in milliseconds.
    pub reads_for: Rc<Cell<u64>>,
    /// Frames that were read.
    pub frames: Rc<Cell<u32>>,
}

impl<'w> Slow<'w> {
    pub fn new(ram: &Bytes, world: &'w World) -> Self {
        Self { ram: ram.clone(), world, reads_for: Rc::default(), frames: Rc::default() }
    }
}

impl ErrorType for Slow<'_> {
    type Error = RamError;
}

impl ReadNorFlash for Slow<'_> {
    const READ_SIZE: usize = 4;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), RamError> {
        self.world.sleep(if bytes.len() > 64 { self.reads_for.get() } else { 0 }).await;
        self.frames.set(self.frames.get() + u32::from(bytes.len() > 64));
        let mut ram = self.ram.borrow().clone();
        ram.read(offset, bytes).await
    }

    fn capacity(&self) -> usize {
        self.ram.borrow().capacity()
    }
}

impl NorFlash for Slow<'_> {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = 2048;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), RamError> {
        block_on(self.ram.borrow_mut().erase(from, to))
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), RamError> {
        self.world.sleep_until(self.world.after(40)).await;
        block_on(self.ram.borrow_mut().write(offset, bytes))
    }
}

impl MultiwriteNorFlash for Slow<'_> {}

/// The venue as the next start would find it.
fn kept(bytes: &Bytes) -> Venue<'static> {
    let config = Config::default();
    let space = Box::leak(Box::new(Space::<8, 4, 28, 64, 8192, 16_384>::new()));
    let mut venue = Venue::new(space.lend(), config, Seed([7; 32]), Seed([8; 32]));
    let mut log = Log::new(bytes.borrow().clone());
    let found = block_on(restore(&mut log, &mut venue, &mut [0; FRAME], |_| {}));
    assert_eq!(found, Ok(true));
    venue
}

/// Runs the journal beside a script.
async fn beside(scene: Scene<'_, '_>, bytes: &Bytes, script: impl AsyncFnOnce()) {
    let (mut frame, flash) = ([0; FRAME], Slow::new(bytes, scene.world));
    let mut journal = scene.leaguebox.resume(flash, &mut frame, Chosen::default()).await;
    match select(scene.leaguebox.keep_journal(&mut journal, &mut frame), script()).await {
        Either::First(never) => never,
        Either::Second(()) => {}
    }
}

#[test]
fn nothing_is_said_before_it_is_in_flash() {
    for seed in 0..6 {
        let bytes = blank();
        let mut plan = Plan { seed: Some(seed), ..Plan::new(4) };
        for player in 0..4 {
            let bytes = bytes.clone();
            plan = plan.with(player, move |heard: &Heard, _| {
                let venue = kept(&bytes);
                assert_ne!(venue.stage(), Stage::Waiting, "whoever is called plays in a league that has begun");
                let message = &heard.call["params"];
                if heard.name() == "GAME_OVER" {
                    let id = MatchId::read(message["match_id"].as_str().unwrap()).unwrap();
                    assert!(venue.record(id).is_some(), "{id} is told");
                }
                if heard.name() == "ROUND_COMPLETED" {
                    let round = message["round_id"].as_u64().unwrap() as u16;
                    assert!(venue.matches_of(round).all(|id| venue.record(id).is_some()), "round {round} is told");
                }
                Does::Answer
            });
        }
        play(plan, async |scene| {
            beside(scene, &bytes, async || {
                for (index, player) in scene.players.iter().enumerate() {
                    scene.register(player).await;
                    assert_eq!(kept(&bytes).players().len(), index + 1, "whoever is accepted is in");
                }
                assert_eq!(scene.admin("start").await.status, 200);
                assert_ne!(kept(&bytes).stage(), Stage::Waiting, "what the owner is told has happened");
                while !scene.leaguebox.venue(Venue::is_over) {
                    let shown = scene.get("/api/results.csv").await.body;
                    let venue = kept(&bytes);
                    for line in shown.lines().skip(1) {
                        let id = MatchId::read(line.split(',').nth(1).unwrap()).unwrap();
                        assert!(venue.record(id).is_some(), "{id} is shown");
                    }
                    scene.world.sleep_until(scene.world.after(25)).await;
                }
                assert_eq!(scene.get("/api/status.json").await.json()["journal"], "ok");
                scene.leaguebox.league_over().await;
            })
            .await;
        });
    }
}

#[test]
fn leagues_that_have_ended_are_listed_newest_first_and_their_standings_stay_readable() {
    for seed in [None, Some(3), Some(4)] {
        let bytes = blank();
        let mut standings = Vec::new();
        play(Plan { seed, ..Plan::new(4) }, async |scene| {
            let off = scene.get("/api/leagues.json").await.json();
            assert_eq!(off, json!({"journal": "off", "leagues": []}));
            beside(scene, &bytes, async || {
                let none = scene.get("/api/leagues.json").await.json();
                assert_eq!(none, json!({"journal": "ok", "leagues": []}));
                scene.whole_league().await;
                standings.push(scene.get("/api/standings.json").await.json()["standings"].take());
                assert_eq!(scene.admin("rematch").await.status, 200);
                scene.leaguebox.league_over().await;
                standings.push(scene.get("/api/standings.json").await.json()["standings"].take());
                let listed = scene.get("/api/leagues.json").await.json()["leagues"].take();
                assert_eq!(listed.as_array().unwrap().len(), 2, "one that has just ended is among them: {listed}");
                assert_eq!(scene.admin("reset").await.status, 200);
            })
            .await;
        });
        // The next start finds them, and a league that is being played is none of them.
        play(Plan { seed, ..Plan::new(3) }, async |scene| {
            beside(scene, &bytes, async || {
                scene.register_all().await;
                assert_eq!(scene.admin("start").await.status, 200);
                let listed = scene.get("/api/leagues.json").await.json()["leagues"].take();
                let numbers: Vec<_> = listed.as_array().unwrap().iter().map(|league| &league["league"]).collect();
                assert_eq!(numbers, [2, 1], "{listed}");
                for (number, standings) in (1..).zip(&standings) {
                    let mut page = scene.get(&format!("/api/leagues/{number}.json")).await.json();
                    // Which places were shared is known while the league is.
                    let mut kept = standings.clone();
                    kept.as_array_mut().unwrap().iter_mut().for_each(|row| drop(row["place"].take()));
                    let mut told = page["standings"].take();
                    told.as_array_mut().unwrap().iter_mut().for_each(|row| row["place"] = json!(null));
                    assert_eq!(told, kept);
                    let champion = &standings[0];
                    assert_eq!(page["league_id"], format!("league_even_odd_{number}"));
                    assert_eq!(
                        (&page["game_type"], &page["players"], &page["matches"]),
                        (&json!("even_odd"), &json!(4), &json!(6))
                    );
                    for field in ["player_id", "display_name", "points"] {
                        assert_eq!(page["champion"][field], champion[field]);
                    }
                    assert!(page["ended_at"].as_str().unwrap().starts_with("2025-01-15T10:"), "{page}");
                    let line = &listed[2 - number as usize];
                    page.as_object_mut().unwrap().remove("standings");
                    assert_eq!(page, *line);
                }
                for path in [
                    "/api/leagues/3.json",
                    "/api/leagues/0.json",
                    "/api/leagues/99999999999.json",
                    "/api/leagues/x.json",
                ] {
                    assert_eq!(scene.get(path).await.status, 404, "{path}");
                }
                scene.leaguebox.league_over().await;
                assert_eq!(scene.get("/api/leagues/3.json").await.json()["players"], 3);
            })
            .await;
        });
    }
}

#[test]
fn players_who_come_and_go_do_not_fill_the_flash() {
    let bytes = blank();
    play(Plan::new(4), async |scene| {
        beside(scene, &bytes, async || {
            for number in 0..400_u32 {
                let mut client = scene.dial().await;
                let message = json!({"jsonrpc": "2.0", "method": "register_player", "id": 1, "params": {"player_meta": {
                    "display_name": format!("Somebody with a name, number {number}"), "version": "1.0.0",
                    "contact_endpoint": format!("http://localhost:{}/mcp", 9000 + number)}}});
                let seen = client.ask("POST", "/mcp", "", &message.to_string()).await.unwrap().json();
                assert_eq!(seen["result"]["status"], "ACCEPTED", "{seen}");
                let message = json!({"jsonrpc": "2.0", "method": "deregister_player", "id": 2,
                    "params": {"auth_token": seen["result"]["auth_token"]}});
                let seen = client.ask("POST", "/mcp", "", &message.to_string()).await.unwrap();
                assert!(scene.leaguebox.venue(|venue| venue.players().is_empty()), "{seen:?}");
                // Not faster than the box lets them.
                scene.world.sleep(2_000).await;
            }
            assert_eq!(scene.get("/api/status.json").await.json()["journal"], "ok");
            scene.whole_league().await;
        })
        .await;
    });
    assert_eq!(kept(&bytes).players().len(), 4);
}

#[test]
fn a_flash_that_dies_in_the_league_is_told_and_the_league_is_played_on() {
    for power in [40, 250, 500, 600] {
        let bytes = blank();
        bytes.borrow_mut().power = power;
        play(Plan::new(4), async |scene| {
            beside(scene, &bytes, async || {
                scene.whole_league().await;
                let status = scene.get("/api/status.json").await.json();
                assert_eq!(status["state"], "COMPLETED");
                assert_eq!(status["journal"], "failed: the flash does not keep what is written", "power for {power}");
                let message = status["message"].as_str().unwrap();
                assert!(message.starts_with("From here on nothing survives a power cut"), "{message}");
                assert_eq!(scene.leaguebox.journal(), State::Failed(Trouble::Write));
            })
            .await;
        });
    }
}

/// Plays a league on this flash: what the status says of the journal afterwards.
fn journal_after_a_league(bytes: &Bytes) -> String {
    let mut journal = String::new();
    play(Plan::new(4), async |scene| {
        beside(scene, bytes, async || {
            if scene.leaguebox.venue(|venue| venue.stage() == Stage::Waiting) {
                scene.whole_league().await;
            }
            scene.leaguebox.league_over().await;
            let status = scene.get("/api/status.json").await.json();
            assert_eq!((&status["state"], &status["matches_completed"]), (&json!("COMPLETED"), &json!(6)), "{status}");
            let message = status["message"].as_str().unwrap();
            assert!(message.contains("From here on nothing survives a power cut"), "{message}");
            journal = status["journal"].as_str().unwrap().to_owned();
        })
        .await;
    });
    journal
}

#[test]
fn a_sector_that_cannot_be_erased_is_told_and_the_league_is_played_all_the_same() {
    let bytes = blank();
    {
        let mut flash = bytes.borrow_mut();
        flash.bytes[2 * 2048..3 * 2048].fill(0);
        flash.bad = Some(2);
    }
    assert_eq!(journal_after_a_league(&bytes), "failed: the flash cannot be erased");
}

#[test]
fn a_flash_that_one_league_has_filled_is_told_and_the_league_is_played_to_its_end() {
    let bytes = blank();
    play(Plan::new(4), async |scene| {
        beside(scene, &bytes, async || {
            scene.register_all().await;
            assert_eq!(scene.admin("start").await.status, 200);
            assert_eq!(scene.admin("pause").await.status, 200);
        })
        .await;
    });
    // The owner could not decide.
    let mut buf = [0; FRAME];
    let mut log = Log::new(bytes.borrow().clone());
    assert_eq!(block_on(log.open(&mut buf)), Ok(true));
    let full = (0..10_000).find_map(|_| {
        let mut out = Writer::new(&mut buf[FRAME_BYTES..]);
        Entry::Paused.write(&mut out).and_then(|()| Entry::Unpaused.write(&mut out)).unwrap();
        let entries = out.len();
        block_on(log.append(&mut buf, entries)).err()
    });
    assert_eq!(full, Some(Trouble::Full));
    *bytes.borrow_mut() = log.into_flash();
    assert_eq!(journal_after_a_league(&bytes), "failed: it is full");
}

#[test]
fn a_box_that_resumes_says_so_and_a_damaged_journal_is_kept_until_the_owner_resets() {
    let bytes = blank();
    play(Plan::new(4), async |scene| {
        beside(scene, &bytes, async || {
            scene.register_all().await;
            assert_eq!(scene.get("/api/status.json").await.json()["resumed_at"], json!(null));
        })
        .await;
    });
    play(Plan::new(4), async |scene| {
        beside(scene, &bytes, async || {
            let status = scene.get("/api/status.json").await.json();
            assert_eq!((&status["players"], &status["resumed_at"]), (&json!(4), &json!("2025-01-15T10:30:00Z")));
            assert_eq!(status["message"], "4 players are here. Waiting for the teacher to start.");
            scene.whole_league().await;
            scene.world.sleep_until(scene.world.after(5000)).await;
            let later = scene.get("/api/status.json").await.json();
            assert_ne!(later["time"], status["time"]);
            assert_eq!(later["resumed_at"], status["resumed_at"], "it stands still");
        })
        .await;
    });
    // The first frame of the league is changed: it is not what was written.
    let first = 2048 + 30;
    bytes.borrow_mut().bytes[first] ^= 0x55;
    let before = bytes.borrow().bytes.clone();
    play(Plan::new(4), async |scene| {
        beside(scene, &bytes, async || {
            let status = scene.get("/api/status.json").await.json();
            assert_eq!((&status["players"], &status["state"]), (&json!(0), &json!("WAITING")), "{status}");
            assert_eq!(status["journal"], "failed: it is damaged");
            assert!(status["message"].as_str().unwrap().contains("kept until the teacher resets"), "{status}");
            scene.whole_league().await;
            assert_eq!(bytes.borrow().bytes, before, "it is kept");
            assert_eq!(scene.admin("reset").await.status, 200);
            while scene.get("/api/status.json").await.json()["journal"] != "ok" {
                scene.world.sleep_until(scene.world.after(100)).await;
            }
            scene.whole_league().await;
        })
        .await;
    });
    assert_eq!(kept(&bytes).players().len(), 4);
}

#[test]
fn a_league_whose_beginning_is_damaged_is_told_and_kept_and_the_one_before_it_can_be_recovered() {
    let bytes = blank();
    play(Plan::new(4), async |scene| {
        beside(scene, &bytes, async || {
            assert_eq!(scene.admin("recover").await.status, 409, "nothing is wrong");
            scene.register_all().await;
            scene.whole_league().await;
            assert_eq!(scene.admin("rematch").await.status, 200);
            scene.leaguebox.league_over().await;
            assert_eq!(scene.admin("reset").await.status, 200);
            scene.world.sleep(1_000).await;
        })
        .await;
    });
    // The last chapter is one frame, in the last sector there is.
    let last = bytes.borrow().bytes.chunks(2048).rposition(|sector| sector.starts_with(b"LBjr")).unwrap();
    bytes.borrow_mut().bytes[last * 2048 + 40] ^= 1;
    let before = bytes.borrow().bytes.clone();
    let recoverable = json!({"league": 2, "players": 4, "results": 6});
    play(Plan::new(4), async |scene| {
        beside(scene, &bytes, async || {
            let status = scene.get("/api/status.json").await.json();
            assert_eq!(
                (&status["journal"], &status["players"]),
                (&json!("failed: it is damaged"), &json!(0)),
                "{status}"
            );
            assert_eq!(status["journal_recoverable"], recoverable);
            let message = status["message"].as_str().unwrap();
            assert!(
                message.contains(
                    "recovers what is sound of it (league 2 with 4 players and 6 results): POST /api/admin/recover"
                ),
                "{message}"
            );
            assert_eq!(scene.get("/health").await.json()["journal"], "failed: it is damaged");
            scene.register_all().await;
            assert_eq!(scene.admin("start").await.status, 200);
            assert_eq!(scene.admin("recover").await.status, 409, "a league is being played");
            scene.leaguebox.league_over().await;
            assert_eq!(bytes.borrow().bytes, before, "it is kept");
            assert_eq!(scene.admin("recover").await.status, 200);
            while scene.get("/api/status.json").await.json()["journal"] != "ok" {
                scene.world.sleep(100).await;
            }
            let status = scene.get("/api/status.json").await.json();
            assert_eq!((&status["state"], &status["matches_completed"]), (&json!("COMPLETED"), &json!(6)), "{status}");
            assert_eq!(status["journal_recoverable"], json!(null));
            assert_eq!(scene.admin("rematch").await.status, 200);
            scene.leaguebox.league_over().await;
        })
        .await;
    });
    let venue = kept(&bytes);
    assert_eq!((venue.players().len(), venue.league_id().number, venue.results_kept()), (4, 3, 6));
}

#[test]
fn damage_to_a_league_of_the_past_is_told_and_hinders_nobody() {
    let bytes = blank();
    play(Plan::new(4), async |scene| {
        beside(scene, &bytes, async || {
            scene.register_all().await;
            scene.whole_league().await;
            assert_eq!(scene.admin("rematch").await.status, 200);
            scene.leaguebox.league_over().await;
        })
        .await;
    });
    bytes.borrow_mut().bytes[2048 + 40] ^= 1;
    play(Plan::new(4), async |scene| {
        beside(scene, &bytes, async || {
            let status = scene.get("/api/status.json").await.json();
            assert_eq!((&status["journal"], &status["players"]), (&json!("ok"), &json!(4)), "{status}");
            assert_eq!(status["journal_past"], "damaged");
            assert!(status["message"].as_str().unwrap().contains("a league of the past is damaged"), "{status}");
            assert_eq!(scene.get("/health").await.json()["journal_past"], "damaged");
            assert_eq!(scene.admin("rematch").await.status, 200);
            scene.leaguebox.league_over().await;
        })
        .await;
    });
    assert_eq!(kept(&bytes).league_id().number, 3);
}
