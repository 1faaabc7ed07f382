import embed, { type Result } from "vega-embed";
import { expressionInterpreter } from "vega-interpreter";
import type { TopLevelSpec } from "vega-lite";
import type { Spec } from "../api/types";
import { chartConfig, FONT } from "./chart-theme";
import "./chart.css";
import { fitted } from "./fit-chart";

/** Draws a chart without evaluating code: the page's policy allows none. */
export async function drawChart(frame: HTMLElement, spec: Spec, dark: boolean): Promise<Result> {
  await document.fonts.load(`500 12px ${FONT}`, "Aя"); // or text is measured in another font, and cut off
  return embed(frame, themed(fitted(spec, frame.clientWidth), dark, true), {
    actions: false,
    ast: true,
    expr: expressionInterpreter,
    renderer: "canvas",
    defaultStyle: false,
    tooltip: { disableDefaultStyle: true, theme: "own" },
    patch: withTimestamps,
  });
}

/** The chart as a file, light on white whatever the page looks like. */
export async function chartFile(spec: Spec, format: "png" | "svg"): Promise<Blob> {
  const frame = document.createElement("div");
  const drawn = await embed(frame, themed(spec, false, false), { actions: false, ast: true, expr: expressionInterpreter, defaultStyle: false, tooltip: false, patch: withTimestamps });
  try {
    if (format === "svg") return new Blob([await drawn.view.toSVG()], { type: "image/svg+xml" });
    const canvas = await drawn.view.toCanvas(2);
    return await new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no picture"))), "image/png"));
  } finally {
    drawn.finalize();
  }
}

type Parts = { config?: Record<string, unknown>; width?: unknown; encoding?: Record<string, unknown>; facet?: unknown };

function themed(spec: Spec, dark: boolean, fill: boolean): TopLevelSpec {
  const { config = {}, width, encoding = {}, facet } = spec as Parts;
  const ours = chartConfig(dark, fill ? "transparent" : "#ffffff") as Record<string, unknown>;
  const both: Record<string, unknown> = { ...config };
  for (const [name, value] of Object.entries(ours)) {
    const theirs = config[name];
    both[name] = isObject(theirs) && isObject(value) ? { ...theirs, ...value } : value;
  }
  const panels = facet !== undefined || ["facet", "row", "column"].some((name) => name in encoding);
  const filling = fill && typeof width === "number" && !panels ? { width: "container", autosize: { type: "fit-x", contains: "padding" } } : {};
  return { ...spec, ...filling, config: both } as unknown as TopLevelSpec;
}

/** The interpreter takes the only argument of `datetime` for a year, so milliseconds are written as they are. */
function withTimestamps<T>(part: T): T {
  if (Array.isArray(part)) return part.map(withTimestamps) as T;
  if (!isObject(part)) return part;
  const at = typeof part.signal === "string" ? /^datetime\((-?\d{5,})\)$/.exec(part.signal) : null;
  if (at) return Number(at[1]) as T;
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, name === "data" ? value : withTimestamps(value)])) as T;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
