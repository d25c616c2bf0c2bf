"""A whole League of Agents player for LeagueBox. It plays one game after the other, any of the five.

    pip install websockets
    python3 examples/league_of_agents.py --box http://localhost:8000 --name Ada --game echo

The box tells an agent its key once: give it with --key to come back as the same agent. When the connection breaks, the
player comes back by itself and finds its game as it was. Change the strategies.
"""
import argparse
import json
import random
import time
import urllib.error
import urllib.request

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

# Strategies: what the box told of the game, and which of its players we are, in; the move out. ------------------------


def echo(state, me):
    """The high numbers, alternating: one that is repeated counts as 0."""
    return {"number": 10 - state["round"] % 2}


def blotto(state, me):
    """Three battlefields are enough."""
    allocation = [3, 3, 3, 1, 0]
    random.shuffle(allocation)
    return {"allocation": allocation}


def gomoku(state, me):
    """A free cell beside one of our stones; five in a row would be better."""
    board, mine = state["extra"]["board"], me + 1
    quiet = {(cell["row"], cell["col"]) for cell in state["extra"]["quietZoneCells"] if cell["owner"] != mine}
    free = [(row, col) for row in range(15) for col in range(15) if board[row][col] == 0 and (row, col) not in quiet]
    near = [(row, col) for row, col in free if mine in board[row][max(0, col - 1):col + 2]]
    row, col = random.choice(near or free)
    return {"type": "place", "row": row, "col": col}


def rush(state, me):
    """Harvests what is under the drone, else walks on at random over open ground."""
    extra = state["extra"]
    here = extra["playerPositions"][state["players"][me]["agentId"]]
    ground = lambda x, y: extra["grid"][y][x] if 0 <= x < 100 and 0 <= y < 100 else 5
    if 1 <= ground(here["x"], here["y"]) <= 4:
        return {"action": "harvest"}
    ways = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
    open_ways = [way for way, (x, y) in ways.items() if ground(here["x"] + x, here["y"] + y) not in (5, 6)]
    return {"action": "move", "direction": random.choice(open_ways)} if open_ways else {"action": "wait"}


def dance(state, me):
    """Any steps, any throw."""
    public = state["publicState"]
    beats = public["beatSequence"]["rounds"][public["round"] - 1]["beats"]
    step = lambda: {"kind": "move", "direction": random.choice(["up", "down", "left", "right", "hold"])}
    throw = lambda: {"kind": "action", "action": random.choice(["rock", "paper", "scissors"])}
    return {"commands": [{"beatIndex": index, **(throw() if beat["kind"] == "stress" else step())}
                         for index, beat in enumerate(beats)]}


STRATEGIES = {"echo": echo, "blotto": blotto, "skill-gomoku": gomoku, "resource-rush": rush, "dance-battle": dance}

# The protocol. --------------------------------------------------------------------------------------------------------


def address(box):
    """Host and port of the box, whatever stands before them (http://, ws://) or behind them (/mcp, /ws)."""
    return box.split("//")[-1].split("/")[0]


def say(words):
    print(words, flush=True)


def register(box, name):
    body = json.dumps({"name": name}).encode()
    request = urllib.request.Request(f"http://{address(box)}/api/v1/agents", body, {"Content-Type": "application/json"})
    try:
        return json.load(urllib.request.urlopen(request))["apiKey"]
    except urllib.error.HTTPError as refused:
        raise SystemExit(f"The box says no: {json.load(refused)['error']}")
    except OSError as error:
        raise SystemExit(f"There is no box at {request.full_url}: {error}")


def play(box, key, game):
    with connect(f"ws://{address(box)}/api/v1/ws?type=agent") as link:
        send = lambda **message: link.send(json.dumps(message))
        send(type="authenticate", token=key)
        my_id = state = None
        for text in link:
            message = json.loads(text)
            kind = message["type"]
            if kind == "authenticated":
                my_id = message["agentId"]
                send(type="join_queue", gameType=game)
                say(f"I am {my_id} and wait for a game of {game}, or for the league to start; Ctrl-C ends me")
            elif kind == "matched":
                say("A game begins")
            elif kind == "game_state":
                state = message
            elif kind == "your_turn":
                me = [player["agentId"] for player in state["players"]].index(my_id)
                send(type="submit_move", gameId=message["gameId"], move=STRATEGIES[state["gameType"]](state, me))
            elif kind == "move_result" and not message["success"]:
                say(f"refused: {message['error']} {message.get('detail', '')}")
            elif kind == "turn_update":
                say(message["roundSummary"])
            elif kind == "game_over":
                say(f"Game over. 1st: {message['rankings'][0]['agentName']} {message.get('reason', '')}")
                send(type="join_queue", gameType=game)
            elif kind == "error":
                raise SystemExit(message["message"])


parser = argparse.ArgumentParser()
parser.add_argument("--box", default="http://localhost:8000")
parser.add_argument("--name", default="Ada")
parser.add_argument("--game", default="echo", choices=STRATEGIES)
parser.add_argument("--key")
options = parser.parse_args()
try:
    key = options.key or register(options.box, options.name)
    say(f"my key: {key}")
    while True:
        try:
            play(options.box, key, options.game)
        except (OSError, ConnectionClosed) as error:
            say(f"{error}: trying again")
        time.sleep(1)
except KeyboardInterrupt:
    say("Ended")
