// The Bazaar as two stalls: what each holds and wants, as far as it may be seen; between them the trade that is proposed; below, what is said.
const GOODS = {
  gold: [["circle", { cx: 12, cy: 12, r: 10, fill: "#eab308" }], ["circle", { cx: 12, cy: 12, r: 6, fill: "none", stroke: "#854d0e", "stroke-width": 2 }]],
  iron: [["path", { d: "M2 19 6 8H18L22 19Z", fill: "#94a3b8" }], ["path", { d: "M6 8 9 4H21L18 8Z", fill: "#cbd5e1" }]],
  food: [["path", { d: "M12 8C7 4 3 8 4 14s5 9 8 7c3 2 7-1 8-7s-3-10-8-6Z", fill: "#dc2626" }], ["path", { d: "M12 8C12 4 14 2 18 2 18 6 15 8 12 8Z", fill: "#16a34a" }]],
  wood: [["rect", { x: 2, y: 7, width: 18, height: 10, rx: 5, fill: "#92400e" }], ["ellipse", { cx: 18, cy: 12, rx: 4, ry: 5, fill: "#fcd34d" }], ["ellipse", { cx: 18, cy: 12, rx: 1.6, ry: 2.2, fill: "#92400e" }]],
};
const NAMES = Object.keys(GOODS);
const sign = name => shape("svg", { viewBox: "0 0 24 24", class: "good", "aria-hidden": true }, ...GOODS[name].map(([tag, attributes]) => shape(tag, attributes)));
const inWords = bundle => NAMES.filter(name => bundle?.[name]).map(name => bundle[name] + " " + name).join(" and ") || "nothing";
const goods = bundle => make("span", "goods", ...NAMES.filter(name => bundle?.[name]).map(name => make("b", "", String(bundle[name]), sign(name), make("small", "", name))), inWords(bundle) === "nothing" ? "nothing" : "");
const points = (held, goal) => Math.min(100, Math.floor(100 * held / goal.amount));

function stall(seat, step) {
  const { view = {}, result } = step, held = (view.resources || result?.resources)?.[seat.id], goal = view.goals?.[seat.id], asked = view.to_speak === seat.id;
  const shelf = NAMES.map(name => make("span", goal?.resource === name ? "wanted" : "", sign(name), make("b", "", held ? String(held[name]) : "?"), make("small", "", name)));
  let wants = make("p", "wants", held || step.over ? "" : "has a secret goal");
  if (goal) {
    const has = held?.[goal.resource] || 0, bar = make("span", "", "");
    bar.style.width = points(has, goal) + "%";
    wants = make("p", "wants", make("span", "bar-of", bar), make("span", "", "wants ", make("b", "", `${goal.amount} ${goal.resource}`), ", has ", make("b", "", String(has))), make("b", "points", String(points(has, goal))));
  }
  return coloured(make("div", "own stall" + (asked ? " asked" : ""), make("p", "who", make("b", "", make("bdi", "", seat.name)), make("small", "", asked ? `speaks next: ${view.spoken + 1} of ${view.messages}` : "")), wants, make("div", "shelf", ...shelf)), seat.id);
}

const VERDICTS = { accepted: ["✓ Sold!", "yes"], rejected: ["✗ No deal", "no"], withdrawn: ["Taken back", "soft"] };

function deal(seats, view) {
  const one = view.pending || view.last_trade, name = id => seats.find(seat => seat.id === id)?.name || id;
  if (!one) return make("p", "deal soft", "Nobody has proposed a trade yet.");
  const [said, className] = view.pending ? ["Deal?", "open"] : VERDICTS[one.answer] || ["", ""];
  return coloured(make("div", "own deal " + className, make("p", "", make("bdi", "", name(one.player)), " gives"), goods(one.offer), make("span", "for", "for"), goods(one.request), make("b", "said", said)), one.player);
}

function draw(seats, step) {
  const view = step.view || {}, said = step.speeches || [], last = said.at(-1), name = id => seats.find(seat => seat.id === id)?.name || id;
  const speech = (one, className) => coloured(make("li", "own " + className, make("span", "who", make("b", "", make("bdi", "", name(one.player_id)))), words(one, "words")), one.player_id);
  const votes = Object.values((view.votes || step.result?.votes) ?? {}).some(Boolean);
  return make("div", "debate bazaar", make("div", "stalls", ...seats.map(seat => stall(seat, step))), ...step.view ? [deal(seats, view)] : [],
    ...view.stage === "vote" || step.over && votes ? [ballot(seats, step)] : [],
    ...last ? [make("ol", "", speech(last, "latest"))] : [make("p", "soft", "Nobody has said anything yet.")],
    ...said.length > 1 ? [make("ol", "earlier", ...said.slice(0, -1).reverse().map(one => speech(one, "")))] : []);
}

// What the seed deals: who wants what, and who holds what.
function opening(seed) {
  const below = chance(seed), between = (low, high) => low + below(high - low + 1), first = below(4), second = below(3), wanted = [first, second < first ? second : second + 1];
  const held = [0, 1].map(seat => NAMES.map((_, at) => between(at === wanted[1 - seat] ? 3 : 2, 6)));
  const goals = [0, 1].map(seat => [wanted[seat], held[seat][wanted[seat]] + between(3, Math.min(5, held[1 - seat][wanted[seat]]))]);
  return { held, goals };
}

// Follows the trades from what the seed dealt, and sees whether everybody ends with what the box says.
function proof(page, seed) {
  const { held, goals } = opening(seed), ids = page.seats.map(seat => seat.id), final = page.game_result?.resources;
  let open;
  for (const { player_id: id, move } of page.moves || []) {
    if (move?.propose) open = { by: ids.indexOf(id), ...move.propose };
    else if (move?.accept) NAMES.forEach((name, at) => {
      const given = (open.offer?.[name] || 0) - (open.request?.[name] || 0);
      held[open.by][at] -= given;
      held[1 - open.by][at] += given;
    });
  }
  const same = final && ids.every((id, seat) => NAMES.every((name, at) => final[id]?.[name] === held[seat][at]));
  const wants = page.seats.map((seat, at) => `${seat.name} ${goals[at][1]} ${NAMES[goals[at][0]]}`).join(" and ");
  return page.moves ? [[Boolean(same), `the seed gives ${wants} to reach, and the trades lead from what it deals to what each holds`]] : [];
}

game("trade_deal", {
  ...stage, draw, proof, needsMoves: true,
  watch(step, page, before, moves) {
    const upto = moves ? moves.filter(one => one.move?.text !== undefined).length : undefined;
    step.speeches = (page.speeches || []).slice(0, upto);
  },
  said: (name, value, move) => name === "propose" ? `gives ${inWords(value.offer)} for ${inWords(value.request)}?` : name === "accept" ? "accepts" : name === "reject" ? "no deal" : stage.said(name, value, move),
  hides: "Everybody sees trades and hears what is said. What each holds and wants is for whoever has the projector's link, below, and for all when it is over.",
  style: `
.bazaar .stalls { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: .7rem; }
.bazaar .stall { min-width: 0; display: grid; gap: .4rem; align-content: start; padding: .6rem .8rem; border-radius: .9rem; background: var(--page); border: 3px solid transparent; border-top-color: var(--seat); } .bazaar .stall.asked { border-color: var(--seat); }
.bazaar .stall p { margin: 0; } .bazaar .stall .who { font-size: clamp(1.1em, 2.6cqi, 1.7em); justify-content: space-between; min-width: 0; } .bazaar .stall .who b { min-width: 0; } .bazaar .stall .who small { white-space: nowrap; }
.bazaar .wants { display: flex; flex-wrap: wrap; gap: .1rem .6rem; align-items: baseline; font-size: clamp(1em, 2.2cqi, 1.5em); min-height: 1.5em; } .bazaar .points { margin-inline-start: auto; font-size: 1.3em; }
.bazaar .bar-of { flex-basis: 100%; height: .6rem; border-radius: .3rem; background: var(--line); overflow: hidden; } .bazaar .bar-of span { display: block; height: 100%; background: var(--seat); transition: width .6s; }
.bazaar .shelf { display: grid; grid-template-columns: repeat(4, 1fr); gap: .3rem; text-align: center; } .bazaar .shelf span { display: grid; justify-items: center; padding: .3rem 0; border-radius: .6rem; border: 2px solid transparent; } .bazaar .shelf .wanted { border-color: var(--seat); }
.bazaar .shelf b { font-size: clamp(1.5em, 4.6cqi, 3em); line-height: 1.1; font-variant-numeric: tabular-nums; } .bazaar .good { width: 1.6em; height: 1.6em; } .bazaar .shelf .good { width: clamp(1.8rem, 5cqi, 3.2rem); height: auto; }
.bazaar .deal { display: flex; flex-wrap: wrap; gap: .2rem .8rem; align-items: center; justify-content: center; margin: 0; padding: .5rem .8rem; border-radius: .9rem; border: 3px dashed var(--line); font-size: clamp(1.1em, 2.8cqi, 1.9em); } .bazaar .deal p { margin: 0; }
.bazaar .deal.open { border-color: var(--seat); } .bazaar .deal.yes { border-style: solid; border-color: currentColor; } .bazaar .deal.yes :is(p, .goods, .for), .bazaar .deal.no :is(p, .goods, .for) { color: var(--ink); } .bazaar .deal.no .goods { opacity: .6; }
.bazaar .goods { display: inline-flex; flex-wrap: wrap; gap: .1rem .6rem; } .bazaar .goods b { display: inline-flex; gap: .25em; align-items: center; } .bazaar .goods small { font-weight: 400; } .bazaar .said { margin-inline-start: .4em; }
`,
});
