import { ActionIcon } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { api } from "../api/client";
import type { Run } from "../api/types";
import { useTexts } from "../texts/language";
import { StateMark } from "./state-mark";
import css from "./run-list.module.css";

const OPEN = new Set(["queued", "running", "waiting_approval", "waiting_answer"]);

export function questionOf(run: Run): string {
  const reading = (run.request.plan as { reading?: { question?: string } } | null | undefined)?.reading;
  return run.request.title ?? run.request.question ?? reading?.question ?? run.id;
}

/** A follow-up with the questions before it, because alone it says too little. */
function wholeQuestionOf(run: Run): string {
  const reading = (run.outcome as { reading?: { question?: string } | null } | null | undefined)?.reading;
  return run.request.title ?? reading?.question ?? questionOf(run);
}

export function RunList({ runs, compact }: { runs: Run[]; compact?: boolean }) {
  const { t, language } = useTexts();
  return (
    <ul className={css.list} data-compact={compact || undefined}>
      {runs.map((run) => (
        <li key={run.id} className={css.item}>
          <Link href={`/runs/${run.id}`} className={css.link}>
            <span className={css.question}>{wholeQuestionOf(run)}</span>
            <span className={css.about}>
              <StateMark state={run.state} />
              <span>{ago(run.created, language)}</span>
              {run.request.plan && <span>{t.runs.editedPlan}</span>}
            </span>
          </Link>
          {OPEN.has(run.state) && !compact && <Cancel run={run} />}
        </li>
      ))}
    </ul>
  );
}

function Cancel({ run }: { run: Run }) {
  const { t } = useTexts();
  const queries = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => api.cancel(run.id),
    onSettled: () => queries.invalidateQueries({ queryKey: ["runs"] }),
  });
  return (
    <ActionIcon
      variant="default"
      size={32}
      className={css.cancel}
      loading={cancel.isPending}
      aria-label={t.runs.cancel(questionOf(run))}
      onClick={() => cancel.mutate()}
    >
      <IconX size={16} />
    </ActionIcon>
  );
}

export function ago(at: string, language: string): string {
  const seconds = (new Date(at).getTime() - Date.now()) / 1000;
  const format = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? (["second", 1] as const);
  return format.format(Math.round(seconds / size), unit);
}

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;
