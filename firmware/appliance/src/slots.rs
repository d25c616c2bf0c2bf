//! Slots: the connections the box can have at once, and what each of them is for.
//!
//! All slots are equal. One that is free listens. It becomes a visitor's when somebody connects, and then whatever the visitor
//! asks it to be: a request and its answer, the link of a player, a page that watches. Or it is hired for a call: a player
//! that is a server has something to be told, and the slot stops listening and dials. When that is over it listens again.
//!
//! Who needs a slot for a moment is to find one free, so nobody keeps one for nothing: when few are free, a connection that is
//! only kept for what may come is let go, and the last free slot is never taken for something that lasts.
//!
//! A line of the venue, which is a player, is rung here: its slot, if it has one, looks what has changed. A line whose question
//! may still be answered though its time is over has two of them.

use core::cell::Cell;
use core::num::NonZeroU16;

use crate::Bell;

/// Free slots below which nobody keeps one for longer than it needs it …
const FEW: u16 = 3;
/// … and as a part of those that are not for players: who comes at once are more where more are served.
const FEW_OF: u16 = 8;

/// The number of a slot, from 1. Nothing is zero, so that a table of these takes no flash.
pub(crate) type Id = NonZeroU16;

/// What a slot is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Nothing yet.
    None,
    /// It listens.
    Free,
    /// It listened until now, and is to call the player on this line.
    Hired(u16),
    /// Somebody needs it.
    Busy,
    /// It keeps a connection on which nothing happens: it may be let go.
    Idle,
    /// The same, but somebody may still answer on it.
    Late,
    /// It has to let go of what it keeps.
    LetGo,
    /// The link of the player with this registration.
    Link(u32),
}

/// One of them, as the others know it.
pub(crate) struct Slot {
    bell: Bell,
    role: Cell<Role>,
}

impl Slot {
    pub const fn new() -> Self {
        Self { bell: Bell::new(), role: Cell::new(Role::None) }
    }
}

/// The slots of a line.
pub(crate) struct Line {
    /// Says what there is to be said.
    carrier: Cell<Option<Id>>,
    /// Waits for the answer to a question whose time is over.
    late: Cell<Option<Id>>,
}

impl Line {
    pub const fn new() -> Self {
        Self { carrier: Cell::new(None), late: Cell::new(None) }
    }
}

/// All of them.
pub(crate) struct Slots<'m> {
    all: &'m [Slot],
    lines: &'m [Line],
    /// Those that somebody runs.
    running: Cell<u16>,
    free: Cell<u16>,
    /// Those that visitors have: whoever is not a player's link.
    visitors: Cell<u16>,
    /// A line has a call and found no slot.
    is_wanted: Cell<bool>,
}

impl<'m> Slots<'m> {
    pub const fn new(all: &'m [Slot], lines: &'m [Line]) -> Self {
        Self {
            all,
            lines,
            running: Cell::new(0),
            free: Cell::new(0),
            visitors: Cell::new(0),
            is_wanted: Cell::new(false),
        }
    }

    /// How many players there is room for.
    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    /// One more is made, to be run: its number. `None` where there are no more.
    pub fn open(&self) -> Option<Id> {
        let id = Id::MIN.checked_add(self.running.get())?;
        self.slot(id)?;
        self.running.set(id.get());
        Some(id)
    }

    /// Those that are not for players: so many are there when every player has one.
    pub fn others(&self) -> u16 {
        self.running.get().saturating_sub(u16::try_from(self.lines.len()).unwrap_or(u16::MAX))
    }

    /// Whether so few are free that nobody may keep one for longer than it needs it.
    pub fn is_short(&self) -> bool {
        self.free.get() < FEW.max(self.others() / FEW_OF)
    }

    /// Whether none is free.
    pub fn is_full(&self) -> bool {
        self.free.get() == 0
    }

    fn slot(&self, id: Id) -> Option<&'m Slot> {
        self.all.get(usize::from(id.get()).checked_sub(1)?)
    }

    fn line(&self, line: u16) -> Option<&'m Line> {
        self.lines.get(usize::from(line))
    }

    pub fn role(&self, id: Id) -> Role {
        self.slot(id).map_or(Role::None, |slot| slot.role.get())
    }

    /// From now on a slot is for this. Where few are free for others then, one that is kept for nothing is let go.
    pub fn set(&self, id: Id, role: Role) {
        let Some(slot) = self.slot(id) else { return };
        let (was, is) = (slot.role.replace(role) == Role::Free, role == Role::Free);
        if was != is {
            let free = self.free.get();
            self.free.set(if is { free.saturating_add(1) } else { free.saturating_sub(1) });
            if was && self.is_short() {
                self.let_one_go();
            }
        }
    }

    /// Waits until a slot is rung.
    pub fn rung(&self, id: Id) -> impl Future<Output = ()> {
        async move {
            match self.slot(id) {
                Some(slot) => slot.bell.wait().await,
                None => core::future::pending().await,
            }
        }
    }

    fn ring(&self, id: Option<Id>) {
        if let Some(slot) = id.and_then(|id| self.slot(id)) {
            slot.bell.signal(());
        }
    }

    fn find(&self, role: Role) -> Option<Id> {
        (1..).map_while(Id::new).zip(self.all).find(|(_, slot)| slot.role.get() == role).map(|(id, _)| id)
    }

    /// Has a slot let go of a connection it keeps for nothing, if there is one.
    fn let_one_go(&self) {
        if let Some(id) = self.find(Role::Idle).or_else(|| self.find(Role::Late)) {
            self.set(id, Role::LetGo);
            self.ring(Some(id));
        }
    }

    /// A line has changed: its slots look. Where it has none and `has_call`, one is hired.
    pub fn changed(&self, line: u16, has_call: impl FnOnce() -> bool) {
        let Some(places) = self.line(line) else { return };
        self.ring(places.carrier.get());
        self.ring(places.late.get());
        if places.carrier.get().is_none() && has_call() {
            self.hire(line);
        }
    }

    /// Lines are other players' now: everybody looks. A link goes with its player, and says so when it has looked.
    pub fn all_changed(&self, has_call: impl Fn(u16) -> bool) {
        let is_link = |id: Id| matches!(self.role(id), Role::Link(_));
        for line in self.lines {
            line.carrier.set(line.carrier.get().filter(|&id| !is_link(id)));
        }
        self.all.iter().for_each(|slot| slot.bell.signal(()));
        self.is_wanted.set(true);
        self.hire_all(has_call);
    }

    /// Hires a slot for each line that waits for one, as far as there are any.
    pub fn hire_all(&self, has_call: impl Fn(u16) -> bool) {
        if self.is_wanted.take() {
            for (line, places) in (0..).zip(self.lines) {
                if places.carrier.get().is_none() && has_call(line) && !self.hire(line) {
                    return;
                }
            }
        }
    }

    /// Counts a visitor, until this is dropped.
    pub fn visit(&self) -> Visit<'_> {
        self.visitors.set(self.visitors.get().saturating_add(1));
        Visit(&self.visitors)
    }

    /// Hires a slot to call the player on a line. The last one that is free stays free for who comes, unless visitors have
    /// more than is theirs already: however many come, players are called.
    fn hire(&self, line: u16) -> bool {
        let may_take_last = self.visitors.get() >= self.others();
        // Who connects comes to the first that listens, on a board, so a call takes the last: one that is taken while somebody
        // shakes hands with it resets who came.
        let free = (1..).map_while(Id::new).zip(self.all).filter(|(_, slot)| slot.role.get() == Role::Free).last();
        let free = free.map(|(id, _)| id).filter(|_| self.free.get() > 1 || may_take_last);
        match (free, self.line(line)) {
            (Some(id), Some(places)) => {
                places.carrier.set(Some(id));
                self.set(id, Role::Hired(line));
                self.ring(Some(id));
                true
            }
            _ => {
                self.is_wanted.set(true);
                self.let_one_go();
                false
            }
        }
    }

    /// Whether a slot says what there is to be said on a line.
    pub fn carries(&self, id: Id, line: u16) -> bool {
        self.line(line).is_some_and(|line| line.carrier.get() == Some(id))
    }

    /// A slot goes on waiting for an answer on a line, and leaves the rest to another one. False where one does already.
    pub fn wait_late(&self, id: Id, line: u16, has_call: impl FnOnce() -> bool) -> bool {
        let Some(places) = self.line(line) else { return false };
        if places.late.get().is_some_and(|late| late != id) {
            return false;
        }
        places.late.set(Some(id));
        if places.carrier.get() == Some(id) {
            places.carrier.set(None);
            self.set(id, Role::Late);
            if has_call() {
                self.hire(line);
            }
        }
        true
    }

    /// A slot has nothing to do with a line any more.
    pub fn leave(&self, id: Id, line: u16, has_call: impl FnOnce() -> bool) {
        let Some(places) = self.line(line) else { return };
        places.late.take_if_is(id);
        if places.carrier.take_if_is(id) && has_call() {
            self.is_wanted.set(true);
        }
    }

    /// A slot is the link of the player with this registration, on this line. An older one of the same player is told.
    pub fn link(&self, id: Id, issue: u32, line: u16) {
        if let Some(older) = self.find(Role::Link(issue)).filter(|older| *older != id) {
            self.set(older, Role::Busy);
            self.ring(Some(older));
        }
        self.set(id, Role::Link(issue));
        self.is_on(id, line);
    }

    /// A slot waits on the line of a player that comes and asks, and is let go when others need it. An older one there waits no longer.
    pub fn bide(&self, id: Id, line: u16) {
        if let Some(places) = self.line(line) {
            self.ring(places.carrier.replace(Some(id)).filter(|&older| older != id));
            self.set(id, Role::Idle);
        }
    }

    /// The line of a slot, which can become another one.
    pub fn is_on(&self, id: Id, line: u16) {
        if let Some(places) = self.line(line) {
            places.carrier.set(Some(id));
        }
    }
}

/// A visitor, who is counted until this is dropped.
pub(crate) struct Visit<'a>(&'a Cell<u16>);

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

trait TakeIf {
    /// Whether it was this one; it is none then.
    fn take_if_is(&self, id: Id) -> bool;
}

impl TakeIf for Cell<Option<Id>> {
    fn take_if_is(&self, id: Id) -> bool {
        let is = self.get() == Some(id);
        if is {
            self.set(None);
        }
        is
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn ids(slots: &Slots<'_>, n: usize) -> Vec<Id> {
        let ids: Vec<_> = (0..n).map(|_| slots.open().expect("a slot")).collect();
        ids.iter().for_each(|&id| slots.set(id, Role::Free));
        ids
    }

    #[test]
    fn a_call_takes_a_free_slot_but_never_the_last_and_waits_for_the_next() {
        let (all, lines) = ([const { Slot::new() }; 4], [const { Line::new() }; 3]);
        let slots = Slots::new(&all, &lines);
        let ids = ids(&slots, 4);
        assert!(slots.open().is_none(), "there are four");
        slots.set(ids[3], Role::Busy);
        (0..3).for_each(|line| slots.changed(line, || true));
        assert!(slots.role(ids[2]) == Role::Hired(0) && slots.role(ids[1]) == Role::Hired(1));
        assert!(slots.role(ids[0]) == Role::Free && !slots.is_full());
        // The first call is over.
        slots.leave(ids[2], 0, || false);
        slots.set(ids[2], Role::Free);
        slots.hire_all(|line| line == 2);
        assert!(slots.role(ids[2]) == Role::Hired(2) && slots.carries(ids[2], 2) && !slots.carries(ids[2], 0));
    }

    #[test]
    fn visitors_who_have_more_than_is_theirs_do_not_keep_the_last_slot_from_a_call() {
        let (all, lines) = ([const { Slot::new() }; 3], [const { Line::new() }; 2]);
        let slots = Slots::new(&all, &lines);
        let ids = ids(&slots, 3);
        let visits = [slots.visit(), slots.visit()];
        slots.set(ids[0], Role::Busy);
        slots.set(ids[1], Role::Busy);
        slots.changed(0, || true);
        assert!(slots.role(ids[2]) == Role::Hired(0));
        drop(visits);
        slots.set(ids[0], Role::Free);
        slots.changed(1, || true);
        assert!(slots.role(ids[0]) == Role::Free, "now it is the last one again");
    }

    #[test]
    fn when_few_are_free_what_is_kept_for_nothing_is_let_go_and_a_late_answer_last() {
        let (all, lines) = ([const { Slot::new() }; 6], [const { Line::new() }; 2]);
        let slots = Slots::new(&all, &lines);
        let ids = ids(&slots, 6);
        slots.set(ids[0], Role::Late);
        slots.set(ids[1], Role::Idle);
        slots.set(ids[2], Role::Busy);
        assert!(slots.role(ids[1]) == Role::Idle && !slots.is_short(), "three are free");
        slots.set(ids[3], Role::Busy);
        assert!(slots.role(ids[1]) == Role::LetGo && slots.role(ids[0]) == Role::Late && slots.is_short());
        slots.set(ids[4], Role::Busy);
        assert!(slots.role(ids[0]) == Role::LetGo);
    }

    #[test]
    fn a_line_has_one_slot_that_waits_late_and_another_that_goes_on() {
        let (all, lines) = ([const { Slot::new() }; 5], [const { Line::new() }; 1]);
        let slots = Slots::new(&all, &lines);
        let ids = ids(&slots, 5);
        slots.changed(0, || true);
        slots.set(ids[4], Role::Busy);
        assert!(slots.wait_late(ids[4], 0, || true) && slots.carries(ids[3], 0), "it is asked again on the next one");
        slots.set(ids[3], Role::Busy);
        assert!(!slots.wait_late(ids[3], 0, || true), "one waits already");
        assert!(slots.wait_late(ids[4], 0, || true));
        slots.leave(ids[4], 0, || true);
        assert!(slots.wait_late(ids[3], 0, || true) && slots.carries(ids[2], 0));
    }

    #[test]
    fn a_newer_link_of_a_player_takes_the_place_of_the_older() {
        let (all, lines) = ([const { Slot::new() }; 2], [const { Line::new() }; 2]);
        let slots = Slots::new(&all, &lines);
        let ids = ids(&slots, 2);
        slots.link(ids[0], 7, 1);
        slots.link(ids[1], 7, 1);
        assert!(slots.role(ids[0]) == Role::Busy && slots.role(ids[1]) == Role::Link(7) && slots.carries(ids[1], 1));
        slots.leave(ids[0], 1, || false);
        assert!(slots.carries(ids[1], 1), "the older one leaves nothing behind");
    }
}
