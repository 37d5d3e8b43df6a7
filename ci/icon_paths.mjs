// Writes the web client's icons from the npm package lucide-static. FILE gets one path for each name below,
// on a grid of 24 units, and LATER gets the icons that are not visible at startup, including the icons in
// menus. One path for each icon is smaller than the package's shapes and needs no markup. Run by ci/vendor:
// PACKAGE FILE LATER.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Maps our name for each icon to the package's name.
const NAMES = {
  add: "plus",
  again: "rotate-cw",
  attach: "paperclip",
  back: "chevron-left",
  bell: "bell",
  "bell-off": "bell-off",
  check: "check",
  close: "x",
  code: "code",
  copy: "copy",
  deafen: "headphone-off",
  down: "arrow-down",
  emoji: "smile",
  file: "file",
  flag: "flag",
  gear: "settings",
  go: "arrow-right",
  hash: "hash",
  headphones: "headphones",
  invite: "user-plus",
  leave: "phone-off",
  link: "link",
  lock: "lock",
  lower: "chevron-down",
  mentions: "at-sign",
  menu: "menu",
  mic: "mic",
  "mic-off": "mic-off",
  more: "ellipsis",
  options: "sliders-horizontal",
  people: "users",
  pin: "pin",
  reply: "reply",
  search: "search",
  send: "send-horizontal",
  thread: "message-square-text",
  up: "chevron-up",
  voice: "volume-2",
};

const LATER_NAMES = {
  archive: "archive",
  ban: "ban",
  bot: "bot",
  call: "phone",
  camera: "video",
  "camera-off": "video-off",
  devices: "monitor-smartphone",
  disk: "hard-drive",
  download: "download",
  edit: "pencil",
  forward: "forward",
  full: "maximize",
  globe: "globe",
  hand: "hand",
  health: "heart-pulse",
  hidden: "eye-off",
  levels: "chart-no-axes-column-increasing",
  log: "scroll-text",
  palette: "palette",
  person: "user",
  "person-off": "user-x",
  quiet: "circle-minus",
  screen: "screen-share",
  "screen-stop": "screen-share-off",
  seen: "circle-dot",
  server: "server",
  shield: "shield",
  "sign-out": "log-out",
  squares: "qr-code",
  tags: "tags",
  trash: "trash-2",
  unseen: "circle",
  webhook: "webhook",
};

const [source, ...targets] = process.argv.slice(2);

/** Return the shapes of an icon, [tag, attributes]. */
function shapesOf(name) {
  const drawing = readFileSync(join(source, "icons", `${name}.svg`), "utf8");
  const attributes = (text) =>
    Object.fromEntries([...text.matchAll(/([a-z0-9]+)="([^"]*)"/g)].map(([, key, value]) => [key, value]));
  return [...drawing.matchAll(/<(\w+) ([^>]*)\/>/g)].map(([, tag, text]) => [tag, attributes(text)]);
}

/** Return the path of a shape. Throws for a kind of shape that no icon has used so far. */
function pathOf([tag, shape]) {
  const { d, x1, y1, x2, y2, points, cx, cy, x, y } = shape;
  const [r, rx, ry, width, height] = ["r", "rx", "ry", "width", "height"].map((name) =>
    Number(shape[name] ?? 0),
  );
  const round = (horizontal, vertical) =>
    `M${cx - horizontal} ${cy}a${horizontal} ${vertical} 0 1 0 ${2 * horizontal} 0a${horizontal} ${vertical} 0 1 0 ${-2 * horizontal} 0z`;
  // A relative start refers to the origin of the drawing, and not to the end of the previous shape.
  if (tag === "path") return d.startsWith("m") ? `M0 0${d}` : d;
  if (tag === "line") return `M${x1} ${y1}L${x2} ${y2}`;
  if (tag === "polyline") return `M${points}`;
  if (tag === "circle") return round(r, r);
  if (tag === "ellipse") return round(rx, ry);
  if (tag !== "rect") throw new Error(`no path for ${tag}`);
  const corner = rx || ry;
  const arc = (to) => (corner ? `a${corner} ${corner} 0 0 1 ${to}` : "");
  const [across, along] = [width - 2 * corner, height - 2 * corner];
  return (
    `M${Number(x) + corner} ${y}h${across}${arc(`${corner} ${corner}`)}v${along}${arc(`${-corner} ${corner}`)}` +
    `h${-across}${arc(`${-corner} ${-corner}`)}v${-along}${arc(`${corner} ${-corner}`)}z`
  );
}

/**
 * Round to a hundredth of a unit, less than a twentieth of a pixel at any size that the page uses. Each
 * number keeps its decimal point, which may be all that separates it from the number before or after.
 */
const rounded = (path) =>
  path.replaceAll(/\d*\.\d{3,}/g, (number) => Number(number).toFixed(2).replace(/0$/, "").replace(/^0/, ""));

[NAMES, LATER_NAMES].forEach((names, index) => {
  const rows = Object.entries(names).map(
    ([name, theirs]) =>
      `  ${JSON.stringify(name)}: ${JSON.stringify(rounded(shapesOf(theirs).map(pathOf).join("")))},`,
  );
  writeFileSync(targets[index], `export const PATHS = {\n${rows.join("\n")}\n};\n`);
});
