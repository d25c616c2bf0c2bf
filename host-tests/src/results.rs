//! The league's table, computed a second time from `/api/results.csv` by nothing but the rules.

use std::collections::BTreeMap;

/// One line of the export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row(BTreeMap<String, String>);

impl Row {
    /// Who plays, and the letter of the seat that the columns of each end with.
    pub fn players(&self) -> impl Iterator<Item = (char, &str)> {
        ('a'..='d').filter_map(|seat| Some((seat, self.0.get(&format!("player_{seat}"))?.as_str())))
    }

    /// A column, which must exist.
    pub fn get(&self, column: &str) -> &str {
        self.0.get(column).unwrap_or_else(|| panic!("no column {column} in {:?}", self.0))
    }
}

/// Reads the export; the first line names the columns.
pub fn parse(csv: &str) -> Vec<Row> {
    let csv = csv.trim_start_matches('\u{feff}');
    let mut lines = csv.lines().filter(|line| !line.is_empty()).map(fields);
    let header = lines.next().expect("a header line");
    lines
        .map(|line| {
            assert_eq!(line.len(), header.len(), "as many fields as columns: {line:?}");
            Row(header.iter().cloned().zip(line).collect())
        })
        .collect()
}

fn fields(line: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => all.push(String::new()),
            _ => all.last_mut().expect("never empty").push(character),
        }
    }
    all
}

/// What one player has achieved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Who.
    pub player_id: String,
    /// Matches finished.
    pub played: u64,
    /// Matches won.
    pub wins: u64,
    /// Matches drawn.
    pub draws: u64,
    /// Matches lost, technically or not.
    pub losses: u64,
    /// Three for a win, one for a draw.
    pub points: u64,
    technical_losses: u64,
}

/// The table: points, then points among those level, then wins, then Sonneborn-Berger, then fewer technical losses, then id.
pub fn standings(rows: &[Row]) -> Vec<Standing> {
    let mut table: BTreeMap<&str, Standing> = BTreeMap::new();
    for row in rows {
        for (seat, me) in row.players() {
            let entry = table.entry(me).or_insert_with(|| Standing { player_id: me.to_owned(), ..Default::default() });
            entry.played += 1;
            entry.points += points(row, seat);
            match points(row, seat) {
                3 => entry.wins += 1,
                1 => entry.draws += 1,
                _ => entry.losses += 1,
            }
            if row.get("status") == "TECHNICAL_LOSS" && points(row, seat) == 0 {
                entry.technical_losses += 1;
            }
        }
    }
    let mut order: Vec<Standing> = table.into_values().collect();
    let level: BTreeMap<String, u64> = order.iter().map(|entry| (entry.player_id.clone(), entry.points)).collect();
    let mut among_level: BTreeMap<&str, u64> = BTreeMap::new();
    // The points of everybody one beat, twice, and of everybody one drew with.
    let mut beaten: BTreeMap<&str, u64> = BTreeMap::new();
    for row in rows {
        for (seat, me) in row.players() {
            if row.players().any(|(_, other)| other != me && level.get(other) == level.get(me)) {
                *among_level.entry(me).or_default() += points(row, seat);
            }
            for (other_seat, other) in row.players().filter(|(other, _)| *other != seat) {
                let times = match (points(row, seat), points(row, other_seat)) {
                    (mine, theirs) if mine > theirs => 2,
                    (1, 1) => 1,
                    _ => 0,
                };
                *beaten.entry(me).or_default() += times * level.get(other).copied().unwrap_or(0);
            }
        }
    }
    order.sort_by_cached_key(|entry| {
        let down = std::cmp::Reverse;
        let head_to_head = among_level.get(entry.player_id.as_str()).copied().unwrap_or(0);
        // P99 comes before P100.
        let id = (entry.player_id.len(), entry.player_id.clone());
        let beaten = beaten.get(entry.player_id.as_str()).copied().unwrap_or(0);
        (down(entry.points), down(head_to_head), down(entry.wins), down(beaten), entry.technical_losses, id)
    });
    order
}

/// By status and winner alone; the box's own `points_a` and `points_b` are checked against it. Of four only those who are
/// level in front draw.
fn points(row: &Row, seat: char) -> u64 {
    match (row.get("status"), row.get("winner")) {
        (_, winner) if winner == row.get(&format!("player_{seat}")) => 3,
        ("DRAW", _) if row.players().count() == 2 || ahead(row).contains(&seat) => 1,
        _ => 0,
    }
}

/// Who of four dancers is in front: the last one standing, or those with the most points.
pub fn ahead(row: &Row) -> Vec<char> {
    if let [alone] = row.get("standing").as_bytes() {
        return vec![char::from(alone.to_ascii_lowercase())];
    }
    let score = |seat: char| row.get(&format!("score_{seat}")).parse::<u64>().expect("a number");
    let most = ('a'..='d').map(score).max();
    ('a'..='d').filter(|&seat| Some(score(seat)) == most).collect()
}

/// Fails the test unless the points the box wrote beside each match follow from its status and winner.
pub fn assert_points_follow(rows: &[Row]) {
    for row in rows {
        for (seat, _) in row.players() {
            assert_eq!(row.get(&format!("points_{seat}")), points(row, seat).to_string(), "points_{seat} of {row:?}");
        }
    }
}

/// The standings of the box, in its order, in our shape.
pub fn published(standings: &serde_json::Value) -> Vec<Standing> {
    let rows = standings["standings"].as_array().unwrap_or_else(|| panic!("no standings in {standings}"));
    let number = |row: &serde_json::Value, field: &str| {
        row[field].as_u64().unwrap_or_else(|| panic!("no number {field} in {row}"))
    };
    for (place, row) in rows.iter().enumerate() {
        assert_eq!(number(row, "rank"), place as u64 + 1, "ranks are distinct and in order: {row}");
    }
    rows.iter()
        .map(|row| Standing {
            player_id: row["player_id"].as_str().unwrap_or_default().to_owned(),
            played: number(row, "played"),
            wins: number(row, "wins"),
            draws: number(row, "draws"),
            losses: number(row, "losses"),
            points: number(row, "points"),
            technical_losses: 0,
        })
        .collect()
}

/// The rows of `/api/standings.json` as agents and past leagues have them: without the places, which are for people, who
/// share one where only the id decides.
pub fn without_places(page: &serde_json::Value) -> serde_json::Value {
    let mut rows = page["standings"].clone();
    for row in rows.as_array_mut().expect("standings") {
        row.as_object_mut().and_then(|row| row.remove("place")).expect("a place");
    }
    rows
}

/// Fails the test unless the published table is the recomputed one.
pub fn assert_standings_follow(published_json: &serde_json::Value, rows: &[Row]) {
    let mut ours = standings(rows);
    for entry in &mut ours {
        entry.technical_losses = 0;
    }
    assert_eq!(published(published_json), ours);
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "round_id,match_id,player_a,player_b,status,winner,points_a,points_b,end_reason";

    #[test]
    fn level_players_are_ordered_by_their_own_matches() {
        let rows = parse(&format!(
            "{HEADER}\n1,R1M1,P01,P02,WIN,P02,0,3,\n1,R1M2,P03,P04,WIN,P03,3,0,\n2,R2M1,P03,P01,WIN,P01,0,3,\n\
             2,R2M2,P04,P02,WIN,P04,3,0,\"quoted, with a comma\"\n3,R3M1,P04,P01,DRAW,,1,1,\n3,R3M2,P03,P02,DRAW,,1,1,\n"
        ));
        assert_points_follow(&rows);
        // All have 4 points and met each other: head-to-head and wins are level too, the id decides.
        let order: Vec<_> = standings(&rows).into_iter().map(|entry| entry.player_id).collect();
        assert_eq!(order, ["P01", "P02", "P03", "P04"]);
    }

    #[test]
    fn two_silent_players_both_lose() {
        let table = standings(&parse(&format!("{HEADER}\n1,R1M1,P01,P02,TECHNICAL_LOSS,,0,0,\n")));
        assert!(table.iter().all(|entry| entry.losses == 1 && entry.points == 0 && entry.technical_losses == 1));
    }
}
