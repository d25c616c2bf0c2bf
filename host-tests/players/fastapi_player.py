"""Players on FastAPI and httpx, one dialect each: canonical, message, nested, mcp, bare."""
import asyncio
import json
import os
from typing import Annotated

import httpx
import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from common import Player, arguments

args = arguments(["canonical", "message", "nested", "mcp", "bare"])
player = Player(args)
app = FastAPI()

CANONICAL = {
    "handle_game_invitation", "choose_parity", "notify_match_result", "notify_round", "update_standings",
    "notify_round_completed", "notify_league_completed", "notify_game_error", "request_move", "notify_move_validation",
}
TOOLS = {
    "receive_game_invitation": "GAME_INVITATION", "choose_parity": "CHOOSE_PARITY_CALL",
    "receive_game_over": "GAME_OVER", "notify_round": "ROUND_ANNOUNCEMENT",
    "notify_standings": "LEAGUE_STANDINGS_UPDATE", "notify_round_completed": "ROUND_COMPLETED",
    "notify_league_completed": "LEAGUE_COMPLETED",
}
MESSAGE_TYPES = {
    "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER", "GAME_ERROR", "ROUND_ANNOUNCEMENT", "ROUND_COMPLETED",
    "LEAGUE_STANDINGS_UPDATE", "LEAGUE_COMPLETED", "MOVE_REQUEST", "MOVE_VALIDATION",
}


class Strict(BaseModel):
    """What the message-type family checks of us before it reads further."""

    model_config = ConfigDict(extra="allow")
    protocol: Annotated[str, Field(pattern="^league\\.v2$")]
    message_type: str
    sender: Annotated[str, Field(pattern="^(player|referee|league_manager):[A-Z0-9]+$")]
    timestamp: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$")]
    conversation_id: Annotated[str, Field(min_length=1)]
    auth_token: Annotated[str, Field(min_length=1)]
    round_id: Annotated[int, Field(ge=1)] | None = None


def error(id, code, message):
    return {"jsonrpc": "2.0", "error": {"code": code, "message": message}, "id": id}


def result(id, value, **more):
    return {"jsonrpc": "2.0", "result": value, **more, "id": id}


def answer_canonical(call):
    if call.get("method") not in CANONICAL:
        return error(call.get("id"), -32601, "Method not found")
    message = call["params"]
    player.received(call, message)
    return result(call["id"], player.reply(message))


def answer_message(call):
    if call.get("method") not in MESSAGE_TYPES:
        return error(call.get("id"), -32601, "Method not found")
    try:
        Strict(**call["params"])
    except ValidationError as wrong:
        player.log("refused", message=call["params"], why=str(wrong))
        raise RequestValidationError(wrong.errors()) from wrong
    player.received(call, call["params"])
    return result(call["id"], player.reply(call["params"]), error=None)


def answer_nested(call):
    if call.get("method") != "handle_message" or "message" not in call.get("params", {}):
        return error(call.get("id"), -32601, "Method not found")
    message = call["params"]["message"]
    player.received(call, message)
    if player.refuses(message):
        player.log("refused", message=message, why="no GAME_OVER for the last match")
        return result(call["id"], {"message_type": "GAME_JOIN_ACK", "accept": False})
    return result(call["id"], player.reply(message))


def answer_mcp(call):
    name = call.get("params", {}).get("name")
    if call.get("method") != "tools/call" or name not in TOOLS:
        return error(call.get("id"), -32602, f"Unknown tool: {name}")
    message = call["params"]["arguments"]
    player.received(call, message)
    # A tool knows what it is called for, whatever the message says it is.
    text = json.dumps(player.reply({**message, "message_type": TOOLS[name]}))
    return result(call["id"], {"content": [{"type": "text", "text": text}]})


def answer_bare(message):
    """Not knowing JSON-RPC, it takes everything for a message, and a message it does not know is fine with it."""
    player.received({}, message)
    if message.get("message_type") == "LEAGUE_COMPLETED":
        asyncio.get_running_loop().call_later(0.2, os._exit, 0)
    return player.reply(message)


answer = globals()["answer_" + args.dialect]


@app.post("/mcp")
async def mcp(request: Request):
    return JSONResponse(answer(await request.json()))


@app.get("/health")
async def health():
    return {"status": "ok"}


async def register(client):
    url, request = args.box + "/mcp", player.register_request()

    async def rpc(method, params, id=1):
        return (await client.post(url, json={"jsonrpc": "2.0", "method": method, "params": params, "id": id})).json()

    if args.dialect == "canonical":
        return (await rpc("register_player", request))["result"]
    if args.dialect == "message":
        reply = await rpc("LEAGUE_REGISTER_REQUEST", {**request, "auth_token": "", "league_id": None})
        assert "error" not in reply, reply
        return reply["result"]
    if args.dialect == "nested":
        return (await rpc("handle_message", {"message": request}, id="4f1c"))["result"]
    if args.dialect == "bare":
        return (await client.post(url, json=request)).json()
    hello = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": args.name, "version": "1"}}
    capable = await rpc("initialize", hello)
    assert "protocolVersion" in capable["result"] and "serverInfo" in capable["result"], capable
    tools = await rpc("tools/list", {}, id=2)
    assert "register_player" in [tool["name"] for tool in tools["result"]["tools"]], tools
    await client.post(url, json={"jsonrpc": "2.0", "method": "notifications/initialized"})
    reply = await rpc("tools/call", {"name": "register_player", "arguments": request}, id=3)
    return json.loads(reply["result"]["content"][0]["text"])


async def main():
    server = uvicorn.Server(uvicorn.Config(app, host=args.host, port=args.port, log_level="warning"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    async with httpx.AsyncClient(timeout=5) as client:
        for _ in range(40):
            try:
                player.registered(await register(client))
                break
            except httpx.TransportError as failure:
                player.log("retry", error=str(failure))
                await asyncio.sleep(0.25)
        await serving


asyncio.run(main())
