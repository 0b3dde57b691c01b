// A chart of lines over time: a drawing, a sentence that says the same, and a table.
import { el, table } from "./dom.js";
import { texts } from "./texts.js";

const [WIDTH, HEIGHT] = [600, 120];
const COLOURS = ["accent", "urgent", "ok", "warn", "quiet"];
const DASHES = ["", "6 3", "2 3", "10 3 2 3", "1 4", "12 4", "4 8"];
/** Of longer tables the newest rows are shown. */
const ROWS = 60;
/** Colours and dashes of a line: no two of 35 are alike. */
const look = (index) => [`var(--${COLOURS[index % COLOURS.length]})`, DASHES[index % DASHES.length]];

function shape(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Lines are `{ words, since, step, points }`, in which null is a gap; `say` puts a value into words. */
export function chart(title, lines, { say }) {
  const known = lines.map((line) => ({ ...line, values: line.points.filter((point) => point !== null) })).filter(({ values }) => values.length > 0);
  const section = (...parts) => el("section", {}, el("h2", {}, title), ...parts);
  if (known.length === 0) return section(el("p", { className: "hint" }, texts.chart.nothing));
  const most = Math.max(...known.flatMap(({ values }) => values));
  const sentences = known.map(({ words, points, values }) => {
    const last = points.at(-1);
    return texts.chart.line(words, last === null ? null : say(last), say(Math.max(...values)));
  });
  const drawing = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}. ${sentences.join("; ")}.`, width: "100%", height: HEIGHT, preserveAspectRatio: "none", overflow: "visible" },
    shape("path", { d: `M0 ${HEIGHT - 1}H${WIDTH}`, stroke: "var(--line)" }),
    ...known.flatMap(({ points }, index) => {
      const pen = { fill: "none", stroke: look(index)[0], "stroke-linejoin": "round", "stroke-linecap": "round", "vector-effect": "non-scaling-stroke" };
      return [
        shape("path", { ...pen, d: path(points, most), "stroke-dasharray": look(index)[1], "stroke-width": 2 }),
        shape("path", { ...pen, d: path(alone(points), most), "stroke-width": 7 }),
      ];
    }));
  const legend = el("ul", {}, sentences.map((sentence, index) => {
    const [stroke, dashes] = look(index);
    const sample = shape("svg", { viewBox: "0 0 24 8", width: 24, height: 8, "aria-hidden": "true" }, shape("path", { d: "M0 4H24", stroke, "stroke-dasharray": dashes, "stroke-width": 2 }));
    return el("li", {}, sample, " ", sentence);
  }));
  return section(drawing, legend, el("details", {}, el("summary", { "aria-label": texts.words.of(texts.chart.asTable, title) }, texts.chart.asTable), twin(title, known, say)));
}

/** The points that stand alone: a line as thin as the others would hide them. */
const alone = (points) => points.map((point, index) => ((points[index - 1] ?? points[index + 1] ?? null) === null ? point : null));

/** The way of a line; after a gap it begins anew, and a point alone is a dot. */
export function path(points, most) {
  const right = WIDTH / Math.max(1, points.length - 1);
  let way = "";
  let isDown = false;
  points.forEach((point, index) => {
    if (point === null) return void (isDown = false);
    const place = `${(index * right).toFixed(1)} ${(HEIGHT - 2 - (most > 0 ? point / most : 0) * (HEIGHT - 6)).toFixed(1)}`;
    way += isDown ? `L${place}` : `M${place}h0`;
    isDown = true;
  });
  return way;
}

function twin(title, lines, say) {
  const longest = lines.reduce((one, other) => (other.points.length > one.points.length ? other : one));
  const rows = longest.points.map((_, index) => {
    const at = new Date(Date.parse(longest.since) + index * longest.step * 1000);
    // Series that began later have fewer points, and all end now.
    const values = lines.map(({ points }) => points[index - longest.points.length + points.length] ?? null);
    if (values.every((value) => value === null)) return null;
    return [at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" }), ...values.map((value) => (value === null ? "–" : say(value)))];
  }).filter(Boolean);
  const caption = rows.length > ROWS ? texts.chart.newest(title, ROWS, rows.length) : title;
  return table(caption, [texts.chart.at, ...lines.map(({ words }) => words || texts.chart.value)], rows.reverse().slice(0, ROWS));
}
