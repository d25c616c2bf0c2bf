//! Who sits where, and what time does to them: questions that are put, deadlines that come, tries that fail.

use core::ops::Range;

use super::notes::{Note, PastOf};
use super::rounds::{Seating, Table};
use super::{AgentState, Player, Venue, count};
use crate::games::Game;
use crate::ids::MatchId;
use crate::json::Value;
use crate::log::Happening;
use crate::message::Message;
use crate::referee::{Fault, Heard, Need};
use crate::season::Rule;
use crate::time::Now;

impl Venue<'_> {
    /// Every line that has a player.
    pub(crate) fn lines(&self) -> Range<u16> {
        0..count(self.memory.players.len())
    }

    /// The line of the first player of this kind.
    pub(crate) fn line_where(&self, is_it: impl Fn(&Player) -> bool) -> Option<u16> {
        (0..).zip(self.memory.players.iter()).find(|(_, player)| is_it(player)).map(|(line, _)| line)
    }

    /// Every slot that has had a table.
    pub(crate) fn slots(&self) -> Range<u16> {
        0..count(self.memory.tables.len())
    }

    /// The table in a slot.
    pub(crate) fn table_at(&self, slot: u16) -> Option<&Table> {
        self.memory.tables.get(usize::from(slot))?.as_ref()
    }

    /// The same, to be changed.
    pub(crate) fn table_at_mut(&mut self, slot: u16) -> Option<&mut Table> {
        self.memory.tables.get_mut(usize::from(slot))?.as_mut()
    }

    /// The slot of the first table of this kind, be its game over.
    pub(crate) fn slot_of(&self, is_it: impl Fn(&Table) -> bool) -> Option<u16> {
        (0..).zip(self.memory.tables.iter()).find(|(_, table)| table.as_ref().is_some_and(&is_it)).map(|(slot, _)| slot)
    }

    /// Where a player sits.
    pub(crate) fn at_table(&mut self, line: u16) -> Option<(&mut Table, Seating)> {
        let seating = self.player(line)?.seating?;
        Some((self.table_at_mut(seating.slot)?, seating))
    }

    /// The table where the player on a line sits, be its game over.
    pub(crate) fn table_of(&self, line: u16) -> Option<&Table> {
        let seating = self.memory.players.get(usize::from(line))?.seating?;
        self.memory.tables.get(usize::from(seating.slot))?.as_ref()
    }

    /// The match a player is in.
    pub(crate) fn match_of(&self, line: u16) -> Option<MatchId> {
        self.table_of(line).map(|table| table.id)
    }

    /// Whether the player on a line owes a move, or an answer to an invitation.
    pub fn is_thinking(&self, line: u16) -> bool {
        let seating = self.memory.players.get(usize::from(line)).and_then(|player| player.seating);
        seating.zip(self.table_of(line)).is_some_and(|(seating, table)| table.play.thinking().has(seating.seat))
    }

    /// Who is not invited in its protocol is there once it is seated.
    pub(super) fn sit_down(&mut self, now: Now, slot: u16) {
        let Some(table) = self.table_at(slot) else { return };
        let (id, players) = (table.id, table.seated());
        let mut is_known = false;
        for (seat, line) in (0..).zip(players) {
            let policy = self.policy_of(line);
            let Some(is_away) = self.player(line).map(|player| player.is_away()) else { continue };
            if policy.invitation_ms.is_none()
                && let Some(table) = self.table_at_mut(slot)
            {
                table.play.take_seat(seat);
                table.play.is_there(seat, now.ms, !is_away, &policy);
                is_known = true;
            }
        }
        if is_known {
            self.note(now, None, Some(id), Happening::MatchBegun);
        }
    }

    /// A player that is not called makes a move, whether it was asked or not. What became of it, or `None` where the player sits
    /// at no table.
    pub(crate) fn make_move(&mut self, now: Now, line: u16, wanted: Value<'_>) -> Option<Heard> {
        let policy = self.policy_of(line);
        let (table, seating) = self.at_table(line)?;
        let message = table.question();
        let is_act = table.play.game().is_act(wanted);
        // It has seen how the game stands, so it need not wait for the question that is held back.
        if !is_act && table.is_held() && table.play.need(seating.seat) == Need::Question {
            table.ask(seating.seat, now.ms, &policy);
        }
        let asked = table.play.asked_at(seating.seat).filter(|_| !is_act);
        let took = asked.map(|asked| now.ms.saturating_sub(asked));
        let heard = self.play_at(now, line, seating, wanted);
        let player = self.player_mut(line)?;
        match heard {
            Heard::Taken => {
                player.state = if player.state == AgentState::Suspended { AgentState::Active } else { player.state };
                player.breaker.succeeded();
                // Who was not asked, or did not answer by it, took no time.
                took.into_iter().for_each(|took| player.latency.note(took));
                self.note_of(now, line, Happening::Answered(message));
                self.proceed(now, seating.slot);
            }
            Heard::Refused(rule) => {
                // An act may have crossed one of another player.
                if !is_act {
                    player.compliance.note(Rule::IllegalMove, wanted.raw());
                }
                self.note_of(now, line, Happening::Unusable(message, rule.0));
            }
            Heard::Duplicate => {}
        }
        Some(heard)
    }

    /// A player gives up the match it is in, or is out of it for good: it is over at once. It may have last words for the others.
    pub(crate) fn give_up(&mut self, now: Now, line: u16, fault: Fault, words: &str) {
        let Some(Seating { slot, seat }) = self.player(line).and_then(|player| player.seating) else { return };
        let number = self.player(line).map_or(0, |player| player.number);
        let Some(table) = self.memory.tables.get_mut(usize::from(slot)).and_then(Option::as_mut) else { return };
        if table.is_over() {
            return;
        }
        if !words.is_empty() {
            // Where there is no room for them, they are not heard.
            self.memory.notes.set(number, Note::Said, words);
        }
        table.play.give_up(seat, fault);
        if fault != Fault::Resigned {
            let message = table.question();
            self.failed(now, line, message, fault);
        }
        self.proceed(now, slot);
        self.advance(now);
    }

    /// Says what is next to be said to a player, in its own protocol, and sets its clock.
    pub(crate) fn pump(&mut self, now: Now, line: u16) {
        if let Some(code) = self.player(line).map(|player| player.session.code()) {
            code.pump(self, now, line);
        }
        self.set_clock(line);
    }

    /// The clock of a player goes by its match and by its session.
    pub(crate) fn set_clock(&mut self, line: u16) {
        let of_match = |Seating { slot, seat }| self.table_at(slot)?.deadline(seat);
        let next = self.player(line).and_then(|player| {
            [player.seating.and_then(of_match), player.session.deadline()].into_iter().flatten().min()
        });
        self.memory.timers.set(line.into(), next);
    }

    /// Everything whose time has come.
    pub(super) fn tick(&mut self, now: Now) {
        self.end_break(now);
        while let Some((line, at)) = self.memory.timers.next() {
            if at > now.ms {
                return;
            }
            self.time_is_up(now, count(line));
        }
    }

    fn time_is_up(&mut self, now: Now, line: u16) {
        let Some(player) = self.player(line) else { return self.memory.timers.set(line.into(), None) };
        let (code, fault) = (player.session.code(), player.fault_of_silence());
        code.expire(self, now, line);
        let policy = self.policy_of(line);
        let seating = self.player(line).and_then(|player| player.seating);
        if let Some(seating) = seating
            && let Some(table) = self.memory.tables.get_mut(usize::from(seating.slot)).and_then(Option::as_mut)
        {
            if table.start(now.ms) {
                return self.begin(now, seating.slot);
            }
            let message = table.question();
            let past = &mut PastOf::new(self.memory.notes, seating.slot);
            if table.due((self.memory.film, past), now, seating.seat, fault, &policy) {
                self.failed(now, line, message, fault);
            }
            self.proceed(now, seating.slot);
        }
        self.pump(now, line);
    }

    /// The question to a player failed: its match hears of it, and goes on.
    pub(crate) fn fail_question(&mut self, now: Now, line: u16, message: Message, fault: Fault) {
        let policy = self.policy_of(line);
        let Some((table, seating)) = self.at_table(line) else { return };
        table.play.fail(seating.seat, now.ms, fault, &policy);
        self.failed(now, line, message, fault);
        self.proceed(now, seating.slot);
    }

    /// A try to get an answer failed. With the last of its tries the question counts as one failure.
    fn failed(&mut self, now: Now, line: u16, message: Message, fault: Fault) {
        let Some(player) = self.player_mut(line) else { return };
        match fault {
            Fault::Silent => player.compliance.note(Rule::NoAnswer, message.name()),
            Fault::Unreachable => player.compliance.note(Rule::Unreachable, message.name()),
            Fault::Unusable(..) | Fault::Resigned => {}
        }
        let is_there = matches!(fault, Fault::Unusable(..) | Fault::Resigned);
        if !is_there && player.state == AgentState::Active {
            player.state = AgentState::Suspended;
        }
        self.note_of(now, line, Happening::failed(message, fault));
        let is_last = self.at_table(line).is_some_and(|(table, seating)| table.play.has_lost(seating.seat));
        let Some(player) = self.player_mut(line).filter(|_| is_last && !is_there) else { return };
        player.breaker.failed(now.ms);
        if player.breaker.is_open() {
            self.note_of(now, line, Happening::BreakerOpened);
        }
    }

    /// Who follows its games is gone. It waits for none any more; one that it is in waits for it until its deadline.
    pub(super) fn is_gone(&mut self, now: Now, index: u16) {
        self.leave_queue(index);
        let policy = self.policy_of(index);
        let Some((table, Seating { slot, seat })) = self.at_table(index) else { return };
        table.play.is_there(seat, now.ms, false, &policy);
        if table.is_over() {
            self.stand_up(now, index, slot);
        }
        self.set_clocks(index);
    }

    /// Sets the clocks of all who sit with a player: one that is gone, or is back, may stop or start them all.
    pub(super) fn set_clocks(&mut self, line: u16) {
        let seated = self.table_of(line).map(Table::seated).unwrap_or_default();
        seated.into_iter().for_each(|line| {
            self.set_clock(line);
            self.list(line);
        });
    }
}
