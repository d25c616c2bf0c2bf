//! One WebSocket connection: text messages in and out, one at a time, in one buffer.
//!
//! Waiting for a message can be interrupted by having something to say, and nothing is lost by it. What has begun to leave
//! is never interrupted: half a frame would spoil all that follow. Every wait ends: a message has so long to come, a block of
//! an answer so long to be taken, and a peer that is silent is asked for a sign of life.

use core::pin::{Pin, pin};

use edge_nal::{Close, TcpShutdown};
use embassy_futures::select::{Either3, select3};
use embassy_futures::yield_now;
use embedded_io_async::{Read, Write};
use protocol_core::json::{Full, Sink};

use super::frames::{Breach, CONTROL, Came, Reader};
use super::long::{Lent, Long};
use crate::clock::{Clock, before};
use crate::http::{Fragment, Outgoing, Sink as _, Timed, WriteError};
use crate::pieces::{Next, Sent};

/// From the first byte of a message to its last, in milliseconds.
const MESSAGE_MS: u64 = 10_000;
/// For each who has the buffer for long messages before, in milliseconds: the time of a message, and of a last pong in it.
const BUFFER_MS: u64 = MESSAGE_MS + WRITE_MS as u64;
/// For taking a block of what is sent, in milliseconds. Who takes longer is let go, so that nobody waits for it.
const WRITE_MS: u32 = 5_000;
/// Silence after which a peer is pinged, in milliseconds. Below the minute after which many a router forgets a connection.
const PING_MS: u64 = 20_000;
/// Silence after which it is gone, in milliseconds. Long: a simple client does not look at pings while it thinks.
const SILENT_MS: u64 = 90_000;
/// For the peer to close its side, in milliseconds.
const LINGER_MS: u64 = 1_000;
/// Most bytes thrown away meanwhile.
const MAX_DISCARD: usize = 1 << 20;

const BUSY: End = End::Ours(1013, "too many long messages came at once; come back in a while");

/// What a link was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message has come: this many bytes, see [`Link::message`].
    Message(usize),
    /// Something else has happened, and the link is free for an answer to it.
    Changed,
}

/// Why a link is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The peer closed it, with this code.
    Closed(Option<u16>),
    /// The connection is gone, or of no use any more.
    Lost,
    /// The peer broke a rule.
    Broke(Breach),
    /// A message did not arrive in time.
    TooSlow,
    /// The peer did not take what it was sent.
    NotReading,
    /// The peer gave no sign of life.
    Silent,
    /// We want it closed: a code, and why.
    Ours(u16, &'static str),
}

impl End {
    /// Why, for the log.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Closed(_) => "the agent closed the connection",
            Self::Lost => "the connection broke",
            Self::Broke(breach) => breach.rule(),
            Self::TooSlow => "a message did not arrive in time",
            Self::NotReading => "the agent did not read what it was sent",
            Self::Silent => "the agent gave no sign of life",
            Self::Ours(_, reason) => reason,
        }
    }

    /// The code and the reason in the close frame. `None` where there is nobody to read one.
    fn last_words(self) -> Option<(u16, &'static str)> {
        match self {
            Self::Closed(code) => Some((code.unwrap_or(1000), "")),
            Self::Lost | Self::NotReading => None,
            Self::Broke(breach) => Some((breach.code(), breach.rule())),
            Self::TooSlow => Some((1008, self.reason())),
            Self::Silent => Some((1001, self.reason())),
            Self::Ours(code, reason) => Some((code, reason)),
        }
    }
}

impl From<WriteError> for End {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::TooSlow => Self::NotReading,
            WriteError::Closed | WriteError::BadHead | WriteError::WrongLength | WriteError::NoRoom => Self::Lost,
        }
    }
}

/// One connection, between two frames or within one.
pub struct Link<'a, S, C> {
    stream: &'a mut S,
    clock: &'a C,
    buf: &'a mut [u8],
    /// Where a message goes that does not fit `buf`, if one may come.
    long: Option<&'a Long>,
    /// That one's buffer, while there is such a message in it.
    lent: Option<Lent<'a>>,
    reader: Reader,
    /// Until when the message has to be complete that has begun, or the peer to give a sign of life.
    until: u64,
    /// Whether it was asked for one.
    pinged: bool,
}

impl<'a, S: Read + Write, C: Clock> Link<'a, S, C> {
    /// A stream on which a handshake has been answered. `buf` holds the longest message and [`SPARE`](super::SPARE).
    pub fn new(stream: &'a mut S, clock: &'a C, buf: &'a mut [u8]) -> Self {
        let until = clock.after(PING_MS);
        Self { stream, clock, buf, long: None, lent: None, reader: Reader::new(), until, pinged: false }
    }

    /// Whether messages may come that are too long for the buffer, and where they go then.
    pub fn takes_long(&mut self, long: Option<&'a Long>) {
        self.long = long;
    }

    /// Waits for a message, or for `changed` while no message has begun. Answers pings. `owes` says that the peer may be
    /// silent: it thinks.
    pub fn next(&mut self, owes: bool, mut changed: Pin<&mut impl Future>) -> impl Future<Output = Result<Event, End>> {
        async move {
            self.lent.take_if(|_| self.reader.is_between_messages());
            loop {
                let is_free = self.reader.is_between_messages();
                let interrupted = async {
                    match is_free {
                        true => drop(changed.as_mut().await),
                        false => core::future::pending().await,
                    }
                };
                let room = self.reader.room(self.lent.as_deref_mut().unwrap_or(self.buf));
                let came = match select3(interrupted, self.stream.read(room), self.clock.sleep_until(self.until)).await
                {
                    Either3::First(()) => return Ok(Event::Changed),
                    Either3::Second(Ok(n @ 1..)) => self.took(n)?,
                    Either3::Second(_) => return Err(End::Lost),
                    Either3::Third(()) => {
                        self.time_is_up(is_free, owes).await?;
                        None
                    }
                };
                match came {
                    Some(Came::Message(length)) => return Ok(Event::Message(length)),
                    Some(Came::Long(filled)) => self.make_room(filled).await?,
                    Some(Came::Close(code)) => return Err(End::Closed(code)),
                    Some(Came::Ping(length)) => {
                        let pong = self.reader.pong(length, self.lent.as_deref_mut().unwrap_or(self.buf));
                        Timed::new(self.stream, self.clock, WRITE_MS).send(pong).await?;
                    }
                    // What is left of a frame mostly comes with its header.
                    None if self.reader.has_only_a_header() => continue,
                    Some(Came::Pong) | None => {}
                }
                // What is always ready to be read, a flood of pongs or of empty pieces, must not keep others waiting, nor
                // last beyond its time.
                yield_now().await;
                if !self.reader.is_between_messages() && self.clock.now() >= self.until {
                    return Err(End::TooSlow);
                }
            }
        }
    }

    fn took(&mut self, n: usize) -> Result<Option<Came>, End> {
        if self.reader.is_between_messages() {
            self.until = self.clock.after(MESSAGE_MS);
        }
        self.pinged = false;
        let came = self.reader.took(n, self.lent.as_deref_mut().unwrap_or(self.buf)).map_err(End::Broke)?;
        if self.reader.is_between_messages() {
            self.until = self.clock.after(PING_MS);
        }
        Ok(came)
    }

    /// Goes on in the buffer for long messages, as soon as all who came before have had it. What has been read moves there.
    fn make_room(&mut self, filled: usize) -> impl Future<Output = Result<(), End>> {
        async move {
            const TOO_LONG: Result<(), End> = Err(End::Broke(Breach::TooLong));
            let Some(long) = self.long.filter(|long| self.lent.is_none() && self.reader.fits_in(long.size())) else {
                return TOO_LONG;
            };
            let turn = pin!(long.queue_up().ok_or(BUSY)?);
            let until = self.clock.after(u64::from(turn.ahead()) * BUFFER_MS);
            let mut lent = before(self.clock, until, turn).await.map_err(|_| BUSY)?;
            lent.iter_mut().zip(self.buf.iter()).take(filled).for_each(|(to, &from)| *to = from);
            self.lent = Some(lent);
            self.until = self.clock.after(MESSAGE_MS);
            Ok(())
        }
    }

    fn time_is_up(&mut self, is_free: bool, owes: bool) -> impl Future<Output = Result<(), End>> {
        async move {
            match (is_free, self.pinged) {
                (false, _) => Err(End::TooSlow),
                // Its time to think has a limit of its own.
                (true, true) if owes => {
                    self.until = self.clock.after(SILENT_MS);
                    Ok(())
                }
                (true, true) => Err(End::Silent),
                (true, false) => {
                    self.pinged = true;
                    self.until = self.until.saturating_add(SILENT_MS - PING_MS);
                    Ok(Timed::new(self.stream, self.clock, WRITE_MS).send(&[0x89, 0]).await?)
                }
            }
        }
    }

    /// The last message is of no interest any more. A long one makes room for the next, whoever sends that.
    pub fn forget(&mut self) {
        self.lent = None;
    }

    /// Speaks first, or when the last message is of no interest any more: see [`Speaker::say`].
    pub fn say(
        &mut self,
        write: impl Fn(&mut dyn Sink) -> Result<(), Full>,
        may_leave: impl AsyncFn(),
    ) -> impl Future<Output = Result<bool, End>> {
        self.forget();
        self.message(0).1.say(write, may_leave)
    }

    /// The same, made in a lent buffer, which the peer may keep for as long as `ms`.
    pub fn say_in<'l>(
        &'l mut self,
        lent: &'l mut [u8],
        ms: u32,
        write: impl Fn(&mut dyn Sink) -> Result<(), Full>,
        may_leave: impl AsyncFn(),
    ) -> impl Future<Output = Result<bool, End>> {
        Speaker { stream: self.stream, clock: self.clock, room: lent, ms }.say(write, may_leave)
    }

    /// The message that has just come, and the right to answer it.
    pub fn message(&mut self, length: usize) -> (&[u8], Speaker<'_, S, C>) {
        let buf = self.lent.as_deref_mut().unwrap_or(self.buf);
        let (message, room) = buf.split_at_mut_checked(length).unwrap_or_default();
        (message, Speaker { stream: self.stream, clock: self.clock, room, ms: WRITE_MS })
    }

    /// Says that the link is over, and lets the peer read it. Then drop the stream.
    pub fn close(&mut self, end: End) -> impl Future<Output = ()>
    where
        S: TcpShutdown,
    {
        self.forget();
        async move {
            if let Some((code, reason)) = end.last_words() {
                let reason = reason.as_bytes().get(..CONTROL - 2).unwrap_or(reason.as_bytes());
                let [high, low] = code.to_be_bytes();
                let length = u8::try_from(reason.len()).unwrap_or(0).saturating_add(2);
                let frame = [0x88, length, high, low];
                let length = frame.len().saturating_add(reason.len());
                for (to, &from) in self.buf.iter_mut().zip(frame.iter().chain(reason)) {
                    *to = from;
                }
                let frame = self.buf.get(..length).unwrap_or_default();
                if Timed::new(self.stream, self.clock, WRITE_MS).send(frame).await.is_err() {
                    return;
                }
            }
            let until = self.clock.after(LINGER_MS);
            if before(self.clock, until, pin!(self.stream.close(Close::Write))).await.is_err() {
                return;
            }
            // A stream dropped on unread bytes is reset, and the reset can overtake what was said.
            let mut discarded = 0_usize;
            while discarded < MAX_DISCARD && self.clock.now() < until {
                let Ok(Ok(n @ 1..)) = before(self.clock, until, pin!(self.stream.read(self.buf))).await else { return };
                discarded = discarded.saturating_add(n);
                yield_now().await;
            }
        }
    }
}

/// The right to send one message.
pub struct Speaker<'a, S, C> {
    stream: &'a mut S,
    clock: &'a C,
    room: &'a mut [u8],
    /// For taking a block of it, in milliseconds.
    ms: u32,
}

impl<'a, S: Write, C: Clock> Speaker<'a, S, C> {
    /// Speaks in a lent buffer, if that is larger, which the peer may keep for as long as `ms`.
    pub(crate) fn with_room(self, lent: Option<&'a mut [u8]>, ms: u32) -> Self {
        match lent {
            Some(room) if room.len() > self.room.len() => Self { room, ms, ..self },
            _ => self,
        }
    }

    /// Writes a message, or a part of one, as it is at this moment, if there is room for all of it. Otherwise nothing has happened.
    pub(crate) fn whole(
        self,
        part: Fragment,
        write: impl Fn(&mut dyn Sink) -> Result<(), Full>,
    ) -> Result<Outgoing<'a, Timed<'a, S, C>>, Self> {
        let ms = self.ms;
        let mut message = Outgoing::frame(Timed::new(self.stream, self.clock, ms), self.room, part);
        match Sent::default().next(&mut message, &write) {
            Ok(Next::All) => Ok(message),
            _ => {
                let (Timed { stream, clock, .. }, room, _) = message.undo();
                Err(Self { stream, clock, room, ms })
            }
        }
    }

    /// Sends the text that `write` writes, in one frame. Its length is counted first: one that does not fit the room is
    /// written anew for every piece. Before any of it leaves, `may_leave` is waited for. False where there is nothing to
    /// be said: it cannot be written at all.
    pub fn say(
        self,
        write: impl Fn(&mut dyn Sink) -> Result<(), Full>,
        may_leave: impl AsyncFn(),
    ) -> impl Future<Output = Result<bool, End>> {
        let mut message = Outgoing::frame(Timed::new(self.stream, self.clock, self.ms), self.room, Fragment::Whole);
        async move {
            let mut sent = Sent::default();
            loop {
                match sent.next(&mut message, &write) {
                    Ok(Next::All) => break,
                    Ok(Next::Piece) => {
                        may_leave().await;
                        message.flush().await?;
                        // A peer that takes everything at once must not keep the others waiting.
                        yield_now().await;
                    }
                    // It became another text meanwhile: its frame cannot be ended.
                    Ok(Next::Another) => return Err(End::Lost),
                    Err(WriteError::WrongLength) => return Ok(false),
                    Err(error) => return Err(error.into()),
                }
            }
            may_leave().await;
            message.finish().await?;
            Ok(true)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;
    use core::convert::Infallible;
    use core::future::pending;
    use embassy_futures::block_on;
    use embassy_futures::select::{Either, select};
    use embedded_io_async::ErrorType;

    /// A peer whose next frame is always there, the same again and again; after very many it hangs up.
    struct Flood<'c> {
        first: &'static [u8],
        then: &'static [u8],
        sent: usize,
        clock: &'c Ticks,
    }

    const VERY_MANY: usize = 200_000;
    const PONG: &[u8] = b"\x8a\x80\0\0\0\0";
    const FIRST_PIECE: &[u8] = b"\x01\x80\0\0\0\0";
    const NEXT_PIECE: &[u8] = b"\x00\x80\0\0\0\0";

    impl ErrorType for Flood<'_> {
        type Error = Infallible;
    }

    impl Read for Flood<'_> {
        async fn read(&mut self, buf: &mut [u8]) -> Result<usize, Infallible> {
            self.clock.0.set(self.clock.0.get() + 1);
            let frame = if self.sent < self.first.len() { self.first } else { self.then };
            let rest = frame.iter().skip(self.sent % frame.len());
            let n = buf.iter_mut().zip(rest).map(|(to, &from)| *to = from).count();
            self.sent += n;
            Ok(if self.sent < VERY_MANY { n } else { 0 })
        }
    }

    impl Write for Flood<'_> {
        async fn write(&mut self, buf: &[u8]) -> Result<usize, Infallible> {
            Ok(buf.len())
        }

        async fn flush(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
    }

    /// A clock that goes on by a millisecond with everything that is read.
    struct Ticks(Cell<u64>);

    impl Clock for Ticks {
        fn now(&self) -> u64 {
            self.0.get()
        }

        async fn sleep_until(&self, _: u64) {
            pending().await
        }
    }

    #[test]
    fn a_flood_of_pongs_leaves_others_their_turn() {
        let clock = Ticks(Cell::new(0));
        let mut flood = Flood { first: PONG, then: PONG, sent: 0, clock: &clock };
        let mut buf = [0; 512];
        let mut link = Link::new(&mut flood, &clock, &mut buf);
        let first = block_on(select(link.next(false, pin!(pending::<()>())), yield_now()));
        assert!(matches!(first, Either::Second(())), "the flood was read to its end first");
    }

    #[test]
    fn a_message_of_empty_pieces_does_not_last_beyond_its_time() {
        let clock = Ticks(Cell::new(0));
        let mut flood = Flood { first: FIRST_PIECE, then: NEXT_PIECE, sent: 0, clock: &clock };
        let mut buf = [0; 512];
        let mut link = Link::new(&mut flood, &clock, &mut buf);
        assert_eq!(block_on(link.next(false, pin!(pending::<()>()))), Err(End::TooSlow));
        assert!((MESSAGE_MS..MESSAGE_MS + 10).contains(&clock.now()), "{}", clock.now());
    }
}
