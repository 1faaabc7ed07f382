import { useQuery } from "@tanstack/react-query";
import { api } from "../api/client";
import type { Column, SourceSchema, Table } from "../api/types";
import { useTexts, type Language } from "../texts/language";

const SHOWN = 5;

/** Questions made of the real columns. Only those that the gate passes are offered. */
export function useStarters(sources: SourceSchema[] | undefined, first: string[]): { found: string[]; loading: boolean } {
  const { language } = useTexts();
  const all = (sources ?? []).flatMap((source) => source.tables);
  const spoken = spokenBy(all, language);
  const measured = all.filter((table) => languageOf(table) === spoken).sort((a, b) => Number(measures(b).length > 0) - Number(measures(a).length > 0));
  const tables = newestFirst(measured, first, (table) => table.name);
  const written = inTurn(tables.slice(0, 3).map((table) => questions(table, spoken)));
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

/** The first question of each table, then the second of each. */
function inTurn(lists: string[][]): string[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, at) => lists.map((list) => list[at])).flat().filter((one): one is string => !!one);
}

function measures(table: Table): Column[] {
  return table.columns.filter((column) => column.role === "measure" && sayable(column.name));
}

/** The page's language if a table has names in it, else the data's: never a question in two. */
function spokenBy(tables: Table[], language: Language): Language {
  return tables.some((table) => languageOf(table) === language) ? language : language === "ru" ? "en" : "ru";
}

function languageOf(table: Table): Language {
  return table.columns.some((column) => CYRILLIC.test(column.name)) ? "ru" : "en";
}

/** Questions as a person would ask them. */
function questions(table: Table, language: Language): string[] {
  const few = (column: Column) => (column.cardinality ?? 0) > 1 && (column.cardinality ?? 0) <= Math.min(50, (table.row_count ?? Infinity) - 1);
  const found = measures(table);
  const main = found.find((column) => column.meaning === "amount") ?? found.find((column) => column.meaning !== "rate") ?? found[0];
  const groups = table.columns.filter((column) => column.role === "dimension" && few(column) && sayable(column.name));
  const time = table.columns.some((column) => column.role === "temporal");
  const [measure, by, other] = [main, groups[0], groups[1]].map((column) => column && inWords(column.name));
  const total = main?.meaning !== "rate";
  return language === "ru" ? inRussian(measure, by, other, time, total) : inEnglish(inWords(table.name), measure, by, other, time, total);
}

type Name = string | undefined;

function inEnglish(table: string, measure: Name, by: Name, other: Name, time: boolean, total: boolean): string[] {
  const rows = /^[a-z ]+s$/i.test(table) ? table : "rows";
  return kept([
    measure && by && `${total ? "total" : "average"} ${measure} by ${by}`,
    measure && time && total && `monthly ${measure} trend`,
    time && !(measure && total) && `number of ${rows} by month`,
    by && (total ? `number of ${rows} by ${by}` : `which ${by} has the most ${rows}`),
    measure && by && total && `top 3 ${several(by)} by ${measure}`,
    measure && other && total && `average ${measure} by ${other}`,
    other && !total && `number of ${rows} by ${other}`,
    measure && !by && `${total ? "total" : "average"} ${measure}`,
  ]);
}

function inRussian(measure: Name, by: Name, other: Name, time: boolean, total: boolean): string[] {
  const [each, others] = [by, other].map((name) => name && byEach(name));
  return kept([
    measure && each && total && `${measure} по ${each}`,
    measure && time && total && `${measure} по месяцам`,
    time && !(measure && total) && "количество по месяцам",
    each && `количество по ${each}`,
    measure && others && `${average(measure)} ${measure} по ${others}`,
    measure && !by && total && `сумма ${measure}`,
  ]);
}

function kept(said: (string | false | undefined)[]): string[] {
  return said.filter((question): question is string => !!question);
}

const CYRILLIC = /[а-яё]/i;

/** Whether a name can stand in a sentence. */
function sayable(name: string): boolean {
  return !/[<>"'`{}();:=?!\\/]/.test(name) && /\p{L}/u.test(name);
}

function inWords(name: string): string {
  return name.replaceAll("_", " ").split(" ").map((word) => (/^\p{Lu}\p{Ll}+$/u.test(word) ? word.toLowerCase() : word)).join(" ");
}

/** `мастер` as in `по мастерам`; names of several words stay as they are. */
function byEach(name: string): string {
  if (!CYRILLIC.test(name) || name.includes(" ")) return name;
  const endings: [RegExp, string][] = [[/ец$/, "цам"], [/(ый|ое|ая)$/, "ым"], [/(ий|ее|яя)$/, "им"], [/[аоы]$/, "ам"], [/[яьеий]$/, "ям"], [/([бвгджзклмнпрстфхцчшщ])$/, "$1ам"]];
  const [ending, put] = endings.find(([end]) => end.test(name)) ?? [/$/, ""];
  return name.replace(ending, put);
}

function average(measure: string): string {
  const first = measure.split(" ")[0] ?? "";
  if (/[ыи]$/.test(first)) return "средние";
  return /([ая]|ость)$/.test(first) ? "средняя" : /[ое]$/.test(first) ? "среднее" : "средний";
}

/** More than one of it: regions, product categories, branches. */
function several(name: string): string {
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`;
  if (/(ch|sh|x|z)$/.test(name)) return `${name}es`;
  return name.endsWith("s") ? name : `${name}s`;
}
