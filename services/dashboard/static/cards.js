// Playing cards, drawn: no fonts, no pictures. A card is text such as "9S"; "9" has no suit on record, null is hidden.

const SVG = "http://www.w3.org/2000/svg";
const RANKS = { A: "ace", J: "jack", Q: "queen", K: "king", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 10: "ten" };
const SUITS = { S: "spades", H: "hearts", D: "diamonds", C: "clubs" };
const SHAPES = {
  H: "M50 92C22 66 5 49 5 29 5 14 16 6 28 6c10 0 18 6 22 15C54 12 62 6 72 6c12 0 23 8 23 23 0 20-17 37-45 63z",
  D: "M50 3c9 17 22 33 37 47-15 14-28 30-37 47C41 80 28 64 13 50 28 36 41 20 50 3z",
  S: "M50 4c4 15 44 38 44 60 0 12-9 19-19 19-9 0-16-4-20-11 1 10 5 18 12 24H33c7-6 11-14 12-24-4 7-11 11-20 11C15 83 6 76 6 64 6 42 46 19 50 4z",
  C: "M50 4a21 21 0 0 1 17 33 21 21 0 1 1-12 37c1 9 5 16 11 22H34c6-6 10-13 11-22a21 21 0 1 1-12-37A21 21 0 0 1 50 4z",
};
// Columns at 19, 31.5 and 44 of a card 63 wide and 88 high; the lower half stands on its head.
const PIPS = {
  2: [[31.5, 18], [31.5, 70]],
  3: [[31.5, 18], [31.5, 44], [31.5, 70]],
  4: [[19.500, 18], [43.5, 18], [19.5, 70], [43.5, 70]],
  5: [[19.5, 18], [43.5, 18], [31.5, 44], [19.5, 70], [43.5, 70]],
  6: [[19.5, 18], [43.5, 18], [19.5, 44], [43.5, 44], [19.5, 70], [43.5, 70]],
  7: [[19.5, 18], [43.5, 18], [31.5, 31], [19.5, 44], [43.5, 44], [19.5, 70], [43.5, 70]],
  8: [[19.5, 18], [43.5, 18], [31.5, 31], [19.5, 44], [43.5, 44], [31.5, 57], [19.5, 70], [43.5, 70]],
  9: [[19.5, 17], [43.5, 17], [19.5, 35], [43.5, 35], [31.5, 44], [19.5, 53], [43.5, 53], [19.5, 71], [43.5, 71]],
  10: [[19.5, 17], [43.5, 17], [31.5, 26], [19.5, 35], [43.5, 35], [19.5, 53], [43.5, 53], [31.5, 62], [19.5, 71], [43.5, 71]],
};
const CROWNS = {
  K: "M20 27l-3-12 7.500 5 7-8.500 7 8.500 7.500-5-3 12z",
  Q: "M21 27c-1-4-2.500-8-4.500-11 3.500 1.500 6 3.500 8 6 .8-4 3-7.500 7-10 4 2.500 6.200 6 7 10 2-2.500 4.500-4.500 8-6-2 3-3.500 7-4.500 11z",
  J: "M20 27c0-8 5-12 13-13 5-.6 8-3 9-6 2 7-1 11 3 19z",
};

function draw(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function suit(which, x, y, size, turned = false) {
  const turn = turned ? ` rotate(180 50 50)` : "";
  return draw("path", { d: SHAPES[which], class: "pip", transform: `translate(${x - size / 2} ${y - size / 2}) scale(${size / 100})${turn}` });
}

function corner(rank, which, turned) {
  const at = draw("text", { x: 8, y: 15, class: "rank", "text-anchor": "middle" }, rank);
  if (rank === "10") {
    at.setAttribute("textLength", "12.5");
    at.setAttribute("lengthAdjust", "spacingAndGlyphs");
  }
  const parts = which ? [at, suit(which, 8, 22.5, 9)] : [at];
  return draw("g", turned ? { transform: "rotate(180 31.5 44)" } : {}, ...parts);
}

function court(rank, which) {
  const half = (turned) =>
    draw(
      "g",
      turned ? { transform: "rotate(180 31.5 44)" } : {},
      draw("path", { d: "M15.500 11.500h32v32.500h-32z", class: "robe" }),
      draw("path", { d: "M15.500 44l32-19v19z", class: "sash" }),
      draw("path", { d: CROWNS[rank], class: "crown" }),
      suit(which, 21.5, 37, 8.5),
    );
  return [
    half(false),
    half(true),
    draw("rect", { x: 15.5, y: 11.5, width: 32, height: 65, rx: 2.5, class: "frame" }),
    draw("circle", { cx: 31.5, cy: 44, r: 11.5, class: "medal" }),
    draw("text", { x: 31.5, y: 51, class: "court", "text-anchor": "middle" }, rank),
  ];
}

function middle(rank, which) {
  if (!which) return [draw("text", { x: 31.5, y: 56, class: "lone", "text-anchor": "middle" }, rank)];
  if (rank === "A") return [suit(which, 31.5, 44, which === "S" ? 40 : 30)];
  if (rank in CROWNS) return court(rank, which);
  return PIPS[rank].map(([x, y]) => suit(which, x, y, 14, y > 44));
}

export function name(card) {
  if (card === null) return "a hidden card";
  const which = card.slice(-1) in SUITS ? card.slice(-1) : "";
  const rank = RANKS[which ? card.slice(0, -1) : card];
  return which ? `${rank} of ${SUITS[which]}` : `${rank}, suit not recorded`;
}

// One card to look at. Those of a hand are read out with the hand, not one by one.
export function cardElement(card) {
  const element = document.createElement("span");
  element.className = "card";
  if (card === null) {
    element.classList.add("back");
    return element;
  }
  const which = card.slice(-1) in SUITS ? card.slice(-1) : "";
  const rank = which ? card.slice(0, -1) : card;
  element.classList.add(which === "H" || which === "D" ? "red" : which ? "black" : "suitless");
  element.append(
    draw("svg", { viewBox: "0 0 63 88", "aria-hidden": "true" }, ...middle(rank, which), corner(rank, which, false), corner(rank, which, true)),
  );
  return element;
}
