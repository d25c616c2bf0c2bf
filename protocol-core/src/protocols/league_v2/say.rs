//! The words of every call.

use core::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::calls::player_of;
use super::dialect::Dialect;
use super::outgoing::*;
use super::referees::way;
use super::session::{Open, What};
use super::{Code, PROTOCOL};
use crate::contact::Url;
use crate::games::{self, AnyGame, Game, Seats, Viewer};
use crate::ids::{Ids, MatchId};
use crate::json::{self, Full, Joined, Seq, Shown, Sink};
use crate::message::Message;
use crate::protocols::write_view;
use crate::referee::{Broken, Cause, Fault, MAX_RETRIES, Need};
use crate::season::{Record, Status};
use crate::time::Now;
use crate::venue::{News, PLAYER_ID, Party, Player, Seating, Table, Venue};

impl Venue<'_> {
    /// Writes the body of the open call on a line.
    pub(super) fn say_call(&self, player: u16, sink: &mut dyn Sink) -> Result<(), Full> {
        let called = player_of(self, player).and_then(|(player, session)| Some((player, session.open?)));
        let Some((player, open)) = called else { return self.write_errand(player, sink) };
        match open.what {
            What::News(News::Round(round)) => {
                let matches = Seq(|| self.matches_of(round).filter_map(|id| self.announced_match(id)));
                let body = RoundAnnouncement { round_id: round, total_rounds: self.schedule().rounds(), matches };
                self.say(open, Conversation::Round(round, "announce"), body, sink)
            }
            What::News(News::Standings(round)) => {
                let body = StandingsUpdate { round_id: round, standings: Seq(|| self.closed_rows()) };
                self.say(open, Conversation::Round(round, "standings"), body, sink)
            }
            What::News(News::RoundCompleted(round)) => {
                let summary = self.round_summary(round);
                let body = RoundCompleted {
                    round_id: round,
                    matches_played: summary.total_matches,
                    matches_completed: summary.total_matches,
                    next_round_id: (round < self.schedule().rounds()).then_some(round.saturating_add(1)),
                    summary,
                };
                self.say(open, Conversation::Round(round, "complete"), body, sink)
            }
            What::News(News::LeagueCompleted) => {
                self.say_league_completed((open.id, open.at), open.dialect, open.variant, sink)
            }
            What::News(News::GameOver(round)) => self.say_game_over(player, open, round, sink),
            What::News(News::MoveTaken(round)) => {
                let id = self.match_in(player, round).ok_or(Full)?;
                let seat = self.seat_in(player, id);
                let over = self.recall(id);
                let game = over.as_ref().or_else(|| self.table(id).map(|table| table.play.game())).ok_or(Full)?;
                let r#move = LastMove { game, seat };
                let validation = Validation { player_id: Shown(player.id()), r#move, status: "VALID", error: None };
                let body = MoveValidation { round_id: id.round, match_id: Shown(id), validation };
                self.say(open, Conversation::Seat(id, seat), body, sink)
            }
            What::Question(kind) => {
                let (table, seating) = self.seat_of(player).ok_or(Full)?;
                self.say_question(player, open, kind, table, seating, sink)
            }
            What::Retry(retry, fault) => {
                let (table, seating) = self.seat_of(player).ok_or(Full)?;
                self.say_retry(player, open, retry, fault, table, seating, sink)
            }
            What::Assignment => {
                let (table, _) = self.seat_of(player).filter(|(table, _)| table.referee().is_some()).ok_or(Full)?;
                let (method, message_type) = way(open.dialect, open.variant).ok_or(Full)?;
                let body = self.assignment(table.id, !message_type.starts_with("ROUND")).ok_or(Full)?;
                let conversation = Conversation::Seat(table.id, 0);
                self.say_so((open.id, open.at), (method, message_type, false), open.dialect, conversation, body, sink)
            }
            What::Check => {
                #[derive(Serialize)]
                struct Nothing {}
                self.say(open, Conversation::League, Nothing {}, sink)
            }
            What::Settled(_) => Err(Full),
        }
    }

    fn say<B: Serialize>(
        &self,
        open: Open,
        conversation: Conversation<'_>,
        body: B,
        sink: &mut dyn Sink,
    ) -> Result<(), Full> {
        let (id, at, kind) = (open.id, open.at, open.what.kind());
        self.say_as((id, at, kind), open.dialect, open.variant, conversation, body, sink)
    }

    /// Says something to whom no open call belongs.
    fn say_as<B: Serialize>(
        &self,
        (id, at, kind): (u32, Now, Message),
        dialect: Dialect,
        variant: u8,
        conversation: Conversation<'_>,
        body: B,
        sink: &mut dyn Sink,
    ) -> Result<(), Full> {
        let method = kind.method(dialect, variant).unwrap_or("handle_message");
        let words = (method, kind.type_in(dialect), kind.is_referees());
        self.say_so((id, at), words, dialect, conversation, body, sink)
    }

    /// Says something by this method, as this type of message, as the referee or not.
    fn say_so<B: Serialize>(
        &self,
        (id, at): (u32, Now),
        (method, message_type, referee): (&'static str, &'static str, bool),
        dialect: Dialect,
        conversation: Conversation<'_>,
        body: B,
        sink: &mut dyn Sink,
    ) -> Result<(), Full> {
        let head = Head {
            protocol: PROTOCOL,
            message_type,
            sender: Shown(Sender { referee, with_id: dialect == Dialect::MessageType }),
            timestamp: Shown(at.utc),
            conversation_id: conversation,
            auth_token: Some(Shown(self.our_token())),
            league_id: Shown(self.league_id()),
        };
        json::write(&Call { dialect, method, id, message: Joined(head, body) }, sink)
    }

    /// Says how the league ended, to a player or a referee.
    pub(super) fn say_league_completed(
        &self,
        (id, at): (u32, Now),
        dialect: Dialect,
        variant: u8,
        sink: &mut dyn Sink,
    ) -> Result<(), Full> {
        let champion = self.closed_rows().next().map(|row| Champion {
            player_id: row.player_id,
            display_name: row.display_name,
            points: row.points,
        });
        let body = LeagueCompleted {
            total_rounds: self.schedule().rounds(),
            total_matches: self.schedule().total_matches(),
            champion,
            final_standings: Seq(|| self.closed_rows()),
        };
        self.say_as((id, at, Message::LeagueCompleted), dialect, variant, Conversation::League, body, sink)
    }

    fn say_question(
        &self,
        player: &Player,
        open: Open,
        kind: Message,
        table: &Table,
        seating: Seating,
        sink: &mut dyn Sink,
    ) -> Result<(), Full> {
        let conversation = Conversation::Seat(table.id, seating.seat);
        let opponents = table.opponents(seating.seat).filter_map(|line| self.player(line));
        let opponent_ids = Ids(opponents.map(Player::id).collect());
        let (player_id, opponent_id) = (Shown(player.id()), Shown(opponent_ids.first().unwrap_or_default()));
        let (round_id, match_id) = (table.id.round, Shown(table.id));
        let game_id = (open.dialect == Dialect::ProtocolMessage).then_some(match_id);
        let game_type = table.play.game().rules().name;
        let deadline = Shown(open.at.utc_at(open.deadline));
        let your_standings = self.tally_of(player.place).into();
        let context = |opponent_ids| Context { opponent_id, opponent_ids, round_id, your_standings };
        match kind {
            Message::GameInvitation => {
                let role_in_match = ROLES.get(usize::from(seating.seat)).copied().unwrap_or_default();
                let seed_commitment = Shown(table.play.seed().commitment());
                let body = GameInvitation {
                    round_id,
                    match_id,
                    game_id,
                    game_type,
                    role_in_match,
                    player_id,
                    opponent_id,
                    opponent_ids,
                    seed_commitment,
                };
                self.say(open, conversation, body, sink)
            }
            Message::ChooseParity => {
                let context = context(opponent_ids);
                let body = ChooseParityCall { round_id, match_id, game_id, player_id, game_type, context, deadline };
                self.say(open, conversation, body, sink)
            }
            _ => {
                let party = self.party_of(table.id);
                let sitters = self.sitters_with_notes(&party);
                let game_state = GameState {
                    game_type,
                    turn_number: table.play.game().turn(),
                    timeout_seconds: self.config().timing.move_ms / 1000,
                    last_turn: LastTurn { game: table.play.game(), table: games::Table(&sitters) },
                    game_specific_state: View {
                        game: table.play.game(),
                        seat: seating.seat,
                        table: games::Table(&sitters),
                    },
                };
                let context = context(opponent_ids);
                let body = MoveRequest { round_id, match_id, player_id, game_type, context, game_state, deadline };
                self.say(open, conversation, body, sink)
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "a retry has this many sides")]
    fn say_retry(
        &self,
        player: &Player,
        open: Open,
        retry: u8,
        fault: Fault,
        table: &Table,
        seating: Seating,
        sink: &mut dyn Sink,
    ) -> Result<(), Full> {
        let question = table.question();
        let (code, detail) = match fault {
            // Who has given up is asked nothing more.
            Fault::Silent | Fault::Resigned => (Code::Timeout, "no answer came before the deadline"),
            Fault::Unreachable => (Code::ConnectionError, "your server refused the connection or broke it off"),
            Fault::Unusable(Broken::Move, rule) if question == Message::ChooseParity => {
                (Code::InvalidParityChoice, rule)
            }
            Fault::Unusable(Broken::Move, rule) => (Code::InvalidChoice, rule),
            Fault::Unusable(Broken::Field, rule) => (Code::MissingRequiredField, rule),
            Fault::Unusable(Broken::Timestamp, rule) => (Code::InvalidTimestamp, rule),
            Fault::Unusable(Broken::Token, rule) => (Code::AuthTokenInvalid, rule),
        };
        let next_retry_at = Shown(open.at.utc);
        let body = GameError {
            round_id: table.id.round,
            match_id: Shown(table.id),
            error_code: code.code(),
            error_description: code.name(),
            detail,
            affected_player: Shown(player.id()),
            action_required: match question {
                Message::GameInvitation => "GAME_JOIN_ACK",
                Message::ChooseParity => "CHOOSE_PARITY_RESPONSE",
                _ => "MOVE_RESPONSE",
            },
            retryable: true,
            retry_count: retry,
            max_retries: MAX_RETRIES,
            retry_info: RetryInfo { retry_count: retry, max_retries: MAX_RETRIES, next_retry_at },
            consequence: "Technical loss if no response after retries",
        };
        debug_assert!(matches!(table.play.need(seating.seat), Need::Announcement { .. }));
        self.say(open, Conversation::Seat(table.id, seating.seat), body, sink)
    }

    /// The match of a player in a round.
    fn match_in(&self, player: &Player, round: u16) -> Option<MatchId> {
        Some(MatchId { round, table: self.schedule().table_of(round, player.place)? })
    }

    fn say_game_over(&self, player: &Player, open: Open, round: u16, sink: &mut dyn Sink) -> Result<(), Full> {
        let id = self.match_in(player, round).ok_or(Full)?;
        let result = self.game_result(id).ok_or(Full)?;
        let seed = self.match_seed(id);
        let body = GameOver {
            round_id: round,
            match_id: Shown(id),
            player_id: Shown(player.id()),
            game_type: self.game().rules().name,
            game_result: result,
            seed_commitment: Shown(seed.commitment()),
            match_seed: Shown(seed),
        };
        self.say(open, Conversation::Seat(id, self.seat_in(player, id)), body, sink)
    }

    /// The result of a finished match, as it is told.
    pub fn game_result(&self, id: MatchId) -> Option<impl Serialize> {
        let record = *self.record(id)?;
        let seated = self.seated_at(id);
        let result = GameResult {
            status: record.status().name(),
            winner_player_id: self.winner_of(id).map(Shown),
            score: Score((0..).zip(&seated).map(|(seat, &(player, _))| (player, record.verdict(seat))).collect()),
            end_reason: record.end_reason().name(),
        };
        Some(Joined(result, Ending { game: self.recall(id)?, party: self.party_of(id), record }))
    }

    /// What happened in a round.
    fn round_summary(&self, round: u16) -> RoundSummary {
        let mut summary = RoundSummary::default();
        for record in self.matches_of(round).filter_map(|id| self.record(id)) {
            let as_it_ended = match record.status() {
                Status::Win => &mut summary.wins,
                Status::Draw => &mut summary.draws,
                Status::TechnicalLoss => &mut summary.technical_losses,
            };
            *as_it_ended = as_it_ended.saturating_add(1);
            summary.total_matches = summary.total_matches.saturating_add(1);
        }
        summary
    }

    fn announced_match(&self, id: MatchId) -> Option<AnnouncedMatch<'_>> {
        let places = self.places(id)?;
        let player = |place| self.player_at(place).map(|player| (player.id(), Url(&player.contact)));
        let referee_id = self.referee_of(id);
        let foreign = self.referees().iter().find(|referee| referee.id() == referee_id);
        Some(AnnouncedMatch {
            match_id: id,
            game_type: self.game().rules().name,
            players: places.into_iter().map(player).collect::<Option<_>>()?,
            referee_id,
            referee_endpoint: foreign.map_or(&self.config().endpoint, |referee| referee.contact.given()),
        })
    }

    /// A match as a referee that has it is told of it, which may want to see its fields by themselves.
    pub(super) fn assignment(&self, id: MatchId, is_flat: bool) -> Option<Assignment<'_>> {
        Some(Assignment { total_rounds: self.schedule().rounds(), announced: self.announced_match(id)?, is_flat })
    }

    fn seat_of(&self, player: &Player) -> Option<(&Table, Seating)> {
        let seating = player.seating?;
        Some((self.table_at(seating.slot)?, seating))
    }

    fn seat_in(&self, player: &Player, id: MatchId) -> u8 {
        self.seat_of_place(id, player.place).unwrap_or(0)
    }
}

/// What a seat sees of a running game.
struct View<'a> {
    game: &'a AnyGame,
    seat: u8,
    table: games::Table<'a>,
}

impl Serialize for View<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        write_view(self.game, Viewer::Seat(self.seat), self.table, &mut map)?;
        map.end()
    }
}

/// What every seat did in the turn that was resolved last; nothing before the first.
struct LastTurn<'a> {
    game: &'a AnyGame,
    table: games::Table<'a>,
}

impl Serialize for LastTurn<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { game, table } = *self;
        let mut map = serializer.serialize_map(None)?;
        for seat in (0..game.seats()).filter(|_| game.turn() > 1) {
            map.serialize_entry(table.id(seat), &Shown(Action { game, table, seat }))?;
        }
        map.end()
    }
}

/// What one seat did.
struct Action<'a> {
    game: &'a AnyGame,
    table: games::Table<'a>,
    seat: u8,
}

impl core::fmt::Display for Action<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.game.action(self.seat, self.table, f)
    }
}

/// What a seat played.
struct LastMove<'a> {
    game: &'a AnyGame,
    seat: u8,
}

impl Serialize for LastMove<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.game.last_move(self.seat, serializer)
    }
}

/// What is told of a finished game: what the game has to tell, and why it ended.
struct Ending<'a> {
    game: AnyGame,
    party: Party<'a, PLAYER_ID>,
    record: Record,
}

impl Serialize for Ending<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.game.result(games::Table(&self.party.sitters()), &mut map)?;
        map.serialize_entry("reason", &Shown(Reason(self)))?;
        map.end()
    }
}

struct Reason<'a>(&'a Ending<'a>);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ending { game, party, record } = self.0;
        let (sitters, forfeits) = (party.sitters(), record.outcome().forfeits);
        let table = games::Table(&sitters);
        let resigned = Seats::first(game.seats()).without(record.outcome().winners);
        let losers = if record.outcome().cause == Cause::Resigned { resigned } else { forfeits };
        // The cause is that of the first who failed.
        let loser = losers.iter().next().map_or("", |seat| table.id(seat));
        match record.outcome().cause {
            Cause::Played => return game.reason(table, f),
            Cause::BothFailed if sitters.len() == 2 => return f.write_str("Neither player gave a valid answer"),
            Cause::BothFailed => return f.write_str("Nobody gave a valid answer"),
            Cause::Adjudicated if forfeits.is_empty() => return f.write_str("The admin ruled on this match"),
            Cause::Reported => return f.write_str("As the referee of this match reported"),
            Cause::TimeUp => return f.write_str("It had lasted as long as a match may"),
            Cause::Resigned => return write!(f, "{loser} gave up"),
            Cause::Timeout => write!(f, "{loser} did not answer in time"),
            Cause::Invalid => write!(f, "{loser} gave no valid answer"),
            Cause::Refused => write!(f, "{loser} declined the invitation"),
            Cause::Disconnected => write!(f, "{loser} could not be reached"),
            Cause::Adjudicated => write!(f, "{loser} was removed by the admin"),
        }?;
        forfeits.iter().skip(1).try_for_each(|seat| write!(f, "; {} failed as well", table.id(seat)))
    }
}
