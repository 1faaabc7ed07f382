import type { Point } from "../api/types";
import { useTexts } from "../texts/language";
import css from "./curve.module.css";

const WIDTH = 320;
const HEIGHT = 120;
const LEFT = 34;
const BOTTOM = 18;
const LEAST = 0.1; // the top of the scale

type Of = "errors" | "thumbs_down";

/** Shares over the questions so far, a line for each side. */
export function Curve({ title, curves, of }: { title: string; curves: Record<string, Point[]>; of: Of }) {
  const { t } = useTexts();
  const sides = Object.entries(curves).filter(([, points]) => points.length > 0);
  const most = Math.max(1, ...sides.flatMap(([, points]) => points.map((point) => point.n)));
  const top = Math.max(LEAST, ...sides.flatMap(([, points]) => points.map((point) => point[of])));
  const x = (n: number) => LEFT + (n / most) * (WIDTH - LEFT - 6);
  const y = (share: number) => 6 + (1 - share / top) * (HEIGHT - BOTTOM - 6);
  return (
    <figure className={`card ${css.curve}`}>
      <figcaption className="label">{title}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={title}>
        {[0, top].map((share) => (
          <g key={share}>
            <line x1={LEFT} x2={WIDTH - 6} y1={y(share)} y2={y(share)} className={css.grid} />
            <text x={LEFT - 5} y={y(share) + 3} textAnchor="end" className={css.tick}>
              {Math.round(100 * share)} %
            </text>
          </g>
        ))}
        <text x={WIDTH - 6} y={HEIGHT - 4} textAnchor="end" className={css.tick}>
          {most.toLocaleString()}
        </text>
        {sides.map(([side, points]) => (
          <polyline key={side} data-side={side} className={css.line} points={points.map((point) => `${x(point.n)},${y(point[of])}`).join(" ")} />
        ))}
      </svg>
      <ul className={css.legend}>
        {sides.map(([side]) => (
          <li key={side} data-side={side}>
            {t.rollout.sides[side]}
          </li>
        ))}
      </ul>
    </figure>
  );
}
