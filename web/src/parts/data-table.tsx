import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import type { Cell, Scalar, ShownTable, TableColumn } from "../api/types";
import { useTexts } from "../texts/language";
import css from "./data-table.module.css";
import { decimalsOf, shown } from "./format";
import { useLit } from "./lit";

const ROW = 36;
const MEASURED = 200; // rows that decide how wide the columns are

type Props = { table: ShownTable; columns: TableColumn[]; wanted: Cell[]; asked: number };

/** A table of which only the rows in view are drawn. */
export function DataTable({ table, columns, wanted, asked }: Props) {
  const { t, language, number } = useTexts();
  const { cells } = useLit();
  const frame = useRef<HTMLDivElement>(null);
  const metas = useMemo(() => table.columns.map((name) => columns.find((column) => column.name === name)), [table, columns]);
  const rows = table.rows as Scalar[][];
  const headings = useMemo(() => table.columns.map((name) => table.headings?.[name] ?? name), [table]);
  const decimals = useMemo(() => metas.map((meta, at) => (meta?.ratio ? 1 : decimalsOf(rows.map((row) => row[at])))), [metas, rows]);
  const widths = useMemo(() => widthsOf(headings, rows, metas, language), [headings, rows, metas, language]);
  const right = metas.map((meta, at) => (meta ? meta.kind === "number" : typeof rows[0]?.[at] === "number"));
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => frame.current, estimateSize: () => ROW, overscan: 12 });

  useEffect(() => {
    const first = wanted[0];
    if (first) virtual.scrollToIndex(first.row, { align: "center" });
    // only when asked again
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [asked]);

  const lit = new Set([...wanted, ...cells].filter((cell) => cell.step === table.step).map((cell) => `${cell.row} ${cell.column}`));
  const items = virtual.getVirtualItems();
  const [before, after] = [items[0]?.start ?? 0, virtual.getTotalSize() - (items.at(-1)?.end ?? 0)];
  if (rows.length === 0) return <p className={css.empty}>{t.views.empty}</p>;
  return (
    <>
      <div className={css.frame} ref={frame} tabIndex={0} role="region" aria-label={table.title || t.views.table}>
        <table className={css.table} aria-rowcount={rows.length + 1} style={{ minWidth: `${widths.reduce((a, b) => a + b, 0)}ch` }}>
          <colgroup>
            {widths.map((width, at) => (
              <col key={at} style={{ width: `${width}ch` }} />
            ))}
          </colgroup>
          <thead>
            <tr>
              {table.columns.map((name, at) => (
                <th key={at} scope="col" className={css.head} data-right={right[at] || undefined} title={name}>
                  {headings[at]}
                  {metas[at]?.unit && <span className={css.unit}> {metas[at]?.unit}</span>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {before > 0 && <Space height={before} span={table.columns.length} />}
            {items.map(({ index }) => (
              <tr key={index} aria-rowindex={index + 2} className={css.row}>
                {(rows[index] ?? []).map((value, at) => {
                  const text = shown(value, metas[at], language, decimals[at]);
                  return (
                    <td
                      key={at}
                      className={css.cell}
                      data-right={right[at] || undefined}
                      data-lit={lit.has(`${index} ${table.columns[at]}`) || undefined}
                      title={text.length > (widths[at] ?? 0) - 3 ? text : undefined}
                    >
                      {text}
                    </td>
                  );
                })}
              </tr>
            ))}
            {after > 0 && <Space height={after} span={table.columns.length} />}
          </tbody>
        </table>
      </div>
      <p className={css.count}>{t.views.rows(number(rows.length), number(table.row_count))}</p>
    </>
  );
}

function Space({ height, span }: { height: number; span: number }) {
  return (
    <tr aria-hidden="true">
      <td colSpan={span} style={{ height, padding: 0 }} />
    </tr>
  );
}

function widthsOf(names: string[], rows: Scalar[][], metas: (TableColumn | undefined)[], language: string): number[] {
  return names.map((name, at) => {
    const longest = Math.max(...rows.slice(0, MEASURED).map((row) => shown(row[at] ?? null, metas[at], language).length), name.length);
    return Math.min(Math.max(longest + 5, 10), 42);
  });
}
