// A debate as a stage: see stage in draw.js.
game("regular_debate", { ...stage });
