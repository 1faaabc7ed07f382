// Draws a chart as the page does in a place of this width, and tells where its legend and labels are.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [, , web, width] = process.argv;
const require = createRequire(`${web}/package.json`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const vega = await load("vega");
const lite = await load("vega-lite");
const { fitted } = await import(pathToFileURL(`${web}/src/parts/fit-chart.ts`));

// without a canvas, Vega takes letters for wider than those of any font
vega.textMetrics.width = (item, text) =>
  Math.min(item.limit || Infinity, 0.58 * (item.fontSize ?? 11) * String(text ?? item.text ?? "").length);

const shown = fitted(JSON.parse(readFileSync(0, "utf8")), Number(width));
const wide = typeof shown.width === "number" ? { width: Number(width), autosize: { type: "fit-x", contains: "padding" } } : {};
const view = new vega.View(vega.parse(lite.compile({ ...shown, ...wide }).spec), { renderer: "none" });
await view.runAsync();

const found = { all: [], legend: [], "axis-label": [], "title-text": [], value: [] };
const root = view.scenegraph().root;
found.all.push(box(root.bounds));
walk(root, 0, 0);
console.log(JSON.stringify(found));

function box(bounds, x = 0, y = 0) {
  return [bounds.x1 + x, bounds.y1 + y, bounds.x2 + x, bounds.y2 + y].map(Math.round);
}

function walk(mark, x, y) {
  const role = mark.role === "legend" || mark.role in found ? mark.role : mark.marktype === "text" && mark.role === "mark" ? "value" : null;
  for (const item of mark.items ?? []) {
    if (role && item.opacity !== 0 && item.text !== "") found[role].push(box(item.bounds, x, y));
    for (const inner of item.items ?? []) walk(inner, x + (item.x ?? 0), y + (item.y ?? 0));
  }
}
