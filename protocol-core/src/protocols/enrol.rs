//! Agents that register by nothing but a name, in whatever protocol: what the name may be, who gets in, and what they show from
//! then on that they are who they say.

use core::fmt;
use core::net::IpAddr;

use heapless::String;

use super::AnySession;
use crate::contact::Contact;
use crate::games::GameSet;
use crate::json::{self, Value};
use crate::log::Happening;
use crate::season::Compliance;
use crate::time::{Now, Utc};
use crate::uuid::Uuid;
use crate::venue::{Applicant, NAME_BYTES, NotAdmitted, Player, Venue, name};

/// What an agent wants registered, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enrolment {
    /// It is in, by this registration. (Lines move up when somebody leaves.)
    Done(u32, Utc),
    /// Its name will not do.
    Refused(RefusedName),
    /// There is no room.
    Full,
    /// There is none for one more from its address.
    TooMany,
}

impl Enrolment {
    /// The HTTP status of the answer.
    pub fn status(self) -> u16 {
        match self {
            Enrolment::Done(..) => 201,
            Enrolment::Refused(refused) => refused.status(),
            Enrolment::Full => 503,
            // Waiting does not help.
            Enrolment::TooMany => 403,
        }
    }

    /// Why somebody is not in; empty where it is.
    pub fn text(self) -> &'static str {
        match self {
            Enrolment::Done(..) => "",
            Enrolment::Refused(refused) => refused.text(),
            Enrolment::Full => "The box has no room for another agent.",
            Enrolment::TooMany => {
                "Too many players from this address; per_address in the settings, or --per-address, allows more."
            }
        }
    }
}

/// Registers an agent, by the body of its request. Before the league begins it is one of its players, if it plays `games` at all
/// there; later it plays beside it.
pub(super) fn enrol(
    venue: &mut Venue<'_>,
    now: Now,
    from: IpAddr,
    body: &[u8],
    (session, games): (AnySession, GameSet),
) -> Enrolment {
    let enrolment = match read_registration::<NAME_BYTES>(body) {
        Ok(name) if !name::is_fit(&name) => Enrolment::Refused(RefusedName::BadCharacter),
        Ok(name) => admit(venue, now, from, name, (session, games)),
        Err(refused) => Enrolment::Refused(refused),
    };
    match enrolment {
        Enrolment::Done(..) => venue.advance(now),
        refused => venue.note(now, None, None, Happening::Rejected(refused.text())),
    }
    enrolment
}

fn admit(
    venue: &mut Venue<'_>,
    now: Now,
    from: IpAddr,
    name: String<NAME_BYTES>,
    (session, games): (AnySession, GameSet),
) -> Enrolment {
    let applicant = Applicant {
        name,
        version: Default::default(),
        contact: Contact::DialsIn(from.to_canonical()),
        games,
        suggested: None,
        compliance: Compliance::new(),
        session,
        plays_beside: true,
    };
    let index = match venue.admit(applicant) {
        Ok(index) => index,
        Err(NotAdmitted::Name) => return Enrolment::Refused(RefusedName::Taken),
        Err(NotAdmitted::TooMany) => return Enrolment::TooMany,
        Err(NotAdmitted::Full | NotAdmitted::Closed | NotAdmitted::Game) => return Enrolment::Full,
    };
    let Some((issue, id)) = venue.player(index).map(|player| (player.issue, player.id())) else {
        return Enrolment::Full;
    };
    venue.entered(now, id);
    Enrolment::Done(issue, now.utc)
}

/// What is derived for an agent: what others call it, and its key in each protocol.
const AGENT_ID: u32 = 2;

impl Venue<'_> {
    /// What others call a player where ids are of the usual form. It is derived, not stored.
    pub(super) fn agent_id(&self, player: &Player) -> Uuid {
        Uuid::new(self.derive([AGENT_ID, player.number.into(), player.issue]))
    }

    /// What a player shows that it is who it says. It begins with the number of its registration, by which it is found. Of
    /// each protocol, by its `role`, another one.
    pub(super) fn key_of(&self, role: u32, player: &Player) -> Uuid {
        let mut bytes = self.derive([role, player.number.into(), player.issue]);
        bytes.iter_mut().zip(player.issue.to_be_bytes()).for_each(|(byte, of_issue)| *byte = of_issue);
        Uuid::new(bytes)
    }

    /// The player that has a key, if it is of the protocol whose role that is.
    pub(super) fn holder_of(&self, role: u32, key: Uuid, speaks: impl Fn(&AnySession) -> bool) -> Option<&Player> {
        let [a, b, c, d, ..] = key.bytes();
        let issue = u32::from_be_bytes([a, b, c, d]);
        let agent = self.players().iter().find(|agent| agent.issue == issue && speaks(&agent.session))?;
        // Every byte is looked at, whatever the first ones say: how long it takes tells nothing.
        let right = self.key_of(role, agent).bytes();
        let difference = right.iter().zip(key.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
        (difference == 0 && !agent.has_left()).then_some(agent)
    }
}

/// A key as it is shown: 32 hexadecimal digits behind what every key of its protocol begins with.
pub(super) struct ApiKey(pub &'static str, pub Uuid);

impl ApiKey {
    /// Reads one that begins so.
    pub fn read(begin: &str, text: &str) -> Option<Uuid> {
        let digits = text.strip_prefix(begin).filter(|digits| digits.len() == 32)?;
        let mut chars = digits.chars();
        let mut bytes = [0; 16];
        for byte in &mut bytes {
            let mut digit = || chars.next()?.to_digit(16);
            *byte = u8::try_from(digit()? << 4 | digit()?).ok()?;
        }
        Some(Uuid::exactly(bytes))
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)?;
        self.1.bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Why nobody could be registered by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedName {
    /// The request is not JSON.
    InvalidJson,
    /// There is no `name`.
    Missing,
    /// Of one character.
    TooShort,
    /// Of more than 32 characters.
    TooLong,
    /// Of more bytes than are kept. The specification has no words for it.
    TooManyBytes,
    /// With a character that is not allowed.
    BadCharacter,
    /// Somebody else has it.
    Taken,
}

impl RefusedName {
    /// Every one there is.
    pub const ALL: [RefusedName; 7] = [
        RefusedName::InvalidJson,
        RefusedName::Missing,
        RefusedName::TooShort,
        RefusedName::TooLong,
        RefusedName::TooManyBytes,
        RefusedName::BadCharacter,
        RefusedName::Taken,
    ];

    /// The HTTP status of the answer.
    pub const fn status(self) -> u16 {
        match self {
            RefusedName::Taken => 409,
            _ => 400,
        }
    }

    /// The words for it: the specification's, where it has some.
    pub const fn text(self) -> &'static str {
        match self {
            RefusedName::InvalidJson => "Invalid JSON body.",
            RefusedName::Missing => "Name is required.",
            RefusedName::TooShort => "Name must be at least 2 characters.",
            RefusedName::TooLong => "Name must be 32 characters or fewer.",
            RefusedName::TooManyBytes => "Name must be 64 bytes or fewer in UTF-8.",
            RefusedName::BadCharacter => {
                "Name may only contain letters, numbers, spaces, hyphens, underscores, and dots."
            }
            RefusedName::Taken => "Agent name is already taken.",
        }
    }
}

/// The length of a name, in characters.
const MIN_CHARS: usize = 2;
const MAX_CHARS: usize = 32;

/// Reads the name in a registration, without the space around it. Letters and numbers are those of any script, with the marks
/// on them.
pub fn read_registration<const BYTES: usize>(body: &[u8]) -> Result<String<BYTES>, RefusedName> {
    let body = json::parse(body).map_err(|_| RefusedName::InvalidJson)?;
    let given = body.get("name").and_then(Value::as_str).ok_or(RefusedName::Missing)?;
    let is_part = |c: char| !c.is_whitespace();
    let start = given.chars().position(is_part).ok_or(RefusedName::Missing)?;
    let length = given.chars().skip(start).zip(1..).filter(|(c, _)| is_part(*c)).map(|(_, n)| n).last().unwrap_or(0);
    let chars = || given.chars().skip(start).take(length);
    let bytes = chars().map(char::len_utf8).sum::<usize>();
    if length < MIN_CHARS {
        return Err(RefusedName::TooShort);
    }
    if length > MAX_CHARS {
        return Err(RefusedName::TooLong);
    }
    if bytes > BYTES {
        return Err(RefusedName::TooManyBytes);
    }
    let mut name = String::new();
    for c in chars() {
        if !c.is_alphanumeric() && !is_mark(c) && !matches!(c, ' ' | '-' | '_' | '.') {
            return Err(RefusedName::BadCharacter);
        }
        name.push(c).map_err(|_| RefusedName::TooManyBytes)?;
    }
    Ok(name)
}

/// Whether a character is part of writing though no letter by itself: accents, points, vowel signs. By block, so that a few
/// signs of these scripts that are neither are let in with them.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}'       // accents that stand alone, as many systems send them
        | '\u{591}'..='\u{5c7}'     // Hebrew
        | '\u{64b}'..='\u{65f}'     // Arabic
        | '\u{900}'..='\u{109f}'    // from Devanagari to Myanmar
        | '\u{1780}'..='\u{17dd}'   // Khmer
        | '\u{3099}' | '\u{309a}') // Japanese
}
