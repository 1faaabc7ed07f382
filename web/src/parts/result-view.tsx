import { Button, Skeleton, Tabs } from "@mantine/core";
import { IconChartBar, IconCode, IconTable } from "@tabler/icons-react";
import { lazy, Suspense, useEffect, useRef, useState, type CSSProperties } from "react";
import type { Answer } from "../api/types";
import { useTexts } from "../texts/language";
import { useCopied } from "./copied";
import { DataTable } from "./data-table";
import { useLit } from "./lit";
import type { Result } from "./results";
import css from "./result-view.module.css";
import { SaveMenu } from "./save-menu";

const Chart = lazy(() => import("./chart"));

export function ResultView({ result, answer, run }: { result: Result; answer: Answer; run: string }) {
  const { t } = useTexts();
  const lit = useLit();
  const [view, setView] = useState<string>(result.chart ? "chart" : "table");
  const [height, setHeight] = useState<number>();
  const tall = height ? ({ "--chart": `${height}px` } as CSSProperties) : undefined;
  const frame = useRef<HTMLDivElement>(null);
  const wanted = lit.shown.cells.filter((cell) => cell.step === result.step);
  useEffect(() => {
    if (wanted.length === 0) return;
    setView("table");
    frame.current?.scrollIntoView({ block: "nearest", behavior: "smooth" });
    // only when asked again
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [lit.shown.times]);
  return (
    <section className={`card ${css.result}`} data-tall={!!result.chart || undefined} style={tall} ref={frame} aria-label={result.title || t.views.label}>
      <Tabs value={view} onChange={(chosen) => chosen && setView(chosen)} keepMounted={false} variant="unstyled">
        <div className={css.head}>
          <Tabs.List className={css.tabs} aria-label={t.views.label}>
            {result.chart && <View value="chart" icon={IconChartBar} name={t.views.chart} />}
            {result.table && <View value="table" icon={IconTable} name={t.views.table} />}
            {result.query && <View value="query" icon={IconCode} name={t.views.query} />}
          </Tabs.List>
          <SaveMenu result={result} answer={answer} run={run} />
        </div>
        {result.chart && (
          <Tabs.Panel value="chart" className={css.panel}>
            <Suspense fallback={<Skeleton height={380} />}>
              <Chart spec={result.chart} title={result.title} onDrawn={setHeight} />
            </Suspense>
          </Tabs.Panel>
        )}
        {result.table && (
          <Tabs.Panel value="table" className={css.tablePanel}>
            <DataTable table={result.table} columns={result.columns} wanted={wanted} asked={lit.shown.times} />
          </Tabs.Panel>
        )}
        {result.query && (
          <Tabs.Panel value="query" className={css.panel}>
            <Query text={result.query} engine={result.engine} />
          </Tabs.Panel>
        )}
      </Tabs>
    </section>
  );
}

function View({ value, icon: Icon, name }: { value: string; icon: typeof IconTable; name: string }) {
  return (
    <Tabs.Tab value={value} className={css.tab} leftSection={<Icon size={16} stroke={1.7} />}>
      {name}
    </Tabs.Tab>
  );
}

function Query({ text, engine }: { text: string; engine?: string }) {
  const { t } = useTexts();
  const [copied, copy] = useCopied();
  return (
    <>
      <div className="row between">
        <p className="quiet small">{engine && t.views.engine(engine)}</p>
        <Button variant="default" size="xs" onClick={() => copy(text)}>
          {copied ? t.views.copied : t.views.copy}
        </Button>
      </div>
      <pre className={css.query} tabIndex={0} role="region" aria-label={t.views.query}>
        {lines(text)}
      </pre>
    </>
  );
}

/** The query with its clauses on lines of their own, as deep as their brackets; nothing inside quotes is touched. */
function lines(text: string): string {
  let depth = 0;
  return text.replace(
    /'(?:[^']|'')*'|"(?:[^"]|"")*"|[()]|\s(?=(?:FROM|WHERE|GROUP BY|ORDER BY|HAVING|LIMIT|UNION ALL|(?:LEFT |INNER |CROSS )?JOIN)\b)/g,
    (found) => {
      if (found === "(") depth += 1;
      if (found === ")") depth -= 1;
      return found.trim() === "" ? `\n${"  ".repeat(Math.max(depth, 0))}` : found;
    },
  );
}
