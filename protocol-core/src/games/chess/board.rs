//! The board: which piece stands where, who is to move, who may still castle, and what each piece can do. Nothing is looked up in
//! tables: a piece walks, and a king is safe if nobody walks to it.

use core::fmt;
use core::ops::ControlFlow;

use crate::games::Seat;

/// White sits in seat 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colour {
    White,
    Black,
}

impl Colour {
    pub fn of(seat: Seat) -> Self {
        if seat == 0 { Colour::White } else { Colour::Black }
    }

    pub fn other(self) -> Self {
        match self {
            Colour::White => Colour::Black,
            Colour::Black => Colour::White,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Colour::White => "white",
            Colour::Black => "black",
        }
    }

    /// The rank on which its king begins.
    fn home(self) -> u8 {
        match self {
            Colour::White => 0,
            Colour::Black => 7,
        }
    }

    /// Where its pawns go.
    fn ahead(self) -> i8 {
        match self {
            Colour::White => 1,
            Colour::Black => -1,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Pawn = 1,
    Knight,
    Bishop,
    Rook,
    Queen,
    King,
}

impl Kind {
    pub const ALL: [Kind; 6] = [Kind::Pawn, Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen, Kind::King];

    /// What a pawn may become.
    pub const PROMOTIONS: [Kind; 4] = [Kind::Queen, Kind::Rook, Kind::Bishop, Kind::Knight];

    pub fn letter(self) -> char {
        match self {
            Kind::Pawn => 'P',
            Kind::Knight => 'N',
            Kind::Bishop => 'B',
            Kind::Rook => 'R',
            Kind::Queen => 'Q',
            Kind::King => 'K',
        }
    }

    pub fn of_letter(letter: char) -> Option<Kind> {
        Self::ALL.into_iter().find(|kind| kind.letter() == letter)
    }

    /// From the three bits it is kept in.
    pub fn of_bits(bits: u64) -> Option<Kind> {
        Self::ALL.into_iter().find(|&kind| kind as u64 == bits & 7)
    }

    /// Where it goes, but for pawns, and whether it goes on in that direction.
    fn ways(self) -> (&'static [Way], bool) {
        let [straight, diagonal] = [&WAYS[..4], &WAYS[4..]];
        match self {
            Kind::Pawn => (&[], false),
            Kind::Knight => (&LEAPS, false),
            Kind::Bishop => (diagonal, true),
            Kind::Rook => (straight, true),
            Kind::Queen => (&WAYS, true),
            Kind::King => (&WAYS, false),
        }
    }
}

/// Files to the right and ranks up.
type Way = (i8, i8);

/// Straight, then diagonally.
const WAYS: [Way; 8] = [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)];
const LEAPS: [Way; 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub colour: Colour,
    pub kind: Kind,
}

impl Piece {
    pub fn new(colour: Colour, kind: Kind) -> Self {
        Self { colour, kind }
    }

    /// In four bits; zero is none.
    fn bits(piece: Option<Piece>) -> u8 {
        piece.map_or(0, |piece| piece.kind as u8 | (piece.colour as u8) << 3)
    }

    fn of_bits(bits: u8) -> Option<Piece> {
        let kind = match bits & 7 {
            1 => Kind::Pawn,
            2 => Kind::Knight,
            3 => Kind::Bishop,
            4 => Kind::Rook,
            5 => Kind::Queen,
            6 => Kind::King,
            _ => return None,
        };
        Some(Piece { colour: Colour::of(bits >> 3 & 1), kind })
    }

    /// As FEN has it: White's are capitals.
    pub fn letter(self) -> char {
        match self.colour {
            Colour::White => self.kind.letter(),
            Colour::Black => self.kind.letter().to_ascii_lowercase(),
        }
    }

    #[cfg(any(test, feature = "house"))]
    pub fn of_letter(letter: char) -> Option<Piece> {
        let colour = if letter.is_ascii_uppercase() { Colour::White } else { Colour::Black };
        Some(Piece::new(colour, Kind::of_letter(letter.to_ascii_uppercase())?))
    }
}

/// One of the 64: a1 is 0, b1 is 1, h8 is 63.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Square(u8);

impl Square {
    pub fn new(file: u8, rank: u8) -> Option<Square> {
        (file < 8 && rank < 8).then_some(Square(rank << 3 | file))
    }

    pub fn all() -> impl Iterator<Item = Square> + Clone {
        (0..64).map(Square)
    }

    /// In the order of a FEN: from a8 to h8, and so down to h1.
    pub fn rows() -> impl Iterator<Item = impl Iterator<Item = Square> + Clone> + Clone {
        (0..8).rev().map(|rank| (0..8).map(move |file| Square(rank << 3 | file)))
    }

    pub fn file(self) -> u8 {
        self.0 & 7
    }

    pub fn rank(self) -> u8 {
        self.0 >> 3
    }

    pub fn number(self) -> u8 {
        self.0
    }

    pub fn of_bits(bits: u64) -> Square {
        Square((bits & 63) as u8)
    }

    fn is_light(self) -> bool {
        (self.file() ^ self.rank()) & 1 == 1
    }

    /// The square beside; `None` beyond the edge.
    fn beside(self, (east, north): Way) -> Option<Square> {
        Square::new(self.file().wrapping_add_signed(east), self.rank().wrapping_add_signed(north))
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", file_letter(self.file()), self.rank().saturating_add(1))
    }
}

pub(super) fn file_letter(file: u8) -> char {
    char::from(b'a'.saturating_add(file))
}

/// A move: castling is the king's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move {
    pub from: Square,
    pub to: Square,
    pub promotion: Option<Kind>,
}

/// Which piece stands where, in four bits each.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Squares([u8; 32]);

impl Squares {
    fn get(&self, at: Square) -> Option<Piece> {
        let pair = self.0.get(usize::from(at.0 >> 1)).copied().unwrap_or_default();
        Piece::of_bits(if at.0 & 1 == 0 { pair } else { pair >> 4 })
    }

    fn set(&mut self, at: Square, piece: Option<Piece>) {
        if let Some(pair) = self.0.get_mut(usize::from(at.0 >> 1)) {
            let bits = Piece::bits(piece);
            *pair = if at.0 & 1 == 0 { *pair & 0xf0 | bits } else { *pair & 0x0f | bits << 4 };
        }
    }

    /// The first piece in a direction.
    fn first(&self, from: Square, way: Way) -> Option<Piece> {
        let mut at = from.beside(way)?;
        loop {
            match self.get(at) {
                Some(piece) => return Some(piece),
                None => at = at.beside(way)?,
            }
        }
    }

    /// Whether pieces of a colour could go to a square.
    fn attacked(&self, at: Square, by: Colour) -> bool {
        let is = |piece: Option<Piece>, kind: Kind| piece == Some(Piece::new(by, kind));
        let beside = |way| at.beside(way).and_then(|from| self.get(from));
        let behind = by.other().ahead();
        let (straight, diagonal) = (Kind::Rook.ways().0, Kind::Bishop.ways().0);
        let seen = |ways: &[Way], kind: Kind| {
            ways.iter().any(|&way| {
                let first = self.first(at, way);
                is(first, kind) || is(first, Kind::Queen)
            })
        };
        seen(straight, Kind::Rook)
            || seen(diagonal, Kind::Bishop)
            || LEAPS.iter().any(|&way| is(beside(way), Kind::Knight))
            || [-1, 1].iter().any(|&east| is(beside((east, behind)), Kind::Pawn))
            || WAYS.iter().any(|&way| is(beside(way), Kind::King))
    }
}

/// The castling that is still possible, a bit each.
const SHORT: [u8; 2] = [1, 4];
const LONG: [u8; 2] = [2, 8];

/// All there is to know of a position, but how often it was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Board {
    squares: Squares,
    pub mover: Colour,
    castling: u8,
    /// Where a pawn can be taken that went two squares, if one can: a right that nobody can use makes no other position.
    passant: Option<Square>,
}

impl Board {
    pub fn start() -> Self {
        let mut board = Self { squares: Squares([0; 32]), mover: Colour::White, castling: 0b1111, passant: None };
        let officers =
            [Kind::Rook, Kind::Knight, Kind::Bishop, Kind::Queen, Kind::King, Kind::Bishop, Kind::Knight, Kind::Rook];
        for (file, officer) in (0..).zip(officers) {
            for (rank, colour, kind) in [
                (0, Colour::White, officer),
                (1, Colour::White, Kind::Pawn),
                (6, Colour::Black, Kind::Pawn),
                (7, Colour::Black, officer),
            ] {
                board.squares.set(Square(rank << 3 | file), Some(Piece::new(colour, kind)));
            }
        }
        board
    }

    pub fn piece(&self, at: Square) -> Option<Piece> {
        self.squares.get(at)
    }

    /// Where pieces of a colour stand.
    pub fn pieces(&self, colour: Colour) -> impl Iterator<Item = (Square, Kind)> + Clone {
        let of = move |at| self.piece(at).filter(|piece| piece.colour == colour).map(|piece| (at, piece.kind));
        Square::all().filter_map(of)
    }

    fn king(&self, colour: Colour) -> Option<Square> {
        self.pieces(colour).find(|(_, kind)| *kind == Kind::King).map(|(at, _)| at)
    }

    /// Whether the king of who is to move is attacked.
    pub fn in_check(&self) -> bool {
        self.king(self.mover).is_some_and(|king| self.squares.attacked(king, self.mover.other()))
    }

    /// What a move takes.
    pub fn taken(&self, made: Move) -> Option<Kind> {
        let is_pawn = self.piece(made.from).is_some_and(|piece| piece.kind == Kind::Pawn);
        let passing = Some(Kind::Pawn).filter(|_| is_pawn && self.passant == Some(made.to));
        self.piece(made.to).map(|piece| piece.kind).or(passing)
    }

    /// Every move of the piece on a square, whether or not the king is safe after it.
    fn moves_from<B>(&self, from: Square, mut each: impl FnMut(Move) -> ControlFlow<B>) -> ControlFlow<B> {
        let Some(Piece { kind, .. }) = self.piece(from).filter(|piece| piece.colour == self.mover) else {
            return ControlFlow::Continue(());
        };
        if kind == Kind::Pawn {
            return self.pawn_moves(from, each);
        }
        let (ways, goes_on) = kind.ways();
        for &way in ways {
            let mut next = from.beside(way);
            while let Some(to) = next {
                let there = self.piece(to);
                if there.is_some_and(|piece| piece.colour == self.mover) {
                    break;
                }
                each(Move { from, to, promotion: None })?;
                next = to.beside(way).filter(|_| goes_on && there.is_none());
            }
        }
        if kind == Kind::King {
            for (rights, east) in [(SHORT, 1), (LONG, -1)] {
                if let Ok(to) = self.castles(from, rights, east) {
                    each(Move { from, to, promotion: None })?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn pawn_moves<B>(&self, from: Square, mut each: impl FnMut(Move) -> ControlFlow<B>) -> ControlFlow<B> {
        let ahead = self.mover.ahead();
        let mut go = |to: Square| match to.rank() {
            0 | 7 => Kind::PROMOTIONS.into_iter().try_for_each(|kind| each(Move { from, to, promotion: Some(kind) })),
            _ => each(Move { from, to, promotion: None }),
        };
        let is_free = |to: &Square| self.piece(*to).is_none();
        if let Some(one) = from.beside((0, ahead)).filter(is_free) {
            go(one)?;
            let is_fresh = from.rank() == self.mover.home().wrapping_add_signed(ahead);
            if let Some(two) = one.beside((0, ahead)).filter(|to| is_fresh && is_free(to)) {
                go(two)?;
            }
        }
        for east in [-1, 1] {
            if let Some(to) = from.beside((east, ahead)) {
                let is_taken = self.piece(to).is_some_and(|piece| piece.colour != self.mover);
                if is_taken || self.passant == Some(to) {
                    go(to)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Where the king goes when it castles in a direction.
    fn castles(&self, king: Square, rights: [u8; 2], east: i8) -> Result<Square, Unable> {
        let [white, black] = rights;
        let right = if self.mover == Colour::White { white } else { black };
        let next = king.beside((east, 0)).ok_or(Unable::Lost)?;
        let to = next.beside((east, 0)).ok_or(Unable::Lost)?;
        if self.castling & right == 0 {
            return Err(Unable::Lost);
        }
        let rook = Piece::new(self.mover, Kind::Rook);
        if self.squares.first(king, (east, 0)) != Some(rook) || self.piece(next).is_some() || self.piece(to).is_some() {
            return Err(Unable::Blocked);
        }
        // The rook in the corner, not one that has come between.
        let beyond = to.beside((east, 0)).filter(|_| east < 0);
        if beyond.is_some_and(|beyond| self.piece(beyond).is_some()) {
            return Err(Unable::Blocked);
        }
        if [king, next, to].into_iter().any(|at| self.squares.attacked(at, self.mover.other())) {
            return Err(Unable::Attacked);
        }
        Ok(to)
    }

    /// The move by which who is to move castles.
    pub fn castling_move(&self, is_short: bool) -> Result<Move, Unable> {
        let from = self.king(self.mover).ok_or(Unable::Lost)?;
        let (rights, east) = if is_short { (SHORT, 1) } else { (LONG, -1) };
        self.castles(from, rights, east).map(|to| Move { from, to, promotion: None })
    }

    /// Every legal move of the pieces on some squares.
    pub fn legal_from<B>(
        &self,
        squares: impl Iterator<Item = Square>,
        mut each: impl FnMut(Move) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let king = self.king(self.mover);
        for from in squares {
            self.moves_from(
                from,
                |made| {
                    if self.is_safe(made, king) { each(made) } else { ControlFlow::Continue(()) }
                },
            )?;
        }
        ControlFlow::Continue(())
    }

    /// Every move of a piece on a square that would be legal if the king did not matter.
    pub fn reaches(&self, from: Square, to: Square) -> bool {
        let found = self
            .moves_from(from, |made| if made.to == to { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
        found.is_break()
    }

    /// Every legal move. Break to see no more.
    pub fn legal<B>(&self, each: impl FnMut(Move) -> ControlFlow<B>) -> ControlFlow<B> {
        self.legal_from(Square::all(), each)
    }

    /// Whether there is a legal move at all.
    pub fn can_move(&self) -> bool {
        self.legal(|_| ControlFlow::Break(())).is_break()
    }

    /// Whether the king is safe after a move; before it, it is on the square given.
    fn is_safe(&self, made: Move, king: Option<Square>) -> bool {
        let king = if king == Some(made.from) { Some(made.to) } else { king };
        let after = self.squares_after(made);
        king.is_none_or(|king| !after.attacked(king, self.mover.other()))
    }

    fn squares_after(&self, made: Move) -> Squares {
        let Move { from, to, promotion } = made;
        let mut squares = self.squares.clone();
        let Some(piece) = squares.get(from) else { return squares };
        if piece.kind == Kind::Pawn && self.passant == Some(to) {
            squares.set(Square(from.rank() << 3 | to.file()), None);
        }
        if piece.kind == Kind::King && from.file().abs_diff(to.file()) == 2 {
            let (corner, beside) = if to.file() > from.file() { (7, 5) } else { (0, 3) };
            squares.set(Square(from.rank() << 3 | corner), None);
            squares.set(Square(from.rank() << 3 | beside), Some(Piece::new(piece.colour, Kind::Rook)));
        }
        squares.set(from, None);
        squares.set(to, Some(Piece { kind: promotion.unwrap_or(piece.kind), ..piece }));
        squares
    }

    /// The board after a move.
    pub fn after(&self, made: Move) -> Board {
        let is_pawn = self.piece(made.from).is_some_and(|piece| piece.kind == Kind::Pawn);
        let lost = |at: Square| match at.0 {
            0 => LONG[0],
            4 => LONG[0] | SHORT[0],
            7 => SHORT[0],
            56 => LONG[1],
            60 => LONG[1] | SHORT[1],
            63 => SHORT[1],
            _ => 0,
        };
        let mut board = Board {
            squares: self.squares_after(made),
            mover: self.mover.other(),
            castling: self.castling & !(lost(made.from) | lost(made.to)),
            passant: None,
        };
        if is_pawn && made.from.rank().abs_diff(made.to.rank()) == 2 {
            board.allow_passing(made.from.beside((0, self.mover.ahead())));
        }
        board
    }

    /// A pawn has passed a square. It may be taken there if one can.
    fn allow_passing(&mut self, passed: Option<Square>) {
        self.passant = passed;
        let Some(to) = passed else { return };
        let king = self.king(self.mover);
        let takes = |east| {
            let from = to.beside((east, self.mover.other().ahead()))?;
            let is_pawn = self.piece(from) == Some(Piece::new(self.mover, Kind::Pawn));
            Some(is_pawn && self.is_safe(Move { from, to, promotion: None }, king))
        };
        if ![-1, 1].into_iter().any(|east| takes(east) == Some(true)) {
            self.passant = None;
        }
    }

    /// Whether nobody can mate any more, however badly the other plays: bare kings, one knight or bishop beside them, or
    /// nothing but bishops that all stand on squares of one colour.
    pub fn is_dead(&self) -> bool {
        let officers = || [Colour::White, Colour::Black].into_iter().flat_map(|colour| self.pieces(colour));
        let officers = || officers().filter(|(_, kind)| *kind != Kind::King);
        let is_bishop = |(_, kind): (Square, Kind)| kind == Kind::Bishop;
        match officers().count() {
            0 => true,
            1 => officers().all(|(_, kind)| matches!(kind, Kind::Knight | Kind::Bishop)),
            _ => {
                let light = officers().filter(|(at, _)| at.is_light()).count();
                officers().all(is_bishop) && (light == 0 || light == officers().count())
            }
        }
    }

    /// Another number for nearly every other position (FNV-1a, and once more mixed, because only some of its bits are kept).
    pub fn digest(&self) -> u64 {
        let rights = [self.mover as u8, self.castling, self.passant.map_or(64, Square::number)];
        let bytes = self.squares.0.iter().chain(&rights).map(|&byte| u64::from(byte));
        let mixed = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ byte).wrapping_mul(0x100_0000_01b3));
        (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) ^ mixed >> 29
    }

    /// A board from its FEN, without its counts; for tests and whoever is told a FEN.
    #[cfg(any(test, feature = "house"))]
    pub fn of_fen(fen: &str) -> Option<Board> {
        let mut words = fen.split(' ');
        let (pieces, mover, castling, passant) = (words.next()?, words.next()?, words.next()?, words.next()?);
        let mut board = Self { squares: Squares([0; 32]), mover: Colour::White, castling: 0, passant: None };
        let mut rows = Square::rows();
        for row in pieces.split('/') {
            let mut squares = rows.next()?;
            for letter in row.chars() {
                match letter.to_digit(9) {
                    Some(empty) => {
                        for _ in 0..empty {
                            squares.next()?;
                        }
                    }
                    None => board.squares.set(squares.next()?, Some(Piece::of_letter(letter)?)),
                }
            }
        }
        board.mover = if mover == "w" { Colour::White } else { Colour::Black };
        for (letter, right) in CASTLING {
            if castling.contains(letter) {
                board.castling |= right;
            }
        }
        let mut at = passant.bytes();
        if let (Some(file), Some(rank)) = (at.next(), at.next()) {
            board.allow_passing(Square::new(file.wrapping_sub(b'a'), rank.wrapping_sub(b'1')));
        }
        board.king(Colour::White).and(board.king(Colour::Black)).map(|_| board)
    }
}

/// As FEN has it.
const CASTLING: [(char, u8); 4] = [('K', SHORT[0]), ('Q', LONG[0]), ('k', SHORT[1]), ('q', LONG[1])];

/// The first four words of a FEN.
impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        for (number, row) in Square::rows().enumerate() {
            if number > 0 {
                f.write_char('/')?;
            }
            let mut empty = 0_u8;
            for piece in row.map(|at| self.piece(at)) {
                match piece {
                    None => empty = empty.saturating_add(1),
                    Some(piece) => {
                        if empty > 0 {
                            write!(f, "{empty}")?;
                        }
                        empty = 0;
                        f.write_char(piece.letter())?;
                    }
                }
            }
            if empty > 0 {
                write!(f, "{empty}")?;
            }
        }
        f.write_str(if self.mover == Colour::White { " w " } else { " b " })?;
        match self.castling {
            0 => f.write_char('-')?,
            rights => CASTLING
                .iter()
                .filter(|(_, right)| rights & right != 0)
                .try_for_each(|(letter, _)| f.write_char(*letter))?,
        }
        match self.passant {
            Some(at) => write!(f, " {at}"),
            None => f.write_str(" -"),
        }
    }
}

/// Why a king cannot castle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unable {
    /// It, or the rook, has moved.
    Lost,
    /// Something stands between them.
    Blocked,
    /// It is in check, or would pass through it, or come into it.
    Attacked,
}
