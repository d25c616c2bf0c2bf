// A player that dials in with Node's `ws`.
import { appendFileSync } from "node:fs";
import { parseArgs } from "node:util";
import WebSocket from "ws";

const text = { type: "string" };
const { values: args } = parseArgs({ options: { box: text, port: text, name: text, log: text } });
const log = (kind, message) => appendFileSync(args.log, JSON.stringify({ kind, message }) + "\n");
const now = () => new Date().toISOString().slice(0, 19) + "Z";
let me = {};

function reply(message) {
  const head = {
    protocol: "league.v2", sender: `player:${me.player_id}`, timestamp: now(),
    conversation_id: message.conversation_id, match_id: message.match_id, ...me,
  };
  switch (message.message_type) {
    case "GAME_INVITATION": return { ...head, message_type: "GAME_JOIN_ACK", arrival_timestamp: now(), accept: true };
    case "CHOOSE_PARITY_CALL": return { ...head, message_type: "CHOOSE_PARITY_RESPONSE", parity_choice: "even" };
    default: return { status: "ok" };
  }
}

// It ends with its test.
process.stdin.on("end", () => process.exit(0)).resume();
const link = new WebSocket(args.box.replace("http://", "ws://") + "/ws");
link.on("error", (error) => { console.error(error); process.exit(4); });
link.on("open", () => link.send(JSON.stringify({ jsonrpc: "2.0", method: "register_player", id: 1, params: {
  protocol: "league.v2", message_type: "LEAGUE_REGISTER_REQUEST", sender: "player:new", timestamp: now(),
  conversation_id: "conv_register",
  player_meta: { display_name: args.name, version: "1.0.0", game_types: ["even_odd"] } } })));
link.on("message", (data) => {
  const message = JSON.parse(data);
  if (!message.method) {
    log("registered", message.result);
    me = { player_id: message.result.player_id, auth_token: message.result.auth_token };
    return;
  }
  log("received", message.params);
  link.send(JSON.stringify({ jsonrpc: "2.0", result: reply(message.params), id: message.id }));
});
