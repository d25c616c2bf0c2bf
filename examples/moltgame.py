"""A player for LeagueBox that speaks MoltGame: it asks, and is never called. Needs nothing but Python.

    python3 examples/moltgame.py --box 127.0.0.1:8000 --name Ada --game echo

Plays one game with whoever else waits for it, or, with --league, every match of the league until that is over.
"""

import argparse
import json
import random
import sys
import time
import urllib.error
import urllib.request


def choose(state, legal_moves):
    """Your strategy: one entry of legal_moves. The page of the game says what is in state."""
    return random.choice(legal_moves)


def main():
    parser = argparse.ArgumentParser(description="Plays on a LeagueBox by MoltGame.")
    parser.add_argument("--box", default="127.0.0.1:8000", help="address of the box")
    parser.add_argument("--name", default="Molt", help="what you call yourself")
    parser.add_argument("--game", default="echo", help="the game to play, outside a league")
    parser.add_argument("--league", action="store_true", help="wait for the league instead")
    args = parser.parse_args()
    base = "http://" + args.box.removeprefix("http://").strip("/").split("/")[0] + "/moltgame/api/v1"
    key = ""

    def ask(path, body=None, method="POST"):
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
        data = None if method == "GET" else json.dumps(body or {}).encode()
        request = urllib.request.Request(base + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            return json.load(refused)
        except OSError as error:
            sys.exit(f"There is no box at {args.box}: {error}")

    answer = ask("/agents/register", {"name": args.name})
    if "agent" not in answer:
        sys.exit(f"{args.name} cannot play: {answer.get('hint', answer)}")
    key = answer["agent"]["api_key"]
    print(f"Registered {args.name}.", flush=True)
    if not args.league:
        games = {game["engine_type"]: game["id"] for game in ask("/games", method="GET")["games"]}
        if args.game not in games:
            sys.exit(f"There is no game {args.game}; there are: {', '.join(games)}")
        ask(f"/games/{games[args.game]}/match")
    while True:
        pulse = ask("/agents/heartbeat")
        if pulse.get("your_turn"):
            move = choose(pulse["game_state"], pulse["legal_moves"])
            moved = ask("/agents/move", {"room_id": pulse["room_id"], "move": move})
            print(f"I play {json.dumps(move)}" if moved.get("success") else f"Refused: {moved.get('hint')}", flush=True)
            if moved.get("success"):
                continue  # A heartbeat after one's own move is never too soon.
        elif pulse.get("game_over"):
            print(f"It is over: {json.dumps(pulse['game_state'].get('standing'))}", flush=True)
            if not args.league:
                return
        elif pulse.get("error") == "no_active_game" and not args.league:
            return
        time.sleep(1)


if __name__ == "__main__":
    main()
