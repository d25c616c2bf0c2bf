//! Whatever is sent as a move of chess is one or is refused by a rule and changes nothing. Every move that is listed is taken, and told
//! as it was listed. A line is a text that is tried; a byte above 127 in it picks a listed move instead, so that games get somewhere.
#![no_main]

use std::ops::ControlFlow;

use protocol_core::fair::{Draws, Seed};
use protocol_core::games::{AnyGame, Game, GameKind, MoveSink};
use protocol_core::json;
use serde::Serialize;

struct All(Vec<String>);

impl MoveSink for All {
    fn take(&mut self, legal: &str) -> ControlFlow<()> {
        self.0.push(legal.to_owned());
        ControlFlow::Continue(())
    }
}

libfuzzer_sys::fuzz_target!(|lines: &[u8]| {
    let mut draws = Draws::new(Seed([0; 32]));
    let mut game = AnyGame::start(GameKind::Chess, 2, &mut draws);
    for line in lines.split(|&byte| byte == b'\n').take(300) {
        let Some(seat) = game.to_move().alone() else { break };
        let before = format!("{game:?}");
        let wish = serde_json::to_string(&String::from_utf8_lossy(line)).expect("a text is JSON");
        let mut all = All(Vec::new());
        game.legal_moves(seat, &mut all);
        match (json::parse(wish.as_bytes()).map(|wanted| game.play(seat, wanted, &mut draws)), line.first()) {
            (Ok(Ok(())), _) => {
                let told = serde_json::to_string(&Told(&game, seat)).expect("a move is JSON");
                assert!(all.0.contains(&told), "{wish} was taken as {told}");
            }
            (_, Some(&pick)) if pick > 127 => {
                assert_eq!(format!("{game:?}"), before);
                let picked = &all.0[usize::from(pick) % all.0.len()];
                let wanted = json::parse(picked.as_bytes()).expect("JSON");
                assert_eq!(game.play(seat, wanted, &mut draws), Ok(()), "{picked}");
                assert_eq!(&serde_json::to_string(&Told(&game, seat)).expect("a move is JSON"), picked);
            }
            _ => assert_eq!(format!("{game:?}"), before),
        }
    }
});

/// The last move of a seat.
struct Told<'a>(&'a AnyGame, u8);

impl Serialize for Told<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.last_move(self.1, serializer)
    }
}
