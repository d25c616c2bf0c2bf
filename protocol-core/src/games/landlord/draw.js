const RANKS = "3 4 5 6 7 8 9 10 J Q K A 2 BJ RJ".split(" ");
const JOKERS = { BJ: "joker", RJ: "red joker" };

// Cards; many overlap, each as far as its rank can be read. The jokers are stars, the red one red.
function fan(ranks, className = "") {
  const tight = ranks.length > 6, cards = make("div", (tight ? "fan tight " : "fan ") + className, ...ranks.map(rank => playingCard(JOKERS[rank] ? "★" : rank, "", tight ? 28 : undefined)));
  ranks.forEach((rank, at) => cards.children[at].classList.toggle("red", rank === "RJ"));
  cards.setAttribute("role", "img");
  cards.setAttribute("aria-label", ranks[0] ? ranks.map(rank => JOKERS[rank] || rank).join(" ") : count(ranks.length, "hidden card"));
  return cards;
}

// What somebody did: its cards, or a word.
const did = deed => !deed ? null : RANKS.includes(deed[0]) ? fan(deed, "deed") : make("b", "deed", deed.join(" "));

function draw(seats, step) {
  const { view } = step, past = view.last_deal, over = view.phase === "over";
  // Between two deals the last one is seen, as it was when its last play was made, beside new cards of which nobody sees anything.
  const shown = past && (over || !Object.values(view.bids).some(Boolean)) ? past.hands : view.hands;
  const landlord = view.landlord || (shown === past?.hands && past?.landlord);
  const place = seat => {
    const hand = shown?.[seat.id], left = hand ? hand.length : view.cards_left[seat.id], points = past?.points[seat.id], asked = view.to_move === seat.id;
    return coloured(make("div", "place own" + (asked ? " asked" : ""),
      make("div", "who", make("bdi", "", seat.name), seat.id === landlord ? make("span", "lord", "Landlord") : null, asked ? make("span", "", "to move") : null,
        past && shown === past.hands ? make("span", "", `${points > 0 ? "+" : "−"}${Math.abs(points)} in the last deal`) : null, make("b", "", count(view.scores[seat.id], "point").replace("-", "−"))),
      make("div", "left", make("b", "", left), fan(hand || Array(left).fill(""), hand ? "" : "backs")), did((view.trick || view.bids)[seat.id])), seat.id);
  };
  const kitty = view.kitty?.length ? make("span", "kitty", "Kitty", fan(view.kitty)) : null;
  const state = make("span", "", `Deal ${view.deal} of ${view.deals}` + (view.worth ? ` · worth ${count(view.worth, "point")}` : ""));
  return make("div", "game", make("div", "felt landlord", make("div", "head", state, kitty), ...seats.map(place)),
    key([], "The landlord plays against both others; who has no cards left first wins for its side. Stars are jokers. A bomb, four of a rank, and the rocket, both jokers, double what the deal is worth."));
}

// The cards that a seed deals, one by one, from those that are left.
function dealer(seed) {
  const below = chance(seed);
  return () => {
    const deck = RANKS.flatMap((rank, at) => Array(at < 13 ? 4 : 1).fill(rank)), take = () => deck.splice(below(deck.length), 1)[0];
    return { hands: [0, 1, 2].map(() => Array.from({ length: 17 }, take)), kitty: deck };
  };
}

// Deals again as the seed says, follows the moves, and sees whether everybody had what it played.
function proof(page, seed) {
  const deal = dealer(seed), lines = [], ids = page.seats.map(seat => seat.id);
  let dealt = deal(), bids = [], passed = 0, good = true, landlord = -1;
  for (const { player_id: id, move } of page.moves || []) {
    const seat = ids.indexOf(id);
    if (landlord < 0) {
      bids.push([move[0] === "bid" ? Number(move[1]) : 0, seat]);
      const [top, who] = bids.reduce((best, bid) => bid[0] > best[0] ? bid : best);
      if (top < 3 && bids.length < 3) continue;
      if (!top && ++passed < 3) [dealt, bids] = [deal(), []];
      else dealt.hands[landlord = who].push(...dealt.kitty);
    } else if (move[0] !== "pass") {
      const hand = dealt.hands[seat];
      for (const rank of move) good &&= hand.includes(rank) && hand.splice(hand.indexOf(rank), 1).length > 0;
      if (hand.length) continue;
      lines.push([good, `the seed deals the cards of deal ${lines.length + 1}, and everybody had what it played`]);
      [bids, passed, good, landlord] = [[], 0, true, -1];
      if (lines.length < 3) dealt = deal();
    }
  }
  return lines;
}

game("landlord", {
  draw, proof, needsMoves: true,
  hides: "Everybody sees how many cards each player has. The hands are for whoever has the projector's link, below, and for all when a deal is over.",
  style: `
.landlord { gap: .5rem; } .landlord .head { align-items: center; margin: 0; } .landlord .kitty { display: flex; gap: .6rem; align-items: center; }
.felt.landlord .place { grid-template-columns: minmax(0, 1fr); justify-items: start; text-align: start; border-inline-start: .5rem solid var(--seat); border-top-color: transparent; }
.felt.landlord .place.asked { border-color: #facc15; border-inline-start-color: var(--seat); }
.landlord .who { width: 100%; display: flex; flex-wrap: wrap; gap: 0 .8rem; align-items: baseline; } .landlord .who bdi { font-weight: 700; font-size: 1.2em; } .landlord .who b { margin-inline-start: auto; }
.landlord .lord { background: #facc15; color: #1a1923; border-radius: 1rem; padding: 0 .6em; font-weight: 700; }
.landlord .left { display: flex; gap: .6rem; align-items: center; } .landlord .left > b { min-width: 1.3em; text-align: end; font-size: 1.7em; }
.landlord .fan { --w: clamp(2.1rem, 6.1cqi, 4.2rem); --under: .36; display: flex; flex-wrap: wrap; gap: .25rem; } .landlord .fan .face { width: var(--w); }
.landlord .backs { --under: .78; } .landlord .tight { gap: .2rem 0; padding-inline-start: calc(var(--w) * var(--under)); } .landlord .tight .face { margin-inline-start: calc(var(--w) * -1 * var(--under)); }
.landlord .tight text { transform: translate(-8px, -16px); } .landlord .behind { fill: var(--seat); } .landlord .kitty .fan { --w: clamp(1.7rem, 4.6cqi, 3.2rem); }
.landlord .deed { font-size: 1.3em; } .landlord .fan.deed { --w: clamp(2.3rem, 7.2cqi, 5rem); }
@container (min-width: 33rem) { .felt.landlord .place:has(.backs) { grid-template-columns: minmax(0, 5fr) minmax(0, 6fr); align-items: center; } .felt.landlord .who { grid-column: 1 / -1; } }
`,
});
