//! The protocols, one folder each, all of the same shape:
//!
//! ```text
//! mod.rs       its name, its errors, what it calls things
//! incoming.rs  what agents send, read
//! outgoing.rs  what they are told, as types that are written
//! session.rs   what one player has heard, and so what it is told next
//! ```
//!
//! and beside them whatever else a protocol needs. A protocol is a translator: it turns bytes into what the
//! [venue](crate::venue) understands (register, join, play, leave), and what a player has not heard yet into bytes. The
//! venue knows no protocol's words; it knows players by their [`Session`] and moves it on by its [`Protocol`].
//!
//! A protocol may call its players ([`Protocol::call`]), or leave it to them to look. What it keeps beside the sessions of its
//! players lies at its [`Desk`]; whom it has to tell something beside them, it tells by errands, on lines that have nothing
//! else to do.
//!
//! To add one: its folder, and a line in the list at the end of this file. Which paths lead to it stands in the appliance's
//! table of routes.

pub mod agon;
pub mod enrol;
pub mod league_of_agents;
pub mod league_v2;
pub mod moltgame;
#[cfg(any(test, feature = "toys"))]
pub mod toy;

use core::ops::{Deref, DerefMut};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::games::{Game, GameKind, Rules, Table, Viewer};
use crate::journal::Agent;
use crate::journal::bytes::{NoRoom, Writer};
use crate::json::{Full, Sink};
use crate::referee::{Need, Policy};
use crate::time::{Millis, Now};
use crate::venue::{Call, Cursor, News, Progress, Seating, Timing, Venue};

/// What the venue asks of a player's session. A protocol whose players hear of nothing but their games, and follow these by
/// looking, need not do more than say its name.
pub trait Session {
    /// What the player speaks, for its report.
    fn name(&self) -> &'static str;

    /// How late the player may be in a game of these rules.
    fn policy(&self, timing: &Timing, rules: &Rules) -> Policy;

    /// Which dialect of it, as that is journalled.
    fn dialect(&self) -> u8 {
        0
    }

    /// Whether its players come and ask. They hold no connection, and are there all the same.
    fn polls(&self) -> bool {
        false
    }

    /// What the player has heard of the league, if it is told by news. Else it hears of nothing but its games, and follows these
    /// by looking.
    fn cursor(&self) -> Option<&Cursor> {
        None
    }

    /// The player has heard more of the league, or less counts as heard.
    fn set_cursor(&mut self, _cursor: Cursor) {}

    /// What the player is just being told.
    fn telling(&self) -> Option<News> {
        None
    }

    /// What it is being told is no longer so.
    fn break_off(&mut self) {}

    /// Whether lots are drawn for who goes first in a game outside the league. Else it is who came first.
    fn draws_lots(&self) -> bool {
        false
    }

    /// Whether its players may vote on matches of others.
    fn votes(&self) -> bool {
        false
    }

    /// Whether nothing waits for what the player answers to news.
    fn is_deaf(&self) -> bool {
        false
    }

    /// What the player is being asked is decided without it. True if it was being asked.
    fn withdraw(&mut self) -> bool {
        false
    }

    /// What the player says of itself.
    fn about(&self) -> &str {
        ""
    }

    /// The player is gone: nothing is said to it any more.
    fn hang_up(&mut self) {}

    /// A test call makes room. True if there was one.
    fn end_check(&mut self) -> bool {
        false
    }

    /// Whether nothing is being said.
    fn is_idle(&self) -> bool {
        true
    }

    /// Writes what of it is to outlive a power cut, beside what the player says of itself: in bytes of its own, or nothing.
    fn keep(&self, _out: &mut Writer<'_>) -> Result<(), NoRoom> {
        Ok(())
    }

    /// Takes in what it wrote once.
    fn recall(&mut self, _bytes: &[u8]) {}

    /// When it next needs [`Protocol::expire`].
    fn deadline(&self) -> Option<Millis> {
        None
    }
}

/// What a protocol keeps beside the sessions of its players, for all of them together.
pub trait Desk {
    /// Nothing yet, in zeros: a board lends its memory that way.
    const EMPTY: Self;

    /// Forgets everything.
    fn clear(&mut self);
}

/// There is nothing to keep.
impl Desk for () {
    const EMPTY: Self = ();

    fn clear(&mut self) {}
}

/// What moves a session on. It may change everything at the venue, so it is given the venue and whose session it is.
pub trait Protocol: Session + Sized {
    /// What it keeps beside its sessions.
    type Desk: Desk;

    /// A session with a player that was journalled, and what that says of itself. `None` where there is no such dialect.
    fn restored(dialect: u8, about: &str) -> Option<Self>;

    /// Says what is next to be said to a player, and puts the question its match has for it.
    fn pump(venue: &mut Venue<'_>, now: Now, player: u16);

    /// The session's [deadline](Session::deadline) may have come.
    fn expire(_venue: &mut Venue<'_>, _now: Now, _player: u16) {}

    /// The match in which a player sits, at the table in this slot, is over and counted.
    fn is_over(_venue: &mut Venue<'_>, _player: u16, _slot: u16) {}

    /// What a player is just being told has changed: it is told anew.
    fn tell_anew(_venue: &mut Venue<'_>, _now: Now, _player: u16) {}

    /// The player that has this token or key.
    fn who_has(_venue: &Venue<'_>, _credential: &str) -> Option<u16> {
        None
    }

    /// Begins a test call. False where the player is busy.
    fn check(_venue: &mut Venue<'_>, _now: Now, _player: u16) -> bool {
        false
    }

    /// The call it has on a line: to the player there, or an errand.
    fn call<'a>(_venue: &'a Venue<'_>, _line: u16) -> Option<Call<'a>> {
        None
    }

    /// Writes the body of that call. It says the same every time for as long as the call is open, unless
    /// others [act](Venue::may_change) meanwhile.
    fn write_call(_venue: &Venue<'_>, _line: u16, _sink: &mut dyn Sink) -> Result<(), Full> {
        Err(Full)
    }

    /// A call has come further, if it is one of this protocol: it knows by the number.
    fn progress(_venue: &mut Venue<'_>, _now: Now, _line: u16, _call: u32, _progress: Progress<'_>) {}

    /// Whether a player's match still waits for the answer to a call that is over.
    fn awaits(_venue: &Venue<'_>, _player: u16, _call: u32) -> bool {
        false
    }

    /// The league is over, and all players know: others may be told, on lines that have nothing else to do.
    fn begin_errands(_venue: &mut Venue<'_>, _now: Now) {}

    /// When the errand that is under way has had its time. `None` where there is none.
    fn errand_deadline(_venue: &Venue<'_>) -> Option<Millis> {
        None
    }

    /// Ends an errand whose time has come, and begins the next.
    fn end_errands(_venue: &mut Venue<'_>, _now: Now) {}

    /// Another league begins: no errand is run any more.
    fn drop_errands(_venue: &mut Venue<'_>) {}

    /// Of the agents it knows that referee elsewhere, the one at this place, as it is journalled.
    fn referee<'a>(_venue: &'a Venue<'_>, _place: usize) -> Option<Agent<'a>> {
        None
    }

    /// Takes in one of them that was journalled. `None` where it cannot be one.
    fn restore_referee(_venue: &mut Venue<'_>, _agent: Agent<'_>) -> Option<()> {
        None
    }

    /// Of what lies at its desk and is to outlive a power cut, what is at this place.
    fn kept(_venue: &Venue<'_>, _place: usize) -> Option<DeskBytes> {
        None
    }

    /// Of that, what has changed by a match of this game between these players, by their registrations.
    fn kept_of(_venue: &Venue<'_>, _game: GameKind, _who: [u32; 2]) -> Option<DeskBytes> {
        None
    }

    /// Takes in what was kept.
    fn restore_kept(_venue: &mut Venue<'_>, _bytes: &[u8]) {}
}

/// One thing of a desk, as it is journalled.
pub(crate) type DeskBytes = [u8; 8];

/// What lies at the desks of all protocols and is to outlive a power cut, with whose it is.
pub(crate) fn all_kept<'a>(venue: &'a Venue<'_>) -> impl Iterator<Item = (u8, DeskBytes)> + use<'a> {
    { Code::ALL.iter() }
        .flat_map(move |code| (0..).map_while(move |place| Some((*code as u8, code.kept(venue, place)?))))
}

/// Of that, what has changed by a match.
pub(crate) fn kept_of(venue: &Venue<'_>, game: GameKind, who: [u32; 2]) -> impl Iterator<Item = (u8, DeskBytes)> {
    { Code::ALL.iter() }.filter_map(move |code| Some((*code as u8, code.kept_of(venue, game, who)?)))
}

/// The agents that referee elsewhere, of all protocols, as they are journalled.
pub(crate) fn referees<'a>(venue: &'a Venue<'_>) -> impl Iterator<Item = Agent<'a>> + Clone {
    Code::ALL.iter().flat_map(move |code| (0..).map_while(move |place| code.referee(venue, place)))
}

/// Puts the question of a match to a player that follows its game by itself: its time runs, whether it is there or not.
fn put_question(venue: &mut Venue<'_>, now: Now, player: u16) {
    let policy = venue.policy_of(player);
    let is_away = venue.player(player).is_some_and(|player| player.is_away());
    if let Some((table, Seating { seat, .. })) = venue.at_table(player) {
        table.play.is_there(seat, now.ms, !is_away, &policy);
        if table.need(seat) == Need::Question {
            table.ask(seat, now.ms, &policy);
        }
    }
}

/// Writes what a viewer may see of a game, for whoever has no envelope of their own for it: the members of the game, and its
/// `board` if it has one. A game that is known from the specification of League of Agents is shown as that prints it.
pub fn write_view<G: Game, M: SerializeMap>(
    game: &G,
    viewer: Viewer,
    table: Table<'_>,
    out: &mut M,
) -> Result<(), M::Error> {
    let rules = game.rules();
    if league_of_agents::specifies(rules.name) {
        return league_of_agents::outgoing::write_view(game, viewer, table, out);
    }
    game.view(viewer, table, out)?;
    if rules.board { out.serialize_entry("board", &Board { game, viewer, table }) } else { Ok(()) }
}

/// The board of a game.
struct Board<'a, G> {
    game: &'a G,
    viewer: Viewer,
    table: Table<'a>,
}

impl<G: Game> Serialize for Board<'_, G> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.game.board(self.viewer, self.table, serializer)
    }
}

/// Declares [`AnySession`], [`Desks`] and [`Code`]: the one place that lists the protocols.
macro_rules! protocols {
    ($($(#[doc = $doc:literal])* $(#[cfg($cfg:meta)])? $name:ident($folder:ident)),+ $(,)?) => {
        /// Which protocol. Journals know one by its place here: new ones come behind the others.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code { $($(#[doc = $doc])* $(#[cfg($cfg)])? $name),+ }

        /// A session in any of the protocols, at the size of the largest.
        pub enum AnySession { $($(#[doc = $doc])* $(#[cfg($cfg)])? $name($folder::Session)),+ }

        impl AnySession {
            /// Which protocol it is in.
            pub fn code(&self) -> Code {
                match self { $($(#[cfg($cfg)])? AnySession::$name(_) => Code::$name),+ }
            }

            /// A new session with a player that spoke this dialect of a protocol.
            pub fn restored(code: u8, dialect: u8, about: &str) -> Option<AnySession> {
                match Code::of(code)? {
                    $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::restored(dialect, about).map(AnySession::$name)),+
                }
            }
        }

        /// What all protocols keep beside their sessions, by folder.
        pub struct Desks { $($(#[doc = $doc])* $(#[cfg($cfg)])? pub(crate) $folder: DeskOf<$folder::Session>),+ }

        impl Desks {
            pub(crate) const fn new() -> Self {
                Self { $($(#[cfg($cfg)])? $folder: Desk::EMPTY),+ }
            }

            pub(crate) fn clear(&mut self) {
                $($(#[cfg($cfg)])? self.$folder.clear();)+
            }
        }

        impl Deref for AnySession {
            type Target = dyn Session;

            fn deref(&self) -> &Self::Target {
                match self { $($(#[cfg($cfg)])? AnySession::$name(session) => session),+ }
            }
        }

        impl DerefMut for AnySession {
            fn deref_mut(&mut self) -> &mut Self::Target {
                match self { $($(#[cfg($cfg)])? AnySession::$name(session) => session),+ }
            }
        }

        /// The player that shows who it is by this token or key.
        pub(crate) fn who_has(venue: &Venue<'_>, credential: &str) -> Option<u16> {
            $($(#[cfg($cfg)])? if let Some(player) = <$folder::Session>::who_has(venue, credential) {
                return Some(player);
            })+
            None
        }

        impl Code {
            /// All of them, in order.
            pub const ALL: &[Code] = &[$($(#[cfg($cfg)])? Code::$name),+];

            pub(crate) fn pump(self, venue: &mut Venue<'_>, now: Now, player: u16) {
                match self { $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::pump(venue, now, player)),+ }
            }

            pub(crate) fn expire(self, venue: &mut Venue<'_>, now: Now, player: u16) {
                match self { $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::expire(venue, now, player)),+ }
            }

            pub(crate) fn is_over(self, venue: &mut Venue<'_>, player: u16, slot: u16) {
                match self { $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::is_over(venue, player, slot)),+ }
            }

            pub(crate) fn tell_anew(self, venue: &mut Venue<'_>, now: Now, player: u16) {
                match self { $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::tell_anew(venue, now, player)),+ }
            }

            pub(crate) fn check(self, venue: &mut Venue<'_>, now: Now, player: u16) -> bool {
                match self { $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::check(venue, now, player)),+ }
            }

            pub(crate) fn call<'a>(self, venue: &'a Venue<'_>, line: u16) -> Option<Call<'a>> {
                match self { $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::call(venue, line)),+ }
            }

            pub(crate) fn write_call(self, venue: &Venue<'_>, line: u16, sink: &mut dyn Sink) -> Result<(), Full> {
                match self { $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::write_call(venue, line, sink)),+ }
            }

            pub(crate) fn progress(self, venue: &mut Venue<'_>, now: Now, line: u16, call: u32, progress: Progress<'_>) {
                match self {
                    $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::progress(venue, now, line, call, progress)),+
                }
            }

            pub(crate) fn awaits(self, venue: &Venue<'_>, player: u16, call: u32) -> bool {
                match self { $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::awaits(venue, player, call)),+ }
            }

            pub(crate) fn begin_errands(self, venue: &mut Venue<'_>, now: Now) {
                match self { $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::begin_errands(venue, now)),+ }
            }

            pub(crate) fn errand_deadline(self, venue: &Venue<'_>) -> Option<Millis> {
                match self { $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::errand_deadline(venue)),+ }
            }

            pub(crate) fn end_errands(self, venue: &mut Venue<'_>, now: Now) {
                match self { $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::end_errands(venue, now)),+ }
            }

            pub(crate) fn drop_errands(self, venue: &mut Venue<'_>) {
                match self { $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::drop_errands(venue)),+ }
            }

            pub(crate) fn referee<'a>(self, venue: &'a Venue<'_>, place: usize) -> Option<Agent<'a>> {
                match self { $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::referee(venue, place)),+ }
            }

            pub(crate) fn restore_referee(self, venue: &mut Venue<'_>, agent: Agent<'_>) -> Option<()> {
                match self { $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::restore_referee(venue, agent)),+ }
            }

            fn kept(self, venue: &Venue<'_>, place: usize) -> Option<DeskBytes> {
                match self { $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::kept(venue, place)),+ }
            }

            fn kept_of(self, venue: &Venue<'_>, game: GameKind, who: [u32; 2]) -> Option<DeskBytes> {
                match self { $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::kept_of(venue, game, who)),+ }
            }

            pub(crate) fn restore_kept(self, venue: &mut Venue<'_>, bytes: &[u8]) {
                match self { $($(#[cfg($cfg)])? Code::$name => <$folder::Session>::restore_kept(venue, bytes)),+ }
            }
        }
    };
}

type DeskOf<S> = <S as Protocol>::Desk;

impl Code {
    /// The protocol that journals know by this number.
    pub(crate) fn of(number: u8) -> Option<Code> {
        Code::ALL.get(usize::from(number)).copied()
    }
}

protocols! {
    /// JSON-RPC 2.0, to players that are HTTP servers or dial in.
    LeagueV2(league_v2),
    /// WebSocket, by agents that dial in.
    LeagueOfAgents(league_of_agents),
    /// HTTP, by agents that come and ask.
    MoltGame(moltgame),
    /// WebSocket, by agents that sit down at tables.
    Agon(agon),
    /// The smallest there can be.
    #[cfg(any(test, feature = "toys"))]
    Toy(toy),
}
