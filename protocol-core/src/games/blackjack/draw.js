const faces = cards => make("div", "hand", ...cards.map(card => playingCard(card === "?" ? "" : card)));
const result = ({ bet, paid }) => paid === null ? "" : paid > bet ? `wins ${paid - bet}` : paid === bet ? "ties" : `loses ${bet}`;

function draw(seats, step) {
  const { hand, max_hands: hands, phase, to_move: asked, dealer, players } = step.view;
  const shown = one => make("div", "", faces(one.cards), make("p", "", `${one.soft ? "soft " : ""}${one.points}${one.points > 21 ? ", bust" : ""} · bet ${one.bet} ${result(one)}`));
  const place = player => ({ ...player, isAsked: player.id === asked, isOut: !player.hands.length && phase !== "bet", things: [...player.hands.map(shown), make("b", "", player.chips + " chips")] });
  const when = phase === "bet" ? `Bets for hand ${hand} of ${hands} are made` : `Hand ${hand} of ${hands}`;
  const house = dealer.cards.length ? [make("p", "", "The dealer"), faces(dealer.cards), make("b", "", `${dealer.points}${dealer.points > 21 ? ", bust" : ""}`)] : [];
  return make("div", "game", felt(seats, step, [make("p", "", when), ...house], players.map(place)),
    key([], "Closer to 21 than the dealer wins; above it has lost. Most chips after ten hands win."));
}

game("blackjack", { draw, hides: "The dealer's second card is for whoever has the projector's link, below, and for all when the dealer plays." });
