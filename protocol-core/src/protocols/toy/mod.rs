//! The smallest protocol there can be, which only tests speak: three words, for players that ask and are never called. It shows
//! what a protocol takes: this folder, and a line in the list of protocols.
//!
//! ```text
//! join Ada     "welcome 7", and 7 is what Ada says from then on; or "refused"
//! look 7       "wait", "move", or "over"
//! play 7 M     M is a move as JSON: "taken", "refused" and why, or "not now"
//! ```

mod session;
#[cfg(test)]
mod tests;

use core::fmt::{self, Display};
use core::net::IpAddr;

pub use session::Session;

use crate::contact::Contact;
use crate::games::{GameSet, Illegal};
use crate::json;
use crate::protocols::AnySession;
use crate::referee::{Heard, Phase};
use crate::season::Compliance;
use crate::time::Now;
use crate::venue::{Applicant, NotAdmitted, Player, Seating, Stage, Venue};

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Welcome(u32),
    NotAdmitted(NotAdmitted),
    Wait,
    Move,
    Over,
    Taken,
    Refused(Illegal),
    NotNow,
    NotUnderstood,
}

impl Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Welcome(key) => write!(f, "welcome {key}"),
            Answer::NotAdmitted(why) => write!(f, "refused {why:?}"),
            Answer::Wait => f.write_str("wait"),
            Answer::Move => f.write_str("move"),
            Answer::Over => f.write_str("over"),
            Answer::Taken => f.write_str("taken"),
            Answer::Refused(Illegal(why)) => write!(f, "refused {why}"),
            Answer::NotNow => f.write_str("not now"),
            Answer::NotUnderstood => f.write_str("say join, look or play"),
        }
    }
}

/// Hears a line, and answers it.
pub fn hear(venue: &mut Venue<'_>, now: Now, from: IpAddr, line: &str) -> impl Display + use<> {
    let answer = answer(venue, now, from, line).unwrap_or(Answer::NotUnderstood);
    venue.advance(now);
    answer
}

fn answer(venue: &mut Venue<'_>, now: Now, from: IpAddr, line: &str) -> Option<Answer> {
    let (verb, rest) = line.split_once(' ')?;
    let (key, wanted) = rest.split_once(' ').unwrap_or((rest, ""));
    Some(match verb {
        "join" => join(venue, now, from, rest)?,
        "look" => look(venue, speaker(venue, key)?),
        "play" => {
            let (line, wanted) = (speaker(venue, key)?, json::parse(wanted.as_bytes()).ok()?);
            match venue.make_move(now, line, wanted) {
                Some(Heard::Taken) => Answer::Taken,
                Some(Heard::Refused(rule)) => Answer::Refused(rule),
                Some(Heard::Duplicate) | None => Answer::NotNow,
            }
        }
        _ => return None,
    })
}

fn join(venue: &mut Venue<'_>, now: Now, from: IpAddr, name: &str) -> Option<Answer> {
    let applicant = Applicant {
        name: name.try_into().ok()?,
        version: Default::default(),
        contact: Contact::DialsIn(from),
        games: GameSet::ALL,
        suggested: None,
        compliance: Compliance::new(),
        session: AnySession::Toy(Session),
        plays_beside: false,
    };
    Some(match venue.admit(applicant) {
        Ok(index) => {
            let (key, id) = venue.player(index).map(|player| (player.issue, player.id()))?;
            venue.entered(now, id);
            Answer::Welcome(key)
        }
        Err(why) => Answer::NotAdmitted(why),
    })
}

/// The line of whoever says this key.
fn speaker(venue: &Venue<'_>, key: &str) -> Option<u16> {
    let issue = key.parse().ok()?;
    venue.line_of(issue).filter(|&line| venue.player(line).is_some_and(speaks_this))
}

fn speaks_this(player: &Player) -> bool {
    matches!(player.session, AnySession::Toy(_))
}

fn look(venue: &Venue<'_>, line: u16) -> Answer {
    let seating = venue.player(line).and_then(|player| player.seating);
    let table = seating.and_then(|Seating { slot, seat }| Some((venue.table_at(slot)?, seat)));
    match table {
        Some((table, seat)) if table.play.phase() != Phase::WaitingForPlayers && table.play.hears(seat) => Answer::Move,
        _ if venue.stage() == Stage::Completed => Answer::Over,
        _ => Answer::Wait,
    }
}
