import { useQuery } from "@tanstack/react-query";
import { api } from "../api/client";
import type { Column, SourceSchema, Table } from "../api/types";
import { useTexts, type Language } from "../texts/language";

const SHOWN = 5;

/** Questions made of the real columns. Only those that the gate passes are offered. */
export function useStarters(sources: SourceSchema[] | undefined, first: string[]): { found: string[]; loading: boolean } {
  const { language } = useTexts();
  const tables = newestFirst((sources ?? []).flatMap((source) => source.tables), first, (table) => table.name);
  const written = tables.slice(0, 3).flatMap((table) => questions(table, language));
  const found = useQuery({
    queryKey: ["starters", written],
    queryFn: ({ signal }) => planned(written.slice(0, 8), signal),
    enabled: written.length > 0,
    staleTime: Infinity,
  });
  return { found: found.data ?? [], loading: !sources || (written.length > 0 && found.isPending) };
}

/** Those with these names first, in their order. */
export function newestFirst<T>(all: T[], names: string[], nameOf: (one: T) => string): T[] {
  const place = (one: T) => (names.includes(nameOf(one)) ? names.indexOf(nameOf(one)) : names.length);
  return [...all].sort((a, b) => place(a) - place(b));
}

async function planned(written: string[], signal: AbortSignal): Promise<string[]> {
  const replies = await Promise.all(written.map((question) => api.planQuestion(question, signal).catch(() => null)));
  return written.filter((_, index) => replies[index]?.fingerprint).slice(0, SHOWN);
}

function questions(table: Table, language: Language): string[] {
  const few = (column: Column) => (column.cardinality ?? 0) > 1 && (column.cardinality ?? 0) <= 50;
  const measures = table.columns.filter((column) => column.role === "measure");
  const money = measures.find((column) => column.meaning === "amount") ?? measures[0];
  const [first, second] = table.columns.filter((column) => column.role === "dimension" && few(column));
  const time = table.columns.find((column) => column.role === "temporal");
  const [measure, by, other] = [money, first, second].map((column) => column && column.name.replaceAll("_", " "));
  const said: (string | false | undefined)[] =
    language === "ru"
      ? [
          measure && by && `${measure} по ${by}`,
          measure && time && `${measure} по месяцам`,
          measure && by && `топ-3 ${by} по ${measure}`,
          measure && other && `средний ${measure} по ${other}`,
          by && `сколько строк по ${by}`,
          measure && !by && `сумма ${measure}`,
        ]
      : [
          measure && by && `total ${measure} by ${by}`,
          measure && time && `monthly ${measure} trend`,
          measure && by && `top 3 ${several(by)} by ${measure}`,
          measure && other && `average ${measure} by ${other}`,
          by && `how many rows by ${by}`,
          measure && !by && `total ${measure}`,
        ];
  return said.filter((question): question is string => !!question);
}

/** More than one of it: regions, product categories, branches. */
function several(name: string): string {
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`;
  if (/(ch|sh|x|z)$/.test(name)) return `${name}es`;
  return name.endsWith("s") ? name : `${name}s`;
}
