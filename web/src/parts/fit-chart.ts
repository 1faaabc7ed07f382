import type { Spec } from "../api/types";

const NARROW = 480;
const AXES = 90; // what the axis of numbers takes beside the marks
const ASIDE = 150; // what the title of the axis and the legend beside a heatmap take
const [THINNEST, WIDEST] = [8, 140]; // cells
const VALUE = 42; // a number beside its bar or in its cell

type Parts = Record<string, any>;

/** The chart for a place of this width: where it is narrow, the legend is below, labels are short, titles wrap. */
export function fitted(spec: Spec, width: number): Spec {
  if (width >= NARROW) return widened(spec, width);
  const { title, config = {}, encoding, facet, layer } = spec as Parts;
  const body = facet === undefined ? unit(spec, width) : { columns: 1, spec: { ...unit((spec as Parts).spec, width), width: width - AXES } };
  const parts = encoding || facet !== undefined ? body : { ...body, layer: layer?.map((one: Spec) => unit(one, width)) };
  return {
    ...spec,
    ...parts,
    title: wrapped(title, width),
    config: { ...config, padding: 4, legend: { ...config.legend, ...LEGEND, labelLimit: width / 2 - 40, titleLimit: width - 20 } },
  };
}

/** Cells as wide as the place allows: few columns of a heatmap leave no half of it empty, many do not push its legend out. */
function widened(spec: Spec, width: number): Spec {
  const { width: own, encoding, layer } = spec as Parts;
  const across = names(encoding?.x).length;
  if (!own?.step || !across) return spec;
  const longest = Math.max(...names(encoding?.y).map((name) => name.length), 0);
  const step = Math.max(THINNEST, Math.min(WIDEST, Math.floor((width - ASIDE - Math.min(180, longest * 7)) / across)));
  const cells = (step < VALUE ? layer?.filter((one: Parts) => one.mark?.type !== "text") : layer)?.map(legendWrapped);
  return { ...legendWrapped(spec), width: { step }, ...(cells ? { layer: cells } : {}) };
}

/** The title above a narrow legend, in lines as wide as that. */
function legendWrapped(view: Parts): Parts {
  const color = view.encoding?.color;
  if (typeof color?.legend?.title !== "string") return view;
  return { ...view, encoding: { ...view.encoding, color: { ...color, legend: { ...color.legend, title: wrap(color.legend.title, 16) } } } };
}

const LEGEND = { orient: "bottom", columns: 2, rowPadding: 1, offset: 8 };

/** A view whose labels fit side by side: slanted where they are long, and without the numbers that have no room. */
function unit(view: Spec, width: number): Spec {
  const { encoding = {}, layer, width: wide } = view as Parts;
  const across = names(encoding.x);
  const room = (width - AXES) / Math.max(across.length, 1);
  const slanted = encoding.x?.type === "nominal" && across.some((name) => name.length * 7 > room);
  const axes = Object.fromEntries(
    ["x", "y"].filter((channel) => encoding[channel]?.axis).map((channel) => [channel, labelled(encoding[channel], channel === "x" && slanted, width)]),
  );
  const marks = across.length && room < VALUE ? layer?.filter((one: Parts) => one.mark?.type !== "text") : layer;
  return {
    ...view,
    ...(Object.keys(axes).length ? { encoding: { ...encoding, ...axes } } : {}),
    ...(marks ? { layer: marks } : {}),
    ...(wide?.step ? { width: Math.min(wide.step * across.length, width - AXES) } : {}),
  };
}

function labelled(channel: Parts, slanted: boolean, width: number): Parts {
  const axis = { ...channel.axis, labelLimit: Math.min(channel.axis.labelLimit ?? 180, Math.round(width * 0.28)) };
  return { ...channel, axis: slanted ? { ...axis, labelAngle: -40, labelOverlap: false } : axis };
}

/** The categories of a channel, if it has some. */
function names(channel: Parts | undefined): string[] {
  return (channel?.scale?.domain ?? []).map(String);
}

function wrapped(title: Parts | undefined, width: number): Parts | undefined {
  if (!title?.text) return title;
  const lines = (text: string | string[] | undefined, letter: number) => text && wrap([text].flat().join(" "), Math.floor((width - 16) / letter));
  return { ...title, fontSize: 15, text: lines(title.text, 8.7), ...(title.subtitle ? { subtitle: lines(title.subtitle, 7) } : {}) };
}

function wrap(text: string, most: number): string[] {
  return text.split(" ").reduce<string[]>((found, word) => {
    const last = found.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most) found[found.length - 1] = `${last} ${word}`;
    else found.push(word);
    return found;
  }, []);
}
