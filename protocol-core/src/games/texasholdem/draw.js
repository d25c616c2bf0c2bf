const STATES = { folded: "folded", all_in: "all in", out: "out" };
const faces = (cards, most, name = "hand") => make("div", name, ...Array.from({ length: Math.max(most, cards?.length || 0) }, (_, at) => playingCard(...cards?.[at] || [])));

// The board has five places, whether there are cards yet or not.
function board(cards) {
  const places = faces(cards, 5);
  [...places.children].slice(cards.length).forEach(place => { place.classList.add("none"); place.querySelector(".behind").remove(); place.setAttribute("aria-label", "no card yet"); });
  return places;
}

// What came of the hand before.
function past(seats, last) {
  if (!last) return [];
  const name = id => seats.find(seat => seat.id === id)?.name ?? id;
  const told = last.players.filter(player => player.won || player.best).map(player => make("span", "hand" + (player.won ? " won" : ""),
    make("bdi", "", name(player.id)), ...player.hand ? [faces(player.hand, 2, "hand small")] : [], [player.best, player.won && `takes ${player.won}`].filter(Boolean).join(", ")));
  return [make("span", "hand", "Hand " + last.hand, ...last.board.length ? [faces(last.board, 0, "hand small")] : []), ...told];
}

function draw(seats, step) {
  const { hand, max_hands: hands, small_blind: small, big_blind: big, cards, pot, button, to_move: asked, players, last_hand: last } = step.view;
  const place = ({ id, name, stack, bet, state, hand }) => ({
    id, name, isAsked: id === asked, isOut: state === "folded" || state === "out", note: STATES[state],
    things: [state === "out" ? null : faces(hand, 2), make("div", "hand", make("b", "", stack + " chips"), bet ? make("span", "bet", `bet ${bet}`) : null, id === button ? make("span", "dealer", "dealer") : null)],
  });
  return make("div", "game", felt(seats, step, [make("p", "", `Hand ${hand} of ${hands} · blinds ${small} and ${big}`), board(cards), make("b", "pot", pot ? `Pot ${pot}` : "\u00a0")], players.map(place)),
    make("div", "felt past", ...past(seats, last)), key([], "The best five of seven cards win the pot. Hands that were folded stay hidden until the match is over."));
}

// Deals all hands again, and looks at the last.
function proof({ seats, view }, seed) {
  const last = view?.last_hand, below = chance(seed);
  if (!last) return [];
  let dealt = [];
  for (let hand = 1; hand <= last.hand; hand++) {
    const deck = [..."23456789TJQKA"].flatMap(rank => [..."cdhs"].map(suit => rank + suit));
    dealt = Array.from({ length: 2 * seats.length + 5 }, () => deck.splice(below(deck.length), 1)[0]);
  }
  const cards = dealt.slice(2 * seats.length), place = player => seats.findIndex(seat => seat.id === player.id);
  const same = last.players.every(player => !player.hand || String(player.hand) === String(dealt.slice(2 * place(player), 2 * place(player) + 2)));
  return [[same && last.board.every((card, at) => card === cards[at]), `in hand ${last.hand} the seed deals `, seats.map((_, at) => dealt.slice(2 * at, 2 * at + 2).join(" ")).join(", "), " and ", cards.join(" ")]];
}

game("texasholdem", {
  draw,
  proof,
  hides: "Everybody sees the board and the bets. Hands are for whoever has the projector's link, below, and for all when they are shown or the match is over.",
  style: ".past { display: flex; flex-wrap: wrap; gap: .3rem 1.6rem; justify-content: center; background: #1f4d33; } .past:empty { display: none; } .past .won { font-weight: 700; }",
});
