import css from "./graph.module.css";

const [WIDE, HIGH, ACROSS, DOWN] = [188, 40, 30, 14];
const SMALLEST = 0.7; // of its size, where the page is narrow; what is wider than that scrolls
const LONGEST = 23; // characters of a name

export type Box = { id: string; name: string; title?: string; lit?: boolean };
/** From one box to another that comes behind it. */
export type Arrow = [string, string];

/** Boxes from left to right, each behind those that lead to it. */
export function Graph({ boxes, arrows, label, told }: { boxes: Box[]; arrows: Arrow[]; label: string; told: string }) {
  const places = placesOf(boxes, arrows);
  const width = (1 + Math.max(...boxes.map((box) => at(places, box.id).column))) * (WIDE + ACROSS) - ACROSS;
  const height = (1 + Math.max(...boxes.map((box) => at(places, box.id).row))) * (HIGH + DOWN) - DOWN;
  return (
    <div className={css.frame} role="region" aria-label={label} tabIndex={0}>
      <svg width={width} height={height} style={{ minWidth: SMALLEST * width }} viewBox={`-1 -1 ${width + 2} ${height + 2}`} role="img" aria-label={told}>
        {arrows.map(([from, to]) => (
          <path key={`${from} ${to}`} className={css.line} d={curve(at(places, from), at(places, to))} />
        ))}
        {boxes.map((box) => {
          const { x, y } = corner(at(places, box.id));
          return (
            <g key={box.id} data-lit={box.lit || undefined} className={css.box}>
              <title>{box.title ?? box.name}</title>
              <rect x={x} y={y} width={WIDE} height={HIGH} rx={8} />
              <text x={x + 12} y={y + HIGH / 2} dominantBaseline="central">
                {box.name.length > LONGEST ? `${box.name.slice(0, LONGEST - 1)}…` : box.name}
              </text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}

type Place = { column: number; row: number };

function at(places: Map<string, Place>, id: string): Place {
  return places.get(id) ?? { column: 0, row: 0 };
}

function corner({ column, row }: Place): { x: number; y: number } {
  return { x: column * (WIDE + ACROSS), y: row * (HIGH + DOWN) };
}

function curve(from: Place, to: Place): string {
  const [x, y] = [corner(from).x + WIDE, corner(from).y + HIGH / 2];
  const [end, below] = [corner(to).x, corner(to).y + HIGH / 2];
  const half = Math.max(Math.abs(end - x) / 2, ACROSS / 2);
  return `M${x},${y} C${x + half},${y} ${end - half},${below} ${end},${below}`;
}

/** Each box one column behind the last that leads to it. Arrows in a circle move boxes no further than there are boxes. */
export function placesOf(boxes: Box[], arrows: Arrow[]): Map<string, Place> {
  const columns = new Map(boxes.map((box) => [box.id, 0]));
  for (let round = 1; round < boxes.length; round++) {
    for (const [from, to] of arrows) {
      const behind = (columns.get(from) ?? 0) + 1;
      if (from !== to && behind === round && (columns.get(to) ?? 0) < behind) columns.set(to, behind);
    }
  }
  const filled = new Map<number, number>();
  return new Map(
    boxes.map((box) => {
      const column = columns.get(box.id) ?? 0;
      const row = filled.get(column) ?? 0;
      filled.set(column, row + 1);
      return [box.id, { column, row }];
    }),
  );
}
