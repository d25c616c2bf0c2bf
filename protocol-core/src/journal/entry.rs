//! What a journal says. An entry is a byte that names it and its fields in order; entries follow each other without a
//! gap. A new kind of entry gets the next free number; a changed one is another [`VERSION`](super::frame::VERSION).

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::bytes::{Garbled, NoRoom, Reader, Writer};
use crate::fair::Seed;
use crate::games::{GameKind, GameSet, MAX_SEATS, Seats};
use crate::ids::{AgentId, MatchId};
use crate::json::Shown;
use crate::referee::{Cause, Outcome};
use crate::season::Row;
use crate::season::{Compliance, Rating, Record, Rule};
use crate::time::{Millis, Utc};
use crate::venue::{Ballot, Finished, Mode, Pace, Pacing, Timing, Vote};

/// Something that is kept.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'a> {
    /// A chapter begins: what everything else is derived from.
    Origin(Origin),
    /// How the league is set up; behind a league that began, the next one.
    Settings(Settings),
    /// What decides the draws of the next league, and whether somebody chose it.
    NextSeed(Seed, bool),
    /// What the owner authorizes with.
    AdminCode(&'a str),
    /// A player is in.
    Player(Agent<'a>),
    /// A referee is in.
    Referee(Agent<'a>),
    /// All that was known when the chapter began has been said.
    Open,
    /// The player of this number has left.
    Left(u16),
    /// The admin has removed the player of this number.
    Removed(u16),
    /// The registration is closed and the first round begins.
    Started,
    /// A match is over.
    Played(Played),
    /// The admin gave a match that was over this result.
    Ruled(Played),
    /// A match that was over is to be played again.
    Again(MatchId),
    /// How often a player has broken which rules by now.
    Counts(Counts<'a>),
    /// The audience votes on a match.
    Voting(Ballot),
    /// A vote on it, or the same voter's instead of the last.
    Vote(MatchId, Vote),
    /// How debates are held: for how many seconds an audience votes, and what about, if not what seeds decide.
    Debates(u16, &'a str),
    /// A game outside the league is over.
    Game(Finished),
    /// How strong the player of this number is, after a game.
    Rated(u16, Rating),
    /// What the protocol of the player of this number keeps of it, in bytes of its own.
    Session(u16, &'a [u8]),
    /// What the protocol with this code keeps beside its players, in bytes of its own.
    Desk(u8, &'a [u8]),
    /// The next round waits for the admin.
    Paused,
    /// It no longer does.
    Unpaused,
    /// The box was restarted while a league was being played.
    Resumed,
    /// Everybody has been told how the league ended, or cannot be.
    Over,
    /// The league has a champion. Its final standings follow, best first.
    Ended(Ended),
    /// A line of the final standings.
    Ranked(Row<'a>),
}

/// What a chapter begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Which league this is.
    pub league: u32,
    /// Registrations so far, over all leagues.
    pub issued: u32,
    /// Decides every seed of a match.
    pub master: Seed,
    /// Decides every token.
    pub secret: Seed,
    /// Whether somebody chose the master seed.
    pub chosen: bool,
}

/// How a league is set up.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The game.
    pub game: GameKind,
    /// What happens to deviations.
    pub mode: Mode,
    /// How long players have.
    pub timing: Timing,
    /// Starts by itself at so many players.
    pub start_at: Option<u16>,
    /// How fast it goes on.
    pub pacing: Pacing,
    /// So many players may come from one address.
    pub per_address: Option<u16>,
    /// After how many seconds a room that waits is filled with house players; `None`: never.
    pub fill_after: Option<u16>,
    /// Whether agents may be called at another address than they registered from.
    pub other_hosts: bool,
}

/// An agent that has registered. At most 221 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent<'a> {
    /// The number in its id.
    pub number: u16,
    /// Which registration made it; part of its token.
    pub issue: u32,
    /// What it calls itself.
    pub name: &'a str,
    /// Its version, as it says.
    pub version: &'a str,
    /// Where it is called, as it wrote it.
    pub endpoint: &'a str,
    /// The machine it was registered from.
    pub from: IpAddr,
    /// Whether the host it wrote is called, and not that machine.
    pub elsewhere: bool,
    /// What it says it plays.
    pub games: GameSet,
    /// The protocol it speaks,
    pub protocol: u8,
    /// and the dialect of it.
    pub dialect: u8,
    /// What it says of itself.
    pub about: &'a str,
}

/// A match that is over.
#[derive(Clone, Copy, Debug)]
pub struct Played {
    /// Which one.
    pub id: MatchId,
    /// The result.
    pub record: Record,
}

/// A league that has ended, for whoever wants to read of it when others have been played since. All of it stands here, so
/// that nothing has to be recalled from the league itself.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Which league.
    pub league: u32,
    /// The game.
    pub game: GameKind,
    /// When its last match was over.
    pub at: Utc,
    /// How many players it had: so many lines of its standings follow.
    pub players: u16,
    /// How many matches.
    pub matches: u32,
}

/// How often a player has broken which rules.
#[derive(Clone, Copy, Debug)]
pub struct Counts<'a> {
    /// The number of the player.
    pub player: u16,
    bytes: &'a [u8],
}

impl Counts<'_> {
    /// Each rule and how often. Rules this version does not know are left out.
    pub fn iter(&self) -> impl Iterator<Item = (Rule, u16)> {
        self.bytes.chunks_exact(3).filter_map(|entry| {
            let &[rule, low, high] = entry else { return None };
            Some((*Rule::ALL.get(usize::from(rule))?, u16::from_le_bytes([low, high])))
        })
    }

    /// Writes the counts of a player; nothing where it has broken none.
    pub fn write(player: u16, report: &Compliance, out: &mut Writer<'_>) -> Result<(), NoRoom> {
        let broken = report.broken().count();
        if broken == 0 {
            return Ok(());
        }
        out.all(|out| {
            out.u8(COUNTS)?;
            out.u16(player)?;
            out.u8(u8::try_from(broken).map_err(|_| NoRoom)?)?;
            report.broken().try_for_each(|(rule, count, _)| {
                out.u8(rule as u8)?;
                out.u16(count)
            })
        })
    }
}

const ORIGIN: u8 = 1;
const SETTINGS: u8 = 2;
const ADMIN_CODE: u8 = 3;
const PLAYER: u8 = 4;
const REFEREE: u8 = 5;
const OPEN: u8 = 6;
const LEFT: u8 = 7;
const STARTED: u8 = 8;
const PLAYED: u8 = 9;
const COUNTS: u8 = 10;
const PAUSED: u8 = 11;
const UNPAUSED: u8 = 12;
const RESUMED: u8 = 13;
const OVER: u8 = 14;
const REMOVED: u8 = 15;
const RULED: u8 = 16;
const AGAIN: u8 = 17;
const RATED: u8 = 18;
const NEXT_SEED: u8 = 19;
const GAME: u8 = 20;
const VOTING: u8 = 21;
const VOTE: u8 = 22;
const DEBATES: u8 = 23;
const SESSION: u8 = 24;
const DESK: u8 = 25;
// What is only read when the league is over and gone has numbers of its own.
const ENDED: u8 = 64;
const RANKED: u8 = 65;
/// Nobody lets a player think for longer than a day.
const LONGEST_MS: u64 = 86_400_000;

fn times(timing: Timing, pacing: Pacing) -> [Millis; 9] {
    let Timing { join_ms, move_ms, retry_base_ms, notice_ms, first_turn_ms, turn_ms } = timing;
    let Pacing { turn_ms: least_turn_ms, match_ms, break_ms, .. } = pacing;
    [join_ms, move_ms, retry_base_ms, notice_ms, first_turn_ms, turn_ms, least_turn_ms, match_ms, break_ms]
}

const MODES: [Mode; 2] = [Mode::Lenient, Mode::Strict];

/// A value by its place in a list. The lists are part of the format.
fn index<T: PartialEq>(list: &[T], value: &T) -> u8 {
    list.iter().zip(0..=u8::MAX).find(|(known, _)| *known == value).map_or(0, |(_, place)| place)
}

fn pick<T: Copy>(list: &[T], index: u8) -> Result<T, Garbled> {
    list.get(usize::from(index)).copied().ok_or(Garbled)
}

impl Entry<'_> {
    /// Writes it whole, or not at all.
    pub fn write(&self, out: &mut Writer<'_>) -> Result<(), NoRoom> {
        out.all(|out| match self {
            Entry::Origin(origin) => {
                out.u8(ORIGIN)?;
                out.u32(origin.league)?;
                out.u32(origin.issued)?;
                out.raw(&origin.master.0)?;
                out.raw(&origin.secret.0)?;
                out.u8(origin.chosen.into())
            }
            Entry::Settings(settings) => {
                out.u8(SETTINGS)?;
                out.text(settings.game.rules().name)?;
                out.u8(index(&MODES, &settings.mode))?;
                out.u8(index(&Pace::ALL, &settings.pacing.pace))?;
                times(settings.timing, settings.pacing).into_iter().try_for_each(|ms| out.u64(ms))?;
                out.u16(settings.start_at.unwrap_or(0))?;
                out.u16(settings.per_address.unwrap_or(0))?;
                out.u16(settings.fill_after.unwrap_or(0))?;
                out.u8(settings.other_hosts.into())
            }
            Entry::NextSeed(seed, chosen) => {
                out.u8(NEXT_SEED)?;
                out.raw(&seed.0)?;
                out.u8((*chosen).into())
            }
            Entry::AdminCode(code) => {
                out.u8(ADMIN_CODE)?;
                out.text(code)
            }
            Entry::Player(agent) => {
                out.u8(PLAYER)?;
                agent.write(out)
            }
            Entry::Referee(agent) => {
                out.u8(REFEREE)?;
                agent.write(out)
            }
            Entry::Open => out.u8(OPEN),
            Entry::Left(number) => {
                out.u8(LEFT)?;
                out.u16(*number)
            }
            Entry::Removed(number) => {
                out.u8(REMOVED)?;
                out.u16(*number)
            }
            Entry::Started => out.u8(STARTED),
            Entry::Played(played) => {
                out.u8(PLAYED)?;
                played.write(out)
            }
            Entry::Ruled(played) => {
                out.u8(RULED)?;
                played.write(out)
            }
            Entry::Again(id) => {
                out.u8(AGAIN)?;
                out.u16(id.round)?;
                out.u16(id.table)
            }
            Entry::Counts(counts) => {
                out.u8(COUNTS)?;
                out.u16(counts.player)?;
                out.u8(u8::try_from(counts.bytes.len() / 3).map_err(|_| NoRoom)?)?;
                out.raw(counts.bytes)
            }
            Entry::Voting(ballot) => {
                out.u8(VOTING)?;
                out.u16(ballot.id.round)?;
                out.u16(ballot.id.table)?;
                out.text(ballot.game.rules().name)?;
                out.raw(&ballot.seed.0)?;
                out.u64(ballot.digest)?;
                out.u16(ballot.steps)?;
                out.u8(ballot.marks())?;
                out.u8(ballot.seats)?;
                ballot.players.iter().take(ballot.seats.into()).try_for_each(|number| out.u16(*number))
            }
            Entry::Vote(id, vote) => {
                out.u8(VOTE)?;
                out.u16(id.round)?;
                out.u16(id.table)?;
                out.u32(vote.who)?;
                out.u32(vote.from)?;
                out.u8(vote.seat)
            }
            Entry::Debates(seconds, topic) => {
                out.u8(DEBATES)?;
                out.u16(*seconds)?;
                out.text(topic)
            }
            Entry::Game(finished) => {
                out.u8(GAME)?;
                out.text(finished.game.rules().name)?;
                Played { id: MatchId::of_game(finished.number), record: finished.record }.write(out)?;
                out.raw(&finished.seed.0)?;
                out.u8(finished.seats)?;
                { finished.who() }.try_for_each(|(number, issue)| {
                    out.u16(number)?;
                    out.u32(issue)
                })
            }
            Entry::Rated(number, rating) => {
                out.u8(RATED)?;
                out.u16(*number)?;
                out.u16(rating.tenths)?;
                out.u16(rating.deviation_tenths)?;
                out.u16(rating.games)
            }
            Entry::Session(number, bytes) => {
                out.u8(SESSION)?;
                out.u16(*number)?;
                write_bytes(bytes, out)
            }
            Entry::Desk(code, bytes) => {
                out.u8(DESK)?;
                out.u8(*code)?;
                write_bytes(bytes, out)
            }
            Entry::Paused => out.u8(PAUSED),
            Entry::Unpaused => out.u8(UNPAUSED),
            Entry::Resumed => out.u8(RESUMED),
            Entry::Over => out.u8(OVER),
            Entry::Ended(ended) => {
                out.u8(ENDED)?;
                ended.write(out)
            }
            Entry::Ranked(row) => {
                out.u8(RANKED)?;
                write_row(row, out)
            }
        })
    }
}

impl<'a> Entry<'a> {
    /// Reads the next entry; `None` at the end.
    pub fn read(from: &mut Reader<'a>) -> Result<Option<Entry<'a>>, Garbled> {
        if from.is_empty() {
            return Ok(None);
        }
        Ok(Some(match from.u8()? {
            ORIGIN => Entry::Origin(Origin {
                league: from.u32()?,
                issued: from.u32()?,
                master: Seed(from.hash()?),
                secret: Seed(from.hash()?),
                chosen: from.u8()? != 0,
            }),
            SETTINGS => {
                let game = GameKind::named(from.text()?).ok_or(Garbled)?;
                let mode = pick(&MODES, from.u8()?)?;
                let pace = pick(&Pace::ALL, from.u8()?)?;
                let timing = Timing {
                    join_ms: from.u64()?,
                    move_ms: from.u64()?,
                    retry_base_ms: from.u64()?,
                    notice_ms: from.u64()?,
                    first_turn_ms: from.u64()?,
                    turn_ms: from.u64()?,
                };
                let pacing = Pacing { pace, turn_ms: from.u64()?, match_ms: from.u64()?, break_ms: from.u64()? };
                if times(timing, pacing).iter().any(|&ms| ms > LONGEST_MS) {
                    return Err(Garbled);
                }
                let start_at = Some(from.u16()?).filter(|&n| n != 0);
                let per_address = Some(from.u16()?).filter(|&n| n != 0);
                let fill_after = Some(from.u16()?).filter(|&n| n != 0);
                let other_hosts = from.u8()? != 0;
                Entry::Settings(Settings { game, mode, timing, start_at, pacing, per_address, fill_after, other_hosts })
            }
            NEXT_SEED => Entry::NextSeed(Seed(from.hash()?), from.u8()? != 0),
            ADMIN_CODE => Entry::AdminCode(from.text()?),
            PLAYER => Entry::Player(Agent::read(from)?),
            REFEREE => Entry::Referee(Agent::read(from)?),
            OPEN => Entry::Open,
            LEFT => Entry::Left(from.u16()?),
            REMOVED => Entry::Removed(from.u16()?),
            STARTED => Entry::Started,
            PLAYED => Entry::Played(Played::read(from)?),
            RULED => Entry::Ruled(Played::read(from)?),
            AGAIN => Entry::Again(MatchId { round: from.u16()?, table: from.u16()? }),
            COUNTS => {
                let (player, n) = (from.u16()?, from.u8()?);
                Entry::Counts(Counts { player, bytes: from.raw(3 * usize::from(n))? })
            }
            VOTING => {
                let id = MatchId { round: from.u16()?, table: from.u16()? };
                let (game, seed) = (GameKind::named(from.text()?).ok_or(Garbled)?, Seed(from.hash()?));
                let (digest, steps) = (from.u64()?, from.u16()?);
                let ((is_own, left), seats) = (Ballot::of_marks(from.u8()?), from.u8()?);
                let mut players = [0; MAX_SEATS];
                { players.get_mut(..seats.into()).ok_or(Garbled)?.iter_mut() }.try_for_each(|number| {
                    *number = from.u16()?;
                    Ok(())
                })?;
                Entry::Voting(Ballot { id, game, seed, digest, steps, is_own, left, seats, players })
            }
            VOTE => {
                let id = MatchId { round: from.u16()?, table: from.u16()? };
                Entry::Vote(id, Vote { who: from.u32()?, from: from.u32()?, seat: from.u8()? })
            }
            DEBATES => Entry::Debates(from.u16()?, from.text()?),
            GAME => {
                let game = GameKind::named(from.text()?).ok_or(Garbled)?;
                let (Played { id, record }, seed, seats) = (Played::read(from)?, Seed(from.hash()?), from.u8()?);
                let (mut players, mut issues) = ([0; MAX_SEATS], [0; MAX_SEATS]);
                let to = players.get_mut(..seats.into()).ok_or(Garbled)?.iter_mut().zip(&mut issues);
                { to }.try_for_each(|(player, issue)| {
                    (*player, *issue) = (from.u16()?, from.u32()?);
                    Ok(())
                })?;
                let number = Some(id).filter(|id| id.is_outside()).ok_or(Garbled)?.table;
                Entry::Game(Finished { number, game, seats, seed, record, players, issues })
            }
            RATED => Entry::Rated(
                from.u16()?,
                Rating { tenths: from.u16()?, deviation_tenths: from.u16()?, games: from.u16()? },
            ),
            SESSION => Entry::Session(from.u16()?, read_bytes(from)?),
            DESK => Entry::Desk(from.u8()?, read_bytes(from)?),
            PAUSED => Entry::Paused,
            UNPAUSED => Entry::Unpaused,
            RESUMED => Entry::Resumed,
            OVER => Entry::Over,
            ENDED => Entry::Ended(Ended::read(from)?),
            RANKED => Entry::Ranked(read_row(from)?),
            _ => return Err(Garbled),
        }))
    }
}

fn write_bytes(bytes: &[u8], out: &mut Writer<'_>) -> Result<(), NoRoom> {
    out.u8(u8::try_from(bytes.len()).map_err(|_| NoRoom)?)?;
    out.raw(bytes)
}

fn read_bytes<'a>(from: &mut Reader<'a>) -> Result<&'a [u8], Garbled> {
    let length = from.u8()?;
    from.raw(length.into())
}

impl<'a> Agent<'a> {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), NoRoom> {
        out.u16(self.number)?;
        out.u32(self.issue)?;
        out.text(self.name)?;
        out.text(self.version)?;
        out.text(self.endpoint)?;
        match self.from {
            IpAddr::V4(ip) => {
                out.u8(4)?;
                out.raw(&ip.octets())?;
            }
            IpAddr::V6(ip) => {
                out.u8(6)?;
                out.raw(&ip.octets())?;
            }
        }
        out.u8(self.elsewhere.into())?;
        out.u32(self.games.bits())?;
        out.u8(self.protocol)?;
        out.u8(self.dialect)?;
        out.text(self.about)
    }

    fn read(bytes: &mut Reader<'a>) -> Result<Self, Garbled> {
        let (number, issue) = (bytes.u16()?, bytes.u32()?);
        let (name, version, endpoint) = (bytes.text()?, bytes.text()?, bytes.text()?);
        let from = match bytes.u8()? {
            4 => IpAddr::V4(Ipv4Addr::from_bits(u32::from_be_bytes(bytes.raw(4)?.try_into().map_err(|_| Garbled)?))),
            6 => IpAddr::V6(Ipv6Addr::from_bits(u128::from_be_bytes(bytes.raw(16)?.try_into().map_err(|_| Garbled)?))),
            _ => return Err(Garbled),
        };
        let (elsewhere, games) = (bytes.u8()? != 0, GameSet::of_bits(bytes.u32()?));
        let (protocol, dialect, about) = (bytes.u8()?, bytes.u8()?, bytes.text()?);
        Ok(Self { number, issue, name, version, endpoint, from, elsewhere, games, protocol, dialect, about })
    }
}

impl Played {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), NoRoom> {
        let (record, outcome) = (self.record, self.record.outcome());
        out.u16(self.id.round)?;
        out.u16(self.id.table)?;
        out.u16(record.attempt)?;
        out.u64(record.digest)?;
        out.u32(record.finished.0)?;
        out.u8(outcome.winners.bits())?;
        out.u8(outcome.forfeits.bits())?;
        out.u8(index(&Cause::ALL, &outcome.cause))
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Garbled> {
        let id = MatchId { round: from.u16()?, table: from.u16()? };
        let (attempt, digest, finished) = (from.u16()?, from.u64()?, Utc(from.u32()?));
        let winners = Seats::of_bits(from.u8()?).ok_or(Garbled)?;
        let forfeits = Seats::of_bits(from.u8()?).ok_or(Garbled)?;
        let outcome = Outcome { winners, forfeits, cause: pick(&Cause::ALL, from.u8()?)? };
        Ok(Self { id, record: Record::new(digest, finished, outcome, attempt) })
    }
}

impl Ended {
    fn write(&self, out: &mut Writer<'_>) -> Result<(), NoRoom> {
        out.u32(self.league)?;
        out.text(self.game.rules().name)?;
        out.u32(self.at.0)?;
        out.u16(self.players)?;
        out.u32(self.matches)
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Garbled> {
        let (league, game) = (from.u32()?, GameKind::named(from.text()?).ok_or(Garbled)?);
        Ok(Self { league, game, at: Utc(from.u32()?), players: from.u16()?, matches: from.u32()? })
    }
}

fn write_row(row: &Row<'_>, out: &mut Writer<'_>) -> Result<(), NoRoom> {
    let (AgentId::Player(number) | AgentId::Referee(number)) = row.player_id.0;
    let Row { rank, played, wins, draws, losses, technical_losses, points, .. } = *row;
    let numbers = [rank, number, played, wins, draws, losses, technical_losses, points];
    numbers.into_iter().try_for_each(|n| out.u16(n))?;
    out.text(row.display_name)
}

fn read_row<'a>(from: &mut Reader<'a>) -> Result<Row<'a>, Garbled> {
    Ok(Row {
        rank: from.u16()?,
        player_id: Shown(AgentId::Player(from.u16()?)),
        played: from.u16()?,
        wins: from.u16()?,
        draws: from.u16()?,
        losses: from.u16()?,
        technical_losses: from.u16()?,
        points: from.u16()?,
        display_name: from.text()?,
    })
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    fn every_entry() -> Vec<Entry<'static>> {
        let seed = |n| Seed([n; 32]);
        let agent = Agent {
            number: 7,
            issue: 70_000,
            name: "שחקן",
            version: "1.0.0",
            endpoint: "http://localhost:8101/mcp",
            from: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 9)),
            elsewhere: true,
            games: GameSet::NONE.with(GameKind::Echo),
            protocol: 0,
            dialect: 3,
            about: "A program.",
        };
        let outcome = Outcome { winners: Seats::only(1), forfeits: Seats::only(0), cause: Cause::Refused };
        let record = Record::new(u64::MAX - 5, Utc(1_736_937_000), outcome, 300);
        std::vec![
            Entry::Origin(Origin { league: 3, issued: 9, master: seed(1), secret: seed(2), chosen: true }),
            Entry::Settings(Settings {
                game: GameKind::EvenOdd10,
                mode: Mode::Strict,
                timing: Timing::default(),
                start_at: Some(4),
                pacing: Pacing { pace: Pace::Step, ..Pacing::default() },
                per_address: Some(24),
                fill_after: Some(30),
                other_hosts: true,
            }),
            Entry::NextSeed(seed(3), true),
            Entry::AdminCode("class-7b"),
            Entry::Player(agent),
            Entry::Referee(Agent { from: IpAddr::V6(Ipv6Addr::LOCALHOST), version: "", ..agent }),
            Entry::Open,
            Entry::Left(7),
            Entry::Removed(7),
            Entry::Started,
            Entry::Played(Played { id: MatchId { round: 3, table: 2 }, record }),
            Entry::Ruled(Played { id: MatchId { round: 3, table: 2 }, record: record.ruled(Utc(5), Seats::first(4)) }),
            Entry::Game(Finished {
                number: 7,
                game: GameKind::Echo,
                seats: 2,
                seed: Seed([5; 32]),
                record,
                players: core::array::from_fn(|seat| if seat < 2 { 3 + seat as u16 } else { 0 }),
                issues: core::array::from_fn(|seat| if seat < 2 { 70_000 + seat as u32 } else { 0 }),
            }),
            Entry::Again(MatchId { round: 3, table: 2 }),
            Entry::Counts(Counts { player: 7, bytes: &[1, 2, 0, 28, 0, 1] }),
            Entry::Session(7, &[1, 2, 0]),
            Entry::Desk(3, &[9; 8]),
            Entry::Paused,
            Entry::Unpaused,
            Entry::Resumed,
            Entry::Over,
            Entry::Ended(Ended {
                league: 3,
                game: GameKind::EvenOdd,
                at: Utc(1_736_937_000),
                players: 32,
                matches: 496,
            }),
            Entry::Ranked(Row {
                rank: 1,
                player_id: Shown(AgentId::Player(7)),
                display_name: "שחקן",
                played: 31,
                wins: 20,
                draws: 1,
                losses: 10,
                technical_losses: 2,
                points: 61,
            }),
        ]
    }

    fn read_all(bytes: &[u8]) -> Result<Vec<String>, Garbled> {
        let (mut from, mut read) = (Reader::new(bytes), Vec::new());
        while let Some(entry) = Entry::read(&mut from)? {
            read.push(format!("{entry:?}"));
        }
        Ok(read)
    }

    #[test]
    fn every_entry_is_read_as_it_was_written() {
        let mut buf = [0; 1024];
        let mut out = Writer::new(&mut buf);
        let entries = every_entry();
        entries.iter().for_each(|entry| entry.write(&mut out).unwrap());
        let written = out.len();
        let shown: Vec<String> = entries.iter().map(|entry| format!("{entry:?}")).collect();
        assert_eq!(read_all(&buf[..written]).unwrap(), shown);
    }

    #[test]
    fn an_entry_cut_short_is_an_error_and_one_without_room_leaves_no_trace() {
        for entry in every_entry() {
            let mut buf = [0; 256];
            let mut out = Writer::new(&mut buf);
            entry.write(&mut out).unwrap();
            let length = out.len();
            for cut in 1..length {
                assert_eq!(read_all(&buf[..cut]), Err(Garbled), "{entry:?}");
                let mut small = [0; 256];
                let mut out = Writer::new(&mut small[..cut]);
                assert_eq!(entry.write(&mut out), Err(NoRoom));
                assert!(out.is_empty());
            }
        }
    }

    #[test]
    fn the_rules_a_player_broke_are_counted_again() {
        let mut report = Compliance::new();
        (0..300).for_each(|_| report.note(Rule::ChoiceCase, "EVEN"));
        report.note(Rule::BadRequest, "x");
        let mut buf = [0; 64];
        let mut out = Writer::new(&mut buf);
        Counts::write(5, &report, &mut out).unwrap();
        let written = out.len();
        let Ok(Some(Entry::Counts(counts))) = Entry::read(&mut Reader::new(&buf[..written])) else { panic!() };
        assert_eq!(counts.player, 5);
        assert_eq!(counts.iter().collect::<Vec<_>>(), [(Rule::ChoiceCase, 300), (Rule::BadRequest, 1)]);
    }
}
