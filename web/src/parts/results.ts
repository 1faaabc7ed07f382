import type { Answer, ShownTable, Spec, Step, TableColumn } from "../api/types";

/** One result, which can be seen as a chart, a table and a query. */
export type Result = { step: string; title: string; table?: ShownTable; chart?: Spec; query?: string; engine?: string; columns: TableColumn[] };

export function resultsOf(answer: Answer): Result[] {
  const charts = [...answer.charts];
  const results: Result[] = answer.tables.map((table) => {
    const at = charts.findIndex((chart) => isSame(answer.plan.steps, stepOf(chart), table.step));
    const reference = answer.facts.tables?.[table.step ?? ""];
    return {
      step: table.step ?? "",
      title: table.title ?? "",
      table,
      chart: at < 0 ? undefined : charts.splice(at, 1)[0],
      query: reference?.query,
      engine: reference?.engine,
      columns: reference?.columns ?? [],
    };
  });
  const alone = charts.map((chart) => {
    const step = stepOf(chart) ?? "";
    const reference = answer.facts.charts?.[step];
    return { step, title: reference?.title ?? "", chart, query: reference?.table.query, engine: reference?.table.engine, columns: [] };
  });
  return [...alone, ...results];
}

function stepOf(chart: Spec): string | undefined {
  return (chart.usermeta as { step?: string } | undefined)?.step;
}

/** A chart and a table show the same if they were made from the same step. */
function isSame(steps: Step[], chart: string | undefined, table: string | undefined): boolean {
  const needs = (id: string | undefined) => steps.find((step) => step.id === id)?.needs?.join();
  return !!chart && !!table && needs(chart) !== undefined && needs(chart) === needs(table);
}
