"""The official Python SDK of MCP at a LeagueBox: lists and calls every tool, reads every resource, gets the prompt, and plays a league.

    mcp_client.py URL MODE look ADMIN_CODE       everything there is, in one of the SDK's modes: auto, legacy, 2026-07-28
    mcp_client.py URL MODE play NAME             joins, and plays random legal moves until the league is over
"""

import asyncio
import json
import random
import sys

from mcp import Client


def told(result):
    """What a tool answers, which its text must say too."""
    text = result.content[0].text
    if result.is_error:
        assert result.structured_content is None, result
        return text
    assert json.loads(text) == result.structured_content, text
    return result.structured_content


async def look(client, code):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    for tool in tools.values():
        assert tool.description and tool.input_schema["type"] == "object" and tool.output_schema, tool
    called = set()

    async def call(name, /, **arguments):
        called.add(name)
        return told(await client.call_tool(name, arguments))

    status = await call("get_status")
    assert status["state"] == "WAITING", status
    games = (await call("list_games"))["games"]
    for game in games:
        rules = await call("get_rules", game=game["game"])
        assert "## Your move" in rules["rules"] and "## Time" not in rules["rules"], rules
    assert (await call("get_schedule"))["rounds"] == []
    ada = (await call("join_league", name="Look Ada"))["token"]
    bob = (await call("join_league", name="Look Bob"))["token"]
    assert "taken" in await call("join_league", name="Look Ada")
    assert "wait_seconds" in await call("next_turn", token=ada, wait_seconds=99)
    assert (await call("next_turn", token=ada, wait_seconds=0))["your_turn"] is False
    table = (await call("open_table", token=ada, game="chess"))["match_id"]
    assert (await call("open_table", token=bob, game="chess"))["playing"] is True
    turns = [await call("next_turn", token=token, wait_seconds=0) for token in (ada, bob)]
    mover = next(token for token, turn in zip((ada, bob), turns) if turn["your_turn"])
    turn = next(turn for turn in turns if turn["your_turn"])
    assert len(turn["legal_moves"]) == 20 and turn["match_id"] == table, turn
    assert "move" in await call("play", token=mover, match_id=table, move="e9")
    move = turn["legal_moves"][0]
    assert (await call("play", token=mover, match_id=table, move=move, thought="I begin."))["accepted"]
    match = await call("get_match", match_id=table)
    assert match["state"] == "running" and match["match_id"] == table, match
    assert (await call("leave", token=ada))["left"]
    assert (await call("next_turn", token=bob, wait_seconds=5))["last_match"]["match_id"] == table
    assert "no such match" in await call("get_match", match_id="R9M9")
    meta = {"display_name": "Served", "version": "1.0.0", "game_types": [status["game_type"]], "contact_endpoint": "http://127.0.0.1:9/mcp"}
    served = await call("register_player", message_type="LEAGUE_REGISTER_REQUEST", player_meta=meta)
    assert served["status"] == "ACCEPTED", served
    referee = {**meta, "display_name": "Ref", "contact_endpoint": "http://127.0.0.1:10/mcp"}
    assert (await call("register_referee", referee_meta=referee))["status"] == "ACCEPTED"
    asked = await call("league_query", auth_token=served["auth_token"], query_type="GET_STANDINGS")
    assert asked["message_type"] == "LEAGUE_QUERY_RESPONSE", asked
    assert (await call("report_match_result", match_id="R1M1", result={}))["status"] == "recorded"
    assert "admin_code" in await call("start_league", admin_code="wrong")
    assert (await call("start_league", admin_code=code))["status"] == "ok"
    assert (await call("pause_league", admin_code=code))["state"] == "PAUSED"
    assert (await call("resume_league", admin_code=code))["state"] == "RUNNING"
    assert (await call("get_schedule"))["rounds"] and (await call("get_standings"))["state"] == "RUNNING"
    assert called == set(tools), called ^ set(tools)

    resources = (await client.list_resources()).resources
    templates = (await client.list_resource_templates()).resource_templates
    uris = [str(resource.uri) for resource in resources]
    uris += [template.uri_template.replace("{game}", game["game"]) for template in templates for game in games]
    for uri in uris:
        text = (await client.read_resource(uri)).contents[0].text
        assert json.loads(text) if not ("skill" in uri or "games" in uri) else text.startswith("#"), uri
    prompts = (await client.list_prompts()).prompts
    assert [prompt.name for prompt in prompts] == ["play"]
    prompt = (await client.get_prompt("play", {"name": "Ada"})).messages[0].content.text
    assert "Ada" in prompt and "next_turn" in prompt, prompt
    print(f"looked {len(called)} tools {len(uris)} resources")


async def play(client, name):
    joined = told(await client.call_tool("join_league", {"name": name}))
    token, moves, ended = joined["token"], 0, 0
    print("joined", joined["player_id"], flush=True)
    while True:
        turn = told(await client.call_tool("next_turn", {"token": token, "wait_seconds": 20}))
        ended += turn["last_match"] is not None
        if turn["league_over"]:
            print("over", len(turn["standings"]), moves, ended)
            return
        if turn["your_turn"]:
            move = random.choice(turn["legal_moves"])
            played = told(await client.call_tool("play", {"token": token, "match_id": turn["match_id"], "move": move}))
            assert played["accepted"], played
            moves += 1


async def main(url, mode, what, argument):
    async with Client(url, mode=mode) as client:
        await {"look": look, "play": play}[what](client, argument)


asyncio.run(main(*sys.argv[1:]))
