//! The frame reader against the cases of RFC 6455, those that the Autobahn suite is known for among them. Every case is
//! read whole, byte by byte, and cut at random: the result must be the same.

use appliance::ws::{Breach, Came, Reader, SPARE, limit};
use proptest::prelude::*;

const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CONTINUE: u8 = 0;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;
const LAST: u8 = 0x80;
const MASK: [u8; 4] = [0x37, 0xFA, 0x21, 0x3D];

/// What a reader saw, with its bytes.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Message(Vec<u8>),
    /// And the answer.
    Ping(Vec<u8>),
    Pong,
    Close(Option<u16>),
    Breach(Breach),
}

use Seen::{Close, Message, Ping, Pong};

fn header(first: u8, length: usize) -> Vec<u8> {
    let mut bytes = vec![first];
    match length {
        0..126 => bytes.push(0x80 | length as u8),
        126..65536 => {
            bytes.push(0x80 | 126);
            bytes.extend((length as u16).to_be_bytes());
        }
        _ => {
            bytes.push(0x80 | 127);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    bytes.extend(MASK);
    bytes
}

/// A masked frame.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = header(first, payload.len());
    bytes.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}

fn text(payload: impl AsRef<[u8]>) -> Vec<u8> {
    frame(LAST | TEXT, payload.as_ref())
}

fn close(code: u16, reason: impl AsRef<[u8]>) -> Vec<u8> {
    frame(LAST | CLOSE, &[&code.to_be_bytes(), reason.as_ref()].concat())
}

/// Reads `bytes` in pieces of at most `cut(n)`, up to the first breach. Says what it saw, and how many bytes it took.
fn read_cut(bytes: &[u8], buf: &mut [u8], mut cut: impl FnMut(usize) -> usize) -> (Vec<Seen>, usize) {
    let (mut reader, mut seen, mut at) = (Reader::new(), Vec::new(), 0);
    while at < bytes.len() {
        let room = reader.room(buf);
        assert!(!room.is_empty(), "there is always something to read next");
        let n = cut(room.len().min(bytes.len() - at));
        room[..n].copy_from_slice(&bytes[at..at + n]);
        at += n;
        match reader.took(n, buf) {
            Ok(None) => {}
            Ok(Some(Came::Message(length))) => seen.push(Message(buf[..length].to_vec())),
            Ok(Some(Came::Ping(length))) => seen.push(Ping(reader.pong(length, buf).to_vec())),
            Ok(Some(Came::Pong)) => seen.push(Pong),
            Ok(Some(Came::Long(_))) => {
                seen.push(Seen::Breach(Breach::TooLong));
                break;
            }
            Ok(Some(Came::Close(code))) => seen.push(Close(code)),
            Err(breach) => {
                seen.push(Seen::Breach(breach));
                break;
            }
        }
    }
    (seen, at)
}

fn read(bytes: &[u8]) -> Vec<Seen> {
    let mut buf = [0; 1024];
    let whole = read_cut(bytes, &mut buf, |n| n);
    let one_by_one = read_cut(bytes, &mut [0; 1024], |_| 1);
    assert_eq!(whole.0, one_by_one.0, "where the bytes are cut does not matter");
    whole.0
}

/// What a breach closes with.
fn breach(bytes: &[u8]) -> (Breach, u16) {
    match read(bytes).pop() {
        Some(Seen::Breach(breach)) => (breach, breach.code()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_text_message_of_every_form_of_length_arrives() {
    for length in [0, 1, 125, 126, 127, 128, 255, 256, 885] {
        let payload = vec![b'*'; length];
        assert_eq!(read(&text(&payload)), [Message(payload)], "{length}");
    }
    let payload = vec![b'*'; 70_000];
    let (seen, _) = read_cut(&text(&payload), &mut vec![0; 80_000], |n| n.min(997));
    assert_eq!(seen, [Message(payload)]);
}

#[test]
fn several_messages_in_one_segment_arrive_one_by_one() {
    let bytes = [text("one"), text(""), text("three")].concat();
    assert_eq!(read(&bytes), [Message(b"one".into()), Message(b"".into()), Message(b"three".into())]);
}

#[test]
fn nothing_behind_a_frame_is_read_before_its_turn() {
    let (first, both) = (text("first"), [text("first"), text("second")].concat());
    let (mut reader, mut buf, mut at) = (Reader::new(), [0; 256], 0);
    loop {
        let room = reader.room(&mut buf);
        let n = room.len();
        room.copy_from_slice(&both[at..at + n]);
        at += n;
        if reader.took(n, &mut buf).unwrap().is_some() {
            break;
        }
    }
    assert_eq!(at, first.len());
    assert!(reader.is_between_messages());
}

#[test]
fn a_fragmented_message_is_put_together() {
    let bytes = [frame(TEXT, b"frag"), frame(CONTINUE, b""), frame(CONTINUE, b"men"), frame(LAST, b"t")].concat();
    assert_eq!(read(&bytes), [Message(b"fragment".into())]);
    assert_eq!(read(&[frame(TEXT, b""), frame(LAST, b"")].concat()), [Message(b"".into())]);
}

#[test]
fn control_frames_between_fragments_are_seen_at_once() {
    let bytes = [
        frame(TEXT, b"frag"),
        frame(LAST | PING, b"are you there"),
        frame(CONTINUE, b"men"),
        frame(LAST | PONG, b"unasked"),
        frame(LAST, b"t"),
    ]
    .concat();
    let pong = [&[LAST | PONG, 13], &b"are you there"[..]].concat();
    assert_eq!(read(&bytes), [Ping(pong), Pong, Message(b"fragment".into())]);
}

#[test]
fn a_ping_of_125_bytes_behind_the_longest_message_is_answered_and_spoils_nothing() {
    let (mut buf, longest) = ([0; 1024], 1024 - SPARE);
    assert_eq!(limit(&buf), longest);
    let payload = vec![b'x'; longest];
    let bytes = [frame(TEXT, &payload), frame(LAST | PING, &[7; 125]), frame(LAST, b"")].concat();
    let (seen, _) = read_cut(&bytes, &mut buf, |n| n);
    let pong = [&[LAST | PONG, 125][..], &[7; 125]].concat();
    assert_eq!(seen, [Ping(pong), Message(payload)]);
}

#[test]
fn a_control_frame_of_more_than_125_bytes_is_1002() {
    for opcode in [PING, PONG, CLOSE] {
        assert_eq!(breach(&frame(LAST | opcode, &[0; 126])), (Breach::LongControl, 1002));
    }
    assert_eq!(read(&frame(LAST | PING, &[0; 125])).len(), 1);
}

#[test]
fn a_fragmented_control_frame_is_1002() {
    for opcode in [PING, PONG, CLOSE] {
        assert_eq!(breach(&frame(opcode, b"")), (Breach::FragmentedControl, 1002));
    }
}

#[test]
fn an_unmasked_frame_is_1002_before_its_payload_comes() {
    assert_eq!(breach(&[LAST | TEXT, 5]), (Breach::Unmasked, 1002));
    assert_eq!(breach(&[LAST | PING, 0]), (Breach::Unmasked, 1002));
}

#[test]
fn reserved_bits_are_1002_at_the_first_byte() {
    for bits in [0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70] {
        for opcode in [TEXT, PING, CLOSE] {
            assert_eq!(breach(&[LAST | bits | opcode]), (Breach::ReservedBits, 1002));
        }
    }
}

#[test]
fn reserved_opcodes_are_1002_at_the_first_byte() {
    for opcode in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] {
        assert_eq!(breach(&[LAST | opcode]), (Breach::Opcode, 1002));
    }
}

#[test]
fn a_continuation_of_nothing_is_1002() {
    assert_eq!(breach(&frame(LAST, b"x")), (Breach::NothingToContinue, 1002));
    assert_eq!(breach(&frame(CONTINUE, b"x")), (Breach::NothingToContinue, 1002));
    assert_eq!(breach(&[text("x"), frame(LAST, b"x")].concat()), (Breach::NothingToContinue, 1002));
}

#[test]
fn a_message_within_a_message_is_1002() {
    for opcode in [TEXT, BINARY] {
        assert_eq!(breach(&[frame(TEXT, b"x"), frame(LAST | opcode, b"y")].concat()), (Breach::Interleaved, 1002));
    }
}

#[test]
fn a_binary_message_is_1003() {
    assert_eq!(breach(&frame(LAST | BINARY, b"x")), (Breach::Binary, 1003));
}

#[test]
fn a_length_of_64_bits_with_the_top_bit_is_1002() {
    let mut bytes = vec![LAST | TEXT, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 1];
    bytes.extend(MASK);
    assert_eq!(breach(&bytes), (Breach::Length, 1002));
}

#[test]
fn a_length_in_a_needlessly_long_form_is_1002() {
    let short_as_16 = [&[LAST | TEXT, 0x80 | 126, 0, 125][..], &MASK].concat();
    let middle_as_64 = [&[LAST | TEXT, 0x80 | 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF][..], &MASK].concat();
    for bytes in [short_as_16, middle_as_64] {
        assert_eq!(breach(&bytes), (Breach::Length, 1002));
    }
}

#[test]
fn a_message_over_the_limit_is_1009_at_its_header() {
    let longest = 1024 - SPARE;
    assert_eq!(read(&text(vec![b'x'; longest])), [Message(vec![b'x'; longest])]);
    for length in [longest + 1, 65_535, 65_536, u32::MAX as usize, i64::MAX as usize] {
        assert_eq!(breach(&header(LAST | TEXT, length)), (Breach::TooLong, 1009), "{length}");
    }
    let fragments = [frame(TEXT, &vec![b'x'; longest]), header(LAST, 1)].concat();
    assert_eq!(breach(&fragments), (Breach::TooLong, 1009));
}

#[test]
fn text_of_every_plane_arrives_however_its_characters_are_cut() {
    let words = "Hello-µ@ßöäüàá-UTF-8!! κόσμε 𐀀 🎲 \u{10FFFF} \u{7FF} \u{FFFF}";
    for at in 0..=words.len() {
        let (left, right) = words.as_bytes().split_at(at);
        assert_eq!(read(&[frame(TEXT, left), frame(LAST, right)].concat()), [Message(words.into())]);
    }
    let all: Vec<u8> = words
        .bytes()
        .enumerate()
        .flat_map(|(at, byte)| frame(if at == 0 { TEXT } else { CONTINUE }, &[byte]))
        .collect();
    assert_eq!(read(&[all, frame(LAST, b"")].concat()), [Message(words.into())]);
}

#[test]
fn text_that_is_not_utf8_is_1007() {
    let bad: &[&[u8]] = &[
        b"\x80",
        b"\xBF",
        b"\xC0\xAF",
        b"\xC1\xBF",
        b"\xE0\x80\xAF",
        b"\xED\xA0\x80",
        b"\xED\xBF\xBF",
        b"\xF0\x80\x80\xAF",
        b"\xF4\x90\x80\x80",
        b"\xF8\x88\x80\x80\x80",
        b"\xFE",
        b"\xFF",
        b"\xCE\xBA\xE1\xBD\xB9\xCF\x83\xCE\xBC\xCE\xB5\xED\xA0\x80edited",
        // Characters without their end.
        b"\xCE",
        b"\xE1\xBD",
        b"\xF0\x9F\x8E",
    ];
    for bytes in bad {
        assert_eq!(breach(&text(bytes)), (Breach::NotUtf8, 1007), "{bytes:x?}");
        let (left, right) = bytes.split_at(bytes.len() / 2);
        let cut = [frame(TEXT, left), frame(LAST | PING, b""), frame(LAST, right)].concat();
        assert_eq!(breach(&cut), (Breach::NotUtf8, 1007), "{bytes:x?} in two frames");
    }
}

#[test]
fn text_that_cannot_become_utf8_is_1007_before_it_is_complete() {
    let bytes = text(b"\xCE\xBA\xE1\xBD\xB9\xF4\x90\x80\x80 and a lot more that need not be waited for");
    let (seen, taken) = read_cut(&bytes, &mut [0; 1024], |_| 1);
    assert_eq!(seen, [Seen::Breach(Breach::NotUtf8)]);
    assert_eq!(taken, 6 + 7, "at the byte that cannot follow");
    let fragments = [frame(TEXT, b"\xF4"), frame(CONTINUE, b"\x90"), frame(LAST, b"\x80\x80")].concat();
    let (_, taken) = read_cut(&fragments, &mut [0; 1024], |n| n);
    assert_eq!(taken, 7 + 7);
}

#[test]
fn a_close_frame_may_be_empty_or_have_a_code_and_a_reason() {
    assert_eq!(read(&frame(LAST | CLOSE, b"")), [Close(None)]);
    assert_eq!(read(&close(1000, "")), [Close(Some(1000))]);
    assert_eq!(read(&close(4001, "Bye 🎲")), [Close(Some(4001))]);
    assert_eq!(read(&close(1000, [b'x'; 123])), [Close(Some(1000))]);
}

#[test]
fn valid_close_codes_are_taken() {
    for code in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999] {
        assert_eq!(read(&close(code, "why")), [Close(Some(code))]);
    }
}

#[test]
fn invalid_close_codes_are_1002() {
    for code in [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] {
        assert_eq!(breach(&close(code, "")), (Breach::CloseCode, 1002), "{code}");
    }
}

#[test]
fn a_close_frame_of_one_byte_is_1002() {
    assert_eq!(breach(&frame(LAST | CLOSE, b"x")), (Breach::CloseForm, 1002));
}

#[test]
fn a_close_reason_that_is_not_utf8_is_1007() {
    assert_eq!(breach(&close(1000, b"\xCE\xBA\xE1\xBD\xB9\xED\xA0\x80")), (Breach::NotUtf8, 1007));
}

#[test]
fn a_buffer_that_holds_no_message_still_takes_control_frames() {
    let mut buf = [0; SPARE];
    let bytes = [frame(LAST | PING, &[1; 125]), text(""), header(LAST | TEXT, 1)].concat();
    let (seen, _) = read_cut(&bytes, &mut buf, |n| n);
    assert_eq!(seen[1..], [Message(b"".into()), Seen::Breach(Breach::TooLong)]);
}

proptest! {
    /// Whatever comes, wherever it is cut: no panic, and the cuts change nothing.
    #[test]
    fn arbitrary_bytes_mean_the_same_however_they_are_cut(bytes: Vec<u8>, cuts in prop::collection::vec(1_usize..20, 1..50)) {
        // Most of what is arbitrary ends at its first byte; so frames are mixed in.
        for bytes in [bytes.clone(), [text("x"), bytes.clone()].concat(), frame(LAST | TEXT, &bytes), close(1000, &bytes)] {
            let whole = read_cut(&bytes, &mut [0; 512], |n| n).0;
            let mut cut = cuts.iter().cycle();
            let pieces = read_cut(&bytes, &mut [0; 512], |n| n.min(*cut.next().unwrap())).0;
            prop_assert_eq!(whole, pieces);
        }
    }

    /// Any text, in any fragments, with pings between them.
    #[test]
    fn any_text_in_any_fragments_arrives(words in ".{0,100}", sizes in prop::collection::vec(0_usize..30, 0..20)) {
        let (mut rest, mut bytes, mut first) = (words.as_bytes(), Vec::new(), TEXT);
        for size in sizes {
            let (now, later) = rest.split_at(size.min(rest.len()));
            bytes.extend(frame(first, now));
            bytes.extend(frame(LAST | PING, &now[..now.len().min(9)]));
            (rest, first) = (later, CONTINUE);
        }
        bytes.extend(frame(LAST | first, rest));
        let seen = read_cut(&bytes, &mut [0; 1024], |n| n).0;
        prop_assert_eq!(seen.last(), Some(&Message(words.into_bytes())));
    }
}
