//! Whatever referees report, of their matches and others, and whatever becomes of their calls: the venue stands, a match has one
//! result, and that never changes.
#![no_main]

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use arbitrary::Arbitrary;
use protocol_core::fair::Seed;
use protocol_core::ids::MatchId;
use protocol_core::json::Slice;
use protocol_core::time::{Now, Utc};
use protocol_core::venue::{Command, Config, Event, Failure, Space, Venue, Via};

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    /// A report of a match, by one of the referees or by somebody without a token; the result as it is, or one that is well formed.
    Report {
        round: u8,
        table: u8,
        by: u8,
        from: u8,
        result: Result<u8, &'a str>,
    },
    /// What whoever is called answers.
    Reply {
        line: u8,
        status: u16,
        body: Option<&'a [u8]>,
    },
    Failed {
        line: u8,
    },
    /// A referee comes again, comes and asks, or is removed.
    Again(u8),
    Asks(u8),
    Removed(u8),
    Wait(u16),
}

const HONEST: &[u8] = br#"{"jsonrpc":"2.0","id":1,"result":{"accept":true,"parity_choice":"even"}}"#;
const RESULTS: [&str; 6] = [
    r#"{"winner":"P01"}"#,
    r#"{"winner":"P02","score":{"P01":0,"P02":3}}"#,
    r#"{"winner":null}"#,
    r#"{"winner":"","status":"TECHNICAL_LOSS"}"#,
    r#"{"players":{"P03":{"result":"WIN"},"P04":{"result":"LOSS"}}}"#,
    r#"{"winner":"P04"}"#,
];

libfuzzer_sys::fuzz_target!(|steps: Vec<Step<'_>>| {
    let config = Config {
        endpoint: "http://10.0.0.1:8000/mcp".try_into().unwrap(),
        foreign_referees: Some(2),
        ..Config::default()
    };
    let mut space = Space::<4, 2, 6, 16, 2048, 1024>::new();
    let mut venue = Venue::new(space.lend(), config, Seed([1; 32]), Seed([2; 32]));
    let mut now = Now { ms: 0, utc: Utc(0) };
    let mut buf = vec![0; 1 << 16];
    for number in 1..=4 {
        let body = format!(
            r#"{{"method":"register_player","params":{{"player_meta":{{"display_name":"{number}","contact_endpoint":"http://localhost:81{number:02}/mcp"}}}},"id":1}}"#
        );
        say(&mut venue, now, 9, &body, &mut buf);
    }
    let tokens: Vec<String> = (2..=3).map(|number| enlist(&mut venue, now, number, &mut buf)).collect();
    let _ = venue.command(now, Command::Start);
    let mut known = BTreeMap::new();
    for step in steps {
        match step {
            Step::Report { round, table, by, from, result } => {
                let token = tokens.get(usize::from(by % 3)).map_or("null".into(), |token| format!("\"{token}\""));
                let result =
                    result.map_or_else(str::to_owned, |at| RESULTS[usize::from(at) % RESULTS.len()].to_owned());
                let (round, table) = (round % 4, table % 3);
                let body = format!(
                    r#"{{"method":"report_match_result","params":{{"match_id":"R{round}M{table}","auth_token":{token},"result":{result}}},"id":1}}"#
                );
                say(&mut venue, now, 8 + from % 2, &body, &mut buf);
            }
            Step::Reply { line, status, body } => {
                let player = u16::from(line % 4);
                if let Some(call) = venue.call(player).map(|call| call.id) {
                    venue.handle(now, Event::Sent { player, call });
                    venue.handle(now, Event::Reply { player, call, status, body: body.unwrap_or(HONEST) });
                }
            }
            Step::Failed { line } => {
                let player = u16::from(line % 4);
                if let Some(call) = venue.call(player).map(|call| call.id) {
                    venue.handle(now, Event::Failed { player, call, failure: Failure::Unreachable });
                }
            }
            Step::Again(number) => drop(enlist(&mut venue, now, 2 + u16::from(number % 2), &mut buf)),
            Step::Asks(number) => {
                let body = format!(
                    r#"{{"method":"get_assigned_matches","params":{{"referee_id":"REF{:02}"}},"id":1}}"#,
                    2 + number % 2
                );
                say(&mut venue, now, 9, &body, &mut buf);
            }
            Step::Removed(number) => drop(venue.dismiss(now, 2 + u16::from(number % 2), true)),
            Step::Wait(ms) => {
                now = Now { ms: now.ms + u64::from(ms), utc: now.utc_at(now.ms + u64::from(ms)) };
                venue.handle(now, Event::Tick);
            }
        }
        assert!(venue.next_deadline().is_none_or(|at| at > now.ms));
        while venue.poll_output().is_some() {}
        for player in 0..4 {
            if venue.call(player).is_some() {
                let mut sink = Slice::new(&mut buf);
                if venue.write_call(player, &mut sink).is_ok() {
                    serde_json::from_slice::<serde_json::Value>(sink.written()).unwrap();
                }
            }
        }
        for id in (1..=3).flat_map(|round| (1..=2).map(move |table| MatchId { round, table })) {
            if let Some(record) = venue.record(id) {
                let first = *known.entry((id.round, id.table)).or_insert(*record);
                assert_eq!(first, *record, "{id} had a result");
            }
        }
        assert_eq!(venue.status().matches_completed as usize, known.len());
    }
});

/// Registers a referee; its token, if it has one.
fn enlist(venue: &mut Venue<'_>, now: Now, number: u16, buf: &mut [u8]) -> String {
    let body = format!(
        r#"{{"method":"register_referee","params":{{"sender":"referee:REF{number:02}","referee_meta":{{"display_name":"R{number}","game_types":["even_odd"],"contact_endpoint":"http://localhost:80{number:02}/mcp"}}}},"id":1}}"#
    );
    let answer = say(venue, now, 9, &body, buf);
    answer["result"]["auth_token"].as_str().unwrap_or_default().to_owned()
}

/// What somebody is answered.
fn say(venue: &mut Venue<'_>, now: Now, from: u8, body: &str, buf: &mut [u8]) -> serde_json::Value {
    let answer = venue.request(now, IpAddr::V4(Ipv4Addr::new(10, 0, 0, from)), Via::Post, body.as_bytes());
    if answer.is_empty() {
        return serde_json::Value::Null;
    }
    let mut sink = Slice::new(buf);
    venue.write_answer(&answer, &mut sink).unwrap();
    serde_json::from_slice(sink.written()).unwrap()
}
