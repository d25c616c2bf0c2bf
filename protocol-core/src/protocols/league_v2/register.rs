//! Who gets in: registrations of players and referees, read and judged; and tokens, by which agents show who they are.

use core::net::IpAddr;

use heapless::String;

use super::calls::of;
use super::dialect::{Dialect, Style};
use super::hear::{Answer, Said};
use super::incoming::{Incoming, Request};
use super::referees::{MOST_AT_ONCE, Referee, Serves, given_away};
use super::session::Session;
use super::{Code, PROTOCOL, reply};
use crate::contact::{Contact, Endpoint, Host};
use crate::games::{GameKind, GameSet};
use crate::ids::{AgentId, OUR_REFEREE};
use crate::json::{Kind, Value};
use crate::log::Happening;
use crate::protocols::AnySession;
use crate::season::{Compliance, Rule};
use crate::time::Now;
use crate::venue::{Applicant, Fact, Mode, NAME_BYTES, NotAdmitted, Player, Stage, Venue, Via, count, name};

/// Why an agent is turned away: the reason, in the specification's words where it has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turned {
    pub reason: &'static str,
    pub code: Option<Code>,
    pub detail: Option<&'static str>,
}

impl From<NotAdmitted> for Turned {
    fn from(not_admitted: NotAdmitted) -> Self {
        match not_admitted {
            NotAdmitted::Closed => CLOSED,
            NotAdmitted::Game => GAME,
            NotAdmitted::Name => NAME,
            NotAdmitted::Full => FULL,
            NotAdmitted::TooMany => MANY,
        }
    }
}

impl Turned {
    const fn new(reason: &'static str, code: Option<Code>, detail: Option<&'static str>) -> Self {
        Self { reason, code, detail }
    }

    /// The HTTP status it has where that is looked at: the message is wrong, or it is right and does not fit now.
    pub fn status(self) -> u16 {
        if [GAME, ENDPOINT, VERSION].contains(&self) { 400 } else { 409 }
    }
}

const CLOSED: Turned = Turned::new(
    "Registration closed",
    Some(Code::RegistrationClosed),
    Some("the league has started; wait for the next one"),
);
const GAME: Turned = Turned::new(
    "Unsupported game type",
    None,
    Some("player_meta.game_types does not name the game that is played; game in /api/settings.json does"),
);
const ENDPOINT: Turned = Turned::new(
    "Invalid endpoint",
    None,
    Some("player_meta.contact_endpoint must be http://host:port/path, where your server answers"),
);
const OWN: Turned = Turned::new(
    "Invalid endpoint",
    None,
    Some("contact_endpoint is the box itself; it must be where your server answers"),
);
const HOST: Turned = Turned::new(
    "Invalid endpoint",
    None,
    Some(
        "the host of contact_endpoint must be the address you register from, or localhost; other_hosts in the settings allows others",
    ),
);
const NAME: Turned = Turned::new(
    "Duplicate display name",
    None,
    Some("somebody else has this display_name, or one that differs only by case, space or invisible characters"),
);
const BAD_NAME: Turned = Turned::new(
    "Invalid display name",
    None,
    Some("display_name must have something to see, and no control or direction characters"),
);
const MANY: Turned = Turned::new(
    "Too many players from this address",
    None,
    Some("the seats that are left are for others; per_address in the settings, or --per-address, allows more"),
);
const VERSION: Turned = Turned::new(
    "Unsupported protocol version",
    Some(Code::ProtocolVersionMismatch),
    Some("player_meta.protocol_version must be 2.0.0 or later"),
);
const FULL: Turned = Turned::new("League full", None, None);

/// A registration, read.
struct Application<'a> {
    name: String<NAME_BYTES>,
    version: String<16>,
    contact: Contact,
    game_types: Option<Value<'a>>,
    suggested: Option<AgentId>,
}

impl Venue<'_> {
    /// A player or a referee wants to join. Not inlined, so that what was read is off the stack when it is answered.
    #[inline(never)]
    pub(super) fn register<'a>(&mut self, now: Now, from: IpAddr, via: Via, incoming: Incoming<'a>) -> Answer<'a> {
        let referee = incoming.request == Request::RegisterReferee;
        let incoming = Incoming { dialect: spoken(incoming), ..incoming };
        let mut compliance = Compliance::new();
        let admitted = match referee {
            true => self.admit_referee(from, via, incoming, &mut compliance),
            false => self.admit_player(from, via, incoming, &mut compliance),
        };
        let said = match admitted {
            Ok((agent, is_new)) => {
                let (said, id) = match agent {
                    Agent::Player(index) => {
                        let player = self.player(index);
                        let word = welcome(incoming);
                        (Said::Welcome(index, player.map_or(0, |player| player.issue), word), player.map(Player::id))
                    }
                    Agent::Referee(index) => {
                        (Said::WelcomeReferee(index), self.referees().get(usize::from(index)).map(Referee::id))
                    }
                };
                match id.filter(|_| is_new) {
                    Some(id) => self.entered(now, id),
                    None => self.note(now, id, None, Happening::RegisteredAgain),
                }
                said
            }
            Err(Refused::Turned(turned)) => {
                self.note(now, None, None, Happening::Rejected(turned.reason));
                Said::Turned { turned, referee }
            }
            Err(Refused::Broke(code, detail)) => {
                self.note(now, None, None, Happening::Rejected(detail));
                Said::Error { code, detail, agent: None }
            }
        };
        Answer::new(now, incoming, said)
    }

    /// Admits a player, or finds it again; says whether it is new.
    fn admit_player(
        &mut self,
        from: IpAddr,
        via: Via,
        incoming: Incoming<'_>,
        compliance: &mut Compliance,
    ) -> Result<(Agent, bool), Refused> {
        let read = self.read_application(from, via, incoming, compliance)?;
        let by_token = match via {
            Via::Held => self.authenticate(incoming.message).ok(),
            Via::Post | Via::Register => None,
        };
        let is_running = matches!(self.stage(), Stage::Running(_));
        let is_it = |(index, player): &(u16, &Player)| {
            let is_same = player.name == read.name && player.contact.is_that_of(&read.contact);
            (is_same || by_token == Some(Agent::Player(*index))) && speaks_this(player) && !player.has_left()
        };
        let known = (0..).zip(self.players()).find(is_it).map(|(index, _)| index);
        if let Some((index, player)) = known.and_then(|index| Some((index, self.player_mut(index)?))) {
            // It may have been restarted as something else.
            if let Some(session) = of(player) {
                match session.style.confirmed {
                    true => session.style.forgive(),
                    false => session.style = Style::new(incoming.dialect),
                }
            }
            // Who was called until now may dial in instead. Once the league runs, how a player is reached stays.
            if !is_running && player.contact.endpoint().is_some() && by_token == Some(Agent::Player(index)) {
                player.contact = read.contact;
                let number = player.number;
                self.keep(Fact::Player(number));
            }
            return Ok((Agent::Player(index), false));
        }
        let applicant = Applicant {
            name: read.name,
            version: read.version,
            contact: read.contact,
            games: read.game_types.filter(|types| types.kind() == Kind::Array).map_or(GameSet::ALL, games_in),
            suggested: match read.suggested {
                Some(AgentId::Player(number)) => Some(number),
                _ => None,
            },
            compliance: compliance.clone(),
            session: AnySession::LeagueV2(Session::new(incoming.dialect)),
            plays_beside: false,
        };
        let index = self.admit(applicant).map_err(Turned::from)?;
        Ok((Agent::Player(index), true))
    }

    fn admit_referee(
        &mut self,
        from: IpAddr,
        via: Via,
        incoming: Incoming<'_>,
        compliance: &mut Compliance,
    ) -> Result<(Agent, bool), Refused> {
        let read = self.read_application(from, via, incoming, compliance)?;
        let is_same = |known: &Referee| known.name == read.name && known.contact.is_that_of(&read.contact);
        if let Some(index) = self.referees().iter().position(is_same) {
            // It may have been restarted as something else.
            let (games, at_once) = offers(incoming, read.game_types);
            if let Some(referee) = self.desks_mut().league_v2.referees.get_mut(index) {
                let was = (referee.dialect, referee.games, referee.at_once);
                (referee.dialect, referee.games, referee.at_once) = (incoming.dialect, games, at_once);
                if referee.serves == Serves::Failed {
                    referee.serves = Serves::Yes;
                }
                if was.0 != incoming.dialect {
                    referee.way = 0;
                }
                if was != (incoming.dialect, games, at_once) {
                    let number = referee.number;
                    self.keep(Fact::Referee(number));
                }
            }
            return Ok((Agent::Referee(count(index)), false));
        }
        if !read.name.is_empty() && self.referees().iter().any(|known| name::is_same(&known.name, &read.name)) {
            return Err(NAME.into());
        }
        let neighbours = self.referees().iter().filter(|known| known.contact.from() == from).count();
        if neighbours >= self.most_from_one_address(self.desks().league_v2.referees.capacity()) {
            return Err(MANY.into());
        }
        let taken = |number: u16| {
            AgentId::Referee(number) == OUR_REFEREE || self.referees().iter().any(|known| known.number == number)
        };
        let suggested = match read.suggested {
            Some(AgentId::Referee(number)) if !taken(number) => Some(number),
            _ => None,
        };
        let number = suggested.or_else(|| (2..=99).find(|&number| !taken(number))).ok_or(FULL)?;
        let issue = self.next_issue();
        let (games, at_once) = offers(incoming, read.game_types);
        // Who is in before a league begins is seen by its owner before it decides anything.
        let serves = if matches!(self.stage(), Stage::Running(_)) { Serves::Later } else { Serves::Yes };
        let referee = Referee::new(number, issue, read.name, read.contact, incoming.dialect);
        let referee = Referee { games, at_once, serves, ..referee };
        let index = count(self.referees().len());
        self.desks_mut().league_v2.referees.push(referee).map_err(|_| FULL)?;
        Ok((Agent::Referee(index), true))
    }

    /// Reads a registration wherever its fields stand, and notes where they should have stood.
    fn read_application<'a>(
        &self,
        from: IpAddr,
        via: Via,
        incoming: Incoming<'a>,
        compliance: &mut Compliance,
    ) -> Result<Application<'a>, Refused> {
        let message = incoming.message;
        let meta_name = if incoming.request == Request::RegisterReferee { "referee_meta" } else { "player_meta" };
        let [meta, protocol, sender, timestamp, conversation] =
            message.members([meta_name, "protocol", "sender", "timestamp", "conversation_id"]);
        let mut strict = None;
        let mut note = |rule: Rule, example: &str| {
            compliance.note(rule, example);
            if strict.is_none() {
                strict = breach(rule, example);
            }
        };
        if !protocol.and_then(Value::as_str).is_some_and(|name| name.is(PROTOCOL)) {
            note(Rule::Protocol, protocol.map_or("", Value::raw));
        }
        if sender.and_then(Value::as_str).is_none_or(|name| name.is_empty()) {
            note(Rule::Sender, sender.map_or("", Value::raw));
        }
        if conversation.and_then(Value::as_str).is_none_or(|name| name.is_empty()) {
            note(Rule::ConversationId, conversation.map_or("", Value::raw));
        }
        reply::check_timestamp(timestamp, &mut note);
        let in_place = meta.filter(|meta| meta.kind() == Kind::Object);
        if in_place.is_none() {
            note(Rule::MetaPlace, meta_name);
        }
        let meta = in_place.unwrap_or(message);
        let [display_name, version, game_types, supported, contact, protocol_version] = meta.members([
            "display_name",
            "version",
            "game_types",
            "supported_games",
            "contact_endpoint",
            "protocol_version",
        ]);
        let given = |value: Option<Value<'a>>| value.filter(|value| !value.is_null());
        let game_types = given(game_types).or(given(supported));
        let contact = match given(contact) {
            Some(contact) => Some(contact),
            None => {
                let others = meta.members(["endpoint", "callback_url", "agent_endpoint"]);
                let outside = message.members(["contact_endpoint", "endpoint", "callback_url"]);
                let other = others.into_iter().chain(outside).find_map(given);
                if other.is_some() {
                    note(Rule::MetaPlace, "contact_endpoint");
                }
                other
            }
        };
        for (value, name, kind) in [
            (display_name, "display_name", Kind::String),
            (version, "version", Kind::String),
            (game_types, "game_types", Kind::Array),
        ] {
            if value.is_none_or(|value| value.kind() != kind) {
                note(Rule::MetaMissing, name);
            }
        }
        let protocol_version = given(protocol_version).or_else(|| given(message.get("protocol_version")));
        if protocol_version.is_some_and(is_too_old) {
            return Err(VERSION.into());
        }
        let contact = if via == Via::Held {
            Contact::DialsIn(from)
        } else {
            let text = contact.and_then(Value::as_str).ok_or(ENDPOINT)?;
            let endpoint = Endpoint::read(text, from, self.config().other_hosts).ok_or(ENDPOINT)?;
            if self.is_own(&endpoint) {
                return Err(OWN.into());
            }
            match endpoint.host {
                Host::Sender | Host::Elsewhere => {}
                Host::Replaced if self.config().mode == Mode::Strict => return Err(HOST.into()),
                Host::Local | Host::Replaced => compliance.note(Rule::EndpointHost, &endpoint.given),
            }
            Contact::Dial(endpoint)
        };
        if let (Mode::Strict, Some((code, detail))) = (self.config().mode, strict) {
            return Err(Refused::Broke(code, detail));
        }
        let text = |value: Option<Value<'a>>| value.and_then(Value::as_str);
        let suggested = text(sender).and_then(|sender| {
            let sender: String<32> = sender.text().ok()?;
            AgentId::read(sender.split([':', '_']).next_back()?)
        });
        let name = text(display_name).map(|name| name.truncated()).unwrap_or_default();
        if !name.is_empty() && !name::is_fit(&name) {
            return Err(BAD_NAME.into());
        }
        Ok(Application {
            name,
            version: text(version).map(|version| version.truncated()).unwrap_or_default(),
            contact,
            game_types,
            suggested,
        })
    }

    /// The agent whose token a message carries.
    pub(super) fn authenticate(&self, message: Value<'_>) -> Result<Agent, Code> {
        let token = message.get("auth_token").and_then(Value::as_str).filter(|token| !token.is_empty());
        let token: String<96> = token.ok_or(Code::AuthTokenMissing)?.text().map_err(|_| Code::AuthTokenInvalid)?;
        self.agent_of_token(&token).ok_or(Code::AuthTokenInvalid)
    }

    /// The agent that has this token.
    pub(super) fn agent_of_token(&self, token: &str) -> Option<Agent> {
        let number = |prefix: &str| token.strip_prefix(prefix)?.split('_').next()?.parse::<u16>().ok();
        let (agent, id, issue) = if let Some(number) = number("tok_p") {
            let index = self.line_where(|player| player.number == number)?;
            let player = self.players().get(usize::from(index)).filter(|player| speaks_this(player))?;
            (Agent::Player(index), player.id(), player.issue)
        } else {
            let number = number("tok_ref")?;
            let index = self.referees().iter().position(|referee| referee.number == number)?;
            let referee = self.referees().get(index)?;
            (Agent::Referee(count(index)), referee.id(), referee.issue)
        };
        let mut right: String<96> = String::new();
        let _ = core::fmt::write(&mut right, format_args!("{}", self.token(id, issue)));
        // Every byte is looked at, whatever the first ones say: how long it takes tells nothing.
        let difference = right.bytes().zip(token.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
        (right.len() == token.len() && difference == 0).then_some(agent)
    }

    /// Who answers in a message of its own: whoever shows its token. Some show none; for such a player its address speaks,
    /// and where several live there, the id in the message.
    pub(super) fn who_answers(&self, from: IpAddr, message: Value<'_>) -> Result<Agent, Code> {
        let by_token = self.authenticate(message);
        if by_token != Err(Code::AuthTokenMissing) || self.config().mode == Mode::Strict {
            return by_token;
        }
        let lives_there = |player: &Player| player.contact.from() == from && speaks_this(player);
        let mut there = (0..).zip(self.players().iter()).filter(|(_, player)| lives_there(player));
        let [player_id, sender] = message.members(["player_id", "sender"]);
        let named = [player_id, sender].into_iter().flatten().find_map(|id| {
            let id: String<32> = id.as_str()?.text().ok()?;
            let id = AgentId::read(id.split(':').next_back()?)?;
            there.clone().find(|(_, player)| player.id() == id)
        });
        let (index, _) = match (named, there.next(), there.next()) {
            (Some(named), ..) => named,
            (None, Some(only), None) => only,
            _ => return by_token,
        };
        Ok(Agent::Player(index))
    }
}

/// Whether a player speaks this protocol. Others have keys of their own, and no token.
fn speaks_this(player: &Player) -> bool {
    matches!(player.session, AnySession::LeagueV2(_))
}

/// What a referee says it referees, and how many matches at once. Who names no game means that of the specification.
fn offers(incoming: Incoming<'_>, game_types: Option<Value<'_>>) -> (u8, u8) {
    let named = game_types.filter(|types| types.kind() == Kind::Array).map(|types| given_away(games_in(types)));
    let games = named.unwrap_or(1);
    let meta = incoming.message.get("referee_meta").filter(|meta| meta.kind() == Kind::Object);
    let at_once = [meta, Some(incoming.message)].into_iter().flatten();
    let at_once = at_once.filter_map(|place| place.get("max_concurrent_matches")?.as_u64()).next();
    match at_once {
        Some(0) => (0, 1),
        Some(n) => (games, u8::try_from(n).unwrap_or(u8::MAX).min(MOST_AT_ONCE)),
        None => (games, 1),
    }
}

/// The games a list of names names.
fn games_in(names: Value<'_>) -> GameSet {
    let named =
        |game: &&GameKind| names.items().any(|name| name.as_str().is_some_and(|name| name.is(game.rules().name)));
    GameKind::ALL.iter().filter(named).fold(GameSet::NONE, |games, &game| games.with(game))
}

/// Who sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agent {
    Player(u16),
    Referee(u16),
}

/// Why a registration fails.
enum Refused {
    /// REJECTED, with a reason.
    Turned(Turned),
    /// LEAGUE_ERROR: in strict mode a message that breaks a rule is not a registration at all.
    Broke(Code, &'static str),
}

impl From<Turned> for Refused {
    fn from(turned: Turned) -> Self {
        Refused::Turned(turned)
    }
}

/// What strict mode answers to a broken rule.
pub(super) fn breach(rule: Rule, example: &str) -> Option<(Code, &'static str)> {
    match rule {
        Rule::TimestampMissing => Some((Code::MissingRequiredField, rule.advice())),
        Rule::TimestampForm => Some((Code::InvalidTimestamp, rule.advice_on(example))),
        Rule::AuthToken => Some((Code::AuthTokenInvalid, rule.advice())),
        Rule::ChoiceForm | Rule::ChoiceCase => Some((Code::InvalidParityChoice, rule.advice())),
        Rule::EndpointHost | Rule::HttpStatus | Rule::ErrorBesideResult => None,
        _ => Some((Code::MissingRequiredField, rule.advice())),
    }
}

/// What a registration says of itself.
fn meta_of<'a>(incoming: Incoming<'a>) -> Value<'a> {
    let meta = incoming.message.get("player_meta").filter(|meta| meta.kind() == Kind::Object);
    meta.unwrap_or(incoming.message)
}

/// The dialect in which an agent wants to be called. Among those who register by a tool, one family shows by the name of its
/// endpoint that it exposes no tools itself.
fn spoken(incoming: Incoming<'_>) -> Dialect {
    let text = |name| meta_of(incoming).get(name).and_then(Value::as_str);
    match incoming.dialect {
        Dialect::McpTools if text("contact_endpoint").is_none() && text("endpoint").is_some() => {
            Dialect::ProtocolMessage
        }
        dialect => dialect,
    }
}

/// The word by which an agent knows that it is in. One family reads no other than its own, and shows by its id and by its
/// `protocol_version` that it is one of them.
fn welcome(incoming: Incoming<'_>) -> &'static str {
    let by_type = incoming.envelope.dialect == Dialect::MessageType;
    let has_version = || incoming.message.get("player_meta").is_some_and(|meta| meta.get("protocol_version").is_some());
    if by_type && incoming.envelope.id.is_some_and(is_uuid) && has_version() { "REGISTERED" } else { "ACCEPTED" }
}

/// Whether the JSON of an id is a text such as `"0b7c4a4e-1d9e-4b57-9a6e-0d5f7a1c2b3d"`.
fn is_uuid(id: &str) -> bool {
    let text = id.strip_prefix('"').and_then(|id| id.strip_suffix('"')).unwrap_or_default();
    let is_dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    let fits = |(at, byte): (usize, u8)| if is_dash(at) { byte == b'-' } else { byte.is_ascii_hexdigit() };
    text.len() == 36 && text.bytes().enumerate().all(fits)
}

/// `league.v2` and everything from 2.0.0 on is new enough.
fn is_too_old(version: Value<'_>) -> bool {
    let Some(text) = version.as_str().and_then(|version| version.text::<32>().ok()) else { return false };
    let digits = text.trim_start_matches("league.").trim_start_matches('v');
    let major = digits.split('.').next().and_then(|major| major.parse::<u32>().ok());
    major.is_some_and(|major| major < 2)
}
