import type { Config } from "vega-lite";

export const FONT = "'Inter Variable', system-ui, 'Liberation Sans', sans-serif";
const LIGHT = { ink: "#1a1d1c", quiet: "#565b58", line: "#e2dfd8", domain: "#c9c5bc", background: "transparent" };
const DARK = { ink: "#e9ebe8", quiet: "#a7ada9", line: "#2c312e", domain: "#444b47", background: "transparent" };

/** The colours of a chart's text and lines. Those of its marks belong to the chart. */
export function chartConfig(dark: boolean, background = "transparent"): Config {
  const colours = dark ? DARK : LIGHT;
  const text = { labelColor: colours.quiet, titleColor: colours.ink, labelFont: FONT, titleFont: FONT };
  return {
    background,
    font: FONT,
    view: { stroke: null },
    title: { color: colours.ink, subtitleColor: colours.quiet, font: FONT, subtitleFont: FONT, fontSize: 15, fontWeight: 600, anchor: "start" },
    axis: { ...text, gridColor: colours.line, domainColor: colours.domain, tickColor: colours.domain, titleFontWeight: 500, labelFontSize: 12, titleFontSize: 12 },
    legend: { ...text, titleFontWeight: 500, labelFontSize: 12, titleFontSize: 12 },
    header: { ...text },
    text: { color: colours.ink, font: FONT },
    rule: { color: colours.quiet },
  };
}
