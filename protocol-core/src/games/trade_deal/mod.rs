//! `trade_deal`, the Bazaar: two players hold four resources, and each has a goal it cannot reach alone. Ten messages are said by
//! turns; beside them, at any time, either side proposes a trade, and the other accepts or rejects it. Nothing but an accepted
//! trade moves goods. Then each scores how far it has come, and more wins; if that is level the audience breaks the tie, where
//! there is one.
//!
//! What a player holds and wants is hidden from the other. A trade is an [act](Game::is_act): it touches no turn and no clock. A
//! message is a speech as in [debates](super::debate), and no part of the state.

#[cfg(any(test, feature = "house"))]
pub(super) mod house;
#[cfg(test)]
mod tests;

use core::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::debate::{SPEECH, Says, is_cut, read, record};
use super::{
    Game, Illegal, MAX_SEATS, MoveSink, Order, Question, Rules, Seat, Seats, Standing, Table, Talk, Viewer, Word,
};
use crate::fair::{Draws, Seed};
use crate::json::{Kind, Map, Str, Value};

/// What is traded.
pub(crate) const RESOURCES: [&str; KINDS] = ["gold", "iron", "food", "wood"];
const KINDS: usize = 4;
/// What the second side may want: anything but what the first does.
const OTHERS: u32 = 3;
/// Messages of both together.
const MESSAGES: u8 = 10;
/// What a goal that is reached scores.
const POINTS: u8 = 100;
/// Of each resource a side has at least so many,
const LEAST: u32 = 2;
/// and at most.
const MOST: u32 = 6;
/// So many more of a resource than one holds are a goal at least,
const NEAR: u32 = 3;
/// and at most.
const FAR: u32 = 5;
/// Nobody can ask for more of a resource than this: there never is as much.
const MANY: u64 = 99;
/// Proposals of a side before the next message. More would only fill the film.
const PROPOSALS: u8 = 4;

const NO_MOVE: Illegal = Illegal(
    "a move is one of {\"text\": \"what you say\"}, {\"propose\": {\"offer\": {\"gold\": 3}, \"request\": {\"food\": 4}}}, {\"accept\": true}, {\"reject\": true}",
);
const NOT_YOUR_TURN: Illegal =
    Illegal("it is not your turn to speak; propose, accept and reject are allowed at any time");
const NO_PROPOSAL: Illegal = Illegal("propose must have offer and request, each an object of resources and amounts");
const NO_AMOUNT: Illegal = Illegal("amounts of gold, iron, food and wood must be whole numbers from 0 to 99");
const NOTHING: Illegal = Illegal("offer and request are both empty: one of them must have an amount above 0");
const PENDING: Illegal = Illegal("A trade is already pending — accept, reject, or wait");
const NONE_PENDING: Illegal = Illegal("there is no pending trade to accept or reject");
const OWN: Illegal = Illegal("Cannot accept your own trade proposal");
const NOT_HELD: Illegal = Illegal("offer is more than you hold");
const NOT_HELD_EITHER: Illegal = Illegal("you do not hold all that the pending trade requests of you");
const TOO_MANY: Illegal =
    Illegal("that were four proposals since the last message; the next may follow the next message");

/// So many of each resource.
type Bundle = [u8; KINDS];

/// What a side is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Goal {
    resource: u8,
    amount: u8,
}

/// What is proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Deal {
    /// Who proposes it.
    by: Seat,
    /// What that side gives,
    offer: Bundle,
    /// and what for.
    request: Bundle,
}

/// What became of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Accepted,
    Rejected,
    Withdrawn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Talk,
    Vote,
    Over,
}

/// One match.
#[derive(Clone, Debug)]
pub struct TradeDeal {
    votes: [u16; 2],
    held: [Bundle; 2],
    goals: [Goal; 2],
    pending: Option<Deal>,
    last: Option<(Deal, Answer)>,
    /// Proposals of each side since the last message.
    proposals: [u8; 2],
    /// Messages so far,
    spoken: u8,
    /// and trades that were made.
    trades: u8,
    /// Whatever each has proposed, accepted or rejected.
    acts: [u8; 2],
    /// How often each has said nothing.
    silent: [u8; 2],
    stage: Stage,
    /// Whether the last message was cut.
    is_cut: bool,
    /// Whether nothing was said last.
    is_silent: bool,
    forfeited: Seats,
}

/// What was done beside the messages.
pub(crate) enum Act<O, R> {
    /// A side gives something for something.
    Proposed {
        /// Which side.
        by: Seat,
        /// What it gives,
        offer: O,
        /// and what for.
        request: R,
    },
    /// The other one took it.
    Executed,
    /// This side did not want it, or not any more.
    Rejected(Seat),
}

/// A move, read.
enum Wish {
    Say,
    Propose(Bundle, Bundle),
    Accept,
    Reject,
}

/// What a move wants of this kind, if anything. AGON's actions say it in its own words.
fn given<'a>(wanted: Value<'a>, [name, action]: [&str; 2]) -> Option<Value<'a>> {
    let own = wanted.get(name).filter(|value| !value.is_null() && value.as_bool() != Some(false));
    own.or_else(|| wanted.get("action")?.as_str().filter(|said| said.is(action)).map(|_| wanted))
}

const PROPOSE: [&str; 2] = ["propose", "propose_trade"];
const ACCEPT: [&str; 2] = ["accept", "accept_trade"];
const REJECT: [&str; 2] = ["reject", "reject_trade"];

impl Wish {
    fn read(wanted: Value<'_>) -> Result<Wish, Illegal> {
        let text = read(wanted).is_some();
        match (text, given(wanted, PROPOSE), given(wanted, ACCEPT), given(wanted, REJECT)) {
            (true, None, None, None) => Ok(Wish::Say),
            (false, Some(deal), None, None) => {
                if deal.kind() != Kind::Object {
                    return Err(NO_PROPOSAL);
                }
                let (offer, request) = (bundle(deal.get("offer"))?, bundle(deal.get("request"))?);
                if offer == [0; KINDS] && request == offer { Err(NOTHING) } else { Ok(Wish::Propose(offer, request)) }
            }
            (false, None, Some(_), None) => Ok(Wish::Accept),
            (false, None, None, Some(_)) => Ok(Wish::Reject),
            _ => Err(NO_MOVE),
        }
    }
}

/// Amounts as they are sent; nothing where none are.
fn bundle(sent: Option<Value<'_>>) -> Result<Bundle, Illegal> {
    let mut bundle = [0; KINDS];
    let Some(sent) = sent.filter(|sent| !sent.is_null()) else { return Ok(bundle) };
    if sent.kind() != Kind::Object {
        return Err(NO_PROPOSAL);
    }
    for (name, amount) in sent.entries() {
        let amount = amount.as_whole().filter(|&amount| amount <= MANY).and_then(|amount| u8::try_from(amount).ok());
        let place = RESOURCES.iter().position(|resource| name.is(resource)).and_then(|at| bundle.get_mut(at));
        *place.ok_or(NO_AMOUNT)? = amount.ok_or(NO_AMOUNT)?;
    }
    Ok(bundle)
}

/// What is in a bundle, by resource.
fn listed(bundle: Bundle) -> impl Iterator<Item = (&'static str, u8)> {
    RESOURCES.into_iter().zip(bundle)
}

/// The same without what there is none of.
fn named(bundle: Bundle) -> impl Serialize {
    Map(move || listed(bundle).filter(|(_, amount)| *amount > 0))
}

fn covers(held: Bundle, wanted: Bundle) -> bool {
    held.iter().zip(wanted).all(|(held, wanted)| *held >= wanted)
}

/// What is left of a bundle, and more added to it.
fn exchanged(held: Bundle, gives: Bundle, takes: Bundle) -> Bundle {
    let mut left = held;
    for (left, (gives, takes)) in left.iter_mut().zip(gives.into_iter().zip(takes)) {
        *left = left.saturating_sub(gives).saturating_add(takes);
    }
    left
}

fn other(seat: Seat) -> Seat {
    u8::from(seat == 0)
}

fn of<T: Copy>(pair: [T; 2], seat: Seat) -> T {
    let [first, second] = pair;
    if seat == 0 { first } else { second }
}

/// One more for a seat.
fn count(pair: &mut [u8; 2], seat: Seat) {
    pair.iter_mut().skip(seat.into()).take(1).for_each(|count| *count = count.saturating_add(1));
}

/// A proposal as it is sent.
#[derive(Serialize)]
struct Propose<O, R> {
    propose: Offered<O, R>,
}

#[derive(Serialize)]
struct Offered<O, R> {
    offer: O,
    request: R,
}

#[derive(Serialize)]
struct Accept {
    accept: bool,
}

#[derive(Serialize)]
struct Reject {
    reject: bool,
}

impl TradeDeal {
    pub(super) const SIZE: usize = 48;

    pub(super) const RULES: Rules = Rules {
        name: "trade_deal",
        seats: 2..=2,
        question: Question::Move,
        order: Order::InTurn,
        board: false,
        turns: MESSAGES as u16,
        remembers: 0,
        columns: "score_a,score_b,trades",
    };

    #[expect(clippy::cast_possible_truncation, reason = "draws of at most six")]
    pub(super) fn start(_seats: u8, draws: &mut Draws) -> Self {
        // What the second wants is another resource than what the first does.
        let first = draws.below(KINDS as u32) as u8;
        let second = draws.below(OTHERS) as u8;
        let wanted = [first, if second < first { second } else { second.saturating_add(1) }];
        let mut held = [[0; KINDS]; 2];
        for (seat, bundle) in (0..).zip(&mut held) {
            for (resource, amount) in (0_u8..).zip(bundle) {
                // Of what the other one wants there must be enough to want.
                let least = if resource == of(wanted, other(seat)) { NEAR } else { LEAST };
                *amount = draws.between(least, MOST) as u8;
            }
        }
        let mut goal = |seat: Seat| {
            let resource = of(wanted, seat);
            let of_it = |held: Bundle| held.get(usize::from(resource)).copied().unwrap_or(0);
            let more = draws.between(NEAR, FAR.min(of_it(of(held, other(seat))).into())) as u8;
            Goal { resource, amount: of_it(of(held, seat)).saturating_add(more) }
        };
        let goals = [goal(0), goal(1)];
        Self {
            votes: [0; 2],
            held,
            goals,
            pending: None,
            last: None,
            proposals: [0; 2],
            spoken: 0,
            trades: 0,
            acts: [0; 2],
            silent: [0; 2],
            stage: Stage::Talk,
            is_cut: false,
            is_silent: false,
            forfeited: Seats::NONE,
        }
    }

    /// Knows who holds what, the votes, and how many messages and trades there were.
    pub(super) fn recall(seed: Seed, digest: u64) -> Self {
        Self { stage: Stage::Over, ..Self::start(2, &mut Draws::new(seed)).restored(digest) }
    }

    /// A match at its beginning, as it was when it had this digest.
    fn restored(mut self, digest: u64) -> Self {
        let [a, b, c, d, first, second, spoken, trades] = digest.to_le_bytes();
        let kept = [first & 15, first >> 4, second & 15, second >> 4];
        let [mine, theirs] = &mut self.held;
        for ((mine, theirs), kept) in mine.iter_mut().zip(theirs).zip(kept) {
            let all = mine.saturating_add(*theirs);
            (*mine, *theirs) = (kept.min(all), all.saturating_sub(kept));
        }
        self.votes = [u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d])];
        self.spoken = (spoken & 15).min(MESSAGES);
        self.forfeited = Seats::of_bits(spoken >> 4 & 3).unwrap_or_default();
        self.trades = trades;
        self
    }

    /// Who speaks next, or would.
    fn speaker(&self) -> Seat {
        u8::from(!self.spoken.is_multiple_of(2))
    }

    /// Who spoke last.
    fn last(&self) -> Option<Seat> {
        (self.spoken > 0).then(|| other(self.speaker()))
    }

    /// How much of its goal a side holds.
    fn progress(&self, seat: Seat) -> (u8, Goal) {
        let goal = of(self.goals, seat);
        (of(self.held, seat).get(usize::from(goal.resource)).copied().unwrap_or(0), goal)
    }

    /// What a side scores as it is now.
    fn worth(&self, seat: Seat) -> i32 {
        let (held, goal) = self.progress(seat);
        let share = u16::from(POINTS).saturating_mul(held.into()).checked_div(goal.amount.into()).unwrap_or(0);
        share.min(POINTS.into()).into()
    }

    fn is_level(&self) -> bool {
        self.worth(0) == self.worth(1)
    }

    /// What a side holds.
    pub(crate) fn held(&self, seat: Seat) -> impl Serialize {
        let held = of(self.held, seat);
        Map(move || listed(held))
    }

    /// What it wants: a resource, how many, and what that scores.
    pub(crate) fn goal(&self, seat: Seat) -> (&'static str, u8, u8) {
        let Goal { resource, amount } = of(self.goals, seat);
        (RESOURCES.get(usize::from(resource)).copied().unwrap_or_default(), amount, POINTS)
    }

    /// The act of a number, as far as that is known: the last one, and those of the proposal before it. One proposes, the next answers.
    pub(crate) fn act(&self, number: u16) -> Option<Act<impl Serialize, impl Serialize>> {
        let (acts, is_proposal) = (self.acts(), number % 2 == 1);
        let deal = |deal: Deal| Act::Proposed { by: deal.by, offer: named(deal.offer), request: named(deal.request) };
        match self.last.filter(|_| number < acts || !is_proposal) {
            None if number == acts => self.pending.map(deal),
            Some((last, _)) if is_proposal => Some(deal(last)),
            Some((_, Answer::Accepted)) => Some(Act::Executed),
            Some((last, Answer::Rejected)) => Some(Act::Rejected(other(last.by))),
            Some((last, Answer::Withdrawn)) => Some(Act::Rejected(last.by)),
            None => None,
        }
    }

    /// Which of the acts that there were is the first that is known.
    pub(crate) fn first_act(&self) -> u16 {
        let acts = self.acts();
        acts.saturating_sub(if acts % 2 == 1 { 2 } else { 1 }).max(1)
    }

    /// The first resource that a side has too little of for what it wants to do: which, how many it has and needs.
    pub(crate) fn lacks(&self, seat: Seat, wanted: Value<'_>) -> Option<(&'static str, u8, u8)> {
        let needs = match Wish::read(wanted) {
            Ok(Wish::Propose(offer, _)) => offer,
            Ok(Wish::Accept) => self.pending.filter(|deal| deal.by != seat)?.request,
            _ => return None,
        };
        let goods = RESOURCES.into_iter().zip(of(self.held, seat)).zip(needs);
        { goods }.find(|((_, has), needs)| has < needs).map(|((name, has), needs)| (name, has, needs))
    }

    /// Whether a rule is about what is in a proposal, and not about whether there may be one.
    pub(crate) fn is_about_goods(rule: Illegal) -> bool {
        [NOTHING, NOT_HELD, NOT_HELD_EITHER].contains(&rule)
    }

    fn close(&mut self, deal: Deal, answer: Answer) {
        (self.pending, self.last) = (None, Some((deal, answer)));
    }

    fn propose(&mut self, seat: Seat, offer: Bundle, request: Bundle) -> Result<(), Illegal> {
        let [first, second] = &mut self.proposals;
        let made = if seat == 0 { first } else { second };
        match () {
            () if self.pending.is_some() => Err(PENDING),
            () if !covers(of(self.held, seat), offer) => Err(NOT_HELD),
            () if *made >= PROPOSALS => Err(TOO_MANY),
            () => {
                *made = made.saturating_add(1);
                self.pending = Some(Deal { by: seat, offer, request });
                Ok(())
            }
        }
    }

    fn accept(&mut self, seat: Seat) -> Result<(), Illegal> {
        let deal = self.pending.ok_or(NONE_PENDING)?;
        if deal.by == seat {
            return Err(OWN);
        }
        if !covers(of(self.held, seat), deal.request) {
            return Err(NOT_HELD_EITHER);
        }
        let (mine, theirs) = (of(self.held, seat), of(self.held, deal.by));
        let (mine, theirs) = (exchanged(mine, deal.request, deal.offer), exchanged(theirs, deal.offer, deal.request));
        self.held = if seat == 0 { [mine, theirs] } else { [theirs, mine] };
        self.trades = self.trades.saturating_add(1);
        self.close(deal, Answer::Accepted);
        Ok(())
    }

    fn say(&mut self, wanted: Value<'_>) {
        let text = read(wanted);
        self.is_cut = text.is_some_and(|text| is_cut(wanted, text));
        self.is_silent = text.is_none_or(|text| text.is_empty());
        if self.is_silent {
            let speaker = self.speaker();
            count(&mut self.silent, speaker);
        }
        (self.spoken, self.proposals) = (self.spoken.saturating_add(1), [0; 2]);
        if self.spoken >= MESSAGES {
            self.pending = None;
            self.stage = if self.is_level() { Stage::Vote } else { Stage::Over };
        }
    }
}

impl Game for TradeDeal {
    fn rules(&self) -> &'static Rules {
        const { &Self::RULES }
    }

    fn seats(&self) -> u8 {
        2
    }

    fn to_move(&self) -> Seats {
        if self.stage == Stage::Talk { Seats::only(self.speaker()) } else { Seats::NONE }
    }

    fn may_act(&self) -> Seats {
        if self.stage == Stage::Talk { Seats::only(other(self.speaker())) } else { Seats::NONE }
    }

    fn is_act(&self, wanted: Value<'_>) -> bool {
        [PROPOSE, ACCEPT, REJECT].into_iter().any(|act| given(wanted, act).is_some())
    }

    fn acts_of(&self, seat: Seat) -> u16 {
        of(self.acts, seat).into()
    }

    fn play(&mut self, seat: Seat, wanted: Value<'_>, _draws: &mut Draws) -> Result<(), Illegal> {
        if seat > 1 || self.stage != Stage::Talk {
            return Err(Illegal("it is not your turn"));
        }
        match Wish::read(wanted)? {
            Wish::Say if seat != self.speaker() => return Err(NOT_YOUR_TURN),
            Wish::Say => {
                self.say(wanted);
                return Ok(());
            }
            Wish::Propose(offer, request) => self.propose(seat, offer, request)?,
            Wish::Accept => self.accept(seat)?,
            Wish::Reject => {
                let deal = self.pending.ok_or(NONE_PENDING)?;
                self.close(deal, if deal.by == seat { Answer::Withdrawn } else { Answer::Rejected });
            }
        }
        count(&mut self.acts, seat);
        Ok(())
    }

    fn forfeit(&mut self, losers: Seats, _draws: &mut Draws) {
        (self.stage, self.forfeited, self.pending) = (Stage::Over, losers, None);
    }

    /// To say nothing; what can be done about a proposal; and all swaps of as many for as many. Others can be proposed too.
    fn legal_moves(&self, seat: Seat, sink: &mut dyn MoveSink) {
        if seat > 1 || self.stage != Stage::Talk {
            return;
        }
        if seat == self.speaker() && sink.legal_move(&Says::new("")).is_break() {
            return;
        }
        if let Some(deal) = self.pending {
            let may_accept = deal.by != seat && covers(of(self.held, seat), deal.request);
            if !may_accept || sink.legal_move(&Accept { accept: true }).is_continue() {
                let _ = sink.legal_move(&Reject { reject: true });
            }
            return;
        }
        if of(self.proposals, seat) >= PROPOSALS {
            return;
        }
        let held = listed(of(self.held, seat));
        let swaps = held.flat_map(|(give, most)| {
            let takes = RESOURCES.into_iter().filter(move |take| *take != give);
            takes.flat_map(move |take| (1..=most).map(move |amount| (give, take, amount)))
        });
        let _ = { swaps }.try_for_each(|(give, take, amount)| {
            let only = |name| Map(move || core::iter::once((name, amount)));
            sink.legal_move(&Propose { propose: Offered { offer: only(give), request: only(take) } })
        });
    }

    fn turn(&self) -> u16 {
        u16::from(self.spoken).saturating_add(1)
    }

    /// How far somebody has come is for nobody else to know before it is over.
    fn score(&self, seat: Seat) -> i32 {
        if self.stage == Stage::Talk { 0 } else { self.worth(seat) }
    }

    fn speech(&self) -> usize {
        SPEECH
    }

    fn talk(&self) -> Option<Talk> {
        let Self { is_cut, is_silent, silent, .. } = *self;
        Some(Talk { first: 0, is_cut, is_silent, silent, left: Seats::NONE })
    }

    fn has_audience(&self) -> bool {
        true
    }

    fn is_voting(&self) -> bool {
        self.stage == Stage::Vote
    }

    fn votes(&self, seat: Seat) -> u16 {
        if seat < 2 { of(self.votes, seat) } else { 0 }
    }

    /// Only a tie is voted on.
    fn awaits_vote(&self, is_watched: bool) -> bool {
        is_watched && self.is_level()
    }

    fn tell(&mut self, word: Word) {
        match word {
            Word::VoteOpens(digest) if self.stage == Stage::Talk => {
                let now = digest.map_or_else(|| self.clone(), |digest| self.clone().restored(digest));
                *self = Self { stage: Stage::Vote, pending: None, votes: [0; 2], ..now };
            }
            Word::Votes([a, b, ..]) if self.stage == Stage::Vote => self.votes = [a, b],
            Word::VoteCloses if self.stage == Stage::Vote => self.stage = Stage::Over,
            Word::OwnTopic | Word::VoteOpens(_) | Word::Votes(_) | Word::VoteCloses | Word::Leaves(_) => {}
        }
    }

    fn view<M: SerializeMap>(&self, viewer: Viewer, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        #[derive(Serialize)]
        struct Wanted {
            resource: &'static str,
            amount: u8,
            points: u8,
        }
        #[derive(Serialize)]
        struct Pending<'a, O, R> {
            player: &'a str,
            offer: O,
            request: R,
            #[serde(skip_serializing_if = "Option::is_none")]
            answer: Option<&'static str>,
        }
        #[derive(Serialize)]
        struct Last<'a> {
            player: &'a str,
            text: Option<&'a str>,
            truncated: bool,
        }
        let is_open = self.stage != Stage::Talk || viewer == Viewer::Owner;
        let sees = |seat: &Seat| is_open || viewer == Viewer::Seat(*seat);
        let told = |deal: Deal, answer| Pending {
            player: table.id(deal.by),
            offer: named(deal.offer),
            request: named(deal.request),
            answer,
        };
        out.serialize_entry(
            "resources",
            &Map(|| (0..2).map(|seat| (table.id(seat), Some(seat).filter(sees).map(|seat| self.held(seat))))),
        )?;
        let goal = |seat: Seat| {
            let Goal { resource, amount } = of(self.goals, seat);
            let resource = RESOURCES.get(usize::from(resource)).copied().unwrap_or_default();
            Wanted { resource, amount, points: POINTS }
        };
        out.serialize_entry("goals", &Map(|| (0..2).map(|seat| (table.id(seat), Some(seat).filter(sees).map(goal)))))?;
        out.serialize_entry("pending", &self.pending.map(|deal| told(deal, None)))?;
        let answer = |answer| match answer {
            Answer::Accepted => "accepted",
            Answer::Rejected => "rejected",
            Answer::Withdrawn => "withdrawn",
        };
        out.serialize_entry("last_trade", &self.last.map(|(deal, how)| told(deal, Some(answer(how)))))?;
        out.serialize_entry("trades", &self.trades)?;
        let left = |seat| PROPOSALS.saturating_sub(of(self.proposals, seat));
        out.serialize_entry("proposals_left", &Map(|| (0..2).map(|seat| (table.id(seat), left(seat)))))?;
        let stage = match self.stage {
            Stage::Talk => "talk",
            Stage::Vote => "vote",
            Stage::Over => "over",
        };
        out.serialize_entry("stage", stage)?;
        out.serialize_entry("to_speak", &(self.stage == Stage::Talk).then(|| table.id(self.speaker())))?;
        out.serialize_entry("spoken", &self.spoken)?;
        out.serialize_entry("messages", &MESSAGES)?;
        let last = self.last().map(|seat| Last {
            player: table.id(seat),
            // What gave way to others' words is still on film.
            text: if self.is_silent { Some("") } else { Some(table.said(seat)).filter(|text| !text.is_empty()) },
            truncated: self.is_cut,
        });
        out.serialize_entry("last", &last)?;
        out.serialize_entry("votes", &Map(|| (0..2).map(|seat| (table.id(seat), self.votes(seat)))))
    }

    fn action(&self, seat: Seat, _table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last() == Some(seat) {
            true if self.is_silent => f.write_str("Said nothing"),
            true => write!(f, "Spoke, {} of {MESSAGES}", self.spoken),
            false => Ok(()),
        }
    }

    fn summary(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(seat) = self.last() else { return Ok(()) };
        let spoke = if self.is_silent { "said nothing" } else { "has spoken" };
        write!(f, "{} {spoke}; {} trades so far", table.name(seat), self.trades)
    }

    fn said<'a>(&self, _seat: Seat, wanted: Value<'a>) -> Option<Str<'a>> {
        read(wanted).filter(|_| !self.is_act(wanted))
    }

    fn recorded<S: Serializer>(&self, _seat: Seat, wanted: Value<'_>, serializer: S) -> Result<S::Ok, S::Error> {
        match Wish::read(wanted) {
            Ok(Wish::Propose(offer, request)) => {
                Propose { propose: Offered { offer: named(offer), request: named(request) } }.serialize(serializer)
            }
            Ok(Wish::Accept) => Accept { accept: true }.serialize(serializer),
            Ok(Wish::Reject) => Reject { reject: true }.serialize(serializer),
            Ok(Wish::Say) | Err(_) => record(wanted, serializer),
        }
    }

    fn result<M: SerializeMap>(&self, table: Table<'_>, out: &mut M) -> Result<(), M::Error> {
        out.serialize_entry("messages", &self.spoken)?;
        out.serialize_entry("trades", &self.trades)?;
        out.serialize_entry("resources", &Map(|| (0..2).map(|seat| (table.id(seat), self.held(seat)))))?;
        out.serialize_entry("votes", &Map(|| (0..2).map(|seat| (table.id(seat), self.votes(seat)))))?;
        out.serialize_entry("final_score", &Map(|| (0..2).map(|seat| (table.id(seat), self.worth(seat)))))
    }

    /// By how far each has come, and if that is level by the votes.
    fn standing(&self) -> Option<Standing> {
        if self.stage != Stage::Over {
            return None;
        }
        let scored = |of_seat: &dyn Fn(Seat) -> i32| {
            let mut scores = [0; MAX_SEATS];
            scores.iter_mut().zip(0..2).for_each(|(score, seat)| *score = of_seat(seat));
            scores
        };
        let votes = |seat| if self.is_level() { i32::from(self.votes(seat)) } else { 0 };
        let ranked = scored(&|seat| self.worth(seat).saturating_mul(1 << 16).saturating_add(votes(seat)));
        let Standing { places, .. } = Standing::after_forfeit(2, ranked, self.forfeited);
        Some(Standing { scores: scored(&|seat| self.worth(seat)), places })
    }

    fn reason(&self, table: Table<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.forfeited.is_empty() {
            return write!(f, "{} of {MESSAGES} messages were said", self.spoken);
        }
        for seat in 0..2 {
            let (held, goal) = self.progress(seat);
            let resource = RESOURCES.get(usize::from(goal.resource)).copied().unwrap_or_default();
            let comma = if seat == 0 { "" } else { ", " };
            let (name, worth) = (table.name(seat), self.worth(seat));
            write!(f, "{comma}{name} has {held} of {} {resource}: {worth} points", goal.amount)?;
        }
        match self.votes {
            [0, 0] => Ok(()),
            [a, b] => write!(f, "; of the votes {} has {a}, {} {b}", table.name(0), table.name(1)),
        }
    }

    /// The score of each, and how many trades were made.
    fn export(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{}", self.worth(0), self.worth(1), self.trades)
    }

    fn digest(&self) -> u64 {
        let ([[a, b], [c, d]], [held, _]) = (self.votes.map(u16::to_le_bytes), self.held);
        let [gold, iron, food, wood] = held.map(|amount| amount & 15);
        let spoken = self.spoken & 15 | self.forfeited.bits() << 4;
        u64::from_le_bytes([a, b, c, d, gold | iron << 4, food | wood << 4, spoken, self.trades])
    }
}
