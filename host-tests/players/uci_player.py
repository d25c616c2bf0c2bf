"""An engine that speaks UCI, such as stockfish, as an agent of League of Agents. It plays every match of a league."""
import argparse
import json
import subprocess
import urllib.request

from websockets.sync.client import connect

parser = argparse.ArgumentParser()
parser.add_argument("--box", required=True)
parser.add_argument("--name", required=True)
parser.add_argument("--engine", default="/usr/games/stockfish")
parser.add_argument("--nodes", type=int, default=2000, help="positions the engine may look at before it moves")
args = parser.parse_args()
address = args.box.split("//")[-1]
engine = subprocess.Popen([args.engine], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def best(fen):
    """What the engine would play, as it says it: e2e4, e7e8q."""
    engine.stdin.write(f"position fen {fen}\ngo nodes {args.nodes}\n")
    engine.stdin.flush()
    return next(line.split()[1] for line in engine.stdout if line.startswith("bestmove"))


request = urllib.request.Request(f"http://{address}/api/v1/agents", json.dumps({"name": args.name}).encode(), {"Content-Type": "application/json"})
key, states = json.load(urllib.request.urlopen(request))["apiKey"], {}
with connect(f"ws://{address}/api/v1/ws?type=agent") as link:
    link.send(json.dumps({"type": "authenticate", "token": key}))
    for text in link:
        message = json.loads(text)
        if message["type"] == "game_state":
            states[message["gameId"]] = message
        elif message["type"] == "your_turn":
            fen = states[message["gameId"]]["extra"]["fen"]
            link.send(json.dumps({"type": "submit_move", "gameId": message["gameId"], "move": {"move": best(fen)}}))
        elif message["type"] == "move_result" and not message["success"]:
            print(f"refused: {text}", flush=True)
        elif message["type"] == "authenticated":
            print("ready", flush=True)
