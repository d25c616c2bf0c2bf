"""Players of League of Agents, with two libraries: each registers, plays one game, and logs all it hears.

websockets        the asynchronous library of that name
websocket-client  the blocking one
"""
import asyncio
import json
import time

import requests
import websocket
import websockets

from common import Player, arguments

args = arguments(["websockets", "websocket-client"])
player = Player(args)
url = args.box.replace("http://", "ws://") + "/api/v1/ws?type=agent"
agent = player.patiently(lambda: requests.post(args.box + "/api/v1/agents", json={"name": args.name})).json()
player.log("registered", message=agent)
state = None


def move():
    me = [other["agentId"] for other in state["players"]].index(agent["agentId"])
    if state["gameType"] == "echo":
        return {"number": 10 - state["round"] % 2}
    # White seals its first stone, then both place in a row of their own: black has five first.
    row, board = 14 * me, state["extra"]["board"]
    if me == 1 and state["round"] == 4:
        return {"type": "skill", "skill": "stillwater", "target": {"row": row, "col": 0}}
    return {"type": "place", "row": row, "col": board[row].index(0)}


def answer(text):
    """What to say to a message of the box, if anything. Nothing more to be said is False."""
    global state
    message = json.loads(text)
    player.log("received", message=message)
    kind = message["type"]
    if kind == "game_state":
        state = message
    if kind == "authenticated":
        return {"type": "join_queue", "gameType": args.game}
    if kind == "your_turn":
        return {"type": "submit_move", "gameId": message["gameId"], "move": move()}
    return False if kind == "game_over" else None


hello = json.dumps({"type": "authenticate", "token": agent["apiKey"]})


async def with_websockets():
    async with websockets.connect(url) as link:
        await link.send(hello)
        async for text in link:
            reply = answer(text)
            if reply is False:
                return
            if reply:
                await link.send(json.dumps(reply))


def with_websocket_client():
    link = websocket.create_connection(url)
    link.send(hello)
    while (reply := answer(link.recv())) is not False:
        if reply:
            link.send(json.dumps(reply))
    link.close()


if args.dialect == "websockets":
    asyncio.run(with_websockets())
else:
    with_websocket_client()
player.log("ended")
while True:  # Until the test ends.
    time.sleep(60)
