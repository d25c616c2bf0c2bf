//! What nobody may see: tokens and the admin code ever, and the seed of a match while it is played.

use host_tests::crowd::Crowd;
use host_tests::leaguebox::LeagueBox;
use host_tests::settings::Settings;
use host_tests::wait_for;

const PLAYERS: usize = 4;

/// Everything the box shows without being told who asks.
fn pages(leaguebox: &LeagueBox) -> String {
    let players = (1..=PLAYERS).map(|number| format!("/api/players/P{number:02}.json"));
    let matches = (1..=3).flat_map(|round| [1, 2].map(|table| format!("/api/matches/R{round}M{table}.json")));
    let pages = ["/", "/skill.md", "/health", "/.well-known/agent.json"].map(String::from);
    let lists =
        ["status", "standings", "schedule", "players", "settings", "leagues"].map(|name| format!("/api/{name}.json"));
    let exports = ["/api/results.csv", "/api/log.jsonl"].map(String::from);
    let all = players.chain(matches).chain(pages).chain(lists).chain(exports);
    all.map(|path| {
        let page = leaguebox.get(&path);
        assert_eq!(page.status, 200, "{path}");
        page.body
    })
    .collect()
}

#[test]
fn no_page_log_or_export_shows_a_token_the_admin_code_or_the_seed_of_a_running_match() {
    let leaguebox = LeagueBox::start(Settings::default());
    let mut crowd = Crowd::new();
    crowd.hold();
    crowd.enlist(&leaguebox, PLAYERS);
    assert_eq!(leaguebox.admin("start").status, 200);
    wait_for("both matches of the round are being played", || {
        let asked = crowd.events().iter().filter(|event| event.is("CHOOSE_PARITY_CALL")).count();
        (asked == PLAYERS).then_some(())
    });
    let during = pages(&leaguebox);
    crowd.release();
    crowd.wait_for_the_end();
    let after = pages(&leaguebox);
    let told = crowd.events();
    let seeds: Vec<&str> = told.iter().filter_map(|event| event.message["match_seed"].as_str()).collect();
    assert_eq!(seeds.len(), 12, "both players of six matches are told the seed");
    for seed in seeds {
        assert!(!during.contains(seed), "the seed of a match that was not over");
        assert!(after.contains(seed), "what is over is open");
    }
    for member in &crowd.members {
        let (_, secret) = member.token.rsplit_once('_').expect("a prefix, and the secret");
        assert_eq!((secret.len(), secret.bytes().all(|byte| byte.is_ascii_hexdigit())), (32, true), "128 bits");
        assert!(!during.contains(secret) && !after.contains(secret), "the token of {}", member.id);
    }
    let mut tokens: Vec<&str> = crowd.members.iter().map(|member| member.token.as_str()).collect();
    tokens.dedup();
    assert_eq!(tokens.len(), PLAYERS);
    assert!(!during.contains(&leaguebox.admin_code) && !after.contains(&leaguebox.admin_code));
}
