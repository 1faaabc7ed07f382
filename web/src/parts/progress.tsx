import { Button, Skeleton } from "@mantine/core";
import type { RunEvent } from "../api/types";
import { useTexts } from "../texts/language";
import css from "./progress.module.css";

const STAGES = ["read", "plan", "check", "run", "answer"] as const;
const ORDER: Record<string, number> = { route: 0, read: 1, narrow: 1, plan: 2, check: 3, look: 3, approve: 3, run: 4, answer: 5, verify: 5 };

type StepState = { id: string; tool: string; status: string };

/** How far the run is: its stages, and while it runs, its steps. */
export function Progress({ events, lost, onCancel, cancelling }: { events: RunEvent[]; lost: boolean; onCancel: () => void; cancelling: boolean }) {
  const { t } = useTexts();
  const started = events.some((event) => event.kind === "run.started");
  const stage = Math.min(stagesDone(events), STAGES.length - 1);
  const steps = stepsOf(events);
  const now = started ? t.stages[STAGES[stage] ?? "answer"] : t.stages.queued;
  return (
    <section className={css.progress} aria-label={t.run.working}>
      <div className={`card ${css.card}`}>
        <div className="row between">
          <p className={css.now} role="status" aria-live="polite">
            {now}
          </p>
          <Button variant="default" size="xs" onClick={onCancel} loading={cancelling}>
            {t.run.cancel}
          </Button>
        </div>
        <ol className={css.stages}>
          {STAGES.map((name, index) => (
            <li key={name} className={css.stage} data-state={!started || index > stage ? "ahead" : index < stage ? "done" : "now"}>
              <span className={css.bar} />
              <span className={css.stageName}>{t.stages[name]}</span>
            </li>
          ))}
        </ol>
        <ul className={css.steps}>
          {steps.map((step) => (
            <li key={step.id} className={css.step} data-status={step.status}>
              <span className="break">{step.id}</span> <code className="quiet break">{step.tool}</code>
            </li>
          ))}
        </ul>
        {lost && <p className={css.lost}>{t.run.lost}</p>}
      </div>
      <Skeleton height={22} width="82%" />
      <Skeleton height={22} width="64%" />
      <Skeleton height={360} radius="lg" />
    </section>
  );
}

function stagesDone(events: RunEvent[]): number {
  let done = 0;
  for (const event of events) {
    if (event.kind === "run.started") done = 0;
    if (event.kind === "stage") done = ORDER[String(event.data.stage)] ?? done;
  }
  return done;
}

function stepsOf(events: RunEvent[]): StepState[] {
  const steps = new Map<string, StepState>();
  for (const { kind, data } of events) {
    if (kind === "plan") for (const step of planned(data)) steps.set(step.id, step);
    if (kind !== "step") continue;
    const id = String(data.step);
    steps.set(id, { id, tool: steps.get(id)?.tool ?? String(data.detail), status: String(data.status) });
  }
  return [...steps.values()];
}

function planned(data: Record<string, unknown>): StepState[] {
  const plan = data.plan as { steps?: { id: string; tool?: string | null }[] } | undefined;
  return (plan?.steps ?? []).map((step) => ({ id: step.id, tool: step.tool ?? "", status: "ahead" }));
}
