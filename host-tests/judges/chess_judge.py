"""Chess as the package `chess` has it. Reads a match a line and prints what it finds wrong, or what it makes of it.

{"plies": [[fen, [legal moves in SAN], the one that was made]], "fen": at the end, "ended_by": name}   a match of the box's rules
{"pgn": text}                                                                                         one that the box wrote down
"""
import io
import json
import sys

import chess
import chess.pgn


def ending(board):
    """Why a game is over, by the names of the box; None while it goes on."""
    if board.is_checkmate():
        return "checkmate"
    if board.is_stalemate():
        return "stalemate"
    if board.is_insufficient_material():
        return "insufficient_material"
    if board.halfmove_clock >= 100:
        return "fifty_moves"
    if board.is_repetition(3):
        return "threefold_repetition"
    return None


def replayed(told):
    board, moves = chess.Board(), 0
    for fen, legal, made in told["plies"]:
        if board.fen() != fen:
            return {"wrong": f"{fen} should be {board.fen()}"}
        if ending(board):
            return {"wrong": f"{fen} is the end: {ending(board)}"}
        listed = sorted(map(board.san, board.legal_moves))
        if listed != sorted(legal):
            return {"wrong": f"in {fen} {sorted(legal)} should be {listed}"}
        moves += len(legal)
        board.push_san(made)
    if (board.fen(), ending(board)) != (told["fen"], told["ended_by"]):
        return {"wrong": f"{told['fen']} {told['ended_by']} should be {board.fen()} {ending(board)}"}
    return {"moves": moves}


def read(pgn):
    game = chess.pgn.read_game(io.StringIO(pgn))
    board = game.end().board()
    return {"errors": list(map(str, game.errors)), "headers": dict(game.headers), "plies": board.ply(), "fen": board.fen(),
            "result": board.result(), "ended_by": ending(board), "comment": game.end().comment}


for line in sys.stdin:
    told = json.loads(line)
    print(json.dumps(read(told["pgn"]) if "pgn" in told else replayed(told)), flush=True)
