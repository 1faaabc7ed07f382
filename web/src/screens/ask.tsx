import { Skeleton } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import { api } from "../api/client";
import type { SourceSchema, Table } from "../api/types";
import { FileDrop, useUploads } from "../parts/file-drop";
import { FaultNote } from "../parts/fault-note";
import { engineName, newThread } from "../parts/format";
import { QuestionBox } from "../parts/question-box";
import { RunList } from "../parts/run-list";
import { newestFirst, useStarters } from "../parts/starters";
import { useTexts } from "../texts/language";
import css from "./ask.module.css";

const RECENT = 5;
const COLUMNS = 14;

export function AskScreen() {
  const { t } = useTexts();
  const ask = useAsk();
  const sources = useQuery({ queryKey: ["sources"], queryFn: ({ signal }) => api.sources(signal) });
  const runs = useQuery({ queryKey: ["runs", "recent"], queryFn: ({ signal }) => api.runs(null, RECENT, signal) });
  const uploaded = useUploads().tables;
  const starters = useStarters(sources.data, uploaded);
  const tables = (sources.data ?? []).flatMap((source) => source.tables.map((table) => ({ source, table })));
  const example = starters.found[0];
  return (
    <div className={css.screen}>
      <section className={css.hero}>
        <h1 className={css.title}>{t.ask.title}</h1>
        <p className={css.lead}>{t.ask.lead}</p>
        <QuestionBox
          large
          focus
          label={t.ask.label}
          placeholder={example ? t.ask.placeholder.replace("{example}", example) : t.ask.placeholderPlain}
          send={t.ask.send}
          hint={t.ask.hint}
          busy={ask.isPending}
          onSend={(question) => ask.mutate({ question })}
        />
        {ask.error && <FaultNote error={ask.error} />}
        <Starters found={starters.found} loading={starters.loading} onChoose={(question) => ask.mutate({ question })} />
      </section>
      <div className={css.below}>
        <section aria-labelledby="recent">
          <div className="row between">
            <h2 id="recent" className="label">
              {t.ask.recent}
            </h2>
            {!!runs.data?.cursor && (
              <Link href="/runs" className="small">
                {t.ask.all}
              </Link>
            )}
          </div>
          <div className={css.recent}>
            {runs.isPending && <Rows count={3} />}
            {runs.error && <FaultNote error={runs.error} again={() => runs.refetch()} />}
            {runs.data && <RunList runs={runs.data.runs} compact />}
            {runs.data?.runs.length === 0 && <p className="quiet small">{t.ask.none}</p>}
          </div>
        </section>
        <section aria-labelledby="data">
          <h2 id="data" className="label">
            {t.ask.data}
          </h2>
          <div className={css.tables}>
            <FileDrop />
            {sources.isPending && <Rows count={3} />}
            {sources.error && <FaultNote error={sources.error} again={() => sources.refetch()} />}
            {newestFirst(tables, uploaded, ({ table }) => table.name).map(({ source, table }) => (
              <TableCard key={`${source.source}.${table.name}`} source={source} table={table} />
            ))}
          </div>
        </section>
      </div>
    </div>
  );
}

/** Asks, and goes to the run's own address. */
export function useAsk() {
  const [, go] = useLocation();
  return useMutation({
    mutationFn: ({ question, thread }: { question: string; thread?: string }) =>
      api.ask(question, thread ?? newThread()),
    onSuccess: (run) => go(`/runs/${run.id}`),
  });
}

function Starters({ found, loading, onChoose }: { found: string[]; loading: boolean; onChoose: (q: string) => void }) {
  const { t } = useTexts();
  if (!loading && found.length === 0) return <div className={css.starters} />;
  return (
    <div className={css.starters}>
      <h2 className="label">{t.ask.starters}</h2>
      <ul className={css.starterList}>
        {loading && [14, 11, 16, 12].map((width) => <Skeleton key={width} component="li" height={34} width={`${width}rem`} radius={17} />)}
        {found.map((question) => (
          <li key={question} className={css.starterItem}>
            <button type="button" className={css.starter} onClick={() => onChoose(question)}>
              {question}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function TableCard({ source, table }: { source: SourceSchema; table: Table }) {
  const { t, number } = useTexts();
  const columns = table.columns.slice(0, COLUMNS);
  return (
    <article className={css.table}>
      <h3 className={`${css.tableName} break`}>
        <Link href="/sources">{table.name}</Link>
      </h3>
      <p className="quiet small">
        {[table.row_count == null ? null : t.ask.rows(table.row_count, number(table.row_count)), t.ask.columns(table.columns.length), engineName(source.engine)]
          .filter(Boolean)
          .join(" · ")}
      </p>
      <ul className={css.columns}>
        {columns.map((column) => (
          <li key={column.name} className={css.column} data-role={column.role}>
            {column.name}
          </li>
        ))}
        {table.columns.length > columns.length && (
          <li className="quiet small">{t.ask.more(table.columns.length - columns.length)}</li>
        )}
      </ul>
    </article>
  );
}

function Rows({ count }: { count: number }) {
  return Array.from({ length: count }, (_, index) => <Skeleton key={index} height={44} radius="md" />);
}
