import type { Scalar, TableColumn } from "../api/types";

/** A cell as it is read: numbers by the language, dates without an empty time. */
export function shown(value: Scalar, column: TableColumn | undefined, language: string, decimals = 0): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "✓" : "✗";
  if (typeof value === "number") return shownNumber(value, column, language, decimals);
  return column?.kind === "time" ? shownTime(value, column.grain) : value;
}

/** As long as its grain: a month has no day, a day no time. */
function shownTime(value: string, grain: string | null | undefined): string {
  if (!/^\d{4}-\d{2}-\d{2}/.test(value)) return value;
  if (grain === "year") return value.slice(0, 4);
  if (grain === "month") return value.slice(0, 7);
  if (grain === "quarter") return `${value.slice(0, 4)} Q${Math.ceil(Number(value.slice(5, 7)) / 3)}`;
  return value.replace(/T00:00:00(\.0+)?(Z|\+00:00)?$/, "").replace("T", " ");
}

/** Digits behind the fifteenth depend on the order in which numbers were added: no rounding goes by them. */
function sure(value: number): number {
  return Number(value.toPrecision(15));
}

/** Two digits behind the point where one number of a column has some, so that its numbers stand below each other. */
export function decimalsOf(values: (Scalar | undefined)[]): number {
  const numbers = values.filter((value): value is number => typeof value === "number").map(sure);
  return numbers.every(Number.isInteger) || numbers.every((value) => Math.abs(value) < 1) ? 0 : 2;
}

function shownNumber(given: number, column: TableColumn | undefined, language: string, decimals: number): string {
  const value = sure(given);
  if (column?.grain === "hour") return `${String(value).padStart(2, "0")}:00`;
  if (column?.ratio) {
    return new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1, minimumFractionDigits: decimals && 1 }).format(value);
  }
  const small = Math.abs(value) < (decimals ? 0.01 : 1) && value !== 0;
  const cents = /^\p{Sc}/u.test(column?.unit ?? "") && !Number.isInteger(value) ? 2 : decimals;
  const options = small ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 2, minimumFractionDigits: cents };
  return new Intl.NumberFormat(language, options).format(value);
}

/** The engine of a warehouse; files are read by one of our own, which says nothing to whoever brought them. */
export function engineName(engine: string): string | null {
  return engine === "duckdb" ? null : engine;
}

export function exact(value: Scalar, language: string): string {
  return typeof value === "number"
    ? new Intl.NumberFormat(language, { maximumFractionDigits: 6 }).format(sure(value))
    : String(value ?? "–");
}

/** Positions from the service count characters, not UTF-16 units. */
export function characters(text: string): string[] {
  return Array.from(text);
}

export function newThread(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** `shop.send_email` as people say it: Send email (shop). */
export function called(tool: string): string {
  const at = tool.indexOf(".");
  const words = tool.slice(at + 1).replaceAll("_", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1) + (at > 0 ? ` (${tool.slice(0, at)})` : "");
}
