// A player of League of Agents with Node's `ws`: registers, plays one game, and logs all it hears.
import { appendFileSync } from "node:fs";
import { parseArgs } from "node:util";
import WebSocket from "ws";

const text = { type: "string" };
const { values: args } = parseArgs({ options: { box: text, port: text, name: text, log: text, game: text } });
const log = (kind, message) => appendFileSync(args.log, JSON.stringify({ kind, message }) + "\n");
// It ends with its test.
process.stdin.on("end", () => process.exit(0)).resume();

const registration = await fetch(`${args.box}/api/v1/agents`, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ name: args.name }),
});
const agent = await registration.json();
log("registered", agent);
let state;

function move() {
  const me = state.players.findIndex((player) => player.agentId === agent.agentId);
  if (state.gameType === "echo") return { number: 5 + (state.round % 2) };
  // A row of its own: black has five first.
  const row = 14 * me;
  return { type: "place", row, col: state.extra.board[row].indexOf(0) };
}

const link = new WebSocket(args.box.replace("http://", "ws://") + "/api/v1/ws?type=agent");
const send = (message) => link.send(JSON.stringify(message));
link.on("error", (error) => { console.error(error); process.exit(4); });
link.on("open", () => send({ type: "authenticate", token: agent.apiKey }));
link.on("message", (data) => {
  const message = JSON.parse(data);
  log("received", message);
  if (message.type === "authenticated") send({ type: "join_queue", gameType: args.game });
  if (message.type === "game_state") state = message;
  if (message.type === "your_turn") send({ type: "submit_move", gameId: message.gameId, move: move() });
});
