//! The words of every answer to an agent, queries among them. An answer is small and holds no text: it is written when
//! it is sent, from the request it belongs to and the venue as it is then.

use core::net::IpAddr;

use serde::Serialize;

use super::calls;
use super::dialect::Dialect;
use super::incoming::{Envelope, Incoming, Rejection, Request};
use super::outgoing::{Answer as Answered, *};
use super::register::{Agent, Turned};
use super::{Code, PROTOCOL, Referee, reply, report};
use crate::contact::Url;
use crate::games::Seats;
use crate::ids::{AgentId, Ids, MatchId, Token};
use crate::json::{self, Full, Joined, Seq, Shown, Sink, Value};
use crate::log::Happening;
use crate::message::Message;
use crate::referee::Heard;
use crate::season::{Row, Rule};
use crate::time::{Now, Utc};
use crate::venue::elsewhere::Report;
use crate::venue::{Fact, Gone, MatchLine, Mode, Player, Stage, Venue, Via};

/// Leagues up to this size are told all their matches in one answer; larger ones a round at a time.
const WHOLE_SCHEDULE: u16 = 64;

/// An answer to an agent's message.
pub struct Answer<'a> {
    at: Utc,
    envelope: Envelope<'a>,
    /// Their conversation id, as it was written.
    conversation: Option<&'a str>,
    said: Said<'a>,
    caller: Option<u16>,
}

/// What is answered.
#[derive(Clone, Copy, Debug)]
pub(super) enum Said<'a> {
    /// Nothing: it was a notification.
    Nothing,
    Rejection(Rejection<'a>),
    /// The player on this line, by the number of its registration: lines move up when somebody leaves; and the word it knows
    /// for that.
    Welcome(u16, u32, &'static str),
    WelcomeReferee(u16),
    Turned {
        turned: Turned,
        referee: bool,
    },
    Error {
        code: Code,
        detail: &'static str,
        agent: Option<AgentId>,
    },
    Query {
        what: Query,
        about: Option<u16>,
        round: Option<u16>,
    },
    Receipt {
        status: &'static str,
        reason: Option<&'static str>,
    },
    /// The report of a match was heard, and what it is worth.
    Reported(Option<MatchId>, &'static str),
    /// The matches that the referee of this number has.
    Assigned(u8),
}

/// What an agent may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Query {
    NextMatch,
    Standings,
    LeagueStatus,
    PlayerStats,
    MatchHistory,
    Schedule,
    PlayerDirectory,
    Registrations,
}

impl Query {
    const ALL: &[Query] = &[
        Query::NextMatch,
        Query::Standings,
        Query::LeagueStatus,
        Query::PlayerStats,
        Query::MatchHistory,
        Query::Schedule,
        Query::PlayerDirectory,
        Query::Registrations,
    ];

    fn name(self) -> &'static str {
        match self {
            Query::NextMatch => "GET_NEXT_MATCH",
            Query::Standings => "GET_STANDINGS",
            Query::LeagueStatus => "GET_LEAGUE_STATUS",
            Query::PlayerStats => "GET_PLAYER_STATS",
            Query::MatchHistory => "GET_MATCH_HISTORY",
            Query::Schedule => "GET_SCHEDULE",
            Query::PlayerDirectory => "GET_PLAYER_DIRECTORY",
            Query::Registrations => "GET_REGISTRATIONS",
        }
    }

    fn wants_a_player(self) -> bool {
        matches!(self, Query::NextMatch | Query::PlayerStats)
    }
}

impl<'a> Answer<'a> {
    pub(super) fn new(now: Now, incoming: Incoming<'a>, said: Said<'a>) -> Self {
        let conversation = incoming.message.get("conversation_id").filter(|id| id.as_str().is_some());
        let caller = if let Said::Welcome(player, ..) = said { Some(player) } else { None };
        Self { at: now.utc, envelope: incoming.envelope, conversation: conversation.map(Value::raw), said, caller }
    }

    /// The player that has just shown who it is, by its token or by registering.
    pub fn caller(&self) -> Option<u16> {
        self.caller
    }

    /// The same without anything around it, for whoever has an envelope of its own.
    pub fn bare(self) -> Self {
        Self { envelope: Envelope { dialect: Dialect::Bare, id: None }, ..self }
    }

    /// Whether there is nothing to be said: the message was a notification.
    pub fn is_empty(&self) -> bool {
        matches!(self.said, Said::Nothing)
    }

    /// The HTTP status where whoever asks looks at nothing else, as those do who post to `/register`.
    pub fn status(&self) -> u16 {
        match self.said {
            Said::Turned { turned, .. } => turned.status(),
            Said::Error { .. } | Said::Rejection(_) => 400,
            _ => 200,
        }
    }
}

impl Venue<'_> {
    /// Hears a message from an agent at `from`.
    pub fn request<'a>(&mut self, now: Now, from: IpAddr, via: Via, body: &'a [u8]) -> Answer<'a> {
        let answer = self.answer(now, from.to_canonical(), via, body);
        if let Some(caller) = answer.caller {
            self.saw(now, caller);
        }
        self.advance(now);
        answer
    }

    fn answer<'a>(&mut self, now: Now, from: IpAddr, via: Via, body: &'a [u8]) -> Answer<'a> {
        let incoming = match Incoming::read(body, via == Via::Register) {
            Ok(incoming) => incoming,
            Err((rejection, envelope)) => {
                self.note(now, None, None, Happening::BadMessage("see the JSON-RPC error it was answered with"));
                let said = match rejection {
                    // A notification is not answered, whatever is wrong with it.
                    Rejection::UnknownMethod(_) if envelope.id.is_none() && !is_bare(envelope) => Said::Nothing,
                    rejection => Said::Rejection(rejection),
                };
                return Answer { at: now.utc, envelope, conversation: None, said, caller: None };
            }
        };
        let agent = match incoming.request {
            Request::RegisterPlayer | Request::RegisterReferee => return self.register(now, from, via, incoming),
            _ => self.authenticate(incoming.message),
        };
        let caller = match agent {
            Ok(Agent::Player(player)) if incoming.request != Request::Deregister => Some(player),
            _ => None,
        };
        let said = match incoming.request {
            Request::RegisterPlayer | Request::RegisterReferee => Said::Nothing,
            Request::Query => match agent {
                Ok(agent) => self.query(agent, incoming),
                // Referees that come and ask begin with this, and show nothing. Everybody may know it.
                Err(Code::AuthTokenMissing) if asks(incoming, Query::Registrations) => {
                    Said::Query { what: Query::Registrations, about: None, round: None }
                }
                Err(code) => token_error(code),
            },
            Request::AssignedMatches => self.assigned_matches(from, agent, incoming),
            Request::Ping => Said::Receipt { status: "pong", reason: None },
            Request::ResultReport => self.hear_report(now, from, agent, incoming),
            Request::JoinAck | Request::Move => match self.who_answers(from, incoming.message) {
                Ok(agent) => self.hear_agent(now, agent, incoming),
                Err(code) => token_error(code),
            },
            Request::Deregister => match agent {
                Ok(agent) => self.hear_agent(now, agent, incoming),
                Err(code) => token_error(code),
            },
        };
        let answered = matches!(incoming.request, Request::Query) || incoming.envelope.id.is_some();
        let said = if answered || is_bare(incoming.envelope) { said } else { Said::Nothing };
        Answer { caller, ..Answer::new(now, incoming, said) }
    }

    /// A message from an agent we know.
    fn hear_agent(&mut self, now: Now, agent: Agent, incoming: Incoming<'_>) -> Said<'static> {
        let receipt = |status, reason| Said::Receipt { status, reason };
        match (agent, incoming.request) {
            (Agent::Player(player), Request::Deregister) => {
                self.part_with(now, player, Gone::Left);
                receipt("DEREGISTERED", None)
            }
            (Agent::Player(player), Request::JoinAck | Request::Move) => {
                let kind = match (incoming.request, self.game().rules().question) {
                    (Request::JoinAck, _) => Message::GameInvitation,
                    (_, crate::games::Question::Parity) => Message::ChooseParity,
                    _ => Message::MoveRequest,
                };
                // It may have been sent for a match that is over by now.
                let meant =
                    incoming.message.get("match_id").and_then(|id| MatchId::read(&id.as_str()?.text::<40>().ok()?));
                let is_late = meant.is_some() && meant != self.match_of(player);
                let heard = if is_late { None } else { calls::hear(self, now, player, kind, incoming.message) };
                match heard {
                    Some(Heard::Taken) => receipt("RECEIVED", None),
                    Some(Heard::Duplicate) => {
                        receipt("IGNORED", Some("you have answered already; the first answer stands"))
                    }
                    Some(Heard::Refused(illegal)) => Said::Error {
                        code: match kind {
                            Message::GameInvitation => Code::MissingRequiredField,
                            Message::ChooseParity => Code::InvalidParityChoice,
                            _ => Code::InvalidChoice,
                        },
                        detail: illegal.0,
                        agent: self.player(player).map(Player::id),
                    },
                    None => Said::Error {
                        code: Code::MatchNotFound,
                        detail: "you are not in a match that waits for this",
                        agent: self.player(player).map(Player::id),
                    },
                }
            }
            (Agent::Referee(index), Request::Deregister) => {
                let number = self.referees().get(usize::from(index)).map_or(0, |referee| referee.number);
                let _ = self.dismiss(now, number, false);
                receipt("DEREGISTERED", None)
            }
            _ => receipt("IGNORED", Some("only players can do this")),
        }
    }

    /// A referee that comes and asks. Some show no token: for such a one its address speaks, and the id in the message.
    fn assigned_matches(&mut self, from: IpAddr, agent: Result<Agent, Code>, incoming: Incoming<'_>) -> Said<'static> {
        let by_id = |id: Value<'_>| {
            let id = AgentId::read(id.as_str()?.text::<32>().ok()?.split(':').next_back()?)?;
            self.referees().iter().find(|referee| referee.id() == id && referee.contact.from() == from)
        };
        let referee = match agent {
            Ok(Agent::Referee(index)) => self.referees().get(usize::from(index)),
            Err(Code::AuthTokenMissing) if self.config().mode == Mode::Lenient => {
                incoming.message.members(["referee_id", "sender"]).into_iter().flatten().find_map(by_id)
            }
            Ok(Agent::Player(_)) => None,
            Err(code) => return token_error(code),
        };
        let Some(number) = referee.map(Referee::short) else {
            let detail = "referee_id must be the id you were given when you registered, from where you registered";
            return Said::Error { code: Code::PlayerNotRegistered, detail, agent: None };
        };
        if let Some(referee) = self.referee_mut(number) {
            referee.polls = true;
        }
        Said::Assigned(number)
    }

    /// A referee reports a match. It is believed only from the one that was given the match: by its token, or where it shows none by
    /// its address. Referees send a report until it is acknowledged, so nearly all are.
    fn hear_report(
        &mut self,
        now: Now,
        from: IpAddr,
        agent: Result<Agent, Code>,
        incoming: Incoming<'_>,
    ) -> Said<'static> {
        let message = incoming.message;
        let id = message.get("match_id").and_then(|id| MatchId::read(&id.as_str()?.text::<40>().ok()?));
        let of_match = id.map(|id| self.referee_of(id));
        let referee = match agent {
            Ok(Agent::Player(_)) => {
                return Said::Receipt { status: "IGNORED", reason: Some("only referees can do this") };
            }
            Ok(Agent::Referee(index)) => self.referees().get(usize::from(index)),
            Err(Code::AuthTokenMissing) if self.config().mode == Mode::Lenient => {
                let lives_there = |referee: &&Referee| referee.contact.from() == from;
                self.referees().iter().filter(lives_there).find(|referee| Some(referee.id()) == of_match)
            }
            Err(Code::AuthTokenMissing) => None,
            Err(code) => return token_error(code),
        };
        let found = referee.map(|referee| (referee.id(), referee.short()));
        let (agent, number) = found.unzip();
        let useless = |venue: &mut Self, why: &'static str| {
            if let Some(referee) = number.and_then(|number| venue.referee_mut(number)) {
                referee.useless = referee.useless.saturating_add(1);
            }
            venue.note(now, agent, id, Happening::Reported(why));
            Said::Reported(id, why)
        };
        let (Some(id), Some(number)) = (id, number) else { return useless(self, NOT_THEIRS) };
        if of_match != agent {
            return useless(self, NOT_THEIRS);
        }
        let seated = self.seated_at(id);
        let seat_of =
            |number| (0..).zip(&seated).find(|(_, (of, _))| *of == AgentId::Player(number)).map(|(seat, _)| seat);
        let ending = report::read(message).and_then(|ending| match ending.winner.map(seat_of) {
            Some(None) => Err("result.winner must be one of the two players of the match"),
            _ if !report::is_about(message, |number| seat_of(number).is_some()) => {
                Err("result.score must have the two players of the match, and nobody else")
            }
            Some(Some(seat)) => Ok((Seats::only(seat), ending.is_technical)),
            None if ending.is_technical => Ok((Seats::NONE, true)),
            None => Ok(((0..).zip(&seated).map(|(seat, _)| seat).fold(Seats::NONE, Seats::with), false)),
        });
        let (winners, is_technical) = match ending {
            Ok(ending) => ending,
            Err(detail) => {
                useless(self, detail);
                return Said::Error { code: Code::MissingRequiredField, detail, agent };
            }
        };
        if let (Some((_, first)), true) = (seated.first().copied(), self.table(id).is_some()) {
            calls::settle_assignment(self, now, first);
        }
        match self.report(now, id, number, winners, is_technical) {
            Report::Taken => {
                if let Some(referee) = self.referee_mut(number) {
                    referee.refereed = referee.refereed.saturating_add(1);
                }
                self.note(now, agent, Some(id), Happening::Reported("it is the result"));
                Said::Reported(Some(id), "it is the result")
            }
            Report::Again => Said::Reported(Some(id), "it is the result already"),
            Report::Contradicts => useless(self, "the first report of this match says otherwise, and stands"),
            Report::NotTheirs => useless(self, NOT_THEIRS),
        }
    }

    fn query(&mut self, agent: Agent, incoming: Incoming<'_>) -> Said<'static> {
        let [query_type, params, timestamp] = incoming.message.members(["query_type", "query_params", "timestamp"]);
        let own = match agent {
            Agent::Player(player) => Some(player),
            Agent::Referee(_) => None,
        };
        let mut form_is_wrong = false;
        let own_id = own.and_then(|player| self.player(player)).map(Player::id);
        let is_waiting = self.stage() == Stage::Waiting;
        if let Some(player) = own.and_then(|player| self.player_mut(player)) {
            let before = player.compliance.total();
            reply::check_timestamp(timestamp, &mut |rule, example| {
                form_is_wrong |= rule == Rule::TimestampForm;
                player.compliance.note(rule, example);
            });
            // In a league the next result keeps it. Before, only what doubles is kept, so that nobody wears the flash out.
            let total = player.compliance.total();
            if is_waiting && total > before && total.is_power_of_two() {
                let number = player.number;
                self.keep(Fact::Counts(number));
            }
        }
        if form_is_wrong && self.config().mode == Mode::Strict {
            let detail = Rule::TimestampForm.advice_on(timestamp.map_or("", Value::raw));
            return Said::Error { code: Code::InvalidTimestamp, detail, agent: own_id };
        }
        let name = query_type.and_then(Value::as_str);
        let what = name.and_then(|name| Query::ALL.iter().copied().find(|query| name.is(query.name())));
        let Some(what) = what else {
            let detail = "query_type must be GET_NEXT_MATCH, GET_STANDINGS, GET_LEAGUE_STATUS, GET_PLAYER_STATS, \
                 GET_MATCH_HISTORY, GET_SCHEDULE, GET_PLAYER_DIRECTORY or GET_REGISTRATIONS";
            return Said::Error { code: Code::MissingRequiredField, detail, agent: own_id };
        };
        let asked = params.and_then(|params| params.get("player_id")).or_else(|| {
            // At the top level it says who asks, except where the query is about one player.
            incoming.message.get("player_id").filter(|_| what.wants_a_player())
        });
        let about = match asked.filter(|id| !id.is_null()) {
            Some(id) => {
                let number = id.as_str().and_then(|id| AgentId::read(&id.text::<32>().ok()?));
                match self.line_where(|player| Some(player.id()) == number) {
                    Some(index) => Some(index),
                    None => {
                        let detail = "query_params.player_id is no player of this league";
                        return Said::Error { code: Code::PlayerNotRegistered, detail, agent: own_id };
                    }
                }
            }
            None if what.wants_a_player() => match own {
                Some(own) => Some(own),
                None => {
                    let detail = "query_params.player_id is required";
                    return Said::Error { code: Code::MissingRequiredField, detail, agent: None };
                }
            },
            None => None,
        };
        let round = params.and_then(|params| params.get("round_id")?.as_u64());
        let round = round.map(|round| u16::try_from(round).unwrap_or(u16::MAX));
        if matches!(what, Query::Standings | Query::PlayerStats) {
            self.refresh_standings();
        }
        Said::Query { what, about, round }
    }

    /// Writes an answer.
    pub fn write_answer(&self, answer: &Answer<'_>, sink: &mut dyn Sink) -> Result<(), Full> {
        let Answer { envelope, .. } = *answer;
        match answer.said {
            Said::Nothing => Ok(()),
            Said::Rejection(rejection) => json::write(&RpcError { envelope, rejection }, sink),
            Said::Welcome(_, issue, status) => {
                let player = self.players().iter().find(|player| player.issue == issue).ok_or(Full)?;
                let token = self.token(player.id(), player.issue);
                let body = RegisterResponse { status, player_id: Some(Shown(GivenId(Some(player.id())))), ..ACCEPTED };
                self.reply_with(answer, "LEAGUE_REGISTER_RESPONSE", Some(token), body, sink)
            }
            Said::WelcomeReferee(referee) => {
                let referee = self.referees().get(usize::from(referee)).ok_or(Full)?;
                let id = referee.id();
                let detail = self.config().foreign_referees.is_none().then_some(OFF);
                let body = RegisterResponse { referee_id: Some(Shown(GivenId(Some(id)))), detail, ..ACCEPTED };
                self.reply_with(answer, "REFEREE_REGISTER_RESPONSE", Some(self.token(id, referee.issue)), body, sink)
            }
            Said::Turned { turned, referee } => {
                let name = if referee { "REFEREE_REGISTER_RESPONSE" } else { "LEAGUE_REGISTER_RESPONSE" };
                let body = RegisterResponse {
                    status: "REJECTED",
                    player_id: (!referee).then_some(Shown(GivenId(None))),
                    referee_id: referee.then_some(Shown(GivenId(None))),
                    error_code: turned.code.map(Code::code),
                    error_description: turned.code.map(Code::name),
                    reason: Some(turned.reason),
                    detail: turned.detail,
                };
                self.reply_with(answer, name, None, body, sink)
            }
            Said::Error { code, detail, agent } => {
                let body = LeagueError {
                    error_code: code.code(),
                    error_description: code.name(),
                    detail,
                    affected_player: agent.map(Shown),
                    action_required: "Correct the message and send it again",
                    context: ErrorContext { action: "LEAGUE_MESSAGE" },
                };
                self.reply_with(answer, "LEAGUE_ERROR", None, body, sink)
            }
            Said::Receipt { status, reason } => {
                self.reply_with(answer, "RECEIPT", None, Receipt { status, reason }, sink)
            }
            Said::Assigned(number) => {
                let matches = Seq(|| self.given_to(number).filter_map(|table| self.assignment(table.id, true)));
                self.reply_with(answer, "ASSIGNED_MATCHES", None, Matches { matches }, sink)
            }
            Said::Reported(id, reason) => {
                let body = ResultAck { status: "recorded", match_id: id.map(Shown), reason };
                self.reply_with(answer, "MATCH_RESULT_ACK", None, body, sink)
            }
            Said::Query { what, about, round } => self.answer_query(answer, what, about, round, sink),
        }
    }

    fn reply_with<B: Serialize>(
        &self,
        answer: &Answer<'_>,
        message_type: &'static str,
        token: Option<Token>,
        body: B,
        sink: &mut dyn Sink,
    ) -> Result<(), Full> {
        let with_id = answer.envelope.dialect == Dialect::MessageType;
        let head = Head {
            protocol: PROTOCOL,
            message_type,
            sender: Shown(Sender { referee: false, with_id }),
            timestamp: Shown(answer.at),
            conversation_id: answer.conversation.map_or(Conversation::League, Conversation::Theirs),
            auth_token: token.map(Shown),
            league_id: Shown(self.league_id()),
        };
        json::write(&Answered { envelope: answer.envelope, message: Joined(head, body) }, sink)
    }

    fn answer_query(
        &self,
        answer: &Answer<'_>,
        what: Query,
        about: Option<u16>,
        round: Option<u16>,
        sink: &mut dyn Sink,
    ) -> Result<(), Full> {
        let player = about.and_then(|player| self.player(player));
        match what {
            Query::NextMatch => self.data(answer, what, self.next_match(player, answer.at), sink),
            Query::Standings => {
                sink.order_is(self.standings_sum());
                self.data(answer, what, Rows { standings: Seq(|| self.standings()) }, sink)
            }
            Query::LeagueStatus => self.data(answer, what, self.status(), sink),
            Query::PlayerStats => {
                let of = |player: &Player| self.standings().find(|row| row.player_id.0 == player.id());
                let stats = player.map(|player| {
                    let (player_id, display_name) = (Shown(player.id()), player.name.as_str());
                    // Before the league there is no table yet.
                    Joined(
                        of(player).unwrap_or(Row { player_id, display_name, ..Row::default() }),
                        State { state: player.state.name() },
                    )
                });
                self.data(answer, what, stats, sink)
            }
            Query::MatchHistory => {
                let mine = |line: &MatchLine| player.is_none_or(|player| line.has(player.id()));
                let over = |line: &MatchLine| line.status == "FINISHED";
                let rounds = || self.rounds_told(round, about.is_some());
                let matches = Seq(|| {
                    let lines = rounds().flat_map(|round| self.matches_of(round)).filter_map(|id| self.match_line(id));
                    lines.filter(over).filter(mine)
                });
                self.data(answer, what, Matches { matches }, sink)
            }
            Query::Schedule => {
                let mine = |line: &MatchLine| player.is_none_or(|player| line.has(player.id()));
                let rounds = Seq(|| {
                    self.rounds_told(round, about.is_some()).map(|round_id| RoundOf {
                        round_id,
                        matches: Seq(move || {
                            self.matches_of(round_id).filter_map(|id| self.match_line(id)).filter(mine)
                        }),
                    })
                });
                self.data(answer, what, Rounds { total_rounds: self.schedule().rounds(), rounds }, sink)
            }
            Query::PlayerDirectory | Query::Registrations => {
                let players = Seq(|| self.players().iter().map(Listed::player));
                let referees = Seq(|| self.referees().iter().map(Listed::referee));
                let body = QueryResponse {
                    query_type: what.name(),
                    status: "SUCCESS",
                    success: true,
                    data: Directory { players, referees },
                };
                // Some look for them where the answer begins.
                self.reply_with(
                    answer,
                    "LEAGUE_QUERY_RESPONSE",
                    None,
                    Joined(body, Directory { players, referees }),
                    sink,
                )
            }
        }
    }

    fn data<D: Serialize>(&self, answer: &Answer<'_>, what: Query, data: D, sink: &mut dyn Sink) -> Result<(), Full> {
        let body = QueryResponse { query_type: what.name(), status: "SUCCESS", success: true, data };
        self.reply_with(answer, "LEAGUE_QUERY_RESPONSE", None, body, sink)
    }

    /// The rounds an answer tells of: the one asked for; all, where that is not too long; else the one being played.
    fn rounds_told(&self, asked: Option<u16>, of_one_player: bool) -> core::ops::RangeInclusive<u16> {
        let last = self.schedule().rounds();
        let current = match self.stage() {
            Stage::Waiting => 0,
            Stage::Running(round) => round,
            Stage::Completed => last,
        };
        match asked {
            Some(round) => round..=round,
            None if of_one_player || self.schedule().players() <= WHOLE_SCHEDULE => 1..=last,
            None => current..=current,
        }
    }

    fn next_match(&self, player: Option<&Player>, at: Utc) -> NextMatch {
        let first = match self.stage() {
            Stage::Waiting => 1,
            Stage::Running(round) => round,
            Stage::Completed => self.schedule().rounds().saturating_add(1),
        };
        let line = player.and_then(|player| {
            (first..=self.schedule().rounds())
                .filter_map(|round| Some(MatchId { round, table: self.schedule().table_of(round, player.place)? }))
                .filter(|&id| self.record(id).is_none())
                .find_map(|id| self.match_line(id))
        });
        let own = player.map(Player::id);
        let opponents = line.iter().flat_map(MatchLine::player_ids).filter(|&id| Some(id) != own);
        let opponent_ids = Ids(opponents.collect());
        NextMatch {
            match_id: line.as_ref().map(|line| line.match_id),
            round_id: line.as_ref().map(|line| line.round_id),
            opponent_id: opponent_ids.first().map(Shown),
            opponent_ids,
            referee_id: line.as_ref().map(|line| line.referee_id),
            // A match of the round being played is due now; when later rounds begin depends on the players.
            scheduled_time: line
                .as_ref()
                .filter(|line| self.stage() == Stage::Running(line.round_id))
                .map(|_| Shown(at)),
            status: line.as_ref().map_or("NONE", |line| line.status),
        }
    }
}

const ACCEPTED: RegisterResponse = RegisterResponse {
    status: "ACCEPTED",
    player_id: None,
    referee_id: None,
    error_code: None,
    error_description: None,
    reason: None,
    detail: None,
};

/// What is said to a referee that registers while the owner lets nobody else referee.
const OFF: &str = "LeagueBox referees every match itself, unless its owner sets foreign_referees";
/// What a report of somebody is worth that has not got the match.
const NOT_THEIRS: &str = "the box, or somebody else, referees this match: the report changes no result";

/// Whether a query is this one.
fn asks(incoming: Incoming<'_>, what: Query) -> bool {
    incoming.message.get("query_type").and_then(Value::as_str).is_some_and(|name| name.is(what.name()))
}

fn is_bare(envelope: Envelope<'_>) -> bool {
    envelope.dialect == Dialect::Bare
}

fn token_error(code: Code) -> Said<'static> {
    let detail = match code {
        Code::AuthTokenMissing => "auth_token is required: the one you got when you registered",
        _ => "auth_token is not the one you got when you registered",
    };
    Said::Error { code, detail, agent: None }
}

#[derive(Serialize)]
struct NextMatch {
    match_id: Option<Shown<MatchId>>,
    round_id: Option<u16>,
    opponent_id: Option<Shown<AgentId>>,
    #[serde(skip_serializing_if = "Ids::is_one")]
    opponent_ids: Ids,
    referee_id: Option<Shown<AgentId>>,
    scheduled_time: Option<Shown<Utc>>,
    status: &'static str,
}

#[derive(Serialize)]
struct Rows<R> {
    standings: R,
}

#[derive(Serialize)]
struct State {
    state: &'static str,
}

#[derive(Serialize)]
struct Matches<R> {
    matches: R,
}

#[derive(Serialize)]
struct Rounds<R> {
    total_rounds: u16,
    rounds: R,
}

#[derive(Serialize)]
struct RoundOf<R> {
    round_id: u16,
    matches: R,
}

#[derive(Serialize)]
struct Directory<A, B> {
    players: A,
    referees: B,
}

/// An agent in the directory.
#[derive(Serialize)]
struct Listed<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    player_id: Option<Shown<AgentId>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    referee_id: Option<Shown<AgentId>>,
    display_name: &'a str,
    contact_endpoint: Shown<Url<'a>>,
    /// The same, for those who look for it by this name.
    endpoint: Shown<Url<'a>>,
}

impl<'a> Listed<'a> {
    fn player(player: &'a Player) -> Self {
        let endpoint = Shown(Url(&player.contact));
        let (display_name, player_id) = (&player.name, Some(Shown(player.id())));
        Self { player_id, referee_id: None, display_name, contact_endpoint: endpoint, endpoint }
    }

    fn referee(referee: &'a Referee) -> Self {
        let endpoint = Shown(Url(&referee.contact));
        let referee_id = Some(Shown(referee.id()));
        Self { player_id: None, referee_id, display_name: &referee.name, contact_endpoint: endpoint, endpoint }
    }
}
