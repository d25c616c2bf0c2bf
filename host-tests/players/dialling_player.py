"""Players that dial in, with two libraries, and three ways to be difficult.

websockets        the asynchronous library of that name
websocket-client  the blocking one
returning         hangs up when it is first asked for a choice, and comes back with its token
silent            is there, and never answers
flooding          asks and asks while it plays
"""
import asyncio
import json
import time

import websocket
import websockets

from common import Player, arguments

args = arguments(["websockets", "websocket-client", "returning", "silent", "flooding"])
player = Player(args)
url = args.box.replace("http://", "ws://") + "/ws"


def request(method, params, id):
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params, "id": id})


def registration():
    message = player.register_request()
    del message["player_meta"]["contact_endpoint"]
    return request("register_player", message, 1)


def answer(text):
    """What to say to a message of the box, if anything."""
    call = json.loads(text)
    if "method" not in call:
        player.log("answered", message=call)
        return None
    player.received(call, call["params"])
    if args.dialect == "silent":
        return None
    return json.dumps({"jsonrpc": "2.0", "result": player.reply(call["params"]), "id": call["id"]})


async def with_websockets():
    async with websockets.connect(url) as link:
        await link.send(registration())
        player.registered(json.loads(await link.recv())["result"])
        if args.dialect == "flooding":
            asyncio.create_task(flood(link))
        async for text in link:
            if args.dialect == "returning" and "CHOOSE_PARITY_CALL" in text:
                player.log("hung up", message=json.loads(text))
                break
            if reply := answer(text):
                await link.send(reply)
    if args.dialect == "returning":
        await come_back()


async def come_back():
    await asyncio.sleep(0.3)
    async with websockets.connect(url) as link:
        await link.send(request("ping", {"auth_token": player.token}, 2))
        async for text in link:
            if reply := answer(text):
                await link.send(reply)


async def flood(link):
    id = 10
    while True:
        id += 1
        query = {"message_type": "LEAGUE_QUERY", "auth_token": player.token, "query_type": "GET_STANDINGS"}
        await link.send(request("league_query", query, id))
        await asyncio.sleep(0.01)


def with_websocket_client():
    link = websocket.create_connection(url)
    link.send(registration())
    player.registered(json.loads(link.recv())["result"])
    while text := link.recv():
        if reply := answer(text):
            link.send(reply)


def play():
    if args.dialect in ("websocket-client", "silent"):
        with_websocket_client()
    else:
        asyncio.run(with_websockets())


player.patiently(play)
player.log("ended")
while True:  # Until the test ends.
    time.sleep(60)
