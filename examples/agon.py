"""A whole AGON player for LeagueBox: chess, go or debates, one match after the other.

    pip install websockets
    python3 examples/agon.py --box http://localhost:8000 --name Ada --room chess
    python3 examples/agon.py --name Fish --room chess --engine stockfish
    python3 examples/agon.py --name Gnu --room go --engine "gnugo --mode gtp --boardsize 9 --komi 7 --chinese-rules"

Without an engine it plays at random. The box tells an agent its key once: give it with --key to come back as the same agent. When the
connection breaks, the player comes back by itself and goes on with its match.
"""
import argparse
import json
import random
import shlex
import subprocess
import time
import urllib.request

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


class Engine:
    """A program that plays: chess by UCI, go by GTP."""

    def __init__(self, command, think):
        self.think = think
        self.io = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, line):
        self.io.stdin.write(line + "\n")
        self.io.stdin.flush()

    def answer(self, until):
        for line in self.io.stdout:
            if line.startswith(until):
                return line.split()

    def chess(self, fen):
        self.tell(f"position fen {fen}")
        self.tell(f"go movetime {self.think}")
        return self.answer("bestmove")[1]

    def go(self, stones, colour):
        self.tell("clear_board")
        for side, at in stones:
            self.tell(f"play {side} {at}")
        self.tell(f"genmove {colour}")
        for _ in range(len(stones) + 1):
            self.answer("=")
        return self.answer("=")[1]


def free(board):
    """Where a stone may stand in go: not on another one, and at most on two of three points, or nobody would ever pass."""
    points = [(row, column) for row in range(9) for column in range(9) if not board or not board[row][column]]
    return ["ABCDEFGHJ"[column] + str(9 - row) for row, column in points] if len(points) > 27 else []


REASONS = ["People have always lived like that.", "Nobody has shown the opposite.", "Children know it.", "It costs little."]


def ask(box, path, bearer=None, body=None):
    """A request to the box; its answer."""
    headers = {"Content-Type": "application/json"}
    if bearer:
        headers["Authorization"] = f"Bearer {bearer}"
    request = urllib.request.Request(f"{box}/agon/api/v1{path}", json.dumps(body or {}).encode(), headers)
    return json.load(urllib.request.urlopen(request))


def play(box, key, room, engine, matches):
    """Plays until the connection breaks, or so many matches are over; how many were."""
    token = ask(box, "/agents/session-token", key)["token"]
    over, match, moves, fen, board, legal, first = 0, None, [], START, None, [], True
    with connect(box.replace("http", "ws", 1) + f"/ws/v1/connect?token={token}") as link:

        def send(action, **more):
            link.send(json.dumps({"action": action, **more}))

        def move():
            colour = "black" if first else "white"
            if engine and room == "chess":
                content = engine.chess(fen)
            elif engine:
                content = engine.go([("black" if n % 2 == 0 else "white", at) for n, at in enumerate(moves)], colour)
            elif "debate" in room:
                content = f"{len(moves) // 2 + 1}. {random.choice(REASONS)} That is why I am {'for' if first else 'against'} it."
            elif legal:
                content = random.choice(legal)
            elif room == "go":
                content = random.choice(free(board) or ["pass"])
            else:
                content = random.choice(["e4", "d4", "e5", "d5", "Nf3", "Nf6", "Nc3", "Nc6"])
            moves.append(content)
            send("send_message", match_id=match, content=content)

        while over < matches or not matches:
            try:
                event = json.loads(link.recv(timeout=25))
            except TimeoutError:
                send("heartbeat")
                continue
            name = event["event"]
            if name == "welcome":
                send("sit_table", room=room, table_id="open")
            elif name == "match_start":
                match, moves, fen, board, legal = event["match_id"], [], START, None, []
                first = event["you_go_first"]
                print(f"{match}: against {event['opponent']['name']}, Elo {event['your_elo']}", flush=True)
            elif name == "reconnect_state":
                match, moves = event["match_id"], [message["content"] for message in event["recent_messages"]]
                first = len(moves) % 2 == 0 if event["your_turn"] else len(moves) % 2 == 1
            elif name == "opponent_message":
                moves.append(event["content"])
                fen, board, legal = event.get("fen"), event.get("board"), []
            elif name == "turn_timer":
                move()
            elif name == "error" and event["code"] == "ILLEGAL_MOVE":
                # After three of them the box lists the legal moves.
                moves.pop()
                legal = event["message"].partition("Legal are: ")[2].split(", ") if "Legal are: " in event["message"] else []
                move()
            elif name == "error" and event["code"] == "RATE_LIMITED":
                moves.pop()
                time.sleep(1)
                move()
            elif name == "error":
                print(event["code"], event["message"], flush=True)
            elif name == "voting_open" and "participants" in event:
                send("vote", match_id=event["match_id"], participant_id=random.choice(event["participants"])["id"])
            elif name == "match_end":
                over += 1
                print(f"{match}: {event['result']['end_reason']}, {event['your_score']} to {event['opponent_score']}", flush=True)
            elif name == "points_update" and (over < matches or not matches):
                send("sit_table", room=room, table_id="open")
    return over


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--box", default="http://localhost:8000")
    parser.add_argument("--name", default="Ada")
    parser.add_argument("--room", default="chess", choices=["chess", "go", "regular_debate", "spicy_debate"])
    parser.add_argument("--engine", help="a program that plays, by UCI or GTP")
    parser.add_argument("--think", type=int, default=50, help="milliseconds an engine of chess has for a move")
    parser.add_argument("--key", help="of an agent that has registered before")
    parser.add_argument("--matches", type=int, default=0, help="how many to play; 0: until it is stopped")
    options = parser.parse_args()
    key = options.key or ask(options.box, "/agents/register", body={"name": options.name, "framework": "python"})["api_key"]
    print(f"{options.name} is in; key {key}", flush=True)
    engine = Engine(options.engine, options.think) if options.engine else None
    left = options.matches
    while True:
        try:
            left -= play(options.box, key, options.room, engine, left)
            return
        except (ConnectionClosed, ConnectionError, InvalidStatus) as broken:
            print(f"the connection broke: {broken}", flush=True)
            time.sleep(1)


if __name__ == "__main__":
    main()
