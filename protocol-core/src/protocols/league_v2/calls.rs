//! The calls to a player: what goes out next, and what to make of what came back. At most one is open.

use heapless::String;

use super::dialect::Dialect;
use super::referees::{Referee, way};
use super::register::breach;
use super::reply::{self, Reply, TEXT_BYTES};
use super::session::{HEED_MS, NEWS_MS, Open, SAY_MS, Session, Way, What};
use super::{Code, Conversation, TestReply};
use crate::games::{Game, Illegal, Question};
use crate::json::Value;
use crate::log::Happening;
use crate::message::Message;
use crate::protocols::{AnySession, Session as _};
use crate::referee::{Broken, Fault, Heard, Need};
use crate::season::Rule;
use crate::time::{Millis, Now};
use crate::venue::{AgentState, Call, Failure, Mode, News, Player, Progress, Ready, Seating, Venue};

/// How long a player has to answer a test, in milliseconds.
const CHECK_MS: Millis = 5_000;

/// A player of this protocol, and its session.
pub(super) fn player_of<'a>(venue: &'a Venue<'_>, index: u16) -> Option<(&'a Player, &'a Session)> {
    let player = venue.player(index)?;
    match &player.session {
        AnySession::LeagueV2(session) => Some((player, session)),
        _ => None,
    }
}

/// Its session.
fn session_of<'a>(venue: &'a mut Venue<'_>, index: u16) -> Option<&'a mut Session> {
    of(venue.player_mut(index)?)
}

/// The session of a player that speaks this protocol.
pub(super) fn of(player: &mut Player) -> Option<&mut Session> {
    match &mut player.session {
        AnySession::LeagueV2(session) => Some(session),
        _ => None,
    }
}

/// The referee that has the match of the player on a line, elsewhere.
pub(super) fn referee_of<'a>(venue: &'a Venue<'_>, index: u16) -> Option<&'a Referee> {
    venue.referee(venue.table_of(index)?.referee()?)
}

/// The call on a line: to its player, or an errand.
pub(super) fn call<'a>(venue: &'a Venue<'_>, index: u16) -> Option<Call<'a>> {
    let own = player_of(venue, index).and_then(|(player, session)| {
        let open = session.open?;
        let to = match open.what {
            What::Assignment => &referee_of(venue, index)?.contact,
            _ => &player.contact,
        };
        Some((open, to))
    });
    let call = |(open, to): (Open, _)| Call { id: open.id, is_question: matches!(open.what, What::Question(_)), to };
    own.map(call).or_else(|| venue.errand_on(index))
}

/// A call has come further.
pub(super) fn progress(venue: &mut Venue<'_>, now: Now, index: u16, call: u32, progress: Progress<'_>) {
    match progress {
        Progress::Begun => begun(venue, now, index, call),
        Progress::Sent => sent(venue, now, index, call),
        Progress::Replied(_, body) if venue.is_errand(now, call, Some(body)) => {}
        Progress::Failed(_) if venue.is_errand(now, call, None) => {}
        Progress::Replied(status, body) => reply(venue, now, index, call, status, body),
        Progress::Failed(failure) => call_failed(venue, now, index, call, failure),
    }
}

/// Puts the next call on a line that is free.
pub(super) fn pump(venue: &mut Venue<'_>, now: Now, index: u16) {
    let Some((player, _)) = player_of(venue, index) else { return };
    if (player.seating.is_some() || venue.next_news(player).is_some()) && venue.give_way(index) {
        venue.list(index);
    }
    // Who does not want to know what went wrong is asked again without a word.
    let policy = venue.policy_of(index);
    if player_of(venue, index).is_some_and(|(_, session)| session.style.refuses(Message::GameError))
        && let Some((table, seating)) = venue.at_table(index)
        && matches!(table.play.need(seating.seat), Need::Announcement { .. })
    {
        table.play.announced(seating.seat, &policy);
    }
    let limit = now.ms.saturating_add(venue.config().timing.notice_ms);
    let Some(player) = venue.player(index) else { return };
    let (is_away_for_good, is_told_later) = (player.has_left() || player.is_held_back(), player.is_told_later());
    let seating = player.seating;
    let table = seating.and_then(|seating| Some((venue.table_at(seating.slot)?, seating.seat)));
    // The line of the first player of a match that is refereed elsewhere tells its referee.
    let assigns = table.is_some_and(|(table, seat)| seat == 0 && table.referee().is_some() && !table.greeted.has(seat));
    let need = match table {
        _ if assigns => Need::Question,
        Some((table, seat)) if !is_away_for_good => table.need(seat),
        _ => Need::Nothing,
    };
    let is_retrying = table.is_some_and(|(table, seat)| table.play.is_retrying(seat));
    let retry_until = match table {
        Some((table, _)) if assigns => table.play.began(),
        table => table.and_then(|(table, seat)| table.play.deadline(seat)).unwrap_or(limit),
    };
    let Some(session) = session_of(venue, index) else { return };
    let was_open = session.open.is_some();
    let comes_first = need != Need::Nothing && session.make_way(is_retrying);
    if session.open.is_some() {
        return;
    }
    let next = if is_away_for_good {
        None
    } else if !(is_retrying || comes_first || is_told_later)
        && let Some(news) = next_news(venue, index)
    {
        Some((What::News(news), now.ms.saturating_add(NEWS_MS)))
    } else {
        match (need, seating) {
            _ if assigns => Some((What::Assignment, retry_until)),
            (Need::Announcement { retry, fault }, _) => Some((What::Retry(retry, fault), retry_until)),
            (Need::Question, Some(Seating { slot, seat })) => venue.table_at_mut(slot).map(|table| {
                let message = table.question();
                table.ask(seat, now.ms, &policy);
                (What::Question(message), table.play.deadline(seat).unwrap_or(limit))
            }),
            _ => None,
        }
    };
    if let Some((what, deadline)) = next {
        open(venue, now, index, what, deadline, is_retrying);
    }
    if was_open || next.is_some() {
        venue.list(index);
    }
}

/// The next news that the player wants to hear.
fn next_news(venue: &mut Venue<'_>, index: u16) -> Option<News> {
    loop {
        let news = venue.next_news(venue.player(index)?)?;
        let session = session_of(venue, index)?;
        session.cursor.hears(news);
        if !session.style.refuses(What::News(news).kind()) {
            return Some(news);
        }
        session.cursor.has_heard(news);
    }
}

/// Opens a call.
fn open(venue: &mut Venue<'_>, now: Now, index: u16, what: What, deadline: Millis, is_retrying: bool) {
    let id = venue.next_call_id();
    let referee = referee_of(venue, index).filter(|_| what == What::Assignment);
    let referee = referee.map(|referee| (referee.id(), referee.dialect, referee.way));
    let acts = venue.at_table(index).map_or(0, |(table, _)| table.play.game().acts());
    let Some(session) = session_of(venue, index) else { return };
    let message = what.kind();
    let (dialect, variant) = match referee {
        Some((_, dialect, way)) => (dialect, way),
        None => (session.style.dialect, session.style.variant(message)),
    };
    let is_news = matches!(what, What::News(_));
    let (tried, way, is_heeded, blame) = (u8::from(!is_news), Way::Waits, is_news, None);
    session.open = Some(Open { what, id, at: now, deadline, dialect, variant, tried, way, is_heeded, blame });
    if matches!(what, What::Question(_)) {
        (session.acts, session.has_acted) = (acts, false);
        if !is_retrying {
            session.forget_asked();
        }
        session.asks(0, id);
    }
    match referee {
        Some((referee, ..)) => {
            let at = venue.match_of(index);
            venue.note(now, Some(referee), at, Happening::Sent(message));
        }
        None => venue.note_of(now, index, Happening::Sent(message)),
    }
}

/// A call may have had its time.
pub(super) fn expire(venue: &mut Venue<'_>, now: Now, index: u16) {
    let Some(expired) = session_of(venue, index).and_then(|session| session.expire(now.ms)) else { return };
    venue.list(index);
    match expired.what {
        What::News(_) => is_unheard(venue, now, index, expired.what.kind()),
        What::Check => venue.checked(now, index, Ready::No),
        _ => {}
    }
}

/// News brought no answer. That is told, and no failure.
fn is_unheard(venue: &mut Venue<'_>, now: Now, index: u16, message: Message) {
    let Some(player) = venue.player_mut(index) else { return };
    let fault = player.fault_of_silence();
    let rule = if fault == Fault::Unreachable { Rule::Unreachable } else { Rule::NewsUnanswered };
    player.compliance.note(rule, message.name());
    venue.note_of(now, index, Happening::failed(message, fault));
}

/// A call is being said.
fn begun(venue: &mut Venue<'_>, now: Now, index: u16, call: u32) {
    let Some(player) = venue.player_mut(index) else { return };
    // Who dials in loses its link with half of a message, and its matches with the link: it always has all the time.
    let is_link = player.contact.endpoint().is_none();
    let Some(session) = of(player) else { return };
    let say_ms = if is_link { SAY_MS } else { session.say_ms() };
    // Who has it said again, over another connection, has no more time for it.
    if let Some(open) = session.open.as_mut().filter(|open| open.id == call && open.way != Way::Begun) {
        open.way = Way::Begun;
        if matches!(open.what, What::News(_)) {
            open.deadline = now.ms.saturating_add(say_ms);
        }
        venue.set_clock(index);
    }
}

/// A call is on its way.
fn sent(venue: &mut Venue<'_>, now: Now, index: u16, call: u32) {
    let Some(session) = session_of(venue, index) else { return };
    if let Some(open) = session.open.as_mut().filter(|open| open.id == call) {
        if open.way == Way::Begun && matches!(open.what, What::News(_)) {
            // Nobody could answer before.
            *open = open.told_at(now);
        }
        open.way = Way::Sent;
        session.stop_heeding(now.ms);
        venue.pump(now, index);
    }
}

/// News has been told, as far as anybody knows.
fn has_heard(venue: &mut Venue<'_>, index: u16, open: Open) {
    if let (Some(session), What::News(news)) = (session_of(venue, index), open.what) {
        session.cursor.has_heard(news);
    }
}

/// Takes the open call off a line, if it is still the one that is meant.
fn take_call(venue: &mut Venue<'_>, index: u16, call: u32) -> Option<Open> {
    session_of(venue, index)?.open.take_if(|open| open.id == call)
}

fn call_failed(venue: &mut Venue<'_>, now: Now, index: u16, call: u32, failure: Failure) {
    if let Failure::Status(status) = failure {
        return self::reply(venue, now, index, call, status, b"");
    }
    let Some(open) = take_call(venue, index, call) else { return };
    match (open.what, failure) {
        (What::Assignment, _) => return not_assigned(venue, now, index, open, failure),
        (What::Question(message), Failure::Unreachable) => {
            venue.fail_question(now, index, message, Fault::Unreachable);
        }
        (What::Question(message), Failure::Unreadable) => {
            if let Some(player) = venue.player_mut(index) {
                player.compliance.note(Rule::ReplyTooLong, message.name());
            }
            venue.fail_question(now, index, message, Fault::Unusable(Broken::Field, Rule::ReplyTooLong.advice()));
        }
        (What::Retry(..), _) => announced(venue, now, index),
        (What::Check, Failure::Unreachable) => venue.checked(now, index, Ready::No),
        // It said something.
        (What::Check, Failure::Unreadable) => venue.checked(now, index, Ready::after(open.at.ms, now)),
        // Nobody asks again for news that did not get through, so it is sent once more: a frame may have been lost, or
        // the player may have closed the connection just then.
        (What::News(_), Failure::Unreachable) if open.tried == 0 => {
            return call_anew(venue, now, index, Open { tried: 1, ..open });
        }
        (What::News(_), _) => has_heard(venue, index, open),
        _ => {}
    }
    venue.pump(now, index);
}

/// Says the open call anew: what it says has changed.
pub(super) fn tell_anew(venue: &mut Venue<'_>, now: Now, index: u16) {
    if let Some(open) = session_of(venue, index).and_then(|session| session.open) {
        call_anew(venue, now, index, open);
    }
}

/// Opens a call again, by another id.
fn call_anew(venue: &mut Venue<'_>, now: Now, index: u16, open: Open) {
    let id = venue.next_call_id();
    if let Some(session) = session_of(venue, index) {
        session.asks(open.id, id);
        session.open = Some(match open.what {
            What::News(_) => Open { id, ..open }.told_at(now),
            _ => Open { id, at: now, way: Way::Waits, ..open },
        });
    }
    venue.list(index);
}

/// Begins a test call: a JSON-RPC `ping`. A player need not know that, so nearly whatever it answers, it is there. False where
/// it is busy with something else.
pub(super) fn check(venue: &mut Venue<'_>, now: Now, index: u16) -> bool {
    let Some((player, session)) = player_of(venue, index) else { return false };
    if session.open.is_some_and(|open| open.what == What::Check) {
        return true;
    }
    if !session.is_idle() || player.seating.is_some() {
        return false;
    }
    let id = venue.next_call_id();
    let Some(player) = venue.player_mut(index) else { return false };
    player.ready = Ready::Asked;
    if let Some(session) = of(player) {
        session.open = Some(Open::check(id, now, CHECK_MS));
    }
    venue.note_of(now, index, Happening::Sent(Message::Ping));
    venue.list(index);
    venue.pump(now, index);
    true
}

fn announced(venue: &mut Venue<'_>, now: Now, index: u16) {
    let policy = venue.policy_of(index);
    let Some((table, seating)) = venue.at_table(index) else { return };
    table.play.announced(seating.seat, &policy);
    venue.proceed(now, seating.slot);
}

/// Not inlined, so that its buffer is off the stack when the league moves on.
#[inline(never)]
fn reply(venue: &mut Venue<'_>, now: Now, index: u16, call: u32, status: u16, body: &[u8]) {
    let Some(open) = take_call(venue, index, call) else {
        return late_reply(venue, now, index, call, status, body);
    };
    if open.what == What::Assignment {
        return assigned(venue, now, index, open, status, body);
    }
    venue.saw(now, index);
    let mut text = [0; TEXT_BYTES];
    let reply = reply::unwrap(body, &mut text, open.dialect, open.id, &mut |_, _| {});
    match (open.what, reply) {
        (What::Question(message), reply) => judge(venue, now, index, open, message, (status, body), reply),
        (What::News(_) | What::Retry(..), Reply::UnknownMethod(_)) => {
            if let Some(session) = session_of(venue, index) {
                session.style.refused(open.what.kind(), open.dialect, open.variant);
            }
            if !ask_otherwise(venue, now, index, open, false) {
                match open.what {
                    What::Retry(..) => announced(venue, now, index),
                    _ => has_heard(venue, index, open),
                }
            }
        }
        (What::Retry(..), _) => announced(venue, now, index),
        (What::Check, _) => {
            let ready = match TestReply::read(status, body) {
                TestReply::There => Ready::after(open.at.ms, now),
                TestReply::Astray => Ready::Astray(status),
            };
            venue.checked(now, index, ready);
        }
        (What::News(_), reply) => {
            if let Some(session) = session_of(venue, index) {
                if matches!(reply, Reply::Message(_)) {
                    session.style.remember(open.what.kind(), open.variant);
                }
                if now.ms.saturating_sub(open.at.ms) < HEED_MS {
                    session.misses = 0;
                }
            }
            has_heard(venue, index, open);
        }
        _ => {}
    }
    venue.pump(now, index);
}

/// A referee has answered the call by which it was told of a match, be it after the match. Who does not understand it is told by
/// other words; who understands none may still come and ask.
#[inline(never)]
fn assigned(venue: &mut Venue<'_>, now: Now, index: u16, open: Open, status: u16, body: &[u8]) {
    let mut text = [0; TEXT_BYTES];
    let reply = reply::unwrap(body, &mut text, open.dialect, open.id, &mut |_, _| {});
    let is_understood = match reply {
        Reply::Message(_) | Reply::Garbage => (200..300).contains(&status),
        Reply::UnknownMethod(_) | Reply::Error(_) => false,
    };
    let variant = open.variant.saturating_add(1);
    if !is_understood && way(open.dialect, variant).is_some() {
        call_anew(venue, now, index, Open { variant, ..open });
        return venue.set_clock(index);
    }
    if let Some(number) = referee_of(venue, index).filter(|_| is_understood).map(Referee::short)
        && let Some(referee) = venue.referee_mut(number)
    {
        referee.way = open.variant;
    }
    is_told(venue, index);
    venue.pump(now, index);
}

/// A referee could not be told of a match, or has hung up since. Whoever was never reached and does not come and ask has lost it;
/// who has begun it has all its time.
fn not_assigned(venue: &mut Venue<'_>, now: Now, index: u16, open: Open, failure: Failure) {
    let polls = referee_of(venue, index).is_some_and(|referee| referee.polls);
    let seating = venue.player(index).and_then(|player| player.seating);
    match seating {
        Some(Seating { slot, .. }) if failure == Failure::Unreachable && open.way != Way::Sent && !polls => {
            venue.has_not_reported(now, slot);
        }
        _ => {
            is_told(venue, index);
            venue.pump(now, index);
        }
    }
}

/// The referee of a player's match knows of it, as far as that can be known.
fn is_told(venue: &mut Venue<'_>, index: u16) {
    if let Some((table, seating)) = venue.at_table(index) {
        table.greeted = table.greeted.with(seating.seat);
    }
}

/// Whether the match of a player still waits for the answer to a call that is over: it counts, on whatever connection
/// it comes.
pub(super) fn awaits(venue: &Venue<'_>, index: u16, call: u32) -> bool {
    let Some((player, session)) = player_of(venue, index).filter(|(player, _)| !player.has_left()) else {
        return false;
    };
    let hears = |Seating { slot, seat }| venue.table_at(slot).is_some_and(|table| table.play.hears(seat));
    session.has_asked(call) && player.seating.is_some_and(hears)
}

/// A reply to a call that is over. While its match waits, what answers the question counts; nothing else does.
#[inline(never)]
fn late_reply(venue: &mut Venue<'_>, now: Now, index: u16, call: u32, status: u16, body: &[u8]) {
    if !awaits(venue, index, call) {
        return;
    }
    venue.saw(now, index);
    let Some(message) = venue.at_table(index).map(|(table, _)| table.question()) else { return };
    let Some(player) = venue.player_mut(index) else { return };
    let Some(dialect) = of(player).map(|session| session.style.dialect) else { return };
    let mut text = [0; TEXT_BYTES];
    if let Reply::Message(answer) = reply::unwrap(body, &mut text, dialect, call, &mut |_, _| {})
        && is_answer(message, answer)
    {
        player.breaker.succeeded();
        note_wrapping(player, (dialect, call), status, body);
        hear(venue, now, index, message, answer);
    }
}

/// Puts a call that was not understood in other words: the next method name, or, where `any_dialect`, the next
/// dialect. False where there are none left.
fn ask_otherwise(venue: &mut Venue<'_>, now: Now, index: u16, open: Open, any_dialect: bool) -> bool {
    let Some(session) = session_of(venue, index) else { return false };
    let message = open.what.kind();
    let variant = open.variant.saturating_add(1);
    let next = if !any_dialect && message.method(open.dialect, variant).is_some() {
        Some(Open { variant, ..open })
    } else if matches!(open.what, What::Question(_)) && !session.style.confirmed && open.tried < 5 {
        Some(Open { dialect: open.dialect.next(), variant: 0, tried: open.tried.saturating_add(1), ..open })
    } else {
        None
    };
    let Some(next) = next else { return false };
    call_anew(venue, now, index, next);
    true
}

/// Judges the reply to a question.
fn judge(
    venue: &mut Venue<'_>,
    now: Now,
    index: u16,
    open: Open,
    message: Message,
    (status, body): (u16, &[u8]),
    reply: Reply<'_>,
) {
    let Some(player) = venue.player_mut(index) else { return };
    // It answered, be it nonsense: the player is there.
    player.breaker.succeeded();
    let (answer, otherwise) = match reply {
        Reply::Message(answer) => (is_answer(message, answer).then_some(answer), true),
        Reply::UnknownMethod(_) => (None, false),
        Reply::Error(_) | Reply::Garbage => (None, true),
    };
    if let Some(answer) = answer {
        let Some(session) = of(player) else { return };
        let wandered = session.style.dialect != open.dialect || open.variant != 0;
        let is_new = wandered && session.style.variant(message) != open.variant;
        session.style.confirm(message, open.dialect, open.variant);
        if is_new {
            player.compliance.note(Rule::Dialect, open.dialect.name());
        }
        if let Some(rule) = open.blame {
            player.compliance.acquit(rule);
        }
        note_wrapping(player, (open.dialect, open.id), status, body);
        hear(venue, now, index, message, answer);
        return;
    }
    let has_failed = !(200..300).contains(&status);
    // It was understood: it has acted beside it.
    if let (Reply::Message(answer), Some(seating)) = (reply, player.seating)
        && reply::is_receipt(answer)
        && of(player).is_some_and(|session| session.has_acted)
    {
        return still_owes(venue, index, seating);
    }
    let rule = match reply {
        Reply::Error(_) | Reply::UnknownMethod(_) => Rule::RpcError,
        // What a web framework says of an exception, a path or a body. Its words are no try at an answer.
        Reply::Garbage | Reply::Message(_) if has_failed => Rule::HttpStatus,
        Reply::Garbage => Rule::NotJson,
        Reply::Message(_) if message == Message::GameInvitation => Rule::AcceptForm,
        Reply::Message(_) if message == Message::ChooseParity => Rule::ChoiceForm,
        Reply::Message(_) => Rule::NoMove,
    };
    // In other words it may be understood. If not, the first answer is the one to be mended: it was in its own dialect.
    let blame = open.blame.unwrap_or(rule);
    if open.blame.is_none() {
        let body = core::str::from_utf8(body).unwrap_or("not UTF-8");
        match reply {
            Reply::Error(error) | Reply::UnknownMethod(error) => {
                player.compliance.suspect(rule, reply::Shown(error));
            }
            _ if rule == Rule::HttpStatus => player.compliance.suspect(rule, format_args!("{status} {body}")),
            Reply::Message(answer) => player.compliance.suspect(rule, answer.raw()),
            Reply::Garbage => player.compliance.suspect(rule, body),
        }
    }
    if ask_otherwise(venue, now, index, Open { blame: Some(blame), ..open }, otherwise) {
        return;
    }
    let Some(player) = venue.player_mut(index) else { return };
    // Some acknowledge the call and send the answer as a message of their own: it has until the deadline.
    if let Reply::Message(answer) = reply
        && reply::is_receipt(answer)
        && !has_failed
    {
        return player.compliance.acquit(blame);
    }
    player.compliance.convict(blame);
    venue.fail_question(now, index, message, Fault::Unusable(Broken::Field, blame.advice()));
}

/// Takes an answer, be it the reply to our call or a message of the player's own. What became of it, or `None` where
/// the player sits at no table.
pub(super) fn hear(venue: &mut Venue<'_>, now: Now, index: u16, message: Message, answer: Value<'_>) -> Option<Heard> {
    let player = venue.player(index).filter(|player| !player.has_left())?;
    let seating = player.seating?;
    let (match_id, id) = (venue.table_at(seating.slot)?.id, player.id());
    let shown = |value: &dyn core::fmt::Display| {
        let mut text = String::<96>::new();
        let _ = core::fmt::write(&mut text, format_args!("{value}"));
        text
    };
    let (player_id, conversation) = (shown(&id), shown(&Conversation::Seat(match_id, seating.seat)));
    let expected = reply::Expected {
        message_type: match message {
            Message::GameInvitation => "GAME_JOIN_ACK",
            Message::ChooseParity => "CHOOSE_PARITY_RESPONSE",
            _ => "MOVE_RESPONSE",
        },
        player_id: &player_id,
        sender: &shown(&format_args!("player:{id}")),
        token: &shown(&venue.token(id, player.issue)),
        match_id: &shown(&match_id),
        conversation_id: &conversation,
    };
    let player = venue.player_mut(index)?;
    player.state = AgentState::Active;
    let mut broken = None;
    let mut note = |rule: Rule, example: &str| {
        player.compliance.note(rule, example);
        broken = broken.or(breach(rule, example));
    };
    reply::check(answer, &expected, &mut note);
    let accepts = reply::acceptance(answer, &mut |rule, example| {
        if message == Message::GameInvitation {
            note(rule, example);
        }
    });
    let choice = match message {
        Message::ChooseParity => reply::choice(answer, &mut note),
        _ => reply::game_move(answer),
    };
    let refused = if venue.config().mode == Mode::Strict { broken } else { None };
    let play = &mut venue.table_at_mut(seating.slot)?.play;
    let is_act = message == Message::MoveRequest && choice.is_some_and(|choice| play.game().is_act(choice));
    let took = play.asked_at(seating.seat).filter(|_| !is_act).map(|asked| now.ms.saturating_sub(asked));
    let heard = match (refused, message, choice) {
        _ if !play.takes(seating.seat, choice) => Heard::Duplicate,
        (Some((code, rule)), ..) => {
            let broken = match code {
                Code::InvalidTimestamp => Broken::Timestamp,
                Code::AuthTokenInvalid => Broken::Token,
                Code::InvalidParityChoice => Broken::Move,
                _ => Broken::Field,
            };
            settle(venue, now, index, message);
            venue.fail_question(now, index, message, Fault::Unusable(broken, rule));
            return Some(Heard::Refused(Illegal(rule)));
        }
        (_, Message::GameInvitation, _) => match accepts {
            Some(false) => play.decline(seating.seat),
            _ => play.join(seating.seat),
        },
        (_, _, Some(choice)) => venue.play_at(now, index, seating, choice),
        _ => return None,
    };
    match heard {
        Heard::Taken => {
            let is_told = venue.game().rules().question == Question::Move && message == Message::MoveRequest && !is_act;
            if let Some(player) = venue.player_mut(index) {
                if let Some(session) = of(player).filter(|_| is_told) {
                    session.cursor.has_moved(match_id.round);
                }
                player.breaker.succeeded();
                // How long it thinks about a move. To join takes no thought, and who was not asked took no time.
                if let Some(took) = took.filter(|_| message != Message::GameInvitation) {
                    player.latency.note(took);
                }
            }
            match is_act {
                true => still_owes(venue, index, seating),
                false => settle(venue, now, index, message),
            }
            venue.note(now, Some(id), Some(match_id), Happening::Answered(message));
            venue.proceed(now, seating.slot);
        }
        // It has crossed an act of another one: it did not know how the game stands, and is asked again.
        Heard::Refused(_) if is_act && answers_before(venue, index, seating) => {
            still_owes(venue, index, seating);
        }
        Heard::Refused(illegal) => {
            if let (Some(player), Some(choice)) = (venue.player_mut(index), choice) {
                player.compliance.note(Rule::IllegalMove, choice.raw());
            }
            let is_asked = session_of(venue, index).is_some_and(|session| session.is_asking());
            // An act that comes beside the question leaves that open.
            if !(is_act && is_asked) {
                settle(venue, now, index, message);
                venue.fail_question(now, index, message, Fault::Unusable(Broken::Move, illegal.0));
            }
        }
        Heard::Duplicate => {
            if let Some(player) = venue.player_mut(index) {
                player.compliance.note(Rule::Duplicate, message.name());
            }
            venue.note(now, Some(id), Some(match_id), Happening::Duplicate);
        }
    }
    venue.pump(now, index);
    Some(heard)
}

/// Whether a player that is called has answered a question as its game was before others acted.
fn answers_before(venue: &mut Venue<'_>, index: u16, seating: Seating) -> bool {
    let acts = venue.table_at(seating.slot).map_or(0, |table| table.play.game().acts());
    session_of(venue, index).is_some_and(|session| session.acts != acts)
}

/// A player has acted, or has tried to, and still owes its move: it is asked once more. Who is just being asked may have meant that as its
/// answer: if it only acknowledges the question, that is put again.
fn still_owes(venue: &mut Venue<'_>, index: u16, seating: Seating) {
    let Some(session) = session_of(venue, index) else { return };
    session.has_acted = session.is_asking();
    if !session.has_acted {
        session.forget_asked();
        let table = venue.table_at_mut(seating.slot);
        table.into_iter().for_each(|table| table.play.ask_once_more(seating.seat));
    }
}

/// The question on a line was answered by other means: the call stays open, briefly, so that the player can finish
/// it, but its reply no longer matters.
fn settle(venue: &mut Venue<'_>, now: Now, index: u16, message: Message) {
    let Some(session) = session_of(venue, index) else { return };
    if let Some(open) = session.open.as_mut()
        && matches!(open.what, What::Question(_) | What::Retry(..))
    {
        open.what = What::Settled(message);
        (open.at, open.is_heeded) = (now, true);
        open.deadline = open.deadline.min(now.ms.saturating_add(HEED_MS));
    }
}

/// A referee reports the match of a player while it is still being told of it: it may finish that, briefly. The player is not to be
/// blamed for how long its referee takes.
pub(super) fn settle_assignment(venue: &mut Venue<'_>, now: Now, index: u16) {
    let Some(session) = session_of(venue, index) else { return };
    if let Some(open) = session.open.as_mut().filter(|open| open.what == What::Assignment && open.way == Way::Sent) {
        open.what = What::Settled(Message::MatchAssignment);
        (open.at, open.is_heeded) = (now, false);
        open.deadline = open.deadline.min(now.ms.saturating_add(HEED_MS));
    }
}

/// Has what the wrapping of an answer broke counted. That is done once it is known to be one; not inlined, so that the
/// buffer is off the stack when the answer is heard.
#[inline(never)]
fn note_wrapping(player: &mut Player, (dialect, call): (Dialect, u32), status: u16, body: &[u8]) {
    if status != 200 {
        player.compliance.note(Rule::HttpStatus, status);
    }
    let mut text = [0; TEXT_BYTES];
    let mut note = |rule: Rule, example: &str| player.compliance.note(rule, example);
    reply::unwrap(body, &mut text, dialect, call, &mut note);
}

/// Whether a message answers a question, be it wrongly.
fn is_answer(message: Message, answer: Value<'_>) -> bool {
    match message {
        Message::GameInvitation => reply::acceptance(answer, &mut |_, _| {}).is_some(),
        Message::ChooseParity => reply::choice(answer, &mut |_, _| {}).is_some(),
        _ => reply::game_move(answer).is_some(),
    }
}
