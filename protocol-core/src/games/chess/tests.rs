extern crate std;
use core::ops::ControlFlow;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use super::board::Move;
use super::*;
use crate::games::testing::{AGENTS, last_move, moves_of, play, result, said, view};

/// The positions with which move generators are tested everywhere (chessprogramming.org, "Perft Results"), and how many games of
/// so many half-moves begin there.
const PERFT: [(&str, &[u64]); 6] = [
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", &[20, 400, 8_902, 197_281, 4_865_609]),
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", &[48, 2_039, 97_862, 4_085_603]),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", &[14, 191, 2_812, 43_238, 674_624]),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", &[6, 264, 9_467, 422_333]),
    ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", &[44, 1_486, 62_379, 2_103_487]),
    ("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", &[46, 2_079, 89_890, 3_894_594]),
];

fn board(fen: &str) -> Board {
    Board::of_fen(fen).unwrap()
}

/// A game at a position.
fn game(fen: &str) -> Chess {
    let board = board(fen);
    let (plies, quiet) = (u16::from(fen.contains(" b ")), fen.split(' ').nth(4).unwrap().parse().unwrap());
    Chess { board, plies, quiet, ..Chess::start(2, &mut Draws::new(Seed([0; 32]))) }
}

fn attempt(game: &mut Chess, text: &str) -> Result<(), Illegal> {
    play(game, game.mover(), &format!(r#"{{"move":"{text}"}}"#), &mut Draws::new(Seed([0; 32])))
}

/// A game after moves.
fn after(moves: &str) -> Chess {
    let mut game = game(PERFT[0].0);
    for made in moves.split_whitespace() {
        assert_eq!(attempt(&mut game, made), Ok(()), "{made}");
    }
    game
}

fn legal(board: &Board) -> Vec<Move> {
    let mut all = Vec::new();
    let _ = board.legal(|made| {
        all.push(made);
        ControlFlow::<()>::Continue(())
    });
    all
}

/// How many games of so many half-moves there are.
fn perft(board: &Board, depth: usize) -> u64 {
    let mut games = 0;
    let _ = board.legal(|made| {
        games += if depth == 1 { 1 } else { perft(&board.after(made), depth - 1) };
        ControlFlow::<()>::Continue(())
    });
    games
}

#[test]
fn from_six_positions_there_are_as_many_games_as_everybody_counts() {
    for (fen, counts) in PERFT {
        for (depth, &games) in (1..).zip(counts) {
            assert_eq!(perft(&board(fen), depth), games, "{fen} to depth {depth}");
        }
    }
}

/// Compares the moves of every position so many half-moves deep, and what becomes of it, with `cozy-chess`. How many there were.
fn compare(ours: &Board, theirs: &cozy_chess::Board, depth: usize) -> u64 {
    let mut listed: Vec<(String, cozy_chess::Move)> = Vec::new();
    theirs.generate_moves(|moves| {
        listed
            .extend(moves.into_iter().map(|made| (cozy_chess::util::display_uci_move(theirs, made).to_string(), made)));
        false
    });
    listed.sort_by(|(a, _), (b, _)| a.cmp(b));
    let name = |made: &Move| {
        let promotion = made.promotion.map_or(String::new(), |kind| kind.letter().to_ascii_lowercase().to_string());
        format!("{}{}{promotion}", made.from, made.to)
    };
    let mut mine: Vec<_> = legal(ours).into_iter().map(|made| (name(&made), made)).collect();
    mine.sort_by(|(a, _), (b, _)| a.cmp(b));
    assert!(mine.iter().map(|(name, _)| name).eq(listed.iter().map(|(name, _)| name)), "{ours}: {mine:?} {listed:?}");
    let fen = theirs.to_string();
    let words = |fen: &str| fen.split(' ').take(3).map(String::from).collect::<Vec<_>>();
    assert_eq!(words(&ours.to_string()), words(&fen));
    assert_eq!(ours.in_check(), !theirs.checkers().is_empty(), "{ours}");
    let mut seen = 1;
    if depth > 0 {
        for ((_, mine), (_, theirs_made)) in mine.iter().zip(&listed) {
            let mut next = theirs.clone();
            next.play_unchecked(*theirs_made);
            seen += compare(&ours.after(*mine), &next, depth - 1);
        }
    }
    seen
}

#[test]
fn cozy_chess_finds_the_same_moves_in_every_position_near_the_six() {
    let seen: u64 = PERFT.iter().map(|(fen, _)| compare(&board(fen), &fen.parse().unwrap(), 2)).sum();
    assert_eq!(seen, 6 + PERFT.iter().map(|(_, counts)| counts[0] + counts[1]).sum::<u64>());
}

#[test]
#[ignore = "minutes: cargo test -p protocol-core --release cozy_chess -- --ignored"]
fn cozy_chess_finds_the_same_moves_in_half_a_million_positions_around_the_six() {
    let seen: u64 = PERFT.iter().map(|(fen, _)| compare(&board(fen), &fen.parse().unwrap(), 3)).sum();
    assert_eq!(seen, 6 + PERFT.iter().map(|(_, counts)| counts[0] + counts[1] + counts[2]).sum::<u64>());
}

#[test]
fn a_fen_that_was_read_is_written_again() {
    for (fen, _) in PERFT {
        let told = view(&game(fen), Viewer::Spectator, AGENTS);
        assert_eq!(
            told["fen"].as_str().unwrap().split(' ').take(5).collect::<Vec<_>>(),
            fen.split(' ').take(5).collect::<Vec<_>>()
        );
    }
}

#[test]
fn whatever_is_listed_is_read_as_the_same_move_by_its_notation_and_by_its_squares() {
    for (fen, _) in PERFT {
        let start = board(fen);
        let boards = legal(&start).into_iter().map(|made| start.after(made)).chain([start.clone()]);
        for board in boards {
            for made in legal(&board) {
                let san = San::of(&board, made).0;
                let promotion = made.promotion.map_or(String::new(), |kind| kind.letter().to_string());
                let sloppy = san.to_string().replace(['x', '=', '+', '#'], "");
                for text in [
                    san.to_string(),
                    format!("{}{}{}", made.from, made.to, promotion.to_lowercase()),
                    format!("{}-{}{promotion}", made.from, made.to),
                    sloppy,
                    format!("{san}!?"),
                ] {
                    assert_eq!(san::read(&board, &text), Ok(made), "{text} in {board}");
                }
                assert_eq!(San::of_bits(San::bits(Some(san))), Some(san));
                assert!(san.to_string().len() < LONGEST);
            }
        }
    }
}

#[test]
fn a_move_that_says_too_little_or_cannot_be_made_is_refused_by_its_rule() {
    let refused = |fen: &str, text: &str| {
        let (mut game, before) = (game(fen), format!("{:?}", game(fen)));
        let Err(Illegal(rule)) = attempt(&mut game, text) else { panic!("{text}") };
        assert_eq!(format!("{game:?}"), before);
        rule
    };
    let start = PERFT[0].0;
    for (fen, text, rule) in [
        ("4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1", "Nd2", "two of your pieces can go there; name the file or rank"),
        ("4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1", "Ncd2", "no piece of yours of that kind"),
        ("4k3/8/8/8/1b6/8/3N4/4K1N1 w - - 0 1", "Nf3", ""),
        ("4k3/8/8/8/1b6/8/3N4/4K1N1 w - - 0 1", "Nb3", "would put your own king in check"),
        ("4k3/8/8/8/1b6/8/8/4K1N1 w - - 0 1", "Nf3", "leaves your king in check"),
        (start, "e5", "no pawn of yours can go there"),
        (start, "Ke2", "a piece of your own stands"),
        (start, "Qd4", "no piece of yours of that kind"),
        (start, "e4e5", "no piece of yours stands"),
        (start, "Qe2e4", "does not stand on the square"),
        (start, "0-0", "while a piece stands between"),
        (start, "e1g1", "while a piece stands between"),
        (start, "e4=Q", "names a promotion"),
        (start, "", "algebraic notation"),
        (start, "--", "algebraic notation"),
        (start, "i9", "algebraic notation"),
        (start, "Nff33", "algebraic notation"),
        (start, "O-O-O-O", "algebraic notation"),
        (start, "\u{e9}4", "algebraic notation"),
        (start, "a very long move", "longer than any move"),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a8", "say what the pawn becomes"),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a8=K", "say what the pawn becomes"),
        ("4k3/8/8/8/8/8/8/4K2R w - - 0 1", "O-O", "can no longer castle"),
        ("4k3/8/8/8/2b5/8/8/4K2R w K - 0 1", "O-O", "out of check, through it or into it"),
        ("4k3/8/8/8/2b5/8/8/4K2R w K - 0 1", "Kg1", "out of check, through it or into it"),
    ] {
        if rule.is_empty() {
            assert_eq!(attempt(&mut game(fen), text), Ok(()), "{text}");
        } else {
            assert!(refused(fen, text).contains(rule), "{text} in {fen}: {}", refused(fen, text));
        }
    }
}

#[test]
fn a_piece_is_told_from_its_twins_by_file_then_by_rank_then_by_both() {
    let listed = |fen: &str| moves_of(&game(fen), 0, 200);
    let has = |fen: &str, san: &str| {
        assert!(listed(fen).contains(&format!(r#"{{"move":"{san}"}}"#)), "{san}: {:?}", listed(fen))
    };
    has("4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1", "Nbd2");
    has("4k3/8/8/R7/8/8/8/R3K3 w - - 0 1", "R1a3");
    has("8/k7/8/8/4Q2Q/8/K7/7Q w - - 0 1", "Qh4e1");
    // A twin that is pinned is none.
    has("4k3/8/8/8/1b6/2N5/8/4K1N1 w - - 0 1", "Ne2");
}

#[test]
fn a_move_may_be_sent_as_an_object_a_text_or_a_list_with_one() {
    for wanted in [r#"{"move":"Nf3"}"#, r#""Nf3""#, r#"["Nf3"]"#, r#"{"move":"\u004ef3"}"#, r#"" Nf3 ""#, r#""g1f3""#] {
        let mut game = after("");
        assert_eq!(play(&mut game, 0, wanted, &mut Draws::new(Seed([0; 32]))), Ok(()), "{wanted}");
        assert_eq!(last_move(&game, 0).to_string(), r#"{"move":"Nf3"}"#);
        assert!(last_move(&game, 1).is_null());
    }
}

#[test]
fn the_fools_mate_is_one_and_black_has_won() {
    let game = after("f3 e5 g4 Qh4");
    assert_eq!(game.end, Some(End::Checkmate));
    assert_eq!(game.standing().unwrap().winner(), Some(1));
    assert_eq!(said(|f| game.reason(AGENTS, f)), "AgentBeta has mated AgentAlpha in 2 moves");
    assert_eq!(said(|f| game.summary(AGENTS, f)), "Move 2: AgentBeta played Qh4# and wins!");
    assert_eq!(said(|f| game.export(f)), "4,checkmate");
    assert_eq!(result(&game, AGENTS), r#"{"total_moves":4,"ended_by":"checkmate"}"#);
    assert!(moves_of(&game, 0, 1).is_empty());
}

#[test]
fn stalemate_fifty_moves_and_too_little_material_are_draws_by_themselves() {
    for (fen, made, end) in [
        ("k7/8/1K6/8/8/8/8/2Q5 w - - 0 1", "Qc7", Some(End::Stalemate)),
        ("k7/8/8/8/8/8/8/K6R w - - 98 80", "Rh2", None),
        ("k7/8/8/8/8/8/8/K6R w - - 99 80", "Rh2", Some(End::FiftyMoves)),
        // A pawn that moves, or a mate, comes before the count.
        ("k7/8/8/8/8/8/P7/K6R w - - 99 80", "a3", None),
        ("k7/8/K7/8/8/8/8/7R w - - 99 80", "Rh8", Some(End::Checkmate)),
        ("k7/8/8/8/8/8/7p/K6R w - - 0 1", "Rxh2", None),
        ("1k6/8/8/8/8/8/7n/K6B w - - 0 1", "Be4", None),
        ("k7/8/8/8/8/8/1p6/K7 w - - 0 1", "Kxb2", Some(End::Material)),
        ("k7/8/8/8/8/8/1p6/K5N1 w - - 0 1", "Kxb2", Some(End::Material)),
        ("k7/8/8/8/8/8/1p6/K4B2 w - - 0 1", "Kxb2", Some(End::Material)),
        ("k7/8/8/8/8/8/1p6/K3NN2 w - - 0 1", "Kxb2", None),
        // Bishops on one colour, however many there are; on both, there can be a mate.
        ("k1b5/8/8/8/8/8/1p6/K4B2 w - - 0 1", "Kxb2", Some(End::Material)),
        ("kb6/8/8/8/8/8/1p6/K4B2 w - - 0 1", "Kxb2", None),
        ("k7/8/8/8/8/8/1p6/K3BB2 w - - 0 1", "Kxb2", None),
    ] {
        let mut game = game(fen);
        assert_eq!(attempt(&mut game, made), Ok(()), "{made}");
        assert_eq!(game.end, end, "{made} in {fen}");
        assert_eq!(
            game.standing().is_some_and(|standing| standing.winner().is_none()),
            end.is_some_and(|end| end != End::Checkmate)
        );
    }
}

#[test]
fn a_position_that_comes_for_the_third_time_ends_the_game_and_for_the_second_time_it_does_not() {
    let mut game = after("Nf3 Nf6 Ng1 Ng8");
    assert_eq!(game.position().map(|position| position.digest), after("").position().map(|position| position.digest));
    assert_eq!(game.comes_again(2), Ok(()));
    assert!(game.standing().is_none());
    assert_eq!(game.comes_again(3), Ok(()));
    assert_eq!((game.end, game.standing().unwrap().winner()), (Some(End::Repetition), None));
    // What ended otherwise stays as it ended.
    let mut mated = after("f3 e5 g4 Qh4");
    assert_eq!(mated.comes_again(3), Ok(()));
    assert_eq!(mated.end, Some(End::Checkmate));
}

#[test]
fn a_position_is_another_one_if_other_castling_or_taking_in_passing_is_possible() {
    let digest = |game: &Chess| game.position().unwrap().digest;
    let wandered = after("Nf3 Nf6 Rg1 Ng8 Rh1 Nf6 Ng1 Ng8");
    assert_ne!(digest(&wandered), digest(&after("")));
    // Nobody can take on e3, so that the pawn went two squares makes no difference.
    assert_eq!(digest(&after("e4")), board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1").digest());
    let passing = after("e4 a6 e5 d5");
    assert!(passing.board.to_string().ends_with(" d6"));
    assert_ne!(
        digest(&passing),
        digest(&Chess { board: passing.board.after(legal(&passing.board)[0]), ..passing.clone() })
    );
    assert!(after("e4 a6 e5 d5 exd6").board.to_string().starts_with("rnbqkbnr/1pp1pppp/p2P4/8/"));
    // The pawn that could take is pinned: then it could not.
    let pinned = game("4r1k1/3p4/8/4P3/8/8/8/4K3 b - - 0 1");
    assert!(pinned.board.after(san::read(&pinned.board, "d5").unwrap()).to_string().ends_with(" -"));
    assert!(after("e4").position().unwrap().is_new && !after("Nf3").position().unwrap().is_new);
}

#[test]
fn a_player_sees_the_board_what_was_taken_and_what_it_may_do() {
    let game = after("e4 d5 exd5 Qxd5 Nc3 Qe5");
    let seen = view(&game, Viewer::Seat(0), AGENTS);
    assert_eq!(seen["fen"], "rnb1kbnr/ppp1pppp/8/4q3/8/2N5/PPPP1PPP/R1BQKBNR w KQkq - 2 4");
    assert_eq!((&seen["check"], &seen["turn"], &seen["to_move"]), (&true.into(), &"white".into(), &"uuid-1".into()));
    assert_eq!(seen["captured"], serde_json::json!({"white": "P", "black": "P"}));
    let last = serde_json::json!({"player": "uuid-2", "san": "Qe5+", "from": "d5", "to": "e5"});
    assert_eq!(seen["last_move"], last);
    assert_eq!(
        seen["legal_moves"],
        serde_json::json!(["Qe2", "Be2", "Nge2", "Ne4", "Nce2"]),
        "{}",
        seen["legal_moves"]
    );
    assert_eq!(seen["board"][0][0], "r");
    assert_eq!(
        (&seen["your_color"], &view(&game, Viewer::Seat(1), AGENTS)["your_color"]),
        (&"white".into(), &"black".into())
    );
    assert!(view(&game, Viewer::Seat(1), AGENTS)["legal_moves"].is_null());
}

#[test]
fn a_match_is_written_down_as_pgn() {
    let mut game = after("f3 e5 g4 Qh4");
    let table = Table(&[
        crate::games::Sitter { id: "P01", name: "A \"B\" \\", note: "", said: "" },
        crate::games::Sitter { id: "P02", name: "", note: "", said: "" },
    ]);
    let parts = |end: &Chess| {
        let so_far = ["f3", "f3 e5", "f3 e5 g4", "f3 e5 g4 Qh4"].map(after);
        let moves = (1..).zip(&so_far).map(|(number, game)| (game, Part::Move(number)));
        let all = [(end, Part::Head("R1M1"))].into_iter().chain(moves).chain([(end, Part::End)]);
        all.map(|(game, part)| said(|f| game.write_down(part, table, f))).collect::<String>()
    };
    let head = |result: &str, termination: &str| {
        format!(
            "[Event \"LeagueBox\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"R1M1\"]\n[White \"A \\\"B\\\" \\\\\"]\n\
             [Black \"P02\"]\n[Result \"{result}\"]\n[Termination \"{termination}\"]\n\n1. f3 e5 2. g4 Qh4# "
        )
    };
    assert_eq!(parts(&game), head("0-1", "normal") + "{checkmate} 0-1\n");
    game.end = Some(End::Material);
    assert!(parts(&game).ends_with("{insufficient_material} 1/2-1/2\n"));
    game.forfeit(Seats::only(1), &mut Draws::new(Seed([0; 32])));
    assert_eq!(parts(&game), head("1-0", "abandoned") + "{forfeit} 1-0\n");
    game.end = None;
    assert_eq!(parts(&game), head("*", "unterminated") + "*\n");
}
