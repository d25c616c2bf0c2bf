//! What stands beside a game for its page: prose for people, a game to be played as an example, and two small players.
//!
//! The first paragraph says what the game is; what follows, up to the first block of code of these three kinds, is its
//! rules. A line of a `play` block is a move: the letter of the seat, and what it sends. `!` behind the letter says that the
//! move is refused: it is tried at that place, and the game's own words for it come onto the page.

/// The parts of a game's file.
pub struct Fragment<'a> {
    pub summary: &'a str,
    pub rules: &'a str,
    pub script: Vec<Attempt<'a>>,
    /// A function of a player in Python, and one of a player in the shell.
    pub python: &'a str,
    pub shell: &'a str,
}

/// A move of the example.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    pub seat: u8,
    pub is_refused: bool,
    pub wanted: &'a str,
}

impl<'a> Fragment<'a> {
    pub fn read(text: &'a str) -> Fragment<'a> {
        let prose = text.split_once("\n```play\n").expect("an example").0;
        let (summary, rules) = prose.split_once("\n\n").expect("a paragraph, and the rules");
        let block = |language| {
            let rest = text.split_once(&format!("\n```{language}\n")).unwrap_or_else(|| panic!("no {language}")).1;
            rest.split_once("\n```").expect("the end of a block").0
        };
        let script = block("play").lines().map(Attempt::read).collect();
        Fragment { summary, rules: rules.trim(), script, python: block("python"), shell: block("sh") }
    }
}

impl<'a> Attempt<'a> {
    fn read(line: &'a str) -> Attempt<'a> {
        let (who, wanted) = line.split_once(' ').expect("a seat and a move");
        let (letter, is_refused) = who.strip_suffix('!').map_or((who, false), |letter| (letter, true));
        let seat = ["A", "B", "C", "D", "E", "F"].iter().position(|seat| *seat == letter).expect("a seat");
        Attempt { seat: seat as u8, is_refused, wanted }
    }
}
