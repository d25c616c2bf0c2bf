const faces = cards => make("div", "hand", ...cards.map(card => playingCard(card === "?" ? "" : card)));
const result = ({ bet, paid }) => paid > bet ? ["won", `wins ${paid - bet}`] : paid === bet ? ["", "ties"] : ["lost", `loses ${bet}`];
const total = ({ points, soft }) => `${soft ? "soft " : ""}${points}${points > 21 ? ", bust" : ""}`;

function draw(seats, step) {
  const { hand, max_hands: hands, phase, to_move: asked, dealer, players } = step.view, between = phase === "bet" && dealer.cards.length;
  const shown = one => make("div", "", faces(one.cards), make("p", "hand", make("b", "", total(one)), make("span", "bet", `bet ${one.bet}`),
    ...one.paid === null ? [] : [make("b", ...result(one))]));
  const place = player => ({ ...player, isAsked: player.id === asked, isOut: !player.hands.length && phase !== "bet", things: [...player.hands.map(shown), make("b", "", player.chips + " chips")] });
  // Between two hands the last one is seen.
  const when = between ? `Hand ${hand - 1} of ${hands} is over; bets for the next` : phase === "bet" ? `Bets for hand ${hand} of ${hands}` : `Hand ${hand} of ${hands}`;
  const house = dealer.cards.length ? [faces(dealer.cards), make("b", "", `The dealer ${dealer.cards.includes("?") ? "shows" : "has"} ${total(dealer)}`)] : [];
  return make("div", "game", felt(seats, step, [make("p", "", when), ...house], players.map(place)),
    key([], "Closer to 21 than the dealer wins; above it has lost. Most chips after ten hands win."));
}

game("blackjack", {
  draw,
  hides: "The dealer's second card is for whoever has the projector's link, below, and for all when the dealer plays.",
  style: ".felt .won { color: #86efac; } .felt .lost { color: #fca5a5; }",
});
