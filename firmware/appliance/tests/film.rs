//! The film on a flash that dies: after a power cut at any byte, every step that can be read is one that was played, and what
//! is played afterwards is kept.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::ops::ControlFlow;

use appliance::journal::ram::RamFlash;
use appliance::journal::{FRAME, Log, spool};
use embassy_futures::block_on;
use protocol_core::fair::Seed;
use protocol_core::games::GameKind;
use protocol_core::ids::MatchId;
use protocol_core::time::{Now, Utc};
use protocol_core::venue::{Command, Config, Event, FilmId, Replay, Space, Step, Venue, Via};
use serde_json::json;

type Film = Log<RamFlash<Vec<u8>>>;

const NOW: Now = Now { ms: 5, utc: Utc(1_736_937_000) };
const LEAGUES: u32 = 2;

/// Steps by match and number, as text.
type Steps = BTreeMap<FilmId, BTreeMap<u16, String>>;

fn flash(sectors: usize) -> RamFlash<Vec<u8>> {
    RamFlash::new(vec![0xff; sectors * 2048])
}

fn opened(flash: RamFlash<Vec<u8>>) -> Film {
    let mut film = Log::new(flash);
    block_on(film.open_film(&mut [0; FRAME])).expect("a sound flash");
    film
}

/// Plays leagues and films them. Where the power does not last it comes back at once, and what was being written is lost.
/// Says which matches were played, in order.
fn play(film: &mut Film) -> Vec<(FilmId, Replay)> {
    let config = Config {
        game: GameKind::EvenOdd10,
        endpoint: "http://10.0.0.1:8000/mcp".try_into().unwrap(),
        ..Config::default()
    };
    let mut venue = Venue::new(
        Box::leak(Box::new(Space::<4, 2, 6, 16, 4096, 16_384>::new())).lend(),
        config,
        Seed([1; 32]),
        Seed([2; 32]),
    );
    for port in 8101..8105 {
        let meta = json!({"display_name": format!("Agent {port}"), "version": "1.0.0", "game_types": ["even_odd_10"],
            "contact_endpoint": format!("http://10.0.0.9:{port}/mcp")});
        let body = json!({"jsonrpc": "2.0", "method": "register_player", "id": 1, "params": {"player_meta": meta}});
        let _ = venue.request(NOW, IpAddr::V4(Ipv4Addr::LOCALHOST), Via::Register, body.to_string().as_bytes());
    }
    let mut played = Vec::new();
    for league in 0..LEAGUES {
        venue.command(NOW, if league == 0 { Command::Start } else { Command::Rematch }).expect("its time has come");
        while !venue.is_over() {
            for player in 0..4 {
                let Some(call) = venue.call(player).map(|call| call.id) else { continue };
                let choice = if (call ^ u32::from(player)) % 3 == 0 { "even" } else { "odd" };
                let body = json!({"jsonrpc": "2.0", "id": call,
                    "result": {"accept": true, "move": {"action": "choose", "value": choice}}});
                let body = body.to_string();
                venue.handle(NOW, Event::Reply { player, call, status: 200, body: body.as_bytes() });
                let written = block_on(async {
                    while spool(film, &mut venue, &mut [0; FRAME]).await? {}
                    Ok(())
                });
                if let Err::<(), appliance::journal::Trouble>(trouble) = written {
                    let mut dead = std::mem::replace(film, Log::new(flash(0))).into_flash();
                    assert_eq!(dead.power, 0, "{trouble}");
                    dead.power = u32::MAX;
                    *film = opened(dead);
                }
            }
        }
        for (round, table) in (1..=3).flat_map(|round| [(round, 1), (round, 2)]) {
            let id = MatchId { round, table };
            played.push((FilmId::of(venue.revealed_seed(id).unwrap()), venue.replay_of(id).unwrap()));
        }
    }
    played
}

/// All steps that can be read of these matches.
fn found(film: &mut Film, played: &[(FilmId, Replay)]) -> Steps {
    let (mut all, mut buf) = (Steps::new(), [0; FRAME]);
    for (of, _) in played {
        let Some(mut place) = block_on(film.first_step(*of, &mut buf, async |_, _| Ok(()))).unwrap() else { continue };
        let steps = all.entry(*of).or_default();
        let take = |step: &Step<'_>| {
            if step.of == *of {
                assert!(steps.insert(step.number, format!("{step:?}")).is_none(), "no step is there twice");
            }
            ControlFlow::Continue(())
        };
        let reading = film.steps(&mut place, &mut buf, take, async |_, _| Ok(()));
        assert_eq!(block_on(reading), Ok(false));
    }
    all
}

#[test]
fn after_a_power_cut_at_any_byte_every_step_is_one_that_was_played_and_later_matches_are_whole() {
    let mut film = opened(flash(16));
    let played = play(&mut film);
    let spent = film.flash_mut().spent;
    let whole = found(&mut film, &played);
    assert_eq!((whole.len(), whole.values().map(BTreeMap::len).sum::<usize>()), (12, 12 * 21));
    for power in (1..spent).step_by(151) {
        let mut film = opened(RamFlash { power, ..flash(16) });
        assert_eq!(play(&mut film).len(), 12);
        let mut again = opened(film.into_flash());
        let left = found(&mut again, &played);
        for (of, steps) in &left {
            assert!(steps.iter().all(|(number, step)| whole[of].get(number) == Some(step)), "power for {power}");
        }
        let missing: usize = played.iter().filter(|(of, _)| left.get(of) != whole.get(of)).count();
        assert!(missing <= 2, "power for {power}: a cut costs the matches of its moment, not {missing}");
    }
}

#[test]
fn a_full_ring_keeps_the_newest() {
    let mut film = opened(flash(4));
    let played = play(&mut film);
    assert!(film.flash_mut().erased >= 2, "it went round");
    let mut again = opened(film.into_flash());
    let left = found(&mut again, &played);
    let is_whole = |of: &FilmId| left.get(of).is_some_and(|steps| steps.len() == 21);
    let first = played.iter().position(|(of, _)| is_whole(of)).expect("some are there");
    assert!((1..10).contains(&first) && played.iter().skip(first + 1).all(|(of, _)| is_whole(of)), "{first}");
}

#[test]
fn a_flash_full_of_something_else_becomes_a_film() {
    let mut strange = flash(16);
    strange.bytes.iter_mut().zip(0u32..).for_each(|(byte, at)| *byte = (at.wrapping_mul(2_654_435_761) >> 13) as u8);
    let mut film = opened(strange);
    let played = play(&mut film);
    assert_eq!(found(&mut film, &played).len(), 12);
}
