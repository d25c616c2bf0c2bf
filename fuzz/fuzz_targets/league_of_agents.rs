//! Whatever an agent sends is a message or has a name for what is wrong with it, and a name that is taken is a good one.
#![no_main]

use protocol_core::games::GameKind;
use protocol_core::json::{self, ErrorKind};
use protocol_core::protocols::league_of_agents::incoming::{Message, read_registration};
use protocol_core::protocols::league_of_agents::outgoing::Notice;
use protocol_core::protocols::league_of_agents::{Trouble, Uuid, game};

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    match Message::read(text) {
        Ok(Message::Authenticate { token: id }) | Ok(Message::SubscribeGame { game_id: id }) => {
            if let Some(id) = id.and_then(|id| Uuid::read(id.chars())) {
                assert_eq!(Uuid::read(id.text().chars()), Some(id));
            }
        }
        Ok(Message::JoinQueue { game_type }) => {
            let kind: Option<GameKind> = game_type.and_then(|name| game(name).ok());
            assert!(kind.is_none_or(|kind| game_type.is_some_and(|name| name.is(kind.rules().name))));
        }
        Ok(Message::SubmitMove { wanted, .. }) => assert!(wanted.is_none_or(|wanted| !wanted.is_null())),
        Ok(Message::Ping) => {}
        Err(trouble) => {
            let expected = json::parse(text).err().map(|error| match error.kind {
                ErrorKind::TooDeep => Trouble::TooDeep,
                ErrorKind::TooManyValues => Trouble::TooManyValues,
                ErrorKind::LoneSurrogate => Trouble::LoneSurrogate,
                _ => Trouble::InvalidJson,
            });
            assert!(expected.is_none_or(|expected| trouble == expected));
            assert!(expected.is_some() || trouble == Trouble::UnknownType);
            assert!(json::count(&Notice::refused(trouble, None)) > 2);
        }
    }
    if let Ok(name) = read_registration::<64>(text) {
        assert!((2..=32).contains(&name.chars().count()));
        assert_eq!(name.trim(), name);
        // Letters have marks on them in many scripts; signs that steer a text, such as its direction, are none.
        let is_mark = |c| !matches!(c, '\0'..='\u{2ff}' | '\u{2000}'..='\u{2fff}' | '\u{e000}'..);
        assert!(name.chars().all(|c| c.is_alphanumeric() || is_mark(c) || " -_.".contains(c)));
    }
});
