const RANKS = "3 4 5 6 7 8 9 10 J Q K A 2 BJ RJ".split(" ");
const JOKERS = { BJ: "joker", RJ: "red joker" };

// A card that is seen; the jokers are stars, the red one red.
const face = rank => make("span", "face " + (JOKERS[rank] || ""), JOKERS[rank] ? "★" : rank);
const cards = (ranks, className) => make("div", "cards " + className, ...ranks.map(face));
const backs = count => make("div", "cards", ...Array.from({ length: count }, () => make("span", "back")));
const told = ranks => ranks.map(rank => JOKERS[rank] || rank).join(" ");

// What somebody did: its cards, or a word.
const did = deed => !deed ? make("div", "deed") : RANKS.includes(deed[0]) ? cards(deed, "deed") : make("div", "deed", deed.join(" "));

function draw(seats, step) {
  const { view } = step, past = view.last_deal, over = view.phase === "over";
  // Between two deals the last one is seen, as it was when its last play was made, beside new cards of which nobody sees anything.
  const shown = past && (over || !Object.values(view.bids).some(Boolean)) ? past.hands : view.hands;
  const landlord = view.landlord || (shown === past?.hands && past?.landlord);
  const role = seat => landlord && (seat.id === landlord ? "Landlord" : "Farmer");
  const place = seat => {
    const hand = shown?.[seat.id], left = view.cards_left[seat.id], points = past?.points[seat.id];
    const words = hand ? "has " + told(hand) : count(left, "card") + " left";
    const row = make("div", "place own" + (view.to_move === seat.id ? " turn" : ""),
      make("div", "who", make("bdi", "", seat.name), make("small", "", [role(seat), hand ? "" : count(left, "card"), past && shown === past.hands && `${points > 0 ? "+" : ""}${points} in the last deal`].filter(Boolean).join(" · "))),
      hand ? cards(hand, "") : backs(left), did((view.trick || view.bids)[seat.id]));
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", `${seat.name} ${words}`);
    return coloured(row, seat.id);
  };
  const kitty = view.kitty?.length ? make("div", "kitty", make("small", "", "Kitty"), cards(view.kitty, "")) : null;
  const state = make("p", "soft", `Deal ${view.deal} of ${view.deals}` + (view.worth ? `, worth ${count(view.worth, "point")}` : ""));
  return make("div", "game landlord", make("div", "head", state, kitty), ...seats.map(place), sides(seats, step, "point", undefined, seat => view.scores[seat.id]),
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
.landlord { justify-items: stretch; }
.landlord .head { align-items: center; margin: 0; } .landlord .kitty { display: flex; gap: .5rem; align-items: center; }
.landlord .place { border-inline-start: .4rem solid var(--seat); border-radius: .4rem; padding: .35rem .7rem; display: grid; gap: .3rem; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); align-items: center; }
.landlord .place.turn { background: var(--tint); }
.landlord .place > .who { grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: 0 .7rem; align-items: baseline; } .landlord .who bdi { font-weight: 650; }
.landlord .cards { display: flex; flex-wrap: wrap; row-gap: .2rem; padding-inline-start: .55em; font-size: clamp(1rem, 2.6cqi, 1.7rem); }
.landlord .face, .landlord .back { width: 1.75em; height: 2.3em; margin-inline-start: -.55em; border: 1px solid #0006; border-radius: .25em; }
.landlord .face { background: #fff; color: #1a1923; font-weight: 750; line-height: 1.3; padding-inline-start: .12em; letter-spacing: -.06em; }
.landlord .back { background: repeating-linear-gradient(45deg, var(--seat) 0 .25em, #fff8 .25em .5em), var(--seat); }
.landlord .face.joker { color: #22212b; } .landlord .face.red { color: #c81e1e; }
.landlord .deed { font-weight: 650; min-height: 2.3em; align-content: center; } .landlord .deed .face { border-color: var(--seat); border-width: 2px; }
`,
});
