// A debate as a stage: see stage in draw.js.
game("spicy_debate", { ...stage });
