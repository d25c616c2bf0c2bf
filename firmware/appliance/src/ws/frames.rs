//! Reading frames: from bytes as they come to whole messages, pings and closes. No I/O here: [`Reader::room`] says where
//! the next bytes belong, and [`Reader::took`] what became of them. So nothing is lost when whoever reads is interrupted,
//! and nothing behind a frame is ever read before its turn: between two frames a connection can change hands.
//!
//! `edge-ws` knows the layout of a header. It does not look at the last bit of a control frame, at needlessly long lengths
//! or at masks, so these are checked before it is asked.

use core::fmt;

use edge_ws::{FrameHeader, FrameType};

/// The longest header a client sends, mask included.
const HEADER: usize = FrameHeader::MAX_LEN;
/// The longest payload of a control frame.
pub(super) const CONTROL: usize = 125;
/// The header of every control frame that we send.
const CONTROL_HEADER: usize = 2;
/// What a buffer keeps free behind the longest message: a header, and a control frame that may come within a message.
pub const SPARE: usize = HEADER + CONTROL;
/// A length with this bit is no length.
const TOP_BIT: u64 = 1 << 63;

/// A rule that a peer broke, and the close code that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breach {
    /// A frame of a client that is not masked.
    Unmasked,
    /// A reserved bit is set: no extension was agreed on.
    ReservedBits,
    /// Opcodes 3 to 7 and 11 to 15.
    Opcode,
    /// A length that has a shorter form, or one of 64 bits whose top bit is set.
    Length,
    /// A control frame that is not the last one of its message.
    FragmentedControl,
    /// A control frame of more than 125 bytes.
    LongControl,
    /// A continuation of nothing.
    NothingToContinue,
    /// A new message within another one.
    Interleaved,
    /// A close frame of one byte.
    CloseForm,
    /// A close code nobody may send.
    CloseCode,
    /// A binary message.
    Binary,
    /// Text that is not UTF-8.
    NotUtf8,
    /// A message that does not fit.
    TooLong,
}

impl Breach {
    /// The close code.
    pub fn code(self) -> u16 {
        match self {
            Self::Binary => 1003,
            Self::NotUtf8 => 1007,
            Self::TooLong => 1009,
            _ => 1002,
        }
    }

    /// The rule in words.
    pub fn rule(self) -> &'static str {
        match self {
            Self::Unmasked => "a client must mask its frames",
            Self::ReservedBits => "reserved bits must be zero",
            Self::Opcode => "the opcode is reserved",
            Self::Length => "a length must have its shortest form and be less than 2^63",
            Self::FragmentedControl => "a control frame must not be fragmented",
            Self::LongControl => "a control frame must not be longer than 125 bytes",
            Self::NothingToContinue => "there is no message to continue",
            Self::Interleaved => "a message must end before the next one begins",
            Self::CloseForm => "a close frame is empty or begins with a code of two bytes",
            Self::CloseCode => "the close code is reserved",
            Self::Binary => "messages must be text",
            Self::NotUtf8 => "text must be UTF-8",
            Self::TooLong => "the message is too long",
        }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule())
    }
}

impl core::error::Error for Breach {}

/// What has come, whole. Where it stands in the buffer it stays until more is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// A text message: this many bytes at the front of the buffer.
    Message(usize),
    /// A message does not fit the buffer. Go on with one that [takes it](Reader::fits_in), in which the first so many bytes are
    /// the same, or give up.
    Long(usize),
    /// A ping. [`Reader::pong`] has the answer.
    Ping(u8),
    /// A pong.
    Pong,
    /// The peer wants to close, and says why.
    Close(Option<u16>),
}

/// What is being read.
#[derive(Clone, Copy, Debug)]
enum State {
    /// A header, of which this much is there.
    Header(u8),
    /// The payload of a text message's frame. Is it the last one?
    Text(Payload, bool),
    /// The payload of a control frame.
    Control(Payload, Control),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Control {
    Ping,
    Pong,
    Close,
}

/// Where in a payload we are.
#[derive(Clone, Copy, Debug)]
struct Payload {
    length: usize,
    read: usize,
    mask: u32,
}

impl Payload {
    /// The next `n` bytes have come.
    fn unmask(&mut self, bytes: &mut [u8], n: usize) {
        FrameHeader::mask_with(bytes, Some(self.mask), self.read);
        self.read = self.read.saturating_add(n);
    }
}

/// Reads the frames of a client, in a buffer that is always the same. Costs eight words.
#[derive(Debug)]
pub struct Reader {
    state: State,
    /// Bytes of the message so far, at the front of the buffer.
    filled: usize,
    /// How many of these are known to be UTF-8.
    valid: usize,
    /// Whether a message has begun and not ended.
    in_message: bool,
}

/// The longest message that a buffer of this size takes.
pub fn limit(buf: &[u8]) -> usize {
    buf.len().saturating_sub(SPARE)
}

/// What stands behind the longest message: a header, and the payload of a control frame.
fn behind(buf: &mut [u8]) -> (&mut [u8], &mut [u8]) {
    let spare = buf.get_mut(limit(buf)..).unwrap_or_default();
    spare.split_at_mut_checked(HEADER.min(spare.len())).unwrap_or_default()
}

impl Reader {
    /// Nothing has been read.
    pub const fn new() -> Self {
        Self { state: State::Header(0), filled: 0, valid: 0, in_message: false }
    }

    /// Whether nothing has begun that is not complete. Only then may the buffer be used for something else.
    pub fn is_between_messages(&self) -> bool {
        matches!(self.state, State::Header(0)) && !self.in_message
    }

    /// Whether a buffer of this size takes what the present frame brings.
    pub fn fits_in(&self, size: usize) -> bool {
        match self.state {
            State::Text(Payload { length, read, .. }, _) => {
                length.saturating_sub(read) <= size.saturating_sub(SPARE).saturating_sub(self.filled)
            }
            State::Header(_) | State::Control(..) => true,
        }
    }

    /// Whether the header of a frame is all that is there of it.
    pub fn has_only_a_header(&self) -> bool {
        matches!(self.state, State::Text(Payload { read: 0, .. }, _) | State::Control(Payload { read: 0, .. }, _))
    }

    /// Where the next bytes belong: never more than the present frame has, and never nothing.
    pub fn room<'b>(&self, buf: &'b mut [u8]) -> &'b mut [u8] {
        let room = match self.state {
            State::Header(read) => {
                let (header, _) = behind(buf);
                let length = header_length(header, read);
                header.get_mut(read.into()..length)
            }
            State::Text(Payload { length, read, .. }, _) => {
                buf.get_mut(self.filled..self.filled.saturating_add(length.saturating_sub(read)))
            }
            State::Control(Payload { length, read, .. }, _) => behind(buf).1.get_mut(read..length),
        };
        room.unwrap_or_default()
    }

    /// The first `n` bytes of the [`room`](Self::room) are there now.
    pub fn took(&mut self, n: usize, buf: &mut [u8]) -> Result<Option<Came>, Breach> {
        match &mut self.state {
            State::Header(read) => {
                *read = read.saturating_add(u8::try_from(n).unwrap_or(u8::MAX));
                let read = *read;
                let (header, _) = behind(buf);
                if !self.check(header, read)? {
                    return Ok(None);
                }
                self.begin(header)?;
                if !self.fits_in(buf.len()) {
                    return Ok(Some(Came::Long(self.filled)));
                }
            }
            State::Text(payload, _) => {
                let bytes = buf.get_mut(self.filled..).and_then(|bytes| bytes.get_mut(..n)).unwrap_or_default();
                payload.unmask(bytes, n);
                self.filled = self.filled.saturating_add(n);
            }
            State::Control(payload, _) => {
                let bytes = behind(buf).1.get_mut(payload.read..).and_then(|bytes| bytes.get_mut(..n));
                payload.unmask(bytes.unwrap_or_default(), n);
            }
        }
        let came = match self.state {
            State::Header(_) => None,
            State::Text(payload, is_last) => {
                let is_last = is_last && payload.read == payload.length;
                self.check_text(buf, is_last)?;
                if payload.read < payload.length {
                    return Ok(None);
                }
                self.in_message = !is_last;
                is_last.then(|| {
                    self.valid = 0;
                    Came::Message(core::mem::take(&mut self.filled))
                })
            }
            State::Control(Payload { length, read, .. }, _) if read < length => return Ok(None),
            State::Control(Payload { length, .. }, control) => Some(match control {
                Control::Ping => Came::Ping(u8::try_from(length).map_err(|_| Breach::LongControl)?),
                Control::Pong => Came::Pong,
                Control::Close => Came::Close(close_code(behind(buf).1.get(..length).unwrap_or_default())?),
            }),
        };
        self.state = State::Header(0);
        Ok(came)
    }

    /// The answer to a ping that has just come, in place: header and payload.
    pub fn pong<'b>(&self, length: u8, buf: &'b mut [u8]) -> &'b [u8] {
        let spare = buf.get_mut(limit(buf)..).unwrap_or_default();
        let pong = spare.get_mut(HEADER - CONTROL_HEADER..).unwrap_or_default();
        if let [first, second, ..] = pong {
            (*first, *second) = (0x8A, length);
        }
        pong.get(..CONTROL_HEADER.saturating_add(length.into())).unwrap_or_default()
    }

    /// Checks as much of a header as is there: who breaks a rule need not be waited for. True if it is all there.
    fn check(&self, header: &[u8], read: u8) -> Result<bool, Breach> {
        let &[first, second, ..] = header else { return Err(Breach::TooLong) };
        if read == 0 {
            return Ok(false);
        }
        let is_control = first & 8 != 0;
        match first & 15 {
            _ if first & 0x70 != 0 => return Err(Breach::ReservedBits),
            3..=7 | 11.. => return Err(Breach::Opcode),
            _ if is_control && first & 0x80 == 0 => return Err(Breach::FragmentedControl),
            0 if !self.in_message => return Err(Breach::NothingToContinue),
            1 | 2 if self.in_message => return Err(Breach::Interleaved),
            2 => return Err(Breach::Binary),
            _ => {}
        }
        if read == 1 {
            return Ok(false);
        }
        if second & 0x80 == 0 {
            return Err(Breach::Unmasked);
        }
        if is_control && usize::from(second & 0x7F) > CONTROL {
            return Err(Breach::LongControl);
        }
        Ok(usize::from(read) >= header_length(header, read))
    }

    /// A header is complete: its payload begins.
    fn begin(&mut self, header: &[u8]) -> Result<(), Breach> {
        let (parsed, size) = FrameHeader::deserialize(header).map_err(|_| Breach::Opcode)?;
        if parsed.serialized_len() != size || parsed.payload_len & TOP_BIT != 0 {
            return Err(Breach::Length);
        }
        let mask = parsed.mask_key.ok_or(Breach::Unmasked)?;
        let length = usize::try_from(parsed.payload_len).map_err(|_| Breach::TooLong)?;
        let payload = Payload { length, read: 0, mask };
        self.state = match parsed.frame_type {
            FrameType::Ping => State::Control(payload, Control::Ping),
            FrameType::Pong => State::Control(payload, Control::Pong),
            FrameType::Close => State::Control(payload, Control::Close),
            FrameType::Text(_) | FrameType::Continue(_) | FrameType::Binary(_) => {
                self.in_message = true;
                State::Text(payload, parsed.frame_type.is_final())
            }
        };
        Ok(())
    }

    /// Looks for the first byte that cannot be UTF-8. A character may still lack its end, but not at that of the message.
    fn check_text(&mut self, buf: &[u8], is_last: bool) -> Result<(), Breach> {
        match str::from_utf8(buf.get(self.valid..self.filled).unwrap_or_default()) {
            Ok(_) => self.valid = self.filled,
            Err(error) if error.error_len().is_none() && !is_last => {
                self.valid = self.valid.saturating_add(error.valid_up_to());
            }
            Err(_) => return Err(Breach::NotUtf8),
        }
        Ok(())
    }
}

impl Default for Reader {
    fn default() -> Self {
        Self::new()
    }
}

/// How long a header is, as far as what is there says. A client's is six bytes or more.
fn header_length(header: &[u8], read: u8) -> usize {
    match header.get(1) {
        Some(second) if read >= 2 => match second & 0x7F {
            126 => 8,
            127 => 14,
            _ => 6,
        },
        _ => 6,
    }
}

/// The code in the payload of a close frame.
fn close_code(payload: &[u8]) -> Result<Option<u16>, Breach> {
    let (code, reason) = match payload {
        [] => return Ok(None),
        [_] => return Err(Breach::CloseForm),
        [high, low, reason @ ..] => (u16::from_be_bytes([*high, *low]), reason),
    };
    // The others are for use within a computer, or nobody has given them a meaning.
    if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
        return Err(Breach::CloseCode);
    }
    str::from_utf8(reason).map_err(|_| Breach::NotUtf8)?;
    Ok(Some(code))
}
