//! Calls: the box asks or tells somebody something and awaits a reply. A call has a number that no other has, and is carried by
//! a line, mostly that of the player it is for. What is said, and what a reply means, knows the protocol whose call it is.

use super::Venue;
use crate::contact::Contact;
use crate::json::{Full, Sink};
use crate::protocols::Code;
use crate::time::{Millis, Now};

/// What a line has to do now.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The number of the call. Another number is another call.
    pub id: u32,
    /// Whether its answer is worth waiting for when the call is over: see [`Venue::awaits`].
    pub is_question: bool,
    /// Whom to call. One that dials in may not be there; the call then waits for it.
    pub to: &'a Contact,
}

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The connection was refused or broke.
    Unreachable,
    /// The reply was not HTTP, or too long to be read.
    Unreadable,
    /// The reply was too long to be read, and had this HTTP status, which says what it was: no answer.
    Status(u16),
}

/// How far a call has come.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// It is being said, and cannot be taken back before its end.
    Begun,
    /// It may be heard.
    Sent,
    /// This came back: an HTTP status and a body.
    Replied(u16, &'a [u8]),
    /// Nothing will come back.
    Failed(Failure),
}

impl Venue<'_> {
    /// What a line has to do now. `None`: hang up.
    pub fn call(&self, line: u16) -> Option<Call<'_>> {
        self.caller_on(line)?.call(self, line)
    }

    /// Writes the body of the call on a line. It says the same every time for as long as the call is open, unless
    /// others [act](Venue::may_change) meanwhile.
    pub fn write_call(&self, line: u16, sink: &mut dyn Sink) -> Result<(), Full> {
        self.caller_on(line).ok_or(Full)?.write_call(self, line, sink)
    }

    /// The protocol that has a call on a line: that of its player, or else one that borrows the line for an errand.
    fn caller_on(&self, line: u16) -> Option<Code> {
        let own = self.player(line).map(|player| player.session.code());
        own.into_iter().chain(Code::ALL.iter().copied()).find(|code| code.call(self, line).is_some())
    }

    /// Whether the match of a player still waits for the answer to a call that is over: it counts, on whatever connection
    /// it comes.
    pub fn awaits(&self, line: u16, call: u32) -> bool {
        self.player(line).is_some_and(|player| player.session.code().awaits(self, line, call))
    }

    /// A number for the next call.
    pub(crate) fn next_call_id(&mut self) -> u32 {
        self.calls = self.calls.wrapping_add(1);
        self.calls
    }

    /// A call has come further. All protocols hear of it: each knows its own by the number.
    pub(super) fn progress(&mut self, now: Now, line: u16, call: u32, progress: Progress<'_>) {
        Code::ALL.iter().for_each(|code| code.progress(self, now, line, call, progress));
    }

    /// Whether somebody who is no player is still to be told something.
    pub fn has_errands(&self) -> bool {
        self.errand_deadline().is_some()
    }

    /// When the first errand has had its time.
    pub(super) fn errand_deadline(&self) -> Option<Millis> {
        Code::ALL.iter().filter_map(|code| code.errand_deadline(self)).min()
    }
}
