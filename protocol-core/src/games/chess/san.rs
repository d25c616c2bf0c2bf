//! Moves as people write them, "Nbd2": standard algebraic notation. What is written is what PGN asks for; what is read may leave out
//! the signs for taking, check and promotion, say more than it must, or name both squares, "b1d2".

use core::fmt::{self, Write};
use core::ops::ControlFlow;

use super::board::{Board, Kind, Move, Square, Unable, file_letter};
use crate::games::Illegal;

/// What a move does to the other king.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Quiet,
    Check,
    Mate,
}

/// A move with all that its notation says of the board it was made on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct San {
    pub made: Move,
    pub kind: Kind,
    pub taken: Option<Kind>,
    /// Whether the file it comes from must be named, and the rank.
    file: bool,
    rank: bool,
    pub sign: Sign,
}

impl San {
    /// The notation of a legal move, and the board after it.
    pub fn of(board: &Board, made: Move) -> (San, Board) {
        let kind = board.piece(made.from).map_or(Kind::Pawn, |piece| piece.kind);
        let (taken, after) = (board.taken(made), board.after(made));
        let sign = match after.in_check() {
            false => Sign::Quiet,
            true if after.can_move() => Sign::Check,
            true => Sign::Mate,
        };
        let (file, rank) = match kind {
            Kind::Pawn => (taken.is_some(), false),
            Kind::King => (false, false),
            _ => told_apart(board, made, kind),
        };
        (San { made, kind, taken, file, rank, sign }, after)
    }

    fn castles(&self) -> bool {
        self.kind == Kind::King && self.made.from.file().abs_diff(self.made.to.file()) == 2
    }

    /// In 26 bits; zero is none.
    pub fn bits(san: Option<San>) -> u64 {
        let Some(San { made, kind, taken, file, rank, sign }) = san else { return 0 };
        let of = |kind: Option<Kind>| kind.map_or(0, |kind| kind as u64);
        let squares = u64::from(made.from.number()) | u64::from(made.to.number()) << 6;
        let pieces = of(Some(kind)) | of(made.promotion) << 3 | of(taken) << 6;
        squares | pieces << 12 | u64::from(file) << 21 | u64::from(rank) << 22 | (sign as u64) << 23
    }

    pub fn of_bits(bits: u64) -> Option<San> {
        let sign = match bits >> 23 & 3 {
            0 => Sign::Quiet,
            1 => Sign::Check,
            _ => Sign::Mate,
        };
        let made =
            Move { from: Square::of_bits(bits), to: Square::of_bits(bits >> 6), promotion: Kind::of_bits(bits >> 15) };
        let (kind, taken) = (Kind::of_bits(bits >> 12)?, Kind::of_bits(bits >> 18));
        Some(San { made, kind, taken, file: bits >> 21 & 1 == 1, rank: bits >> 22 & 1 == 1, sign })
    }
}

/// What tells a piece from others of its kind that could go to the same square: its file if that is enough, else its rank if
/// that is, else both.
fn told_apart(board: &Board, made: Move, kind: Kind) -> (bool, bool) {
    let (mut others, mut same_file, mut same_rank) = (false, false, false);
    let twins = board.pieces(board.mover).filter(|&(at, other)| other == kind && at != made.from);
    let _ = board.legal_from(twins.map(|(at, _)| at), |other| {
        if other.to == made.to {
            others = true;
            same_file |= other.from.file() == made.from.file();
            same_rank |= other.from.rank() == made.from.rank();
        }
        ControlFlow::<()>::Continue(())
    });
    (others && (!same_file || same_rank), same_file)
}

impl fmt::Display for San {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Move { from, to, promotion } = self.made;
        if self.castles() {
            f.write_str(if to.file() > from.file() { "O-O" } else { "O-O-O" })?;
        } else {
            if self.kind != Kind::Pawn {
                f.write_char(self.kind.letter())?;
            }
            if self.file {
                f.write_char(file_letter(from.file()))?;
            }
            if self.rank {
                write!(f, "{}", from.rank().saturating_add(1))?;
            }
            if self.taken.is_some() {
                f.write_char('x')?;
            }
            write!(f, "{to}")?;
            if let Some(kind) = promotion {
                write!(f, "={}", kind.letter())?;
            }
        }
        match self.sign {
            Sign::Quiet => Ok(()),
            Sign::Check => f.write_char('+'),
            Sign::Mate => f.write_char('#'),
        }
    }
}

/// A move as it is asked for.
struct Wish {
    /// `None` if both squares are named and the piece is not: whatever stands there.
    kind: Option<Kind>,
    file: Option<u8>,
    rank: Option<u8>,
    to: Square,
    promotion: Option<Kind>,
}

/// What may stand behind a move.
const MARKS: [char; 4] = ['+', '#', '!', '?'];

const UNREADABLE: Illegal =
    Illegal("move must be in algebraic notation, such as e4, Nf3, exd5, O-O, e8=Q, or name both squares, such as e2e4");

impl Wish {
    fn read(text: &str) -> Option<Wish> {
        let (mut rest, mut kind) = (text, None);
        if let Some(named) = text.chars().next().and_then(Kind::of_letter) {
            (rest, kind) = (text.get(1..)?, Some(named));
        }
        let promotion = rest.chars().next_back().map(|letter| letter.to_ascii_uppercase()).and_then(Kind::of_letter);
        if promotion.is_some() {
            rest = rest.get(..rest.len().checked_sub(1)?)?;
            rest = rest.strip_suffix('=').unwrap_or(rest);
        }
        let &[ref before @ .., file, rank] = rest.as_bytes() else { return None };
        let to = Square::new(file_of(file)?, rank_of(rank)?)?;
        let before = before.strip_suffix(b"x").or(before.strip_suffix(b"-")).unwrap_or(before);
        let (file, rank) = match *before {
            [] => (None, None),
            [file, rank] => (Some(file_of(file)?), Some(rank_of(rank)?)),
            [one] => (file_of(one), rank_of(one)),
            _ => return None,
        };
        if before.len() == 1 && file.is_none() && rank.is_none() {
            return None;
        }
        let kind = kind.or(Some(Kind::Pawn).filter(|_| file.is_none() || rank.is_none()));
        // A pawn of which nothing is said goes straight ahead.
        let file = file.or(Some(to.file()).filter(|_| kind == Some(Kind::Pawn)));
        Some(Wish { kind, file, rank, to, promotion })
    }

    fn fits(&self, from: Square, kind: Kind) -> bool {
        self.kind.is_none_or(|named| named == kind)
            && self.file.is_none_or(|file| file == from.file())
            && self.rank.is_none_or(|rank| rank == from.rank())
    }

    /// The one legal move that is meant.
    fn find(&self, board: &Board) -> Result<Move, Illegal> {
        let pieces = || board.pieces(board.mover).filter(|&(at, kind)| self.fits(at, kind));
        let (mut found, mut several, mut other) = (None, false, None);
        let _ = board.legal_from(pieces().map(|(at, _)| at), |made| {
            if made.to == self.to {
                if made.promotion != self.promotion {
                    other = Some(made);
                } else if found.replace(made).is_some() {
                    several = true;
                }
            }
            ControlFlow::<()>::Continue(())
        });
        let kind = self.kind.or_else(|| pieces().next().map(|(_, kind)| kind));
        match (found, other) {
            (Some(_), _) if several => Err(AMBIGUOUS),
            (Some(made), _) => Ok(made),
            (None, Some(Move { promotion: Some(_), .. })) => Err(Illegal(
                "move must say what the pawn becomes on the last rank: a queen, rook, bishop or knight, as in e8=Q",
            )),
            (None, Some(_)) => Err(Illegal("move names a promotion, which only a pawn on the last rank has")),
            (None, None) => Err(self.why_not(board, kind)),
        }
    }

    /// Why there is no such move.
    fn why_not(&self, board: &Board, kind: Option<Kind>) -> Illegal {
        let mut pieces = board.pieces(board.mover).filter(|&(at, kind)| self.fits(at, kind));
        if pieces.clone().any(|(from, _)| board.reaches(from, self.to)) {
            return Illegal(if board.in_check() {
                "move leaves your king in check: move it, take what gives check, or step between"
            } else {
                "move would put your own king in check"
            });
        }
        let jumps = |(from, kind): (Square, Kind)| {
            kind == Kind::King && from.rank() == self.to.rank() && from.file().abs_diff(self.to.file()) == 2
        };
        let castling = pieces.clone().find(|&piece| jumps(piece)).map(|(from, _)| self.to.file() > from.file());
        if let Some(Err(unable)) = castling.map(|is_short| board.castling_move(is_short)) {
            return cannot_castle(unable);
        }
        if board.piece(self.to).is_some_and(|piece| piece.colour == board.mover) {
            return Illegal("move goes to a square on which a piece of your own stands");
        }
        match (pieces.next(), kind) {
            (None, None) => Illegal("move begins on a square on which no piece of yours stands"),
            (None, Some(_)) if self.file.is_some() && self.rank.is_some() => {
                Illegal("move names a piece of yours that does not stand on the square it begins on")
            }
            (_, Some(Kind::Pawn)) => {
                Illegal("move: no pawn of yours can go there; one that takes is named by its file, as in exd5")
            }
            _ => Illegal("move: no piece of yours of that kind can go there"),
        }
    }
}

fn file_of(letter: u8) -> Option<u8> {
    letter.checked_sub(b'a').filter(|&file| file < 8)
}

fn rank_of(digit: u8) -> Option<u8> {
    digit.checked_sub(b'1').filter(|&rank| rank < 8)
}

/// Also of three or more: the first two are enough to be in doubt.
const AMBIGUOUS: Illegal =
    Illegal("move: two of your pieces can go there; name the file or rank of the one you mean, as in Nbd2 or N1d2");

fn cannot_castle(unable: Unable) -> Illegal {
    Illegal(match unable {
        Unable::Lost => "move: you can no longer castle there, because your king or that rook has moved or is gone",
        Unable::Blocked => "move: you cannot castle there while a piece stands between king and rook",
        Unable::Attacked => "move: you cannot castle out of check, through it or into it",
    })
}

/// The legal move that a text means.
pub(super) fn read(board: &Board, text: &str) -> Result<Move, Illegal> {
    let text = text.trim().trim_end_matches(MARKS);
    let is_castling = |wings: usize| {
        let mut parts = text.split('-');
        parts.clone().count() == wings && parts.all(|part| matches!(part, "O" | "0" | "o"))
    };
    if let Some(wings) = [2, 3].into_iter().find(|&wings| is_castling(wings)) {
        return board.castling_move(wings == 2).map_err(cannot_castle);
    }
    Wish::read(text).ok_or(UNREADABLE)?.find(board)
}
