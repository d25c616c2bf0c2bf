// The official SDK of MCP for Node at a LeagueBox: lists and calls tools, reads every resource, gets the prompt, and plays a league.
//
//   node mcp_client.mjs URL look            everything there is
//   node mcp_client.mjs URL play NAME       joins, and plays random legal moves until the league is over
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, what, name] = process.argv.slice(2);
const client = new Client({ name: "leaguebox-test", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));

/** What a tool answers, which its text must say too. */
async function call(tool, args = {}) {
  const result = await client.callTool({ name: tool, arguments: args });
  if (result.isError) return result.content[0].text;
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result.structuredContent;
}

async function look() {
  const { tools } = await client.listTools();
  assert.ok(tools.every((tool) => tool.description && tool.inputSchema && tool.outputSchema));
  const { games } = await call("list_games");
  for (const tool of ["get_status", "get_standings", "get_schedule"]) await call(tool);
  const rules = await call("get_rules", { game: "chess" });
  assert.ok(rules.rules.includes("## Your move"));
  const { token } = await call("join_league", { name: "Node" });
  assert.match(await call("join_league", { name: "Node" }), /taken/);
  assert.equal((await call("next_turn", { token, wait_seconds: 0 })).your_turn, false);
  assert.equal((await call("open_table", { token, game: "go" })).playing, false);
  assert.equal((await call("leave", { token })).left, true);
  assert.match(await call("play", { token, match_id: "R1M1", move: 1 }), /match_id/);
  assert.match(await call("get_match", { match_id: "R1M1" }), /no such match/);
  assert.match(await call("start_league", { admin_code: "wrong" }), /admin_code/);
  const { resources } = await client.listResources();
  const { resourceTemplates } = await client.listResourceTemplates();
  const uris = resources.map((resource) => resource.uri);
  for (const { uriTemplate } of resourceTemplates) uris.push(...games.map(({ game }) => uriTemplate.replace("{game}", game)));
  for (const uri of uris) assert.ok((await client.readResource({ uri })).contents[0].text.length > 10, uri);
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts.map((prompt) => prompt.name), ["play"]);
  const { messages } = await client.getPrompt({ name: "play", arguments: { name: "Node" } });
  assert.ok(messages[0].content.text.includes("Node"));
  await client.ping();
  await assert.rejects(client.readResource({ uri: "leaguebox://moon" }), /uri/);
  console.log(`looked ${tools.length} tools ${uris.length} resources`);
}

async function play() {
  const { token, player_id } = await call("join_league", { name });
  console.log("joined", player_id);
  for (let moves = 0, ended = 0; ; ) {
    const turn = await call("next_turn", { token, wait_seconds: 20 });
    if (turn.last_match) ended += 1;
    if (turn.league_over) return console.log("over", turn.standings.length, moves, ended);
    if (!turn.your_turn) continue;
    const move = turn.legal_moves[Math.floor(Math.random() * turn.legal_moves.length)];
    assert.equal((await call("play", { token, match_id: turn.match_id, move })).accepted, true);
    moves += 1;
  }
}

await { look, play }[what]();
await client.close();
