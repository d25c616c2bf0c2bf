//! Those who watch, on every device: what a page is told from the empty lobby to the champion, that watchers keep nobody
//! out and slow nobody down, and what a teacher downloads.

mod schema;

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

use host_tests::arena::{self, Agent};
use host_tests::crowd::Crowd;
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::websocket::{Frame, WebSocket};
use host_tests::{python, results, wait_for};
use serde_json::{Value, json};

/// More connections than any device lets watch.
const MANY: usize = 300;
/// Players beside them. A whole class is in `page.rs`, with real pages.
const CLASS: usize = 8;

/// A page that watches, and what it knows.
struct Page {
    link: WebSocket,
    players: BTreeMap<String, Value>,
    matches: BTreeMap<String, Value>,
    standings: Vec<Value>,
    status: Value,
    is_ready: bool,
    snapshots: usize,
    heard: usize,
}

impl Page {
    fn open(leaguebox: &LeagueBox) -> Page {
        let link = WebSocket::dial_at(leaguebox.address, "/api/live");
        Page {
            link,
            players: BTreeMap::new(),
            matches: BTreeMap::new(),
            standings: Vec::new(),
            status: Value::Null,
            is_ready: false,
            snapshots: 0,
            heard: 0,
        }
    }

    /// The next frame. A message is taken in.
    fn hear(&mut self) -> Frame {
        let frame = self.link.frame().expect("the box goes on");
        if let Frame::Text(text) = &frame {
            self.take_in(&serde_json::from_str(text).expect("JSON"));
        }
        frame
    }

    fn take_in(&mut self, message: &Value) {
        // Not every one of thousands: that would take longer than the league.
        if self.heard < 100 {
            assert_eq!(schema::faults("export/live", message), Vec::<String>::new(), "{message}");
        }
        self.heard += 1;
        let key = |of: &Value, id: &str| of[id].as_str().expect("an id").to_owned();
        match message["type"].as_str().expect("a type") {
            "snapshot" => {
                (self.players, self.matches) = Default::default();
                (self.status, self.is_ready) = (message["status"].clone(), false);
                self.snapshots += 1;
            }
            "ready" => self.is_ready = true,
            "status" => self.status = message["status"].clone(),
            "player" => drop(self.players.insert(key(&message["player"], "player_id"), message["player"].clone())),
            "match" => drop(self.matches.insert(key(&message["match"], "match_id"), message["match"].clone())),
            "standings" => self.standings = message["standings"].as_array().expect("ids").clone(),
            _ => {}
        }
    }

    fn hear_until(&mut self, is_so: impl Fn(&Page) -> bool) {
        while !is_so(self) {
            self.hear();
        }
    }

    /// Waits until the box tells it something, or sends it away; then by which code.
    fn is_admitted(&mut self) -> Result<(), u16> {
        match self.hear() {
            Frame::Close(code, reason) => {
                assert!(!reason.is_empty());
                Err(code)
            }
            _ => Ok(()),
        }
    }
}

#[test]
fn a_page_sees_a_league_from_the_empty_lobby_to_the_champion() {
    let leaguebox = LeagueBox::start(Settings::default());
    let mut page = Page::open(&leaguebox);
    page.hear_until(|page| page.is_ready);
    assert_eq!((page.players.len(), page.status["state"].as_str()), (0, Some("WAITING")));

    let mut crowd = Crowd::new();
    crowd.hold();
    crowd.enlist(&leaguebox, 3);
    crowd.dial_in(&leaguebox, 1);
    page.hear_until(|page| page.players.values().any(|player| player["connected"] == true));
    assert_eq!(page.players.len(), 4);
    assert_eq!(leaguebox.admin("start").status, 200);
    page.hear_until(|page| {
        let players = page.matches.values().flat_map(|of| of["players"].as_array().expect("players"));
        { players }.filter(|player| player["thinking"] == true && player["deadline_ms"].is_number()).count() == 4
    });
    let running = leaguebox.get_json("/api/matches/R1M1.json");
    assert_eq!(schema::faults("export/match", &running), Vec::<String>::new(), "{running}");
    assert_eq!(running["state"], "running");
    crowd.release();
    // Rows and the state are told one after the other, each as it is then.
    page.hear_until(|page| {
        let has_played = |player: &Value| player["tally"]["played"] == 3;
        page.is_ready && page.status["state"] == "COMPLETED" && page.players.values().all(has_played)
    });
    crowd.wait_for_the_end();
    let published = leaguebox.get_json("/api/standings.json");
    let rows = published["standings"].as_array().expect("rows");
    // They are told behind the state.
    let ids: Vec<Value> = rows.iter().map(|row| row["player_id"].clone()).collect();
    page.hear_until(|page| page.standings == ids);
    for row in rows {
        let tally = &page.players[row["player_id"].as_str().expect("an id")]["tally"];
        assert_eq!((&tally["points"], &tally["played"]), (&row["points"], &json!(3)));
    }

    // Whoever lost its connection catches up.
    drop(page);
    let mut again = Page::open(&leaguebox);
    again.hear_until(|page| page.is_ready);
    assert_eq!((again.snapshots, again.players.len(), again.status["state"].as_str()), (1, 4, Some("COMPLETED")));
}

/// The next turn of a game, or its end.
fn next_turn(agent: &mut Agent) -> Value {
    loop {
        let message = agent.link.hear();
        if message["type"] == "your_turn" || message["type"] == "game_over" {
            return message;
        }
    }
}

#[test]
fn a_game_of_the_ladder_is_watched_as_a_match_of_round_zero_and_what_its_players_say_is_shown() {
    let leaguebox = LeagueBox::start(Settings::default());
    let mut page = Page::open(&leaguebox);
    let ([mut ada, mut bob], id) = arena::matched(&leaguebox, "resource-rush", ["Ada", "Bob"]);
    page.hear_until(|page| page.matches.contains_key("R0M1"));
    let game = &page.matches["R0M1"];
    assert_eq!((&game["state"], &game["game_type"]), (&json!("running"), &json!("resource-rush")), "{game}");
    assert_eq!((&game["players"][0]["display_name"], &game["players"][1]["thinking"]), (&json!("Ada"), &json!(true)));
    for agent in [&mut ada, &mut bob] {
        assert_eq!(next_turn(agent)["type"], "your_turn");
    }
    bob.plays_on(&id, json!({"action": "wait"}));
    ada.plays_on(&id, json!({"action": "wait", "thought": "Where is the gold?"}));
    page.hear_until(|page| page.matches["R0M1"]["players"][0]["said"] == "Where is the gold?");
    let shown = leaguebox.get_json("/api/matches/R0M1.json");
    assert_eq!(schema::faults("export/match", &shown), Vec::<String>::new(), "{shown}");
    assert_eq!(shown["view"]["extra"]["playerThoughts"]["P01"], "Where is the gold?", "as the drawing has it");
    assert_eq!(shown["players"][0]["said"], "Where is the gold?");

    // A game that is played to its end: a page that comes late sees it, and the ratings when it is over.
    let ([mut cid, mut dan], id) = arena::matched(&leaguebox, "echo", ["Cid", "Dan"]);
    page = Page::open(&leaguebox);
    page.hear_until(|page| page.is_ready);
    assert_eq!(page.matches["R0M2"]["state"], "running");
    loop {
        let turns = [next_turn(&mut cid), next_turn(&mut dan)];
        if turns[0]["type"] == "game_over" {
            break;
        }
        let round = turns[0]["round"].as_u64().expect("a round");
        cid.plays_on(&id, json!({"number": 11 - round}));
        dan.plays_on(&id, json!({ "number": round }));
    }
    page.hear_until(|page| page.matches["R0M2"]["state"] == "over" && page.players["P04"]["rated_games"] == 1);
    assert_eq!(page.players["P03"]["rated_games"], 1);
    assert!(page.players["P03"]["rating"].as_u64() > page.players["P04"]["rating"].as_u64(), "{:?}", page.players);
    let over = leaguebox.get_json("/api/matches/R0M2.json");
    assert_eq!(schema::faults("export/match", &over), Vec::<String>::new(), "{over}");
    assert_eq!(
        (&over["status"], &over["winner"], &over["end_reason"]),
        (&json!("FINISHED"), &json!("P03"), &json!("win"))
    );

    // The league has the right of way.
    assert_eq!(leaguebox.admin("start").status, 200);
    page.hear_until(|page| page.snapshots == 2 && page.is_ready);
    assert!(!page.matches.contains_key("R0M1"), "it was called off");
    assert_eq!(page.matches["R0M2"]["result"]["winner_player_id"], "P03", "what was played stays");
}

/// As many come to watch as may, and one more. A few stay and read, a few never do, and a class gets in and plays.
#[test]
fn as_many_watchers_as_there_may_be_keep_no_player_out_and_make_no_move_late() {
    let leaguebox = LeagueBox::start(Settings::start_at(CLASS));
    let mut pages = Vec::new();
    let refused = (0..MANY).find_map(|_| {
        let mut page = Page::open(&leaguebox);
        let refused = page.is_admitted().err();
        pages.push(page);
        refused
    });
    assert_eq!(refused, Some(1013), "after {} watchers", pages.len());
    pages.pop();
    println!("{} watch", pages.len());
    assert!(pages.len() >= 4, "{}", pages.len());

    // A desktop box would be busy with nothing else.
    pages.truncate(8);
    let deaf = pages.split_off(4);
    let readers: Vec<_> = { pages }
        .into_iter()
        .map(|mut page| thread::spawn(move || page.hear_until(|page| page.status["state"] == "COMPLETED")))
        .collect();
    let mut crowd = Crowd::new();
    crowd.enlist(&leaguebox, CLASS / 2);
    crowd.dial_in(&leaguebox, CLASS / 2);
    crowd.wait_for_the_end();
    let rows = results::parse(&leaguebox.get("/api/results.csv").body);
    assert_eq!(rows.len(), CLASS * (CLASS - 1) / 2);
    assert!(rows.iter().all(|row| row.get("status") != "TECHNICAL_LOSS"), "{rows:?}");
    readers.into_iter().for_each(|reader| reader.join().expect("every page saw the end"));
    drop(deaf);
    // Their places are free again.
    let mut page = wait_for("a place", || {
        let mut page = Page::open(&leaguebox);
        page.is_admitted().is_ok().then_some(page)
    });
    page.hear_until(|page| page.is_ready);
    assert_eq!((page.players.len(), leaguebox.resets()), (CLASS, Vec::new()));
}

/// As many as a board has room for, and always one more. Who is refused or reset would have no answer here: nobody comes again.
#[test]
fn with_32_players_linked_and_four_pages_open_every_fifth_visitor_is_answered_when_it_comes() {
    let leaguebox = LeagueBox::start(Settings::default());
    assert_eq!(leaguebox.admin_with("settings", r#"{"per_address": 32}"#).status, 200);
    let mut crowd = Crowd::new();
    crowd.dial_in(&leaguebox, 32);
    let mut pages: Vec<_> = (0..4).map(|_| Page::open(&leaguebox)).collect();
    pages.iter_mut().for_each(|page| page.hear_until(|page| page.is_ready));
    for _ in 0..10 {
        assert_eq!(leaguebox.get("/health").status, 200);
        assert_eq!(leaguebox.get_json("/api/status.json")["players"], 32);
    }
    // Nobody had to go for it.
    let players = leaguebox.get("/api/players.json").body;
    assert_eq!(players.matches("\"online\":true").count(), 32, "{players}");
    assert_eq!(leaguebox.admin("start").status, 200);
    pages.iter_mut().for_each(|page| page.hear_until(|page| page.status["state"] != "WAITING"));
}

/// Pages that are open for hours through one port leave somebody in front of it.
#[test]
#[cfg_attr(not(feature = "emulator"), ignore = "a desktop box has one port")]
fn pages_that_watch_through_the_browsers_port_keep_no_browser_out() {
    let mut leaguebox = LeagueBox::start(Settings::default());
    leaguebox.address.set_port(80);
    let mut pages: Vec<_> = (0..4).map(|_| Page::open(&leaguebox)).collect();
    pages.iter_mut().for_each(|page| page.hear_until(|page| page.is_ready));
    let answer = wait_for("the page", || {
        let headers = "Accept-Encoding: gzip\r\n";
        host_tests::http::request(leaguebox.address, "HEAD", "/", headers, "").ok()
    });
    assert_eq!((answer.status, answer.header("Content-Encoding")), (200, Some("gzip")));
    leaguebox.address.set_port(8000);
    leaguebox.wait_until_healthy();
}

#[test]
fn what_is_downloaded_is_as_its_schema_says_and_names_arrive_whole() {
    let flash = std::env::temp_dir().join(format!("leaguebox-live-{}.flash", std::process::id()));
    let leaguebox = LeagueBox::with_memory(Settings::start_at(3), &flash);
    let mut crowd = Crowd::new();
    let home = leaguebox.home().to_string();
    let names = ["עדה לאבלייס", "=HYPERLINK(\"http://x\",\"y\")", "a, \"b\" 🤖 <script>"];
    names.iter().for_each(|name| drop(crowd.register(&leaguebox, name, &home)));
    leaguebox.wait_for_the_champion();
    wait_for("the league is in flash", || {
        (leaguebox.get_json("/api/leagues.json")["leagues"] != json!([])).then_some(())
    });
    for (path, name) in [
        ("/api/status.json", "status"),
        ("/api/settings.json", "settings"),
        ("/api/leagues.json", "leagues"),
        ("/api/players.json", "players"),
        ("/api/schedule.json", "schedule"),
        ("/api/standings.json", "standings"),
        ("/api/matches/R1M1.json", "match"),
    ] {
        let export = leaguebox.get_json(path);
        assert_eq!(schema::faults(&format!("export/{name}"), &export), Vec::<String>::new(), "{export}");
    }
    let table = leaguebox.get("/api/standings.csv").body;
    let rows = results::parse(table.strip_prefix('\u{FEFF}').expect("the mark of UTF-8, for spreadsheets"));
    let mut told: Vec<_> = rows.iter().map(|row| row.get("display_name").to_owned()).collect();
    told.sort();
    let mut wanted = ["עדה לאבלייס", "'=HYPERLINK(http://x,y)", "a, b 🤖 <script>"];
    wanted.sort();
    assert_eq!(told, wanted, "our own reader drops the quotes within");
    let _ = std::fs::remove_file(flash);
}

#[test]
#[cfg_attr(not(feature = "clients"), ignore = "needs Python; cargo xtask clients runs it")]
fn pythons_csv_reads_the_standings_with_hebrew_names_intact() {
    let leaguebox = LeagueBox::start(Settings::start_at(2));
    let mut crowd = Crowd::new();
    let home = leaguebox.home().to_string();
    let names = ["עדה", "\"Q\", שרה"];
    names.iter().for_each(|name| drop(crowd.register(&leaguebox, name, &home)));
    leaguebox.wait_for_the_champion();
    let script = "import csv, io, json, sys\n\
        text = sys.stdin.buffer.read().decode('utf-8-sig')\n\
        print(json.dumps(sorted(row['display_name'] for row in csv.DictReader(io.StringIO(text, newline='')))))";
    let mut python = Command::new(python::interpreter())
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python");
    let table = leaguebox.get("/api/standings.csv").body;
    python.stdin.take().expect("a pipe").write_all(table.as_bytes()).expect("Python reads");
    let output = python.wait_with_output().expect("Python ends");
    let mut read: Vec<String> = serde_json::from_slice(&output.stdout).expect("JSON");
    read.sort();
    let mut wanted = names.map(String::from);
    wanted.sort();
    assert_eq!(read, wanted);
}
