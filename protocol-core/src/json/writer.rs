//! Any `Serialize` as JSON, written to a [`Sink`] as it goes: nothing is buffered, so nothing is too long.
//!
//! The bytes are those of `serde_json::to_string`, but for very large and very small fractions: when those take an
//! exponent differs even between serde_json's versions. A value that refuses to be written, such as a map whose keys
//! are no text, is answered like a full sink.

use core::fmt::{self, Write as _};

use serde::ser::{self, Serialize, SerializeTupleStruct as _, Serializer};

use super::string::plain_end;
use super::{Counter, Full, Sink, Slice, Value};

/// Writes `value` as JSON.
pub fn write<T: Serialize + ?Sized>(value: &T, sink: &mut dyn Sink) -> Result<(), Full> {
    // One sink type for the serializer: a message is compiled once, not once more for counting and for windows.
    let mut room = [0; GATHERED];
    let mut writer = Writer { sink, gathered: Slice::new(&mut room), mode: Mode::Value, in_item: false };
    value.serialize(&mut writer)?;
    writer.flush()
}

/// How many bytes [`write`](fn@write) would put.
pub fn count<T: Serialize + ?Sized>(value: &T) -> usize {
    let mut counter = Counter::default();
    // A counter is never full. A value that refuses to be written counts as far as it got.
    let _ = write(value, &mut counter);
    counter.bytes
}

/// Text that is JSON already, passed through byte for byte. Only our own writer knows it: any other serializer sees a
/// string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a>(pub &'a str);

/// The name by which the writer knows a [`Raw`].
const RAW: &str = "$leaguebox::Raw";

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(RAW, self.0)
    }
}

/// A value is written as it was read, byte for byte.
impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Raw(self.raw()).serialize(serializer)
    }
}

/// An array of whatever the function's iterator yields. A function, because a text may be written more than once.
#[derive(Clone, Copy, Debug)]
pub struct Seq<F>(pub F);

impl<F, I> Serialize for Seq<F>
where
    F: Fn() -> I,
    I: IntoIterator<Item: Serialize>,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// An object of the (name, value) pairs that the function's iterator yields.
#[derive(Clone, Copy, Debug)]
pub struct Map<F>(pub F);

impl<F, I, K, V> Serialize for Map<F>
where
    F: Fn() -> I,
    I: IntoIterator<Item = (K, V)>,
    K: Serialize,
    V: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map((self.0)())
    }
}

/// One object of the members of two: an envelope and what it carries. Either may be `None` or another `Joined`.
///
/// It stands in for `#[serde(flatten)]`, which serde only has where there is an allocator.
#[derive(Clone, Copy, Debug)]
pub struct Joined<A, B>(pub A, pub B);

/// The name by which the writer knows a [`Joined`].
const JOINED: &str = "$leaguebox::Joined";

impl<A: Serialize, B: Serialize> Serialize for Joined<A, B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut parts = serializer.serialize_tuple_struct(JOINED, 2)?;
        parts.serialize_field(&self.0)?;
        parts.serialize_field(&self.1)?;
        parts.end()
    }
}

/// A string of what `T` displays, without a buffer in between.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown<T>(pub T);

impl<T: fmt::Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl ser::Error for Full {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Full
    }
}

/// How many bytes are gathered before they are looked at or passed on.
const GATHERED: usize = 128;

struct Writer<'s> {
    sink: &'s mut dyn Sink,
    /// Small pieces on their way to the sink, most of a text being quotes, colons and short words. Always ends between
    /// two characters.
    gathered: Slice<'s>,
    mode: Mode,
    /// Within an item of an array: those of arrays in it are not offered to the sink.
    in_item: bool,
}

/// What is due next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Value,
    /// A member's name: always quoted, and never an array, object or null.
    Name,
    /// A string that is JSON already.
    Raw,
    /// An object whose members go into the one that is open.
    Members {
        /// No member was written into it yet.
        first: bool,
    },
}

impl Writer<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        match self.gathered.put(bytes) {
            Ok(()) => Ok(()),
            Err(Full) => self.put_through(bytes),
        }
    }

    #[cold]
    fn put_through(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.flush()?;
        if bytes.len() > GATHERED { self.sink.put(bytes) } else { self.gathered.put(bytes) }
    }

    fn flush(&mut self) -> Result<(), Full> {
        self.sink.put(self.gathered.written())?;
        self.gathered.clear();
        Ok(())
    }

    /// A quoted string, escaped.
    fn string(&mut self, text: &str) -> Result<(), Full> {
        self.quote()?;
        self.escaped(text.as_bytes())?;
        self.put(b"\"")
    }

    /// The quote that opens a string; refused where members are due.
    fn quote(&mut self) -> Result<(), Full> {
        if matches!(self.mode, Mode::Members { .. }) { Err(Full) } else { self.put(b"\"") }
    }

    fn escaped(&mut self, text: &[u8]) -> Result<(), Full> {
        if plain_end(text, 0) == text.len() { self.put(text) } else { self.with_escapes(text) }
    }

    // Rare, and large: inside `escaped` it would slow down every string that needs none.
    #[cold]
    #[inline(never)]
    fn with_escapes(&mut self, mut rest: &[u8]) -> Result<(), Full> {
        loop {
            let (plain, special) = rest.split_at_checked(plain_end(rest, 0)).unwrap_or_default();
            self.put(plain)?;
            let Some((&byte, after)) = special.split_first() else { return Ok(()) };
            match byte {
                b'"' => self.put(b"\\\"")?,
                b'\\' => self.put(b"\\\\")?,
                0x08 => self.put(b"\\b")?,
                0x0c => self.put(b"\\f")?,
                b'\n' => self.put(b"\\n")?,
                b'\r' => self.put(b"\\r")?,
                b'\t' => self.put(b"\\t")?,
                _ => {
                    let hex = |digit: u8| if digit < 10 { b'0' | digit } else { digit.saturating_add(b'a' - 10) };
                    self.put(&[b'\\', b'u', b'0', b'0', hex(byte >> 4), hex(byte & 0xf)])?;
                }
            }
            rest = after;
        }
    }

    /// Text that needs no escapes: a number or a literal. As a name it goes between quotes.
    fn bare(&mut self, text: &[u8]) -> Result<(), Full> {
        if self.mode == Mode::Value {
            return self.put(text);
        }
        self.quote()?;
        self.put(text)?;
        self.put(b"\"")
    }

    fn integer(&mut self, negative: bool, mut magnitude: u64) -> Result<(), Full> {
        // 20 digits are enough for u64::MAX; with a sign, i64::MIN has 19.
        let mut text = [0; 20];
        let mut start = text.len();
        for (at, place) in text.iter_mut().enumerate().rev() {
            // A remainder of ten fits a byte, and the low half of one.
            *place = b'0' | (magnitude % 10) as u8;
            start = at;
            magnitude /= 10;
            if magnitude == 0 {
                break;
            }
        }
        if negative
            && let Some(at) = start.checked_sub(1)
            && let Some(place) = text.get_mut(at)
        {
            *place = b'-';
            start = at;
        }
        self.bare(text.get(start..).unwrap_or_default())
    }

    /// Numbers too rare to deserve a formatter of their own.
    fn formatted(&mut self, number: fmt::Arguments<'_>) -> Result<(), Full> {
        // The longest is i128::MIN.
        let mut text = heapless::String::<40>::new();
        text.write_fmt(number).map_err(|_| Full)?;
        self.bare(text.as_bytes())
    }

    /// An opening bracket, or `null`; refused where a name or members are due.
    fn open(&mut self, bracket: &[u8]) -> Result<(), Full> {
        if self.mode == Mode::Value { self.put(bracket) } else { Err(Full) }
    }

    /// `{"name":`, which starts a variant that carries something.
    fn open_variant(&mut self, name: &str) -> Result<(), Full> {
        self.open(b"{")?;
        self.string(name)?;
        self.put(b":")
    }
}

/// Lets `Display` write into a string that is already open. It does so in pieces of a character or two: they are
/// gathered, to be searched for what needs an escape together.
struct Pieces<'w, 's> {
    writer: &'w mut Writer<'s>,
    gathered: Slice<'w>,
}

impl Pieces<'_, '_> {
    fn flush(&mut self) -> Result<(), Full> {
        self.writer.escaped(self.gathered.written())?;
        self.gathered.clear();
        Ok(())
    }
}

impl fmt::Write for Pieces<'_, '_> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.gathered.put(text.as_bytes()).is_ok() {
            return Ok(());
        }
        self.flush().and_then(|()| self.writer.escaped(text.as_bytes())).map_err(|_| fmt::Error)
    }

    /// Most often a zero before a number.
    #[inline]
    fn write_char(&mut self, c: char) -> fmt::Result {
        if c.is_ascii() && self.gathered.put(&[c as u8]).is_ok() {
            return Ok(());
        }
        self.write_str(c.encode_utf8(&mut [0; 4]))
    }
}

impl<'w, 's> Serializer for &'w mut Writer<'s> {
    type Ok = ();
    type Error = Full;
    type SerializeSeq = Compound<'w, 's>;
    type SerializeTuple = Compound<'w, 's>;
    type SerializeTupleStruct = Compound<'w, 's>;
    type SerializeTupleVariant = Compound<'w, 's>;
    type SerializeMap = Compound<'w, 's>;
    type SerializeStruct = Compound<'w, 's>;
    type SerializeStructVariant = Compound<'w, 's>;

    fn serialize_bool(self, value: bool) -> Result<(), Full> {
        self.bare(if value { b"true" } else { b"false" })
    }

    fn serialize_i8(self, value: i8) -> Result<(), Full> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), Full> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), Full> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), Full> {
        self.integer(value < 0, value.unsigned_abs())
    }

    fn serialize_i128(self, value: i128) -> Result<(), Full> {
        self.formatted(format_args!("{value}"))
    }

    fn serialize_u8(self, value: u8) -> Result<(), Full> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), Full> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), Full> {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), Full> {
        self.integer(false, value)
    }

    fn serialize_u128(self, value: u128) -> Result<(), Full> {
        self.formatted(format_args!("{value}"))
    }

    fn serialize_f32(self, value: f32) -> Result<(), Full> {
        if value.is_finite() { self.formatted(format_args!("{value:?}")) } else { self.serialize_unit() }
    }

    fn serialize_f64(self, value: f64) -> Result<(), Full> {
        if value.is_finite() { self.formatted(format_args!("{value:?}")) } else { self.serialize_unit() }
    }

    fn serialize_char(self, value: char) -> Result<(), Full> {
        self.string(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Full> {
        if self.mode == Mode::Raw { self.put(value.as_bytes()) } else { self.string(value) }
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Full> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Full> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Full> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Full> {
        // Nothing has no members.
        if matches!(self.mode, Mode::Members { .. }) { Ok(()) } else { self.open(b"null") }
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Full> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Full> {
        self.string(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<(), Full> {
        if name != RAW {
            return value.serialize(self);
        }
        self.open(b"")?;
        self.mode = Mode::Raw;
        let done = value.serialize(&mut *self);
        self.mode = Mode::Value;
        done
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Full> {
        self.open_variant(variant)?;
        value.serialize(&mut *self)?;
        self.put(b"}")
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'w, 's>, Full> {
        self.open(b"[")?;
        Ok(Compound { writer: self, first: true, close: b"]" })
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'w, 's>, Full> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, name: &'static str, _: usize) -> Result<Compound<'w, 's>, Full> {
        if name == JOINED { self.serialize_map(None) } else { self.serialize_seq(None) }
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'w, 's>, Full> {
        self.open_variant(variant)?;
        self.open(b"[")?;
        Ok(Compound { writer: self, first: true, close: b"]}" })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'w, 's>, Full> {
        if let Mode::Members { first } = self.mode {
            self.mode = Mode::Value;
            return Ok(Compound { writer: self, first, close: b"" });
        }
        self.open(b"{")?;
        Ok(Compound { writer: self, first: true, close: b"}" })
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Compound<'w, 's>, Full> {
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'w, 's>, Full> {
        self.open_variant(variant)?;
        self.open(b"{")?;
        Ok(Compound { writer: self, first: true, close: b"}}" })
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), Full> {
        self.quote()?;
        let mut room = [0; GATHERED / 2];
        let mut pieces = Pieces { writer: &mut *self, gathered: Slice::new(&mut room) };
        write!(pieces, "{value}").map_err(|_| Full)?;
        pieces.flush()?;
        self.put(b"\"")
    }
}

/// An array or object that is open.
struct Compound<'w, 's> {
    writer: &'w mut Writer<'s>,
    first: bool,
    close: &'static [u8],
}

impl Compound<'_, '_> {
    fn comma(&mut self) -> Result<(), Full> {
        if core::mem::take(&mut self.first) { Ok(()) } else { self.writer.put(b",") }
    }

    /// A member whose name is known to be text. Says the same as `name` and `value`, in fewer pieces.
    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Full> {
        self.comma()?;
        self.writer.put(b"\"")?;
        self.writer.escaped(name.as_bytes())?;
        self.writer.put(b"\":")?;
        value.serialize(&mut *self.writer)
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Full> {
        self.comma()?;
        value.serialize(&mut *self.writer)
    }

    /// The item of an array whose length nobody knows: the sink may have it already.
    fn offer<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Full> {
        if self.writer.in_item {
            return self.item(value);
        }
        self.writer.flush()?;
        if self.writer.sink.has_item() {
            self.first = false;
            return Ok(());
        }
        self.writer.in_item = true;
        let done = self.item(value);
        self.writer.in_item = false;
        done
    }

    fn name<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), Full> {
        self.comma()?;
        self.writer.mode = Mode::Name;
        let done = name.serialize(&mut *self.writer);
        self.writer.mode = Mode::Value;
        done
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Full> {
        self.writer.put(b":")?;
        value.serialize(&mut *self.writer)
    }

    /// The members of `value`, if this is a [`Joined`]; otherwise one more item.
    fn part<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Full> {
        if self.close == b"]" {
            return self.item(value);
        }
        self.writer.mode = Mode::Members { first: self.first };
        let done = value.serialize(&mut *self.writer);
        if let Mode::Members { first } = core::mem::replace(&mut self.writer.mode, Mode::Value) {
            self.first = first;
        }
        done
    }

    fn close(self) -> Result<(), Full> {
        // The object these members went into goes on, and must know whether a comma is due.
        if self.close.is_empty() {
            self.writer.mode = Mode::Members { first: self.first };
        }
        self.writer.put(self.close)
    }
}

impl ser::SerializeSeq for Compound<'_, '_> {
    type Ok = ();
    type Error = Full;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Full> {
        self.offer(value)
    }

    fn end(self) -> Result<(), Full> {
        self.close()
    }
}

impl ser::SerializeTuple for Compound<'_, '_> {
    type Ok = ();
    type Error = Full;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Full> {
        self.item(value)
    }

    fn end(self) -> Result<(), Full> {
        self.close()
    }
}

impl ser::SerializeTupleStruct for Compound<'_, '_> {
    type Ok = ();
    type Error = Full;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Full> {
        self.part(value)
    }

    fn end(self) -> Result<(), Full> {
        self.close()
    }
}

impl ser::SerializeTupleVariant for Compound<'_, '_> {
    type Ok = ();
    type Error = Full;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Full> {
        self.item(value)
    }

    fn end(self) -> Result<(), Full> {
        self.close()
    }
}

impl ser::SerializeMap for Compound<'_, '_> {
    type Ok = ();
    type Error = Full;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Full> {
        self.name(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Full> {
        self.value(value)
    }

    fn end(self) -> Result<(), Full> {
        self.close()
    }
}

impl ser::SerializeStruct for Compound<'_, '_> {
    type Ok = ();
    type Error = Full;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Full> {
        self.field(key, value)
    }

    fn end(self) -> Result<(), Full> {
        self.close()
    }
}

impl ser::SerializeStructVariant for Compound<'_, '_> {
    type Ok = ();
    type Error = Full;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Full> {
        self.field(key, value)
    }

    fn end(self) -> Result<(), Full> {
        self.close()
    }
}
