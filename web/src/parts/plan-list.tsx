import type { Answer, Chip, Step } from "../api/types";
import type { Texts } from "../texts/en";
import { useTexts } from "../texts/language";
import { useLit } from "./lit";
import { Note } from "./note";
import { called } from "./format";
import { type Arrow, Graph } from "./graph";
import css from "./plan-list.module.css";

/** The steps that led to the answer, each with what it is there for. */
export function PlanList({ answer, chips }: { answer: Answer; chips: Chip[] }) {
  const { t, number } = useTexts();
  const coverage = answer.coverage ?? [];
  const seconds = (answer.trace ?? []).reduce((sum, entry) => sum + entry.ms, 0) / 1000;
  const usage = answer.usage;
  const tokens = (usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0);
  return (
    <details className={`card ${css.plan}`}>
      <summary className={css.summary}>
        <span>{t.plan.title}</span>
        <span className="quiet small">
          {answer.plan.steps.map((step) => does(step, t)).join(" → ")}
        </span>
      </summary>
      {answer.plan.steps.length > 1 && <StepGraph steps={answer.plan.steps} />}
      <ol className={css.steps}>
        {answer.plan.steps.map((step, index) => (
          <StepItem key={step.id} step={step} number={index + 1} chips={chips} reading={answer.reading} />
        ))}
      </ol>
      <div className={css.foot}>
        {coverage.length > 0 && coverage.every((one) => one.ok) && <p>{t.plan.covered}</p>}
        <p>
          {[
            t.plan.by(answer.plan.strategy),
            usage?.calls ? t.plan.model(usage.calls, number(tokens)) : t.plan.noModel,
            t.plan.took(number(seconds)),
          ].join(" · ")}
        </p>
        {(answer.issues ?? []).map((issue) => (
          <Note key={issue.code + issue.problem} tone="warn">
            <p className="break">
              {issue.problem} <code>{issue.code}</code>
            </p>
          </Note>
        ))}
        {(answer.notes ?? []).map((note) => (
          <Note key={note} tone="plain">
            <p className="break">{note}</p>
          </Note>
        ))}
      </div>
    </details>
  );
}

function StepGraph({ steps }: { steps: Step[] }) {
  const { t } = useTexts();
  const lit = useLit();
  const boxes = steps.map((step, index) => ({
    id: step.id,
    name: `${index + 1}  ${does(step, t)}`,
    title: `${toolOf(step)} ${step.id}`,
    lit: (step.satisfies ?? []).includes(lit.requirement ?? ""),
  }));
  const arrows = steps.flatMap((step) => (step.needs ?? []).map((need): Arrow => [need, step.id]));
  const told = steps.map((step) => [does(step, t), ...(step.needs?.length ? [t.plan.needs, step.needs.join(", ")] : [])].join(" "));
  return (
    <div className={css.graph}>
      <Graph boxes={boxes} arrows={arrows} label={t.plan.graph} told={told.join("; ")} />
    </div>
  );
}

type Item = { step: Step; number: number; chips: Chip[]; reading: Answer["reading"] };

function StepItem({ step, number, chips, reading }: Item) {
  const { t } = useTexts();
  const lit = useLit();
  const serves = step.satisfies ?? [];
  const labels = chips.filter((chip) => serves.includes(chip.requirement));
  return (
    <li
      className={css.step}
      data-lit={serves.includes(lit.requirement ?? "") || undefined}
      onMouseEnter={() => lit.point(labels[0]?.requirement ?? null)}
      onMouseLeave={() => lit.point(null)}
    >
      <span className={css.number} aria-hidden="true">
        {number}
      </span>
      <div className={css.body}>
        <p>
          <strong className="break">{does(step, t)}</strong>
        </p>
        {step.for_each && <p className="small quiet break">{t.plan.forEach(step.for_each)}</p>}
        {step.rationale && <p className="small quiet break">{step.rationale}</p>}
        {serves.length > 0 && (labels.length > 0 || !step.rationale) && (
          <p className="small quiet break">
            {t.plan.because} {labels.length ? labels.map((chip) => chip.label).join(", ") : [...new Set(serves.map((id) => inWords(id, t, reading)))].join(", ")}
          </p>
        )}
        <details className={css.how}>
          <summary>{t.plan.details}</summary>
          <p className="small break">
            <code>{toolOf(step)}</code>
            {(step.needs ?? []).length > 0 && ` · ${t.plan.needs} ${(step.needs ?? []).join(", ")}`}
          </p>
          <Params params={step.params ?? {}} />
        </details>
      </div>
    </li>
  );
}

const toolOf = (step: Step): string => step.tool ?? step.kind ?? "";

/** What the step does, in words. */
function does(step: Step, t: Texts): string {
  return (step.tool ? t.plan.does[step.tool] : t.plan.kinds[step.kind ?? ""]) ?? called(toolOf(step));
}

/** A part that has no chip: by its words in the question, or what follows from others: `output:chart`, `analysis:trend`. */
function inWords(requirement: string, t: Texts, reading: Answer["reading"]): string {
  const words = reading?.requirements.find((one) => one.id === requirement)?.evidence?.text;
  if (words) return `“${words}”`;
  const label = requirement.slice(requirement.indexOf(":") + 1);
  return (/^(output|analysis):/.test(requirement) && t.plan.outputs[label]) || label.replaceAll("_", " ");
}

function Params({ params }: { params: Record<string, unknown> }) {
  const said = Object.entries(params).filter(([, value]) => value !== null && JSON.stringify(value) !== "[]");
  if (said.length === 0) return null;
  return (
    <dl className={css.params}>
      {said.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <code className="break">{paramText(value)}</code>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A parameter in words: lists with commas, and of an object its values. */
export function paramText(value: unknown): string {
  if (Array.isArray(value)) return value.map(paramText).join(", ");
  if (typeof value !== "object" || value === null) return String(value);
  const parts = Object.values(value).filter((part) => part !== null && !(Array.isArray(part) && part.length === 0));
  return parts.map(paramText).join(" ");
}
