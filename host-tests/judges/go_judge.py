"""Go as the package `sgfmill` has it. Reads a match a line, {"sgf": text}, plays it, and prints who has how much more than the other."""
import json
import sys

from sgfmill import sgf, sgf_moves

for line in sys.stdin:
    game = sgf.Sgf_game.from_string(json.loads(line)["sgf"])
    board, plays = sgf_moves.get_setup_and_moves(game)
    for colour, point in plays:
        if point is not None:
            board.play(*point, colour)
    rows = [[{None: 0, "b": 1, "w": 2}[board.get(row, column)] for column in range(9)] for row in reversed(range(9))]
    root = game.get_root()
    print(json.dumps({"board": rows, "lead": board.area_score() - game.get_komi(), "moves": len(plays), "result": root.get("RE"),
                      "players": [root.get("PB"), root.get("PW")]}), flush=True)
