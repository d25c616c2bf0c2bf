//! `leaguebox demo`: the box, house players and one league, seen from outside. Everything it prints it has asked the box
//! over HTTP, as anybody could.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use protocol_core::venue::Pace;
use serde_json::Value;

use crate::cli::{DemoOptions, Options, PLAYERS};
use crate::failure::{Failure, say};
use crate::house::House;
use crate::http;
use crate::run::{self, Says, start_box};
use crate::stop::Stop;
use crate::table::{self, MatchResult, Standing};

/// How often the box is asked how far it is.
const GLANCE: Duration = Duration::from_millis(50);

/// House players answer at once, so a league in which nothing happens for this long will never end.
const PATIENCE: Duration = Duration::from_secs(60);

/// The same where the box takes its time: a round of slow matches.
const LONG_PATIENCE: Duration = Duration::from_secs(20 * 60);

/// Plays one league and prints it. One that listens where it was told ends with Ctrl-C, the other with its league.
pub fn demo(options: DemoOptions) -> Result<(), Failure> {
    let DemoOptions { players, game, pace, listen, admin_code } = options;
    // All of the house lives here.
    let per_address = Some(*PLAYERS.end());
    let options = Options { start_at: Some(players), per_address, flash: None, pace, admin_code, ..Options::new(game) };
    if let Some(listen) = listen {
        return run::run(Options { listen, house: players, ..options }, Says::Demo);
    }
    // On a port nobody uses, so that a demo runs beside a box.
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let running = start_box(Options { listen, ..options })?;
    let (stop, mut out) = (Stop::on_ctrl_c()?, io::stdout());
    let (patience, where_to_look) = match pace {
        Pace::Fast => (PATIENCE, "; with --listen 127.0.0.1:8000 --pace watch there is a page to watch it".into()),
        // It lasts long enough to be looked at.
        _ => (LONG_PATIENCE, format!(" at http://{}/ as long as the league lasts", running.address)),
    };
    say(&mut out, &format!("{players} house players play {game}{where_to_look}\n"))?;
    let house = House::seat(running.address, players, game);
    let followed = house.and_then(|_house| follow(running.address, &mut out, patience, &stop));
    // If the box failed, that is why the rest did.
    running.end()?;
    followed
}

/// How far the league is, as `/api/status.json` says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Status {
    state: String,
    round: u64,
    total_rounds: u64,
    players: u64,
}

/// Prints every round when it has ended, and the standings when the league has.
fn follow(leaguebox: SocketAddr, out: &mut impl Write, patience: Duration, stop: &Stop) -> Result<(), Failure> {
    let mut last: Option<Status> = None;
    let mut changed = Instant::now();
    let mut printed = 0;
    while !stop.is_raised() {
        let status = status(&fetch(leaguebox, "/api/status.json")?)?;
        let completed = status.state == "COMPLETED";
        // Results are asked for after the status, so they are never older than it.
        let ended = if completed { status.total_rounds } else { status.round.saturating_sub(1) };
        if ended > printed {
            let names = standings(&fetch(leaguebox, "/api/standings.json")?)?;
            let results = results(&fetch(leaguebox, "/api/results.csv")?)?;
            for round in printed + 1..=ended {
                say(out, &round_text(round, status.total_rounds, &results, &names))?;
            }
            printed = ended;
        }
        if completed {
            let standings = standings(&fetch(leaguebox, "/api/standings.json")?)?;
            return say(out, &format!("\nFinal standings\n{}", table::standings(&standings)));
        }
        if last.as_ref() != Some(&status) {
            last = Some(status);
            changed = Instant::now();
        } else if changed.elapsed() > patience {
            return Err(Failure::work(format!(
                "the league did not finish: it is {} in round {} of {} with {} players, and nothing has happened for \
                 {} s; house players always answer, so please report this",
                status.state,
                status.round,
                status.total_rounds,
                status.players,
                patience.as_secs()
            )));
        }
        thread::sleep(GLANCE);
    }
    Ok(())
}

fn round_text(round: u64, rounds: u64, results: &[MatchResult], names: &[Standing]) -> String {
    let name = |id: &str| {
        let player = names.iter().find(|player| player.player_id == id);
        player.map_or(id, |player| &player.display_name).to_owned()
    };
    let results: Vec<MatchResult> = results.iter().filter(|result| result.round == round).cloned().collect();
    format!("\nRound {round} of {rounds}\n{}", table::results(&results, name))
}

fn fetch(leaguebox: SocketAddr, path: &str) -> Result<String, Failure> {
    http::get(leaguebox, path).map_err(|error| Failure::work(format!("the box does not answer {path}: {error}")))
}

fn not_understood(path: &str) -> Failure {
    Failure::work(format!("the box's {path} is not what it should be: please report this"))
}

fn status(text: &str) -> Result<Status, Failure> {
    let read = || {
        let status: Value = serde_json::from_str(text).ok()?;
        let number = |name: &str| status[name].as_u64();
        Some(Status {
            state: status["state"].as_str()?.into(),
            round: number("round")?,
            total_rounds: number("total_rounds")?,
            players: number("players")?,
        })
    };
    read().ok_or_else(|| not_understood("/api/status.json"))
}

fn standings(text: &str) -> Result<Vec<Standing>, Failure> {
    let standing = |row: &Value| {
        let number = |name: &str| row[name].as_u64();
        Some(Standing {
            rank: number("rank")?,
            player_id: row["player_id"].as_str()?.into(),
            display_name: row["display_name"].as_str()?.into(),
            played: number("played")?,
            wins: number("wins")?,
            draws: number("draws")?,
            losses: number("losses")?,
            technical_losses: number("technical_losses")?,
            points: number("points")?,
        })
    };
    let read = || {
        let value: Value = serde_json::from_str(text).ok()?;
        value["standings"].as_array()?.iter().map(standing).collect::<Option<Vec<_>>>()
    };
    read().ok_or_else(|| not_understood("/api/standings.json"))
}

/// The columns that results have in every game.
const MATCH_COLUMNS: [&str; 6] = ["round_id", "match_id", "status", "winner", "end_reason", "finished_at"];

/// What they have of each player.
const OF_EACH: [&str; 3] = ["player", "name", "points"];

/// What the columns of each player end with, as many as a game has.
const SEATS: [&str; 6] = ["_a", "_b", "_c", "_d", "_e", "_f"];

/// Reads the results by the names in the first line.
fn results(text: &str) -> Result<Vec<MatchResult>, Failure> {
    let mut lines = text.trim_start_matches('\u{feff}').lines().filter(|line| !line.is_empty()).map(fields);
    let header = lines.next().unwrap_or_default();
    let result = |row: Vec<String>| {
        let field = |name: &str| {
            let place = header.iter().position(|column| column == name)?;
            row.get(place).cloned()
        };
        let of_each = |what: &str| SEATS.iter().map_while(|seat| field(&format!("{what}{seat}"))).collect::<Vec<_>>();
        let players = Some(of_each("player")).filter(|players| players.len() >= 2)?;
        // What is of no match in general is of the game: of one of its players, by its last letter, or of none.
        let is_of_each = |name: &str, what: &str| name.strip_prefix(what).is_some_and(|seat| SEATS.contains(&seat));
        let is_general =
            |name: &str| MATCH_COLUMNS.contains(&name) || OF_EACH.iter().any(|what| is_of_each(name, what));
        let game = |of: &dyn Fn(&str) -> bool| {
            let columns = header.iter().zip(&row).filter(|(name, _)| !is_general(name.as_str()));
            columns.filter(|(name, _)| of(name)).map(|(_, cell)| cell.clone()).collect::<Vec<_>>()
        };
        Some(MatchResult {
            round: field("round_id")?.parse().ok()?,
            match_id: field("match_id")?,
            theirs: SEATS.iter().take(players.len()).map(|seat| game(&|name| name.ends_with(seat))).collect(),
            players,
            points: of_each("points"),
            beside: game(&|name| !SEATS.iter().any(|seat| name.ends_with(seat))),
            status: field("status")?,
            winner: field("winner")?,
        })
    };
    lines.map(result).collect::<Option<_>>().ok_or_else(|| not_understood("/api/results.csv"))
}

/// The fields of one line of CSV; inside quotes a comma is a comma and a doubled quote is one.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let last = fields.len() - 1;
        match c {
            '"' if quoted && chars.next_if_eq(&'"').is_some() => fields[last].push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields[last].push(c),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::HashMap;

    const STANDINGS: &str = r#"{"standings":[
        {"rank":1,"player_id":"P02","display_name":"Markov","played":1,"wins":1,"draws":0,"losses":0,"technical_losses":0,"points":3},
        {"rank":2,"player_id":"P01","display_name":"Random","played":1,"wins":0,"draws":0,"losses":1,"technical_losses":0,"points":0}]}"#;

    const HEADER: &str = "round_id,match_id,player_a,player_b,name_a,name_b,status,winner,points_a,points_b,end_reason,drawn_number,\
                          choice_a,choice_b,finished_at\n";

    /// A box that gives each path its answers one after the other, and the last one for ever.
    fn fake_box(answers: &[(&'static str, &[&str])]) -> SocketAddr {
        let answers: HashMap<&str, Vec<String>> = answers
            .iter()
            .map(|(path, answers)| (*path, answers.iter().rev().map(|answer| answer.to_string()).collect()))
            .collect();
        let answers = RefCell::new(answers);
        http::fake(move |request| match answers.borrow_mut().get_mut(request.path) {
            Some(answers) if answers.len() > 1 => (200, answers.pop().unwrap()),
            Some(answers) => (200, answers[0].clone()),
            None => (404, "{}".into()),
        })
    }

    fn status_json(state: &str, round: u64) -> String {
        format!(r#"{{"state":"{state}","round":{round},"total_rounds":2,"players":2,"uptime":7}}"#)
    }

    #[test]
    fn rounds_are_printed_as_they_end_and_the_table_at_the_end() {
        let first =
            format!("\u{feff}{HEADER}1,R1M1,P01,P02,Random,\"Markov\",WIN,P02,0,3,,8,odd,even,2026-11-16T10:00:00Z\n");
        let both = format!("{first}2,R2M1,P02,P01,Markov,Random,DRAW,,1,1,,7,odd,odd,2026-11-16T10:00:01Z\n");
        let statuses = [
            status_json("WAITING", 0),
            status_json("RUNNING", 1),
            status_json("RUNNING", 2),
            status_json("COMPLETED", 2),
        ];
        let address = fake_box(&[
            ("/api/status.json", &statuses.each_ref().map(String::as_str)),
            ("/api/standings.json", &[STANDINGS]),
            ("/api/results.csv", &[&first, &both]),
        ]);
        let mut out = Vec::new();
        follow(address, &mut out, PATIENCE, &Stop::default()).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            [
                "\nRound 1 of 2\n  R1M1  Random  odd  Markov  even  8  Markov wins\n",
                "\nRound 2 of 2\n  R2M1  Markov  odd  Random  odd  7  draw\n",
                "\nFinal standings\n",
                "  #  Player  Id   Played  Won  Drawn  Lost  Forfeits  Points\n",
                "  1  Markov  P02       1    1      0     0         0       3\n",
                "  2  Random  P01       1    0      0     1         0       0\n",
            ]
            .concat()
        );
    }

    #[test]
    fn a_league_that_stands_still_is_a_failure_and_not_a_wait_for_ever() {
        let address = fake_box(&[("/api/status.json", &[&status_json("RUNNING", 1)])]);
        let failure = follow(address, &mut Vec::new(), Duration::ZERO, &Stop::default()).unwrap_err();
        assert_eq!(failure.code, 1);
        assert!(
            failure.message.starts_with("the league did not finish: it is RUNNING in round 1 of 2 with 2 players"),
            "{failure}"
        );
    }

    #[test]
    fn a_box_that_is_gone_or_answers_nonsense_is_named_by_the_path() {
        let address = fake_box(&[]);
        let failure = follow(address, &mut Vec::new(), PATIENCE, &Stop::default()).unwrap_err();
        assert_eq!(failure.message, "the box does not answer /api/status.json: status 404");
        let address = fake_box(&[("/api/status.json", &["{}"])]);
        assert!(
            follow(address, &mut Vec::new(), PATIENCE, &Stop::default())
                .unwrap_err()
                .message
                .contains("/api/status.json is not")
        );
    }

    #[test]
    fn columns_are_found_by_name_and_quotes_protect_commas() {
        assert_eq!(fields(r#"a,"b,""c""",,d"#), ["a", "b,\"c\"", "", "d"]);
        let moved = "choice_b,choice_a,drawn_number,winner,status,player_b,player_a,match_id,round_id\n\
                     odd,even,8,P01,WIN,P02,P01,R1M1,1\n";
        let result = results(moved).unwrap().remove(0);
        assert_eq!(
            (result.round, result.theirs, result.beside, result.winner.as_str()),
            (1, ["even", "odd"].map(|choice| vec![String::from(choice)]).into(), vec!["8".into()], "P01")
        );
        assert_eq!(results(HEADER), Ok(vec![]));
        assert!(results("round_id,match_id\n1,R1M1\n").is_err());
    }
}
