// The page: what the box says, shown; what the teacher clicks, told to the box.
//
// The box tells over a WebSocket, /api/live: everything at once, then what changes. A page that loses it says so, and comes
// back with growing pauses. A box that has all the watchers it can take sends a page away; it then asks every few seconds.
// Names and words come from strangers, so every text goes in as textContent, never as HTML.

import { about, code, coloured, draw, hex, make, race, sha256, spoken, unhex } from "./draw.js";

const $ = id => document.getElementById(id);
const ASK_MS = 5000, PATIENCE_MS = 5000, QUIET_MS = 6000, UNSEEN_MS = 15000, TICK_MS = 250, GLANCE_MS = 700, MOVED_MS = 6000;
const STAY_MS = 8000, END_MS = 2500, LAST_MS = 5000;
const FIRST_PAUSE_MS = 500, LONGEST_PAUSE_MS = 10000;
// The schedule of 64 players is 400 KB; beyond that the page leaves it to the CSV.
const MANY_MATCHES = 2016, MANY_PLAYERS = 40, CROWD = 12;
const KEPT_STEPS = 600, KEPT_MATCHES = 40, FRESH = 6, LINES = 6;
const STATES = { WAITING: "Lobby", RUNNING: "Playing", PAUSED: "Paused", COMPLETED: "Finished" };
const PLAYER_STATES = { SUSPENDED: "silent", SHUTDOWN: "done" };
const NEXT = { WAITING: "start", RUNNING: "pause", PAUSED: "resume", COMPLETED: "rematch" };
// How a match ended that was not played to its end: by itself, and of the player who lost by it.
const FAILED = { timeout: "gave no answer in time", invalid: "gave no valid answer", refused: "did not join", disconnected: "could not be reached", adjudicated: "was removed by the teacher", both_failed: "no valid answer came", reported: "as its referee reported" };
const ENDS = { timeout: "no answer in time", invalid: "invalid answers", refused: "did not join", disconnected: "connection lost", adjudicated: "decided by the teacher", reported: "as its referee reported" };
const FEED = { live: "live", asking: "asking every 5 s", lost: "no connection", "": "connecting" };

// What is known of the box.
let now = null, health = {}, players = [], ranking = [], places = [], standings = [], rounds = [], running = new Map(), settings = {}, games = {};
// What this page has seen: the steps of matches, and which results fell last.
const seen = new Map();
let fresh = [];
// Who has the projector's code sees what the public does not.
const projector = new URLSearchParams(location.hash.slice(1)).get("projector");
const shown = path => path + (projector ? "?projector=" + encodeURIComponent(projector) : "");
const codeOf = () => $("code").value.trim();
const bearer = () => ({ Authorization: "Bearer " + codeOf().replace(/[^ -~]/g, "?") });

/* ---- small tools ---- */

function text(element, value) {
  if (element.textContent !== String(value)) element.textContent = value;
  return element;
}

// One child for each item, known by its key. Children are kept and moved, so that focus and open rounds stay.
function keyed(parent, items, key, create, change) {
  const held = document.activeElement, keys = new Set(items.map(item => String(key(item)))), old = new Map();
  for (const child of [...parent.children]) keys.has(child.dataset.key) ? old.set(child.dataset.key, child) : child.remove();
  items.forEach((item, at) => {
    const child = old.get(String(key(item))) || create(item);
    child.dataset.key = key(item);
    if (parent.children[at] !== child) parent.insertBefore(child, parent.children[at] || null);
    change(child, item, at);
  });
  if (parent.contains(held) && held !== document.activeElement) held.focus();
}

// The same, and children glide to their new places.
function gliding(parent, items, key, create, change) {
  const before = new Map(Array.from(parent.children, child => [child, child.getBoundingClientRect().top]));
  keyed(parent, items, key, create, change);
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const child of parent.children) {
    const by = before.get(child) - child.getBoundingClientRect().top;
    if (by) child.animate([{ transform: `translateY(${by}px)` }, {}], { duration: 500, easing: "ease-in-out" });
  }
}

// Terms and what they are; those that are nothing are left out.
function pairs(dl, all) {
  const items = all.filter(([, value]) => value !== undefined && value !== "").flatMap(([term, value]) => [["dt", term, term], ["dd", value, term]]);
  keyed(dl, items, ([tag, , term]) => tag + term, ([tag]) => make(tag), (element, [, value]) => text(element, value));
}

const byNumber = (a, b) => a.localeCompare(b, "en", { numeric: true });
const person = id => players.find(one => one.player_id === id) || standings.find(one => one.player_id === id);
const nameOf = id => person(id)?.display_name || id;
const words = reason => (reason || "").replaceAll("_", " ");
const local = utc => utc && new Date(utc).toLocaleString();
const several = (count, what, more = "s") => count + " " + what + (count === 1 ? "" : more);
const ending = reason => ENDS[reason] || words(reason);
const ids = one => one.players.map(player => player.player_id);
const seatsOf = one => one.players.map(player => ({ id: player.player_id, name: player.display_name }));
const allMatches = () => rounds.flatMap(round => round.matches);
const isOver = one => one.status === "FINISHED";
// Games of the ladder are of no round, and of any game.
const isLadder = one => one.round_id === 0;
const label = one => isLadder(one) ? "ladder · " + one.game_type : one.match_id;

// The points a match gave to each, by id.
const pointsOf = one => Object.fromEntries(one.players.map(player => [player.player_id, player.points]));

async function get(path, patience = PATIENCE_MS, headers = {}) {
  const answer = await fetch(path, { cache: "no-store", headers, signal: AbortSignal.timeout(patience) });
  if (!answer.ok) throw new Error(path + " answered " + answer.status);
  return answer.json();
}

const bdi = value => value && make("bdi", "", value);
const listed = names => names.flatMap((name, at) => [at ? at === names.length - 1 ? " and " : ", " : "", bdi(name)]);

// Who won, and why if not by playing.
function outcome(one) {
  const name = id => bdi(nameOf(id)), losers = ids(one).filter(id => id !== one.winner), won = one.winner ? [name(one.winner), " wins"] : null;
  if (one.result !== "TECHNICAL_LOSS") return one.end_reason === "adjudicated" ? ["The teacher ruled: ", ...won || ["a draw"]] : won || ["A draw"];
  const why = FAILED[one.end_reason] || words(one.end_reason);
  if (!won) return ["Nobody wins: ", why];
  return [...won, ...losers.length > 1 ? [": an opponent "] : [": ", name(losers[0]), " "], why];
}

// The same with the box's reason, which names players by their ids.
function verdict(page) {
  const byName = (page.game_result?.reason || "").replace(/P\d{2,3}/g, id => ids(page).includes(id) ? "\u2068" + nameOf(id) + "\u2069" : id);
  return make("p", "verdict", make("b", "", ...outcome(page)), ...page.result === "TECHNICAL_LOSS" || page.end_reason === "adjudicated" ? [] : [" ", make("small", "", byName)]);
}

/* ---- what the box tells ---- */

let socket = null, pause = FIRST_PAUSE_MS, timer = 0, mode = "", heardAt = 0, saidAt = 0, loading = null, asked = "", scheduled = "", shownLeague = "";

function become(next) {
  mode = next;
  for (const name of Object.keys(FEED)) if (name) document.body.classList.toggle(name, name === mode);
  text($("feed"), FEED[mode]).title = mode === "asking" ? "The box tells as many pages at once as it can. This one asks instead." : "";
  $("lost").hidden = mode !== "lost";
  // It stands still: whoever has it read aloud hears it once.
  const from = heardAt ? " What you see is from " + new Date(heardAt).toLocaleTimeString() + "." : "";
  if (mode === "lost") text($("lost"), "The box does not answer." + from + " Is it switched on and in this network? This page keeps asking.");
}

let referees = "";
function learn(status) {
  [now, saidAt] = [status, Date.now()];
  const known = [status.league_id, status.state, status.round, status.referees].join();
  if (known === referees || $("referees").hidden && !status.referees) return;
  referees = known;
  get("/api/referees.json").then(showReferees, () => { referees = ""; });
}

// Agents that offer to referee. Whoever decides matches is seen, and can be removed.
const SERVES = { off: "is given no match: see the settings", serves: "referees", next_league: "referees from the next league on", failed: "did not report a match; is given no more until it registers again" };
function showReferees(page) {
  $("referees").hidden = !page.referees.length;
  $("referees").replaceChildren(...page.referees.map(one => {
    const button = make("button", "match", make("bdi", "", one.display_name || one.referee_id), make("span", "", one.referee_id), make("bdi", "", SERVES[one.state]));
    button.type = "button";
    button.onclick = () => openReferee(one.referee_id);
    return make("li", "", button);
  }));
}

function openReferee(id, said) {
  open("Referee " + id, "/api/referees.json", (page, body) => {
    showReferees(page);
    const one = page.referees.find(one => one.referee_id === id);
    if (!one) return body.append(make("p", "yes", said || "It is gone."));
    facts(body, [["Name", bdi(one.display_name)], ["State", SERVES[one.state]], ["Says it is at", bdi(one.contact_endpoint)], ["Is called at", bdi(one.address)], ["Dialect", one.dialect],
      ["Matches at once", one.max_concurrent_matches], ["Referees now", one.running], ["Has refereed", one.refereed], ["Reports of no use", one.useless_reports]]);
    powers(body, [[["Remove this referee"], "remove", { referee_id: id }]], words => openReferee(id, words), said);
  });
}

function heard(next) {
  heardAt = Date.now();
  become(next);
}

function listen() {
  clearTimeout(timer);
  const mine = socket = new WebSocket(location.origin.replace(/^http/, "ws") + shown("/api/live"));
  mine.onmessage = event => {
    if (mine !== socket) return;
    pause = FIRST_PAUSE_MS;
    heard("live");
    take(JSON.parse(event.data));
  };
  mine.onclose = async () => {
    if (mine !== socket) return;
    socket = null;
    // A box that answers and does not take us has all the watchers it can take.
    if (await ask()) timer = setTimeout(listen, ASK_MS);
    else again();
  };
}

function again() {
  become("lost");
  timer = setTimeout(listen, pause);
  pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
}

// How things are, and the rest only when something has changed. Whatever happens is an entry of the log.
async function ask() {
  try {
    const status = await get("/api/status.json"), entries = [status.league_id, status.log_entries].join();
    if (entries !== asked) {
      standings = (await get("/api/standings.json")).standings;
      players = (await get("/api/players.json")).players;
      learn(status);
      const scene = JSON.stringify([status.state, status.round, status.running_matches, standings]);
      [stale, unset] = [stale || scene !== scheduled, true];
      await load();
      running = new Map(allMatches().filter(one => one.status === "RUNNING").map(one => [one.match_id, one]));
      [asked, scheduled, whole] = [entries, scene, true];
    }
    learn(status);
    heard("asking");
    look(staged);
    if (opened) look(opened.id);
    paint();
    return true;
  } catch {
    return false;
  }
}

// A line that has been silent for long may be dead: a cable that was pulled tells nobody, nor does a box that restarted.
setInterval(async () => {
  if (mode !== "live" || Date.now() - heardAt < QUIET_MS) return;
  heardAt = Date.now();
  const mine = socket, before = now;
  try {
    const status = await get("/api/status.json");
    if (mine !== socket) return;
    learn(status);
    paint();
    if (status.uptime_seconds < before.uptime_seconds) hangUp(listen);
  } catch {
    if (mine === socket) hangUp(again);
  }
}, 1000);

function hangUp(then) {
  const mine = socket;
  socket = null;
  mine?.close();
  then();
}

// A page nobody looks at leaves its place to others.
let unseen = 0;
document.onvisibilitychange = () => {
  clearTimeout(unseen);
  if (!document.hidden) {
    if (!socket) listen();
    return;
  }
  unseen = setTimeout(() => {
    clearTimeout(timer);
    hangUp(() => {});
  }, UNSEEN_MS);
};

// A snapshot comes in pieces; until the last one the page shows what it showed.
let whole = true;

function take(told) {
  switch (told.type) {
    case "snapshot":
      learn(told.status);
      [players, running, whole, stale, unset, asked] = [[], new Map(), false, true, true, ""];
      break;
    case "ready":
      whole = true;
      break;
    case "status":
      learn(told.status);
      break;
    case "player":
      players = players.filter(one => one.player_id !== told.player.player_id).concat(told.player);
      players.sort((a, b) => byNumber(a.player_id, b.player_id));
      break;
    case "standings":
      [ranking, places] = [told.standings, told.places || []];
      break;
    case "match": {
      const before = running.get(told.match.match_id);
      running.delete(told.match.match_id);
      if (/running|voting/.test(told.match.state)) running.set(told.match.match_id, timed(told.match, before));
      if (told.match.state === "over") settle(told.match);
      // While many vote nothing else changes.
      if (before?.state === "voting" && told.match.state === "voting") counted(told.match.match_id, Object.fromEntries(told.match.players.map(one => [one.player_id, one.score])));
      else if ([staged, opened?.id].includes(told.match.match_id)) look(told.match.match_id);
      break;
    }
  }
  if (!whole) return;
  standings = ranking.flatMap((id, at) => {
    const one = players.find(player => player.player_id === id);
    return one ? [{ rank: at + 1, place: places[at] || at + 1, player_id: id, display_name: one.display_name, ...one.tally }] : [];
  });
  load();
  paint();
}

// What is left of the time is counted down here. How much there was is what was left when it was first heard of: there is less to
// join than to move. Whoever has less than a quarter of it left, and seconds, has to hurry.
function timed(one, before) {
  const at = performance.now();
  one.players.forEach((player, seat) => {
    const was = before?.players[seat];
    player.until = player.deadline_ms == null ? null : at + player.deadline_ms;
    player.limit = was?.until && Math.abs(was.until - player.until) < GLANCE_MS ? was.limit : player.deadline_ms;
  });
  return one;
}
const hurries = (left, limit) => left < Math.min(LAST_MS, limit / 4);

// A match is over: its line in the schedule becomes what the box would say of it now.
function settle(over) {
  if (loading) late.push(over);
  const { match_id, result } = over;
  const line = allMatches().find(line => line.match_id === match_id);
  if (!line || !result) return;
  const news = !isOver(line);
  Object.assign(line, { status: "FINISHED", result: result.status, winner: result.winner_player_id, end_reason: result.end_reason });
  for (const player of line.players) player.points = result.score[player.player_id];
  if (!news) return;
  fresh = [match_id, ...fresh.filter(id => id !== match_id)].slice(0, FRESH);
}

// The schedule and the settings are asked for with every snapshot; after that the feed tells what changes in the schedule,
// also while it is on its way.
let stale = true, unset = true, late = [];
function load() {
  if (now.league_id !== shownLeague) {
    shownLeague = now.league_id;
    rounds = [];
    fresh = [];
    seen.clear();
    [chosen, staged, ranks] = ["", "", {}];
    onStages.clear();
  }
  if (unset) {
    unset = false;
    getSettings().catch(() => { unset = true; });
  }
  if (!now.total_rounds) rounds = [];
  if (!stale || loading || !now.total_rounds || now.total_matches > MANY_MATCHES) return loading;
  stale = false;
  late = [];
  return loading = get("/api/schedule.json", 4 * PATIENCE_MS).then(page => {
    rounds = page.rounds;
    [...late].forEach(settle);
    paint();
  }, () => {
    stale = true;
    // After the last match nothing comes that would ask again.
    setTimeout(load, ASK_MS);
  }).finally(() => { loading = null; });
}

/* ---- what is shown ---- */

let painting = 0;
function paint() {
  painting ||= requestAnimationFrame(() => {
    painting = 0;
    if (now && whole) show();
  });
}

function show() {
  showStatus();
  showPlayers();
  showStandings();
  showRunning();
  showFresh();
  showRounds();
  showRace();
  showCrosstable();
  showHealth();
  // A box without a calendar learns the time from whoever opens its page.
  if (/none|agent/.test(now.time_source) && Date.now() - toldTimeAt > ASK_MS) tellTime();
}

function showStatus() {
  for (const state of Object.keys(STATES)) document.body.classList.toggle(state, state === now.state);
  document.body.classList.toggle("crowded", players.length > CROWD);
  document.title = STATES[now.state] + " · LeagueBox";
  text($("state"), STATES[now.state]);
  const champion = now.state === "COMPLETED" && standings[0], first = champion ? standings.filter(one => one.place === 1).map(one => one.display_name) : [];
  const title = first.length > 3 ? [several(first.length, "player") + " share the first place"] : champion ? [...listed(first), first.length > 1 ? " share the first place" : " wins the league"] : [now.message];
  const heading = make("h1", "", ...title).textContent;
  if ($("message").textContent !== heading) $("message").replaceChildren(...title);
  const won = champion && several(champion.points, "point") + " from " + several(champion.played, "match", "es") + (first.length > 1 ? " each, and every tie-break is level" : "") + ". " + now.message;
  // That it was restarted is not the news of the day.
  const resumed = now.resumed_at && "Resumed after a restart: " + local(now.resumed_at) + ".";
  text($("more"), [won, resumed].filter(Boolean).join(" ")).hidden = !won && !resumed;
  showProgress();
  showRules();
  $("podium").hidden = !champion || standings.length < 3;
  if (champion) {
    keyed($("podium"), standings.slice(0, 3), one => one.player_id, () => make("li", "", make("b"), make("bdi"), make("small")), (item, one) => {
      const [rank, name, points] = item.children;
      item.className = "p" + one.place;
      text(rank, one.place);
      text(name, one.display_name);
      text(points, several(one.points, "point"));
    });
  }
  text($("league"), [now.game_type, now.mode + " mode", now.league_id].join(" · "));
  text($("count"), now.players + " of at most " + now.capacity);
  text($("box"), now.name + " (" + now.board + "), version " + now.version);
  showAddress();
  showBreak();
  showVerbs();
}

const isHere = url => /^(localhost|127\.|\[::1|0\.0\.0\.0)/.test(new URL(url).hostname);

// Where agents and phones reach the box: by its address in the network, whatever this page was opened with.
function showAddress() {
  const origin = now.endpoint && (!isHere(now.endpoint) || isHere(location.origin)) ? new URL(now.endpoint).origin : location.origin;
  $("local").hidden = !isHere(origin);
  if (text($("address"), origin + "/mcp").dataset.shown === origin) return;
  $("address").dataset.shown = origin;
  $("code-of-page").replaceChildren(code(origin + "/"));
}

// A page that does not come by https may use the clipboard only the old way.
async function copy(element, said) {
  getSelection().selectAllChildren(element);
  const done = await navigator.clipboard?.writeText(element.textContent).then(() => true, () => false) || document.execCommand("copy");
  text(said, done ? "Copied." : "Selected: press Ctrl and C.");
}
$("copy").onclick = () => copy($("address"), $("copied"));

// Between two rounds: how long it takes to the next, or that the teacher begins it.
function showBreak() {
  const left = now.next_round_in_ms == null ? null : Math.max(0, now.next_round_in_ms - (Date.now() - saidAt));
  $("break").hidden = left === null && !now.waits_for_owner;
  text($("next-round"), now.waits_for_owner ? "The next round waits for the teacher." : `Next round in ${Math.ceil(left / 1000)} s`);
  $("go").hidden = !now.waits_for_owner || !codeOf();
}

// What makes no sense now cannot be pressed.
function showVerbs() {
  const open = /WAITING|COMPLETED/.test(now.state), held = document.activeElement;
  const can = { start: now.state === "WAITING" && now.players > 1, pause: now.state === "RUNNING", resume: now.state === "PAUSED", rematch: now.state === "COMPLETED", next: now.waits_for_owner, reset: now.state !== "WAITING" || now.players > 0 };
  $("fixed").hidden = open;
  $("check-all").disabled = !players.length || now.state === "RUNNING";
  $("house").hidden = now.board !== "desktop" || houseless || !open;
  for (const button of verbs) {
    button.disabled = !can[button.dataset.verb];
    button.classList.toggle("next", button.dataset.verb === (now.waits_for_owner ? "next" : NEXT[now.state]));
  }
  verbs.find(button => button.dataset.verb === "next").hidden = now.pace !== "step";
  // Whoever has pressed a button with a key goes on beside what came of it.
  if (held?.disabled) $("said").focus();
}

// What will be played, and when it begins.
function showRules() {
  const seconds = ms => ms / 1000 + " s", lobby = now.state === "WAITING";
  const manual = "/skill/" + now.game_type + ".md";
  $("manual").hidden = false;
  text($("manual").lastChild, manual).href = manual;
  $("rules").hidden = !lobby || !settings.game;
  if ($("rules").hidden || settings.game !== now.game_type) return;
  pairs($("rules"), [["Game", now.game_type + (games[now.game_type] ? ": " + games[now.game_type] : "")], ["Time for a move", seconds(settings.move_timeout_ms)],
    ["Begins", settings.start_at ? "by itself, when " + settings.start_at + " players are here" : "when the teacher presses Start"]]);
}

// A piece for every round, filled as its matches end.
function showProgress() {
  const bar = $("progress"), each = now.total_rounds ? now.total_matches / now.total_rounds : 1;
  bar.hidden = !now.total_rounds;
  for (const [name, value] of [["valuemin", 0], ["valuemax", now.total_matches], ["valuenow", now.matches_completed]]) bar.setAttribute("aria-" + name, value);
  keyed(bar, Array.from({ length: now.total_rounds }, (_, at) => at + 1), round => round, () => make("i", "", make("b")), (piece, round) => {
    const line = rounds[round - 1], over = line ? line.matches.filter(isOver).length / line.matches.length : (now.matches_completed - (round - 1) * each) / each;
    piece.firstChild.style.width = Math.min(1, Math.max(0, over)) * 100 + "%";
    piece.classList.toggle("current", round === now.round && now.state !== "COMPLETED");
  });
}

// A button with a player's name that opens the player.
function nameButton(id, extra) {
  const button = make("button", "name", make("span", "dot"), make("bdi"), extra);
  button.type = "button";
  button.onclick = () => openPlayer(button.dataset.id);
  return fillName(button, id);
}

function fillName(button, id) {
  button.dataset.id = id || "";
  coloured(button.firstChild, id);
  text(button.children[1], nameOf(id)).title = nameOf(id);
  return button;
}

function row(classes, named) {
  const tr = make("tr", "", ...classes.map(name => make("td", name)));
  // Said, because a crowd in the lobby is shown as two columns, and then they would be no table any more.
  tr.setAttribute("role", "row");
  for (const cell of tr.children) cell.setAttribute("role", "cell");
  tr.children[named].append(nameButton("", make("small", "spare")));
  return tr;
}

const lasting = seconds => seconds < 90 ? Math.round(seconds) + " s" : Math.round(seconds / 60) + " min";
const ago = seconds => seconds < 5 ? "just now" : lasting(seconds) + " ago";

// How a player is, in two words, and whether that is good.
function condition(player) {
  if (player.removed) return ["removed", "soft"];
  if (player.sits_out) return ["sits out", "soft"];
  if (player.connected === false) return ["away", "no"];
  const isSeated = [...running.values()].some(one => ids(one).includes(player.player_id));
  const test = now.state === "WAITING" && player.ready?.status;
  if (test) return { ok: ["ready", "yes"], failed: [player.ready.http_status ? "HTTP " + player.ready.http_status : "silent", "no"], asked: ["asked …", "soft"] }[test];
  if (/REGISTERED|ACTIVE/.test(player.state)) return isSeated ? ["playing", "ACTIVE"] : ["here", player.state];
  return [PLAYER_STATES[player.state] || player.state, player.state];
}

const lasted = ms => ms < 10 ? "< 0.01 s" : (ms / 1000).toFixed(ms < 1000 ? 2 : 1) + " s";
const isCalled = player => player.connected === undefined;

// How long ago by the box's own clock, which need not be right.
function lastSeen(player) {
  const then = Date.parse(player.last_seen), its = Date.parse(now.time) + Date.now() - saidAt;
  return Number.isNaN(then) ? "" : ago(Math.max(0, its - then) / 1000);
}

function showPlayers() {
  $("nobody").hidden = players.length > 0;
  $("people").hidden = !players.length;
  document.body.classList.toggle("rated", players.some(one => one.rated_games));
  text($("took"), now.state === "WAITING" ? "Answers in" : "Thinks for");
  keyed($("players"), players, one => one.player_id, () => row(["", "", "spare soft", "n spare soft", "n", "n spare rating soft"], 0), (tr, one) => {
    const [first, state, how, took, broken, rating] = tr.children, [said, style] = condition(one);
    fillName(first.firstChild, one.player_id);
    text(first.querySelector("small"), one.player_id);
    Object.assign(text(state, said), { className: style, title: one.sits_out || "" });
    text(how, [isCalled(one) ? "is called" : "dials in", now.state === "WAITING" && lastSeen(one)].filter(Boolean).join(", ")).title = one.address;
    const test = now.state === "WAITING" ? one.ready?.ms : null;
    text(took, test != null ? lasted(test) : one.latency.answers ? lasted(one.latency.median_ms) : "–");
    text(broken, one.violations || "none").className = one.violations ? "n broke" : "n soft";
    text(rating, one.rated_games ? rated(one) : "–");
  });
}

// With two standard deviations: in 19 of 20 cases it is in between.
const rated = one => one.rating + " ± " + 2 * one.rating_deviation;

let ranks = {};
function showStandings() {
  $("table").hidden = !standings.length || now.state === "WAITING";
  gliding($("standings"), standings, one => one.player_id, () => row(["n soft", "", "n spare", "n", "n", "n", "n spare", "n"], 1), (tr, one) => {
    // Who has played less than before plays in the next league.
    const was = ranks[one.player_id]?.played > one.played ? null : ranks[one.player_id];
    if (!was) tr.dataset.moved = "";
    // Before the first match everybody shares the first place, and nobody falls from there.
    if (was?.played && was.place !== one.place) {
      tr.dataset.moved = was.place > one.place ? "up" : "down";
      clearTimeout(tr.settled);
      tr.settled = setTimeout(() => { tr.dataset.moved = ""; paint(); }, MOVED_MS);
    }
    ranks[one.player_id] = one;
    tr.className = one.place === 1 ? "first" : "";
    const cells = [one.place, , one.played, one.wins, one.draws, one.losses, one.technical_losses, one.points];
    cells.forEach((value, at) => text(tr.children[at], value));
    fillName(tr.children[1].firstChild, one.player_id);
    const moved = tr.dataset.moved;
    text(tr.querySelector("small"), moved ? moved === "up" ? "▲" : "▼" : one.player_id).className = moved || "spare";
  });
}

/* ---- matches that are being played ---- */

// The match that is drawn large: the one somebody chose, for as long as its round is played, or what is worth seeing.
let chosen = "", staged = "", stagedAt = 0, overAt = 0;
// How often each player has been on the stage.
const onStages = new Map();

// How much a match is worth seeing, and why: leaders play, it is close, time runs out, or these have not been shown yet.
function worth(one) {
  const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length, all = ids(one);
  const ranks = all.map(id => standings.find(line => line.player_id === id)?.place || standings.length);
  const [best, second] = one.players.map(player => player.score || 0).sort((a, b) => b - a);
  const leads = now.round > 1 && ranks.includes(1), close = best > 0 && one.turn > 2 && best - second <= Math.max(1, best / 10);
  const ends = one.players.some(player => player.thinking && player.until && hurries(player.until - performance.now(), player.limit));
  const value = (now.round > 1 ? 2 - 2 * (mean(ranks) - 1) / standings.length : 0) + .5 * leads + .6 * close + .8 * ends - .8 * mean(all.map(id => onStages.get(id) || 0)) - 9 * isLadder(one);
  return { value, why: ends ? "last seconds" : leads ? "the leader plays" : close ? "close" : "" };
}

// Where nothing is being played: how it ended for whoever leads.
function lastMatch() {
  const over = allMatches().filter(isOver), round = over.filter(one => one.round_id === Math.max(...over.map(one => one.round_id)));
  return (round.find(one => ids(one).includes(standings[0]?.player_id)) || round[0])?.match_id || "";
}

// What is over stays for a moment, so that its end is seen; what is being played for longer, so that it can be followed.
function choose(list) {
  const clock = performance.now(), current = running.get(staged);
  overAt = current ? 0 : overAt || clock;
  if (chosen) return chosen;
  if (staged && !current && clock - overAt < END_MS) return staged;
  if (!list.length) return now.state === "COMPLETED" || !staged ? lastMatch() || staged : staged;
  const [best] = list.map(one => ({ one, ...worth(one) })).sort((a, b) => b.value - a.value), is = current && worth(current);
  if (current && (clock - stagedAt < STAY_MS || best.value < is.value + .7)) return staged;
  return best.one.match_id;
}

function card(one) {
  const button = make("button", "card", ...ids(one).map(id => coloured(make("span", "seat own", make("bdi"), make("b"), make("span", "clock", make("span"), make("i", "", make("b"))), make("bdi", "said")), id)),
    make("span", "soft", make("span"), make("span")));
  button.type = "button";
  button.onclick = () => { chosen = button.parentNode.dataset.key; paint(); look(chosen); };
  return make("li", "", button);
}

function showRunning() {
  const list = [...running.values()].sort((a, b) => isLadder(a) - isLadder(b) || byNumber(a.match_id, b.match_id)), round = rounds[now.round - 1];
  $("now").hidden = !list.length;
  text($("now-title"), "Being played").append(make("small", "", round ? "  round " + now.round + " of " + now.total_rounds : ""));
  if (!running.has(chosen) && (chosen !== staged || !now.round || seen.get(chosen)?.page.round_id !== now.round)) chosen = "";
  const first = choose(list);
  if (first !== staged) {
    [staged, stagedAt, overAt] = [first, performance.now(), 0];
    for (const id of ids(running.get(staged) || { players: [] })) onStages.set(id, (onStages.get(id) || 0) + 1);
    look(staged);
  }
  keyed($("matches"), list, one => one.match_id, card, (item, one) => {
    item.firstChild.classList.toggle("chosen", one.match_id === staged);
    item.firstChild.setAttribute("aria-pressed", one.match_id === staged);
    ids(one).forEach((id, at) => {
      const player = one.players[at], seat = item.firstChild.children[at], [name, score, clock, said] = seat.children;
      text(name, nameOf(id));
      text(score, player.score == null || about(one.game_type).unscored ? "" : "score " + player.score);
      text(said, player.said ? `“${player.said}”` : "").hidden = !player.said;
      clock.dataset.until = (player.thinking || one.state === "voting") && player.until || "";
      clock.dataset.limit = player.limit || 0;
      clock.dataset.idle = one.state === "voting" ? "the audience votes" : player.thinking === undefined ? "playing" : !player.thinking ? "waits" : person(id)?.connected === false ? "away" : "thinking";
    });
    const [id, turn] = item.firstChild.lastChild.children;
    text(id, label(one));
    text(turn, one.turn ? "turn " + one.turn : "");
  });
  tickClocks();
  const seated = new Set(round?.matches.flatMap(ids)), idle = round ? players.filter(one => !one.removed && !seated.has(one.player_id)) : [];
  $("bye").hidden = !idle.length;
  if (idle.length) $("bye").replaceChildren("Not playing this round: ", ...idle.flatMap((one, at) => [at ? ", " : "", bdi(one.display_name), one.sits_out ? " (" + one.sits_out + ")" : ""]));
  showStage();
}

function tickClocks() {
  for (const clock of document.querySelectorAll("#matches .clock")) {
    const [said, bar] = clock.children, { until, limit } = clock.dataset, left = until ? Math.max(0, until - performance.now()) : null;
    text(said, clock.dataset.idle + (left === null ? "" : ", " + Math.ceil(left / 1000) + " s left"));
    bar.hidden = left === null;
    bar.firstChild.style.width = Math.min(1, (left || 0) / limit) * 100 + "%";
    clock.classList.toggle("hurry", left !== null && hurries(left, limit));
  }
}
setInterval(() => { tickClocks(); if (now) showBreak(); }, TICK_MS);
setInterval(() => { if (now?.state === "WAITING") paint(); }, ASK_MS);
// Time alone can put another match on the stage.
setInterval(() => { if (now && whole && now.state !== "WAITING") showRunning(); }, 1000);

// Looks at a match and remembers the step it is at. Not more often than every GLANCE_MS.
let glance = null, lookedAt = 0;
const wanted = new Set();
function look(id) {
  if (id) wanted.add(id);
  if (!wanted.size || glance) return;
  glance = setTimeout(async () => {
    const [id] = wanted;
    wanted.delete(id);
    lookedAt = performance.now();
    try {
      const page = await get(shown("/api/matches/" + id + ".json"));
      if (about(page.game_type).needsMoves && isOver(page)) page.moves = (await get("/api/matches/" + id + "/moves.json").catch(() => ({}))).moves;
      await hear(page);
      remember(page);
      if (opened?.id === id) opened.change(page);
    } catch { /* The next change asks again. */ }
    glance = null;
    look();
    paint();
  }, Math.max(0, lookedAt + GLANCE_MS - performance.now()));
}

/* ---- debates: what was said, and the vote ---- */

// What this page is known by when it votes, for as long as the browser keeps it.
const voter = (() => {
  const make = () => hex([...crypto.getRandomValues(new Uint8Array(12))]);
  try {
    return localStorage.voter ||= make();
  } catch {
    return make();
  }
})();
const ballots = new Map();
const POLL_MS = 3000;

// The speeches of a match: the last one comes with how it stands, all others the box reads from its flash.
async function hear(page) {
  if (!about(page.game_type).hasSpeeches) return;
  const known = seen.get(page.match_id)?.page || {}, { last, spoken = 0, topic } = page.view || {};
  [page.speeches, page.topic] = [known.speeches || [], topic || known.topic];
  if (last?.text != null && page.speeches.length === spoken - 1) page.speeches = [...page.speeches, { ...last, player_id: last.player }];
  if (page.speeches.length !== spoken || page.topic === undefined || isOver(page) && !page.speeches.length) {
    const film = await get("/api/matches/" + page.match_id + "/speeches.json", 4 * PATIENCE_MS).catch(() => null);
    if (film) [page.speeches, page.topic] = [film.speeches, film.topic];
  }
  if (page.state === "voting" && !ballots.has(page.match_id)) await poll(page.match_id);
}

// How a vote stands, for a page that the box does not tell, and whom this page has voted for.
async function poll(id) {
  const said = await get(`/api/matches/${id}/vote?voter=${voter}`).catch(() => null);
  if (said) voted(id, said);
}

function voted(id, said) {
  ballots.set(id, said);
  counted(id, said.votes);
  if (said.vote === "closed") look(id);
}

// So many votes are for each.
function counted(id, votes) {
  const step = seen.get(id)?.steps.at(-1);
  if (step && !step.over) step.scores = votes;
  if (opened?.id === id) opened.change(seen.get(id).page);
  paint();
}

async function vote(id, player) {
  const before = ballots.get(id);
  ballots.set(id, { ...before, yours: player });
  paint();
  try {
    const answer = await fetch(`/api/matches/${id}/vote`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ for: player, voter }), signal: AbortSignal.timeout(PATIENCE_MS) });
    const said = await answer.json();
    if (answer.ok) return voted(id, said);
    ballots.set(id, { ...before, refused: said.error });
    look(id);
  } catch {
    ballots.set(id, { ...before, refused: "The box did not answer; try again" });
  }
  paint();
}

// What a step shows of the vote.
function withBallot(id, page, step) {
  const { yours, crowd } = ballots.get(id) || {};
  return page.state === "voting" && !step.over ? { ...step, ballot: { open: true, yours, crowd: codeOf() ? crowd : null, cast: player => vote(id, player) } } : step;
}
setInterval(() => { if (mode === "asking" && !document.hidden && seen.get(staged)?.page.state === "voting") poll(staged); }, POLL_MS);

// A match as the box told it, with the steps this page has seen of it.
function remember(page) {
  const id = page.match_id, known = seen.get(id) || { steps: [] };
  page.seats = seatsOf(page);
  const actions = byId(page, page.actions), over = isOver(page);
  const scores = Object.fromEntries(page.players.map(one => [one.player_id, one.score]));
  const step = { turn: page.turn || 0, view: page.view || undefined, actions, scores, result: page.game_result, over };
  const before = known.steps.at(-1);
  about(page.game_type).watch?.(step, page, before, page.moves);
  if (before && (before.turn === step.turn && before.over === over || !step.view && !page.game_result)) known.steps.pop();
  // What was before the end is not the end.
  if (!step.view && before?.view && !over) step.view = before.view;
  known.steps.push(step);
  if (known.steps.length > KEPT_STEPS) known.steps.shift();
  seen.delete(id);
  seen.set(id, Object.assign(known, { page }));
  if (seen.size > KEPT_MATCHES) seen.delete(seen.keys().next().value);
  return known;
}

// Words by player; the box sends them by seat.
const byId = (page, actions) => Object.fromEntries((actions || []).map((action, at) => [ids(page)[at], action]));

// Between two matches the last one stays.
let onStage = "";

function showStage() {
  if (seen.has(staged)) onStage = staged;
  const known = seen.get(onStage);
  $("stage").hidden = !known || (now.state === "WAITING" || isLadder(known.page)) && !running.has(onStage);
  if ($("stage").hidden) return;
  const { page, steps } = known, step = steps.at(-1);
  // Why it is worth seeing, for as long as that is so.
  const why = !step.over && running.has(onStage) ? worth(running.get(onStage)).why : "";
  const ballot = ballots.get(onStage) || {}, spoke = step.speeches?.length;
  const key = JSON.stringify([why, onStage, steps.length, step.turn, step.over, page.seats, page.winner, page.result, Boolean(step.view), page.state, page.acts, ...spoke === undefined ? [] : [spoke, step.scores, ballot.yours, ballot.refused, ballot.crowd]]);
  if ($("board").dataset.key === key) return;
  $("board").dataset.key = key;
  const title = page.seats.flatMap((seat, at) => [at ? " – " : "", make("bdi", "", seat.name)]);
  $("stage-title").replaceChildren(...page.seats.length > 2 ? [page.seats.length + " players"] : title);
  const { maxTicks, maxRounds = maxTicks } = step.view?.extra || {}, last = maxRounds ?? step.view?.max_turns;
  text($("stage-turn"), [label(page), step.over ? "over" : page.state === "voting" ? "the audience votes" : step.turn ? "turn " + step.turn + (last ? " of " + last : "") : "", why].filter(Boolean).join(" · "));
  $("board").replaceChildren(...step.over ? [verdict(page)] : [], ...ballot.refused && !step.over ? [make("p", "no", ballot.refused + ".")] : [], draw(page.game_type, page.seats, withBallot(onStage, page, step)));
}
$("stage-open").onclick = () => openMatch(onStage);

/* ---- games outside the league, and what is said ---- */

// Who waits, and the last words of the chat: asked for at most every ASK_MS and only while this page is looked at. The first while
// the box says that somebody waits; the second less often while nothing is said, and no more once the box has said that there is none.
let waiting = [], chat = [], hasChat = true, asks = 0;
async function overhear() {
  if (document.hidden || !now || !/live|asking/.test(mode)) return;
  waiting = now.waiting ? (await get("/api/waiting.json")).waiting : [];
  showRooms();
  if (!hasChat || !chat.length && asks++ % 3) return;
  const answer = await fetch("/api/v1/chat/global?limit=" + LINES, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
  hasChat = answer.status !== 404;
  if (answer.ok) chat = (await answer.json()).messages.slice(-LINES);
  showChat();
}
const listenAround = () => overhear().catch(() => {}).finally(() => setTimeout(listenAround, ASK_MS));
setTimeout(listenAround, 1000);

// Who waits in the same room, or for the same game in the queue.
function showRooms() {
  const rooms = new Map();
  for (const one of waiting) rooms.set(one.match_id || one.game_type, [...rooms.get(one.match_id || one.game_type) || [], one]);
  $("waiting").hidden = !rooms.size;
  keyed($("rooms"), [...rooms], ([room]) => room, () => make("li", "", make("b"), make("span"), make("small"), make("span", "names")), (item, [, all]) => {
    const [game, seats, since, names] = item.children, [{ game_type, match_id, seats: needed }] = all;
    text(game, game_type);
    text(seats, (match_id ? "room: " : "queue: ") + all.length + " of " + needed);
    text(since, "for " + lasting(Math.max(...all.map(one => one.seconds))));
    names.replaceChildren(...listed(all.map(one => nameOf(one.player_id))));
  });
}

function showChat() {
  $("chat").hidden = !chat.length;
  keyed($("lines"), chat, one => one.id, () => make("li", "", make("time"), make("b", "", make("bdi")), make("bdi")), (item, { sender, text: words, time, created_at }) => {
    const [when, who, said] = item.children;
    text(when, created_at ? new Date(created_at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }) : time);
    text(who.firstChild, sender);
    text(said, words);
  });
}

/* ---- results ---- */

function lineOf(one) {
  const many = ids(one).length > 2;
  const button = many ? make("button", "match many") : make("button", "match", make("bdi"), make("span"), make("bdi"), make("span", "note"));
  button.type = "button";
  const item = make("li", "", button);
  button.onclick = () => openMatch(item.dataset.key);
  return item;
}

function fillLine(item, one) {
  const button = item.firstChild, over = isOver(one), technical = one.result === "TECHNICAL_LOSS", points = pointsOf(one), [a, b] = ids(one);
  const note = make("span", "note", ...technical || over && one.end_reason === "adjudicated" ? [...technical ? ["technical loss: "] : [], ...outcome(one)] : []);
  if (button.classList.contains("many")) {
    button.replaceChildren(...ids(one).map(id => make("span", one.winner === id ? "seated won" : "seated", make("bdi", "", nameOf(id)), make("small", "", over ? several(points[id], "point") : ""))));
    if (note.textContent) button.append(note);
    return;
  }
  const [first, score, second, last] = button.children;
  text(first, nameOf(a)).className = one.winner === a ? "won" : "";
  text(second, nameOf(b)).className = one.winner === b ? "won" : "";
  text(score, over ? points[a] + " : " + points[b] : one.status === "RUNNING" || running.has(one.match_id) ? "playing" : "waits").className = over ? "score" : "score soft";
  if (last.textContent !== note.textContent) last.replaceWith(note);
  button.lastChild.hidden = !note.textContent;
}

function showFresh() {
  const all = allMatches(), news = fresh.flatMap(id => all.filter(one => one.match_id === id && isOver(one)));
  $("fresh").hidden = !news.length || now.state === "COMPLETED";
  gliding($("results"), news, one => one.match_id, lineOf, fillLine);
}

function showRounds() {
  const large = now.total_matches > MANY_MATCHES;
  $("all").hidden = !rounds.length && !large;
  $("large").hidden = !large;
  const create = () => make("details", "", make("summary", "", make("b"), " ", make("small")), make("ol")), names = players.map(one => one.display_name).join();
  keyed($("rounds"), rounds, round => round.round_id, create, (details, round) => {
    const over = round.matches.filter(isOver).length, all = round.matches.length;
    text(details.querySelector("b"), "Round " + round.round_id);
    text(details.querySelector("small"), over ? over + " of " + all + " played" : round.round_id > now.round ? "to come" : "being played");
    // A league of thirty has 435 lines, and a few of them change.
    const key = names + round.matches.map(one => [one.status, one.winner, one.result, one.end_reason, running.has(one.match_id)]);
    if (details.dataset.lines === key) return;
    details.dataset.lines = key;
    keyed(details.querySelector("ol"), round.matches, one => one.match_id, lineOf, fillLine);
  });
}

// Pictures of results are made anew only when a result has changed, or the room for them.
onresize = paint;
function changed(place) {
  const key = JSON.stringify([place.clientWidth, now.league_id, standings.map(one => [one.player_id, one.points]), allMatches().filter(isOver).map(one => [one.match_id, one.winner])]);
  if (place.dataset.key === key) return false;
  place.dataset.key = key;
  return true;
}

function showRace() {
  const over = rounds.filter(round => round.matches.some(isOver));
  $("race").hidden = !over.length || now.total_rounds < 2;
  if ($("race").hidden || !changed($("chart"))) return;
  const lines = standings.map(one => {
    let points = 0;
    return { id: one.player_id, name: one.display_name, points: over.map(round => {
      for (const match of round.matches) if (isOver(match)) points += pointsOf(match)[one.player_id] || 0;
      return points;
    }) };
  });
  $("chart").replaceChildren(race(lines, now.total_rounds, $("chart").clientWidth));
}

// Against everybody: in games of four, who got more points.
function showCrosstable() {
  const over = allMatches().filter(isOver);
  $("cross").hidden = !over.length || standings.length > MANY_PLAYERS || standings.length < 3;
  const home = $(standings.length > CROWD ? "wide" : "right");
  if ($("cross").parentNode !== home) home.append($("cross"));
  if ($("cross").hidden || !changed($("crosstable"))) return;
  const met = {};
  for (const one of over) {
    const points = pointsOf(one);
    for (const a of ids(one)) for (const b of ids(one)) {
      if (a !== b) (met[a + b] ||= []).push(points[a] > points[b] ? "W" : points[a] < points[b] || one.result === "TECHNICAL_LOSS" ? "L" : "D");
    }
  }
  const NAMES = { W: "won", D: "drew", L: "lost" };
  const th = (scope, content) => { const cell = make("th", "", content); cell.scope = scope; return cell; };
  const head = make("tr", "", make("td", "self"), ...standings.map(one => { const cell = th("col", one.rank + "."); cell.title = one.display_name; return cell; }), th("col", "Points"));
  const body = standings.map(mine => {
    const name = th("row", make("bdi", "", mine.display_name));
    name.prepend(mine.rank + ". ");
    name.title = mine.display_name;
    return make("tr", "", name, ...standings.map(other => {
      if (other === mine) return make("td", "self");
      const results = met[mine.player_id + other.player_id] || [], cell = make("td", results.length === 1 ? results[0] : "", results.join(""));
      cell.title = results.length ? mine.display_name + " " + results.map(result => NAMES[result]).join(", ") + " against " + other.display_name : "not played yet";
      return cell;
    }), make("td", "sum", mine.points));
  });
  $("crosstable").replaceChildren(make("table", "", make("thead", "", head), make("tbody", "", ...body)));
}

/* ---- one match, one player ---- */

// The match that is being looked at while it is played: its id, and what to do when it has changed.
let opened = null;
$("dialog").onclose = () => { opened = null; };

async function open(title, path, show, headers) {
  opened = null;
  $("title").replaceChildren(...[title].flat());
  text($("body"), "Asking the box …");
  // What had the focus in it is about to go.
  if ($("dialog").open) $("title").focus();
  else $("dialog").showModal();
  try {
    const page = await get(path, PATIENCE_MS, headers);
    text($("body"), "");
    await show(page, $("body"));
  } catch (error) {
    text($("body"), "The box did not tell: " + error.message);
  }
}

function facts(parent, pairs) {
  const dl = parent.appendChild(make("dl"));
  for (const [term, value] of pairs) if (value) dl.append(make("dt", "", term), make("dd", "", value));
}

const addressOf = player => /\d+\.\d+\.\d+\.\d+/.exec(player.address || "")?.[0];

function openPlayer(id, said) {
  open(make("bdi", "", nameOf(id)), "/api/players/" + id + ".json", (page, body) => {
    const took = page.latency, ends = Object.entries(page.end_reasons).filter(([, count]) => count), line = standings.find(one => one.player_id === id);
    const ready = page.ready;
    facts(body, [["Id", page.player_id], ["State", condition(page)[0]],
      ["Standing", line && line.played ? `place ${line.place} with ${several(line.points, "point")}: ${line.wins} won, ${line.draws} drawn, ${line.losses} lost` : ""],
      ["Rating", page.rated_games ? `${rated(page)} (${several(page.rated_games, "game")})` : "no game yet"], ["Version", bdi(page.version)], ["Says it is at", bdi(page.contact_endpoint)], [isCalled(page) ? "Is called at" : "Dials in from", bdi(page.address)],
      ["Connected", isCalled(page) ? "" : page.connected ? "yes" : "no; what it is asked waits for it"], ["Last seen", lastSeen(page)], ["Dialect", page.dialect],
      ["Test call", ready && { ok: "answered" + (ready.ms == null ? "" : " in " + lasted(ready.ms)), failed: ready.http_status ? `answered with HTTP status ${ready.http_status}, and not by the agent. ${ready.advice}` : "not answered", asked: "under way" }[ready.status]],
      ["Sits out", bdi(page.sits_out)],
      ["Moves", took.answers && took.answers + ", the fastest in " + lasted(took.min_ms) + ", half within " + lasted(took.median_ms) + ", 99 of 100 within " + lasted(took.p99_ms)],
      ["Matches ended by", ends.map(([why, count]) => count + " × " + ending(why)).join(", ")]]);
    const matches = allMatches().filter(one => ids(one).includes(id) && isOver(one));
    if (matches.length) {
      body.append(make("h3", "", "Results"));
      keyed(body.appendChild(make("ol")), matches, one => one.match_id, lineOf, fillLine);
    }
    body.append(make("h3", "", page.violations ? "Rules of the protocol broken: " + several(page.violations, "time") : "No rule of the protocol broken so far"));
    body.append(make("ol", "", ...page.compliance.map(line => make("li", "", make("b", "code", line.rule), " ", make("small", "", line.count + " ×"),
      make("p", "", line.advice), ...line.example ? [make("small", "", "First seen: "), make("bdi", "code", line.example)] : []))));
    const here = addressOf(page), same = here ? players.filter(one => !one.removed && addressOf(one) === here).length : 0;
    const remove = [[["Remove this player"], "remove", { player_id: id }], ...same > 1 ? [[[`Remove all ${same} players at ${here}`], "remove", { address: here }]] : []];
    const choices = page.removed ? [] : [[["Is it ready?"], "check", { player_id: id }], ...now.state === "COMPLETED" ? [] : remove];
    // Before the league whoever is removed is gone, and there is nothing left to show.
    powers(body, choices, (words, verb) => verb === "remove" && now.state === "WAITING" ? $("body").replaceChildren(make("p", "yes", words)) : openPlayer(id, words), said);
  }, codeOf() ? bearer() : {});
}

// What happens again and again is one line. While it goes on nobody counts it.
const repeated = data => data?.until && (data.count ? data.count + " ×" : "again and again") + " until " + new Date(data.until).toLocaleTimeString("en-GB");

function openMatch(id, said) {
  open("Match", shown("/api/matches/" + id + ".json"), async (page, body) => {
    await hear(page);
    const { steps } = remember(page), seats = page.seats, over = isOver(page);
    $("title").replaceChildren((isLadder(page) ? "Ladder" : "Match " + id) + ": ", ...seats.flatMap((seat, at) => [at ? " – " : "", make("bdi", "", seat.name)]));
    if (over) body.append(verdict(page));
    const follow = replay(body, page, steps), told = body.appendChild(make("div"));
    const tell = page => {
      told.replaceChildren();
      facts(told, [["Status", page.status.toLowerCase()], ["Phase", words(page.phase).toLowerCase()], ["Ended by", ending(page.end_reason)], ["Referee", page.referee_id === "REF01" ? "" : page.referee_id], ["Ended", local(page.finished_at)]]);
    };
    tell(page);
    prove(body, page);
    if (page.log?.length) {
      body.append(make("h3", "", "Messages"));
      body.append(make("ol", "log", ...page.log.map(line => make("li", "", make("time", "", new Date(line.timestamp).toLocaleTimeString("en-GB")), make("bdi", "", line.agent_id === "LEAGUE_MANAGER" ? "the box" : nameOf(line.agent_id)),
        make("bdi", "", [line.message_type, line.message, words(line.data?.detail), repeated(line.data)].filter(Boolean).join(" · ").replace(": ·", ":"))))));
      body.lastChild.tabIndex = 0;
    } else if (over) body.append(make("p", "soft", "The messages of this match are no longer in the box's log."));
    const rule = winner => ["rule", { match_id: id, winner }], wins = seat => [[make("bdi", "", seat.name), " wins"], ...rule(seat.id)];
    const turnOut = open => [[open ? "Open the vote" : "Close the vote"], "vote", { match_id: id, open }];
    const polls = !over && about(page.game_type).hasSpeeches ? [turnOut(page.state !== "voting")] : [];
    const again = over && now.state !== "COMPLETED" ? [[["Play it again"], "replay", { match_id: id }]] : [];
    if (page.status !== "SCHEDULED") powers(body, [...polls, ...isLadder(page) ? [] : [...seats.map(wins), [["A draw"], ...rule(null)], ...again]], words => openMatch(id, words), said);
    // It goes on while it is looked at; when it is over there is more to show.
    if (!over) opened = { id, change: page => isOver(page) ? openMatch(id) : (follow(seen.get(id).steps), tell(page)) };
  });
}

// Step by step through a match. Of one that is over the box tells every move; of any other this page knows what it has seen.
// Returns what goes on with the steps there are then, for whoever looks at the last one.
function replay(body, page, watched) {
  const place = body.appendChild(make("div")), below = body.appendChild(make("div"));
  let steps = [], step = null;
  const show = step => place.replaceChildren(draw(page.game_type, page.seats, withBallot(page.match_id, seen.get(page.match_id)?.page || page, step)));
  const follow = watched => {
    const isLast = !step || step.at() === steps.length - 1, at = step?.at(), last = watched.at(-1);
    const history = about(page.game_type).steps?.({ ...page, game_result: last.result, view: last.view }) || [];
    steps = history.length ? history : watched;
    step = null;
    below.replaceChildren();
    if (steps.length > 1) step = stepper(below, 0, steps.length - 1, at => { show(steps[at]); return "turn " + steps[at].turn; }, isLast ? steps.length - 1 : at);
    else show(steps.at(-1));
    if (steps === watched && !about(page.game_type).single) below.append(make("p", "soft", "The steps here are those that this page has seen." + (isOver(page) ? " The box does not keep the moves of this match any more." : " When the match is over, the box tells every move.")));
  };
  if (!isOver(page)) {
    follow(watched);
    return follow;
  }
  show(watched.at(-1));
  film(page, below, show).catch(() => follow(watched));
  return () => {};
}

// A slider over steps, and buttons beside it. `go` shows a step and says in words which it is. Returns what goes to a step, and where it is.
function stepper(parent, first, last, go, begin = last) {
  const slider = make("input"), said = make("small"), back = make("button", "", "‹"), on = make("button", "", "›");
  Object.assign(slider, { type: "range", min: first, max: last, value: last });
  slider.setAttribute("aria-label", "Step");
  [back.type, on.type] = ["button", "button"];
  back.setAttribute("aria-label", "One step back");
  on.setAttribute("aria-label", "One step on");
  const to = number => {
    slider.value = number;
    const words = go(Number(slider.value));
    text(said, words);
    slider.setAttribute("aria-valuetext", words);
  };
  slider.oninput = () => to(slider.value);
  back.onclick = () => to(Number(slider.value) - 1);
  on.onclick = () => to(Number(slider.value) + 1);
  parent.append(make("p", "replay buttons", back, slider, on, said));
  to(begin);
  return { to, at: () => Number(slider.value) };
}

const sinceBegin = ms => Math.floor(ms / 60000) + ":" + (ms % 60000 / 1000).toFixed(1).padStart(4, "0");
// The moves of a match that is over, and the game after each of them as the box plays it anew.
async function film(page, below, show) {
  const path = "/api/matches/" + page.match_id, { moves, complete } = await get(path + "/moves.json"), shots = new Map();
  let wanted = 0, shown = -1, busy = false;
  const look = async () => {
    if (busy) return;
    busy = true;
    try {
      // Whoever moves the slider fast skips steps.
      for (let at; shown !== (at = wanted); shown = at) {
        if (!shots.has(at)) shots.set(at, await get(path + "/steps/" + at + ".json"));
        show(stepOf(shots.get(at), page, moves));
      }
    } catch { /* The next step asks again. */ }
    busy = false;
  };
  const deed = one => one.ended_against ? "The match ends" + (one.ended_against.length ? ", against " + one.ended_against.map(nameOf).join(", ") : "")
    : one.votes ? "The audience has voted: " + one.votes.slice(0, page.seats.length).join(" – ") : one.about !== undefined ? one.about || "It begins" : spoken(one.move, about(page.game_type).said);
  const lines = moves.map(one => make("li", "", make("time", "", sinceBegin(one.at_ms)), make("bdi", "", one.player_id ? nameOf(one.player_id) : ""), make("bdi", "", deed(one))));
  const list = make("ol", "log moves", ...lines);
  list.tabIndex = 0;
  const { to } = stepper(below, 0, moves.length, at => {
    wanted = at;
    look();
    lines.forEach((line, number) => line.setAttribute("aria-current", number + 1 === at ? "step" : "false"));
    if (at) list.scrollTop = lines[at - 1].offsetTop - lines[0].offsetTop - list.clientHeight / 2;
    return `step ${at} of ${moves.length}` + (at ? ", " + sinceBegin(moves[at - 1].at_ms) : "");
  });
  lines.forEach((line, number) => { line.onclick = () => to(number + 1); });
  if (!complete) below.append(make("p", "soft", "Later moves of this match are missing: the box was too busy to keep them."));
  below.append(make("h3", "", "Moves"), list);
}

// What is drawn of one step of a match that is over.
function stepOf(shot, page, moves) {
  const over = shot.state === "over", scores = Object.fromEntries(shot.players.map(one => [one.player_id, one.score]));
  const step = { turn: shot.turn, view: shot.view, actions: byId(shot, shot.actions), scores, over, result: over ? page.game_result : undefined };
  about(page.game_type).watch?.(step, page, undefined, moves.slice(0, shot.step));
  return step;
}

// The commitment was public before anybody chose, so a seed that fits it was fixed by then. Recomputed here, by this page.
function prove(body, page) {
  if (!page.seed_commitment) return;
  const box = body.appendChild(make("div", "proof")), line = (good, ...said) => box.append(make("p", good ? "yes" : "no", (good ? "✓ " : "✗ "), ...said));
  facts(box, [["Commitment", make("span", "code", page.seed_commitment)], ["Seed", make("span", "code", page.match_seed || "secret until the match is over")]]);
  if (!page.match_seed) return;
  const seed = unhex(page.match_seed);
  line(hex(sha256(seed)) === page.seed_commitment, "this page computed the seed's SHA-256, and it ", hex(sha256(seed)) === page.seed_commitment ? "is" : "is not", " the commitment");
  for (const [good, ...words] of about(page.game_type).proof?.(page, seed) || []) line(good, ...words);
  box.append(make("p", "soft", "Anybody can do the same: /skill.md says how."));
}

/* ---- the teacher's desk ---- */

const RESET = ["Reset", "Erase all players and results?", "Really? Press once more"];
const verbs = [...document.querySelectorAll("[data-verb]")];
let resets = 0, resetTimer = 0;

function askReset(step) {
  clearTimeout(resetTimer);
  resets = step;
  text(verbs.find(button => button.dataset.verb === "reset"), RESET[step]).classList.toggle("sure", step > 0);
  if (step) resetTimer = setTimeout(askReset, 8000, 0);
}

function command(verb) {
  if (verb === "reset" && resets < 2) return askReset(resets + 1);
  askReset(0);
  order(verb, undefined, $("said"));
}

// Buttons for the teacher, at the end of what is being looked at. Each asks once more before it does anything, and then shows
// what has become of it, with the box's words.
function powers(body, choices, again, words) {
  if (!choices.length) return;
  if (!codeOf()) return body.append(make("p", "soft", "With the admin code entered under Teacher, the teacher decides here."));
  body.append(make("h3", "", "The teacher decides"));
  const row = body.appendChild(make("p", "buttons powers")), said = body.appendChild(make("p", "yes", words));
  said.setAttribute("role", "status");
  said.tabIndex = -1;
  if (words) said.focus();
  for (const [label, verb, what] of choices) {
    const button = row.appendChild(make("button", "", make("span", "", ...label)));
    button.type = "button";
    button.onclick = async () => {
      const sure = verb === "check" || !button.classList.toggle("sure");
      button.firstChild.replaceChildren(...sure ? [] : ["Really? "], ...label);
      if (sure && await order(verb, what, said) && $("dialog").open && said.isConnected) again(said.textContent, verb);
    };
  }
}

// Tells the box to do something; whether it did. `refused` is the status of the last refusal.
let refused = 0;
async function order(verb, what, place, done = said => "Done. " + (said.message || "")) {
  sessionStorage.setItem("code", codeOf());
  const say = (className, words) => { text(place, words).className = className; };
  say("soft", "Asking the box …");
  try {
    const headers = { ...bearer(), "Content-Type": "application/json" };
    const answer = await fetch("/api/admin/" + verb, { method: "POST", headers, body: what && JSON.stringify(what), signal: AbortSignal.timeout(PATIENCE_MS * 3) });
    const said = await answer.json();
    if (answer.ok) say("yes", done(said));
    else say("no", "Refused: " + (answer.status === 401 ? "this is not the admin code. The box printed it when it started." : said.error + "."));
    if (answer.status === 401 && $("desk").open) $("code").select();
    if (mode === "asking") ask();
    if (!answer.ok) refused = answer.status;
    return answer.ok && said;
  } catch {
    say("no", "The box did not answer. Look above what happened, and try again.");
    return false;
  }
}

for (const button of verbs) button.onclick = () => command(button.dataset.verb);
$("go").onclick = () => command("next");

// Enter in the field of the code says whether it is right, and does nothing else: an order without a body is refused, but a
// wrong code before that.
$("code").onkeydown = async event => {
  if (event.key !== "Enter" || event.repeat) return;
  event.preventDefault();
  if (!await order("check", {}, $("said")) && refused === 400) Object.assign(text($("said"), "The code is right."), { className: "yes" });
};

let houseless = false;
$("add-house").onclick = async () => {
  if (await order("house", { players: Number($("house-players").value) }, $("said")) || ![404, 409].includes(refused)) return;
  houseless = true;
  paint();
};

$("projector").onclick = async () => {
  const said = await order("projector", undefined, $("projected"), () => "On the projector's computer, open:"), given = said?.projector;
  if (!said) return void ($("projector").hidden = refused === 404);
  const link = make("a", "code", location.origin + "/#projector=" + encodeURIComponent(given));
  link.href = link.textContent;
  $("projected").append(" ", link);
};

// What comes of it is told as any other change of a player.
$("check-all").onclick = async () => {
  const all = players.filter(one => !one.removed);
  for (const one of all) if (!await order("check", { player_id: one.player_id }, $("said"))) return;
  text($("said"), all.length ? "Asked " + several(all.length, "player") + ". The table says who is ready." : "Nobody has registered yet.");
};

// Its memory is of interest to nobody else.
async function examine() {
  if (!$("desk").open) return;
  health = await get("/health");
  showHealth();
}
setInterval(() => examine().catch(() => {}), ASK_MS);

$("settings").game.onchange = () => {
  const { hides = "" } = about($("settings").game.value);
  text($("hides"), hides).hidden = !hides;
};

$("teach").onclick = async () => {
  $("desk").showModal();
  try {
    await examine();
    $("settings").game.replaceChildren(...Object.keys(games).map(game => make("option", "", game)));
    await getSettings();
    for (const field of $("settings").elements) if (field.name) field.value = shownSetting(field);
    for (const part of document.querySelectorAll("#settings label")) part.hidden = settings[part.control.name] === undefined || part.control.name === "fill_after" && now?.board !== "desktop";
    $("settings").game.onchange();
    const { leagues } = await get("/api/leagues.json");
    $("past").hidden = !leagues.length;
    $("leagues").replaceChildren(...leagues.map(({ league, league_id, ended_at, champion }) => {
      const link = make("a", "", league_id);
      link.href = "/api/leagues/" + league + ".json";
      return make("li", "", link, " ", make("small", "", local(ended_at)), " ", make("bdi", "", champion.display_name), " won");
    }));
  } catch { /* Without these the rest of the desk works. */ }
};

// People count time in seconds, the box in milliseconds.
const isTime = field => field.name.endsWith("_ms");
const shownSetting = field => field.name === "seed" && settings.seed !== "set" ? "" : isTime(field) && settings[field.name] ? settings[field.name] / 1000 : settings[field.name] ?? "";

async function getSettings() {
  settings = await get("/api/settings.json");
  paint();
}

$("settings").onsubmit = async event => {
  event.preventDefault();
  const change = {};
  // Only what was changed: of the rest the box may say that it is too late.
  for (const field of $("settings").elements) {
    const { name, type, value } = field;
    if (name === "topic" && value !== shownSetting(field)) await order("topic", { topic: value || null }, $("saved"), () => "Saved.");
    if (!name || name === "topic" || settings[name] === undefined || value === String(shownSetting(field))) continue;
    change[name] = value === "" ? null : isTime(field) ? Math.round(value * 1000) : type === "number" ? Number(value) : name === "other_hosts" ? value === "true" : value;
  }
  if (!Object.keys(change).length || await order("settings", change, $("saved"), () => "Saved.")) getSettings();
};

const kilo = bytes => bytes < 1e7 ? (bytes / 1024).toFixed(bytes < 1e5 ? 1 : 0) + " KB" : (bytes / 1024 / 1024).toFixed(0) + " MB";

function showHealth() {
  const { ram, variables, stack, deepest_stack, flash, program, journal, resident } = health.memory || {};
  pairs($("health"), [["Name", now.name + " (" + now.board + "), version " + now.version],
    ["Up", now.uptime_seconds < 120 ? now.uptime_seconds + " s" : Math.floor(now.uptime_seconds / 60) + " min"],
    ["Last start", words(now.last_reset) + (now.last_panic ? ": " + now.last_panic : "")],
    ["Clock", local(now.time) + " (" + now.time_source + ")"],
    ["RAM", ram ? `${kilo(variables)} for variables, ${kilo(deepest_stack)} for the stack at its deepest (there is room for ${kilo(stack)}), of ${kilo(ram)}: ${kilo(ram - variables - deepest_stack)} free` : resident ? kilo(resident) : undefined],
    ["Flash", (flash ? `${kilo(program)} for the program, ${kilo(journal)} for the journal, of ${kilo(flash)}; ` : "") + "journal " + now.journal + ", " + now.journal_erases + " erases" + (now.resumed_at ? ", resumed " + local(now.resumed_at) : "")],
    ["Turned away", now.refused_requests + " requests, " + now.limited_requests + " of them for coming too often"], ["Wrong admin codes", now.wrong_admin_codes]]);
}

let toldTimeAt = 0;
function tellTime() {
  toldTimeAt = Date.now();
  const headers = { "Content-Type": "application/json" };
  return fetch("/api/clock", { method: "POST", headers, body: JSON.stringify({ utc: new Date() }) }).then(answer => answer.json()).catch(() => null);
}

$("clock").onclick = async () => {
  const said = await tellTime();
  const words = !said ? "The box did not answer." : said.status === "ok" ? "Done. Its clock says " + local(said.time) + "." : "It keeps its own: " + local(said.time) + ", from a better source (" + said.time_source + ").";
  text($("clocked"), words).className = said ? "yes" : "no";
};

/* ---- the beginning ---- */

for (const dialog of document.querySelectorAll("dialog")) dialog.querySelector(".close").onclick = () => dialog.close();
$("code").value = sessionStorage.getItem("code") || "";
get("/.well-known/agent.json").then(card => { games = Object.fromEntries(card.games.map(game => [game.name, game.description])); paint(); }, () => {});
listen();
