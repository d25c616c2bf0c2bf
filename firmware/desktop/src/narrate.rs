//! What happens, for whoever looks at the terminal: who comes, who wins, who leads, who is the champion. It is read from the
//! venue's log, in words, as the page reads it; printing is a thread's work, so that a terminal that stands still does
//! not make the box stand still.

use std::env;
use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};

use protocol_core::ids::{AgentId, MatchId};
use protocol_core::log::{Entry, Happening};
use protocol_core::season::Row;
use protocol_core::venue::{Stage, Venue};

use crate::failure::say;
use crate::table::{self, MatchResult, Standing, shown};

/// Texts that wait for a terminal that stands still. What is more is not printed.
const WAITING: usize = 1_024;

/// Colours, where they are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paint(pub bool);

impl Paint {
    /// For standard output: in colour where that is a terminal and nobody objects (<https://no-color.org>).
    pub fn of_stdout() -> Self {
        let objects = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        // An old console of Windows would show the codes.
        let knows = !cfg!(windows) || env::var_os("WT_SESSION").is_some() || env::var_os("TERM").is_some();
        Self(io::stdout().is_terminal() && !objects && !is_dumb && knows)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.0 && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into() }
    }

    fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    fn bad(self, text: &str) -> String {
        self.with("33", text)
    }

    fn head(self, text: &str) -> String {
        self.with("1", text)
    }

    fn aside(self, text: &str) -> String {
        self.with("2", text)
    }
}

/// Tells what has happened since it last looked.
pub struct Narrator {
    /// Entries of the log before this one have been told.
    told: u64,
    paint: Paint,
}

impl Narrator {
    /// What was logged before is not told.
    pub fn new(told: u64, paint: Paint) -> Self {
        Self { told, paint }
    }

    /// Whether there is something to look at.
    pub fn has_news(&self, venue: &Venue<'_>) -> bool {
        venue.log().written() > self.told
    }

    /// What has happened, line by line; nothing if it is nothing to tell. The standings must be fresh.
    pub fn look(&mut self, venue: &Venue<'_>) -> String {
        let mut text = String::new();
        while let Some((number, entry)) = venue.log().at_or_after(self.told) {
            self.told = number + 1;
            if let Some(line) = self.line(venue, &entry) {
                let _ = writeln!(text, "{line}");
            }
        }
        text
    }

    fn line(&self, venue: &Venue<'_>, entry: &Entry) -> Option<String> {
        let paint = self.paint;
        // The venue is as it is now: how many are in, or who leads, is told of the last thing that happened.
        let is_last = self.told >= venue.log().written();
        let who = || entry.agent.map(|agent| named(venue, agent)).unwrap_or_default();
        Some(match entry.what {
            Happening::Registered => {
                let count = match venue.players().len() {
                    _ if !is_last => String::new(),
                    1 => " (1 player)".into(),
                    players => format!(" ({players} players)"),
                };
                format!("{} is in{}", who(), paint.aside(&count))
            }
            Happening::Rejected(why) => paint.bad(&format!("Somebody was turned away: {why}")),
            Happening::Left => paint.bad(&format!("{} is out", who())),
            Happening::BreakerOpened => paint.bad(&format!("{} does not answer; its matches are forfeited", who())),
            Happening::LeagueStarted => {
                let (game, players) = (venue.game().rules().name, venue.schedule().players());
                paint.head(&format!("The league begins: {players} players, {game}"))
            }
            Happening::RoundStarted(round) => paint.head(&format!("Round {round} of {}", venue.schedule().rounds())),
            Happening::MatchOver(_) => self.result(venue, entry.at_match?)?,
            Happening::RoundOver(round) if round < venue.schedule().rounds() => {
                let Some(first) = venue.standings().next().filter(|_| venue.stage() == Stage::Running(round)) else {
                    return Some(paint.aside(&format!("  Round {round} is over")));
                };
                let points = if first.points == 1 { "point" } else { "points" };
                let leads = format!("{} leads with {} {points}", shown(first.display_name), first.points);
                paint.aside(&format!("  Round {round} is over: {leads}"))
            }
            Happening::LeagueOver => {
                let standings: Vec<Standing> = venue.standings().map(standing).collect();
                let champion = standings.first().map(|first| format!("{} is the champion", shown(&first.display_name)));
                let champion = paint.good(&champion.unwrap_or_default());
                format!("\n{}\n{}\n{champion}", paint.head("Final standings"), table::standings(&standings).trim_end())
            }
            Happening::Admin(word) => paint.aside(&format!("The teacher: {word}")),
            _ => return None,
        })
    }

    /// A match of the league that is over.
    fn result(&self, venue: &Venue<'_>, id: MatchId) -> Option<String> {
        let (record, line) = (venue.record(id)?, venue.match_line(id)?);
        let result = MatchResult {
            match_id: id.to_string(),
            players: line.player_ids().map(|id| id.to_string()).collect(),
            points: venue.sitters(id).map(|sitter| sitter.points.unwrap_or(0).to_string()).collect(),
            status: record.status().name().into(),
            winner: line.winner.map(|winner| winner.0.to_string()).unwrap_or_default(),
            ..MatchResult::default()
        };
        let name = |id: &str| {
            let sitter = venue.sitters(line.match_id.0).find(|sitter| sitter.player_id.0.to_string() == id);
            sitter.map_or(id.into(), |sitter| sitter.display_name.to_owned())
        };
        let players: Vec<String> = result.players.iter().map(|id| shown(&name(id))).collect();
        let outcome = table::outcome(&result, name);
        let outcome = match result.status.as_str() {
            "TECHNICAL_LOSS" => self.paint.bad(&format!("{outcome} ({})", record.end_reason().name())),
            _ => self.paint.good(&outcome),
        };
        Some(format!("  {}  {}: {outcome}", result.match_id, players.join(" – ")))
    }
}

/// An agent by its id and its name.
fn named(venue: &Venue<'_>, agent: AgentId) -> String {
    let player = venue.players().iter().find(|player| player.id() == agent);
    player.map_or(agent.to_string(), |player| format!("{agent} {}", shown(&player.name)))
}

/// A row of the standings, for the table.
pub fn standing(row: Row<'_>) -> Standing {
    Standing {
        rank: row.rank.into(),
        player_id: row.player_id.0.to_string(),
        display_name: row.display_name.to_owned(),
        played: row.played.into(),
        wins: row.wins.into(),
        draws: row.draws.into(),
        losses: row.losses.into(),
        technical_losses: row.technical_losses.into(),
        points: row.points.into(),
    }
}

/// Prints on a thread of its own.
pub struct Printer {
    texts: Option<SyncSender<String>>,
    thread: Option<JoinHandle<()>>,
}

impl Printer {
    /// On standard output.
    pub fn new() -> Self {
        let (texts, printed) = mpsc::sync_channel::<String>(WAITING);
        let thread = thread::spawn(move || {
            for text in printed {
                // A disk that is full does not end a league.
                _ = say(&mut io::stdout(), &text);
            }
        });
        Self { texts: Some(texts), thread: Some(thread) }
    }

    /// Prints a text, unless too many wait already.
    pub fn print(&self, text: String) {
        if let Some(texts) = self.texts.as_ref().filter(|_| !text.is_empty()) {
            _ = texts.try_send(text);
        }
    }

    /// Prints what is left.
    pub fn finish(mut self) {
        self.texts = None;
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol_core::fair::Seed;
    use protocol_core::json::Slice;
    use protocol_core::time::{Now, Utc};
    use protocol_core::venue::{Command, Config, Event, Space, Via};
    use serde_json::{Value, json};

    type Small = Venue<'static>;

    fn small() -> Small {
        let space = Box::leak(Box::new(Space::<4, 2, 6, 64, 1024, 1024>::new()));
        Venue::new(space.lend(), Config::default(), Seed([1; 32]), Seed([2; 32]))
    }

    const NOW: Now = Now { ms: 0, utc: Utc(1_736_937_000) };

    fn register(venue: &mut Small, name: &str, port: u16) {
        let body = json!({"jsonrpc":"2.0","method":"register_player","id":1,"params":{"player_meta":{
            "display_name":name,"contact_endpoint":format!("http://localhost:{port}/mcp")}}});
        let from = "10.0.0.9".parse().unwrap();
        venue.request(NOW, from, Via::Post, body.to_string().as_bytes());
    }

    /// Answers every call: the first always chooses odd, the others even.
    fn play(venue: &mut Small) {
        loop {
            while venue.poll_output().is_some() {}
            let open = (0..4).find_map(|player| Some((player, venue.call(player)?.id)));
            let Some((player, call)) = open else { return };
            let mut buf = [0; 8192];
            let mut sink = Slice::new(&mut buf);
            venue.write_call(player, &mut sink).unwrap();
            let asked: Value = serde_json::from_slice(sink.written()).unwrap();
            let result = match asked["params"]["message_type"].as_str().unwrap() {
                "GAME_INVITATION" => json!({"accept": true}),
                "CHOOSE_PARITY_CALL" => json!({"parity_choice": if player == 0 { "odd" } else { "even" }}),
                _ => json!({}),
            };
            let body = json!({"jsonrpc":"2.0","result":result,"id":asked["id"]}).to_string();
            venue.handle(NOW, Event::Reply { player, call, status: 200, body: body.as_bytes() });
        }
    }

    fn look(narrator: &mut Narrator, venue: &mut Small) -> String {
        venue.refresh_standings();
        narrator.look(venue)
    }

    #[test]
    fn a_league_is_told_from_the_first_player_to_the_champion() {
        let mut venue = small();
        let mut narrator = Narrator::new(0, Paint(false));
        assert!(!narrator.has_news(&venue));
        register(&mut venue, "Ada", 8101);
        assert_eq!(look(&mut narrator, &mut venue), "P01 Ada is in (1 player)\n");
        register(&mut venue, "B\u{1b}[2Job", 8102);
        assert_eq!(
            look(&mut narrator, &mut venue),
            "Somebody was turned away: Invalid display name\n",
            "a name steers no terminal"
        );
        register(&mut venue, "Bob", 8102);
        assert_eq!(look(&mut narrator, &mut venue), "P02 Bob is in (2 players)\n");
        register(&mut venue, "Ada", 8103);
        assert_eq!(look(&mut narrator, &mut venue), "Somebody was turned away: Duplicate display name\n");
        register(&mut venue, "Cleo", 8103);
        venue.remove(NOW, 3).unwrap();
        venue.command(NOW, Command::Start).unwrap();
        let begun = look(&mut narrator, &mut venue);
        assert!(begun.contains("P03 is out\n"), "{begun}");
        assert!(begun.ends_with("The league begins: 2 players, even_odd\nRound 1 of 1\n"), "{begun}");
        play(&mut venue);
        let told = look(&mut narrator, &mut venue);
        let winner = venue.standings().next().unwrap().display_name.to_owned();
        let (result, end) = told.split_once('\n').unwrap();
        assert!(result.starts_with("  R1M1  ") && result.contains(" – ") && result.ends_with(" wins"), "{told}");
        assert!(end.starts_with("\nFinal standings\n"), "{told}");
        assert!(end.ends_with(&format!("{} is the champion\n", shown(&winner))), "{told}");
        assert_eq!(look(&mut narrator, &mut venue), "", "nothing is told twice");
    }

    #[test]
    fn colours_are_there_only_where_they_are_wanted() {
        for paints in [false, true] {
            let mut venue = small();
            let mut narrator = Narrator::new(0, Paint(paints));
            register(&mut venue, "Ada", 8101);
            register(&mut venue, "Bob", 8102);
            venue.command(NOW, Command::Start).unwrap();
            play(&mut venue);
            assert_eq!(look(&mut narrator, &mut venue).contains('\u{1b}'), paints);
        }
    }
}
