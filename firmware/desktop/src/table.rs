//! Results and standings as aligned text. Names come from strangers: they may be wide (中文, 🤖), written from right to left,
//! or full of control characters; none of that may disturb the terminal or the columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The widest a name may be before it is cut.
const NAME_WIDTH: usize = 32;

/// One line of the standings, as `/api/standings.json` has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// 1 for the champion.
    pub rank: u64,
    /// The id the box gave.
    pub player_id: String,
    /// The name the player gave.
    pub display_name: String,
    /// Matches played.
    pub played: u64,
    /// Matches won.
    pub wins: u64,
    /// Matches drawn.
    pub draws: u64,
    /// Matches lost.
    pub losses: u64,
    /// How many of the losses were forfeits.
    pub technical_losses: u64,
    /// Points.
    pub points: u64,
}

/// One match, as `/api/results.csv` has it. Empty fields are empty strings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchResult {
    /// The round, from 1.
    pub round: u64,
    /// The match.
    pub match_id: String,
    /// The players' ids.
    pub players: Vec<String>,
    /// What the game tells of each of them: what it chose, or scored.
    pub theirs: Vec<Vec<String>>,
    /// The points each of them gets.
    pub points: Vec<String>,
    /// What it tells beside that: the number that was drawn, or how many rounds were played.
    pub beside: Vec<String>,
    /// `WIN`, `DRAW` or `TECHNICAL_LOSS`.
    pub status: String,
    /// The winner's id; empty without one.
    pub winner: String,
}

#[derive(Clone, Copy)]
enum Align {
    Left,
    Right,
}

/// The standings, one line each, under a header.
pub fn standings(standings: &[Standing]) -> String {
    use Align::{Left, Right};
    let header = ["#", "Player", "Id", "Played", "Won", "Drawn", "Lost", "Forfeits", "Points"].map(String::from);
    let rows = standings.iter().map(|row| {
        let numbers = [row.played, row.wins, row.draws, row.losses, row.technical_losses, row.points];
        let [played, won, drawn, lost, forfeits, points] = numbers.map(|number| number.to_string());
        let (name, id) = (shown(&row.display_name), shown(&row.player_id));
        [row.rank.to_string(), name, id, played, won, drawn, lost, forfeits, points]
    });
    let aligns = [Right, Left, Left, Right, Right, Right, Right, Right, Right];
    columns(&[header].into_iter().chain(rows).map(|row| row.into_iter().zip(aligns).collect()).collect::<Vec<_>>())
}

/// Matches, one line each. `name` turns a player's id into its name.
pub fn results(results: &[MatchResult], name: impl Fn(&str) -> String) -> String {
    use Align::{Left, Right};
    let rows = results.iter().map(|result| {
        let theirs = result.players.iter().zip(&result.theirs);
        let theirs = theirs.flat_map(|(id, cells)| [(shown(&name(id)), Left), (or_dashes(cells), Left)]);
        let beside = [(or_dashes(&result.beside), Right), (outcome(result, &name), Left)];
        [(shown(&result.match_id), Left)].into_iter().chain(theirs).chain(beside).collect()
    });
    columns(&rows.collect::<Vec<_>>())
}

/// How a match ended.
pub fn outcome(result: &MatchResult, name: impl Fn(&str) -> String) -> String {
    let level = result.players.iter().zip(&result.points).filter(|(_, points)| *points != "0");
    let level: Vec<String> = level.map(|(id, _)| shown(&name(id))).collect();
    match (result.status.as_str(), result.winner.as_str()) {
        ("TECHNICAL_LOSS", "") if result.players.len() == 2 => "both forfeit".into(),
        ("TECHNICAL_LOSS", "") if level.is_empty() => "all forfeit".into(),
        ("TECHNICAL_LOSS", "") => format!("{} draw by forfeit", level.join(", ")),
        (_, "") if result.players.len() > 2 => format!("{} draw", level.join(", ")),
        ("TECHNICAL_LOSS", winner) => format!("{} wins by forfeit", shown(&name(winner))),
        (_, "") => "draw".into(),
        (_, winner) => format!("{} wins", shown(&name(winner))),
    }
}

fn or_dashes(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| if cell.is_empty() { "-".into() } else { shown(cell) }).collect();
    cells.join(" ")
}

/// Text that cannot move the cursor or turn the direction of the line, and no wider than a name may be.
pub fn shown(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let text: String = text.chars().map(|c| if c.is_control() || turns(c) { '\u{fffd}' } else { c }).collect();
    if text.width() <= NAME_WIDTH {
        return text;
    }
    let mut width = 0;
    let fits = |c: &char| {
        width += c.width().unwrap_or(0);
        width < NAME_WIDTH
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Rows as lines, two spaces between the columns.
fn columns(rows: &[Vec<(String, Align)>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|(cell, _)| cell.width()).max();
    let widths: Vec<usize> = (0..count).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for ((cell, align), width) in row.iter().zip(&widths) {
            let padding = " ".repeat(width - cell.width());
            line += "  ";
            line += &match align {
                Align::Left => format!("{cell}{padding}"),
                Align::Right => format!("{padding}{cell}"),
            };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(rank: u64, name: &str, points: u64) -> Standing {
        let player_id = format!("P{rank:02}");
        Standing { rank, player_id, display_name: name.into(), played: 3, wins: 1, points, ..Standing::default() }
    }

    #[test]
    fn numbers_end_and_names_begin_in_one_column() {
        assert_eq!(
            standings(&[standing(1, "Markov", 9), standing(10, "Always even", 12)]),
            [
                "   #  Player       Id   Played  Won  Drawn  Lost  Forfeits  Points\n",
                "   1  Markov       P01       3    1      0     0         0       9\n",
                "  10  Always even  P10       3    1      0     0         0      12\n",
            ]
            .concat()
        );
    }

    #[test]
    fn wide_names_keep_the_columns() {
        let table = standings(&[
            standing(1, "棋手", 1),
            standing(2, "🤖 bot", 1),
            standing(3, "שחקן", 1),
            standing(4, "e\u{301}", 1),
        ]);
        let widths: Vec<usize> = table.lines().map(UnicodeWidthStr::width).collect();
        assert!(widths.iter().all(|width| *width == widths[0]), "{table}");
    }

    #[test]
    fn a_name_cannot_steer_the_terminal() {
        let table = standings(&[standing(1, "\x1b[2J\r\n\u{202e}evil", 1)]);
        assert_eq!(table.lines().count(), 2);
        assert!(!table.contains(['\x1b', '\r', '\u{202e}']));
    }

    #[test]
    fn a_long_name_is_cut_to_a_known_width() {
        for name in ["x".repeat(200), "棋".repeat(200)] {
            let cut = shown(&name);
            assert!((NAME_WIDTH - 1..=NAME_WIDTH).contains(&cut.width()), "{cut}");
            assert!(cut.ends_with('…'));
        }
        assert_eq!(shown(&"x".repeat(NAME_WIDTH)), "x".repeat(NAME_WIDTH));
    }

    #[test]
    fn a_result_says_who_chose_what_and_who_won() {
        let result = |status: &str, winner: &str, choices: [&str; 2]| MatchResult {
            round: 1,
            match_id: "R1M1".into(),
            players: ["P01", "P02"].map(String::from).into(),
            theirs: choices.map(|choice| vec![choice.into()]).into(),
            points: vec![],
            beside: vec!["8".into()],
            status: status.into(),
            winner: winner.into(),
        };
        let rows = [
            result("WIN", "P02", ["odd", "even"]),
            result("DRAW", "", ["odd", "odd"]),
            result("TECHNICAL_LOSS", "P01", ["even", ""]),
            result("TECHNICAL_LOSS", "", ["", ""]),
        ];
        let name = |id: &str| if id == "P01" { "Random".into() } else { "Markov".into() };
        assert_eq!(
            results(&rows, name),
            [
                "  R1M1  Random  odd   Markov  even  8  Markov wins\n",
                "  R1M1  Random  odd   Markov  odd   8  draw\n",
                "  R1M1  Random  even  Markov  -     8  Random wins by forfeit\n",
                "  R1M1  Random  -     Markov  -     8  both forfeit\n",
            ]
            .concat()
        );
    }

    #[test]
    fn of_four_it_says_who_drew() {
        let result = |status: &str, winner: &str, points: [&str; 4]| MatchResult {
            match_id: "R1M1".into(),
            players: ["P01", "P02", "P03", "P04"].map(String::from).into(),
            theirs: ["2", "0", "2", ""].map(|score| vec![score.into()]).into(),
            points: points.map(String::from).into(),
            beside: vec!["30".into()],
            status: status.into(),
            winner: winner.into(),
            ..MatchResult::default()
        };
        let rows = [
            result("DRAW", "", ["1", "0", "1", "0"]),
            result("WIN", "P03", ["0", "0", "3", "0"]),
            result("TECHNICAL_LOSS", "", ["1", "0", "1", "0"]),
            result("TECHNICAL_LOSS", "", ["0", "0", "0", "0"]),
        ];
        assert_eq!(
            results(&rows, str::to_owned),
            [
                "  R1M1  P01  2  P02  0  P03  2  P04  -  30  P01, P03 draw\n",
                "  R1M1  P01  2  P02  0  P03  2  P04  -  30  P03 wins\n",
                "  R1M1  P01  2  P02  0  P03  2  P04  -  30  P01, P03 draw by forfeit\n",
                "  R1M1  P01  2  P02  0  P03  2  P04  -  30  all forfeit\n",
            ]
            .concat()
        );
    }

    #[test]
    fn nothing_to_show_is_no_line() {
        assert_eq!(results(&[], str::to_owned), "");
    }
}
