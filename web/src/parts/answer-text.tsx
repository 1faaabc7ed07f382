import { Tooltip } from "@mantine/core";
import { Fragment } from "react";
import type { Answer, Citation } from "../api/types";
import { useTexts } from "../texts/language";
import css from "./answer-text.module.css";
import { characters, exact, shown } from "./format";
import { useLit } from "./lit";

const LISTED = 4;

/** The answer's text. Each number shows where it comes from, on hover, focus and touch. */
export function AnswerText({ answer }: { answer: Answer }) {
  return (
    <p className={css.text} data-testid="answer-text">
      {parts(answer.text, answer.citations).map((part, index) =>
        typeof part === "string" ? (
          <Fragment key={index}>{part}</Fragment>
        ) : (
          <span key={index} className={css.unbroken}>
            {part.before}
            <Cited citation={part.citation} answer={answer} />
            {part.after}
          </span>
        ),
      )}
    </p>
  );
}

/** A number with the brackets and marks that touch it: no line may break between them. */
type Held = { before: string; citation: Citation; after: string };

function parts(text: string, citations: Citation[]): (string | Held)[] {
  const letters = characters(text);
  const located = citations.filter((citation) => citation.start != null).sort((a, b) => a.start! - b.start!);
  const found: (string | Held)[] = [];
  let at = 0;
  for (const citation of located) {
    if (citation.start! < at) continue;
    const between = letters.slice(at, citation.start!).join("");
    const before = /[([{«„“‘"'£$€]*$/u.exec(between)![0];
    if (between.length > before.length) found.push(between.slice(0, between.length - before.length));
    at = citation.start! + characters(citation.text).length;
    const after = /^[)\]}»”’"'.,:;!?%…]*/u.exec(letters.slice(at, at + 8).join(""))![0];
    found.push({ before, citation, after });
    at += characters(after).length;
  }
  if (at < letters.length) found.push(letters.slice(at).join(""));
  return found;
}

function Cited({ citation, answer }: { citation: Citation; answer: Answer }) {
  const lit = useLit();
  const cells = citation.cells ?? [];
  return (
    <Tooltip
      label={<Evidence citation={citation} answer={answer} />}
      events={{ hover: true, focus: true, touch: true }}
      multiline
      maw={320}
      position="bottom"
      withArrow
      classNames={{ tooltip: css.tooltip }}
    >
      <button
        type="button"
        className={css.cited}
        onMouseEnter={() => lit.mark(cells)}
        onMouseLeave={() => lit.mark([])}
        onFocus={() => lit.mark(cells)}
        onBlur={() => lit.mark([])}
        onClick={() => cells.length > 0 && lit.show(cells)}
      >
        {citation.text}
      </button>
    </Tooltip>
  );
}

function Evidence({ citation, answer }: { citation: Citation; answer: Answer }) {
  const { t, language } = useTexts();
  const cells = citation.cells ?? [];
  const listed = cells.slice(0, LISTED);
  return (
    <div className={css.evidence}>
      <p>
        <span className={css.what}>{cells.length ? t.evidence.exact : t.evidence.rule}</span>{" "}
        <strong className="number break">{exact(citation.value, language)}</strong>
      </p>
      {cells.length > 1 && (
        <p className={css.what}>
          {t.evidence.from} {t.evidence.cells(cells.length)}
        </p>
      )}
      <ul>
        {listed.map((cell, index) => (
          <li key={index} className="break">
            {rowName(answer, cell.step, cell.row, cell.column) ?? t.evidence.row(String(cell.row + 1))} · {cell.column}:{" "}
            <span className="number">{cellText(answer, cell.step, cell.row, cell.column, language)}</span>
          </li>
        ))}
        {cells.length > listed.length && <li>…</li>}
      </ul>
      {cells.length > 0 && <p className={css.what}>{t.evidence.show}</p>}
    </div>
  );
}

function tableOf(answer: Answer, step: string) {
  return answer.tables.find((table) => table.step === step);
}

/** What a row is called: its first cell that is not the one cited. */
function rowName(answer: Answer, step: string, row: number, column: string): string | null {
  const table = tableOf(answer, step);
  const at = table?.columns.findIndex((name) => name !== column) ?? -1;
  const value = table?.rows[row]?.[at];
  return typeof value === "string" ? value : null;
}

function cellText(answer: Answer, step: string, row: number, column: string, language: string): string {
  const table = tableOf(answer, step);
  const meta = answer.facts.tables?.[step]?.columns.find((one) => one.name === column);
  return shown(table?.rows[row]?.[table.columns.indexOf(column)] ?? null, meta, language);
}
