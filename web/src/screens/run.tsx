import { Button, Skeleton } from "@mantine/core";
import { IconLink } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { Link } from "wouter";
import { api, Fault } from "../api/client";
import { useEvents } from "../api/events";
import type { Answer, Chip, Clarification, Reading, Refusal, Run, RunEvent } from "../api/types";
import { AnswerText } from "../parts/answer-text";
import { Chips, IssueText, ReadingSoon } from "../parts/chips";
import { useCopied } from "../parts/copied";
import { chipsOf, useDraft } from "../parts/draft";
import { FaultNote } from "../parts/fault-note";
import { LitProvider } from "../parts/lit";
import { Note } from "../parts/note";
import { PlanList } from "../parts/plan-list";
import { Progress } from "../parts/progress";
import { QuestionBox } from "../parts/question-box";
import { QuestionHeading } from "../parts/question-heading";
import { ResultView } from "../parts/result-view";
import { resultsOf } from "../parts/results";
import { Thumbs } from "../parts/thumbs";
import { questionOf } from "../parts/run-list";
import { ApprovalNeeded, QuestionBack } from "../parts/waiting";
import { useTexts } from "../texts/language";
import { useAsk } from "./ask";
import css from "./run.module.css";

const ENDED = new Set(["succeeded", "partial", "refused", "failed", "cancelled"]);
const SETTLING = new Set(["run.ended", "question", "approval.required"]);

export default function RunScreen({ id }: { id: string }) {
  const { t } = useTexts();
  const queries = useQueryClient();
  const found = useQuery({
    queryKey: ["run", id],
    queryFn: async ({ signal }) => {
      const fetched = await api.run(id, signal);
      const reading = readingOf(fetched);
      // with the answer, so that nothing moves when the chips come; without them, `useDraft` says why
      if (reading) await queries.ensureQueryData(chipsOf(id, reading)).catch(() => null);
      return fetched;
    },
  });
  const run = found.data;
  const told = (event: RunEvent) => {
    if (SETTLING.has(event.kind)) void queries.invalidateQueries({ queryKey: ["run", id] });
  };
  const { events, lost } = useEvents(id, !!run && !ENDED.has(run.state), told);
  useEffect(() => {
    if (run) document.title = `${questionOf(run)} · groundplan`;
    return () => void (document.title = "groundplan");
  }, [run]);
  if (found.error) return <Missing error={found.error} again={() => found.refetch()} />;
  if (!run) return <Loading />;
  return (
    <LitProvider>
      <div className="page" aria-label={t.run.title}>
        <Earlier run={run} />
        <Body run={run} events={events} lost={lost} />
      </div>
    </LitProvider>
  );
}

function readingOf(run: Run): Reading | null | undefined {
  const outcome = run.outcome as Answer | Refusal | Clarification | null | undefined;
  return outcome && outcome.kind !== "clarification" ? outcome.reading : null;
}

function Body({ run, events, lost }: { run: Run; events: RunEvent[]; lost: boolean }) {
  const { t } = useTexts();
  const outcome = run.outcome as Answer | Refusal | Clarification | null | undefined;
  const reading = readingOf(run);
  const draft = useDraft(run, reading);
  const working = run.state === "queued" || run.state === "running";
  const chips = draft.now?.chips ?? [];
  const question = reading?.question ?? questionOf(run);
  const underlined = draft.edited ? chips.filter((chip) => chip.words.length > 0) : chips;
  return (
    <>
      <div className={css.top}>
        {run.request.title ? <QuestionHeading question={run.request.title} chips={[]} /> : <QuestionHeading question={question} chips={underlined} />}
        <CopyLink />
      </div>
      {run.request.title && <p className="quiet small break">{t.run.changedFrom(question)}</p>}
      {reading ? <Chips draft={draft} /> : working && <ReadingSoon />}
      <div key={String(working)} className={css.old} data-old={draft.edited || undefined}>
        {run.state === "waiting_answer" && <QuestionBack run={run} asked={run.waiting as Clarification} />}
        {run.state === "waiting_approval" && <ApprovalNeeded run={run} asked={run.waiting as Refusal} />}
        {working && <Working run={run} events={events} lost={lost} />}
        {run.state === "partial" && <Left run={run} />}
        {run.state === "cancelled" && <Note tone="plain">{t.run.cancelled}</Note>}
        {run.problem && (
          <Note tone="bad" title={t.run.failed}>
            <p className="break">{run.problem.problem}</p>
          </Note>
        )}
        {outcome?.kind === "answer" && <AnswerBody answer={outcome as Answer} run={run} chips={chips} />}
        {outcome?.kind === "refusal" && <RefusalBody refusal={outcome as Refusal} reading={reading} />}
      </div>
      {outcome && ENDED.has(run.state) && outcome.kind !== "clarification" && <Thumbs run={run.id} />}
      {ENDED.has(run.state) && <Next run={run} />}
    </>
  );
}

/** What failed can be tried again; what was done is not repeated. */
function Left({ run }: { run: Run }) {
  const { t } = useTexts();
  const queries = useQueryClient();
  const resume = useMutation({
    mutationFn: () => api.resume(run.id),
    onSuccess: (next) => queries.setQueryData(["run", run.id], next),
  });
  return (
    <Note tone="bad" title={t.run.partial}>
      <Button size="xs" variant="default" loading={resume.isPending} onClick={() => resume.mutate()}>
        {t.run.resume}
      </Button>
      {resume.error && <FaultNote error={resume.error} />}
    </Note>
  );
}

function Working({ run, events, lost }: { run: Run; events: RunEvent[]; lost: boolean }) {
  const queries = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => api.cancel(run.id),
    onSuccess: (next) => queries.setQueryData(["run", run.id], next),
  });
  return (
    <div className={css.working}>
      <Progress events={events} lost={lost} onCancel={() => cancel.mutate()} cancelling={cancel.isPending} />
    </div>
  );
}

function AnswerBody({ answer, run, chips }: { answer: Answer; run: Run; chips: Chip[] }) {
  const results = useMemo(() => resultsOf(answer), [answer]);
  return (
    <>
      <AnswerText answer={answer} />
      {results.map((result, index) => (
        <ResultView key={result.step || index} result={result} answer={answer} run={run.id} />
      ))}
      <CitedSources answer={answer} />
      <PlanList answer={answer} chips={chips} />
    </>
  );
}

function CitedSources({ answer }: { answer: Answer }) {
  const sources = answer.facts.sources ?? [];
  if (sources.length === 0) return null;
  return (
    <ul className={css.cited}>
      {sources.map((source) => (
        <li key={source.id} className="break">
          {source.link && /^https?:\/\//.test(source.link) ? (
            <a href={source.link} rel="noopener noreferrer" target="_blank">
              {source.label}
            </a>
          ) : (
            source.label
          )}
        </li>
      ))}
    </ul>
  );
}

function RefusalBody({ refusal, reading }: { refusal: Refusal; reading: Reading | null | undefined }) {
  const { t } = useTexts();
  return (
    <section className={`card ${css.refusal}`} aria-labelledby="refusal">
      <h2 id="refusal" className={css.refusalTitle}>
        {t.refusal.title}
      </h2>
      <p className={css.refusalText}>{refusal.text.replace(refusal.unknown?.setting ?? "", "")}</p>
      {refusal.unknown && (
        <p className={css.refusalText}>
          {t.refusal.teach(refusal.unknown.word)}
          <Link href="/sources">{t.nav.sources}</Link>.
        </p>
      )}
      {/^reading\/(unread-word|no-question)$/.test(refusal.issues[0]?.code ?? "") && !refusal.usage?.calls && <p className="small quiet">{t.refusal.withModel}</p>}
      {refusal.issues.length > 1 && (
        <>
          <h3 className="label">{t.refusal.what}</h3>
          {refusal.issues.map((issue) => (
            <IssueText key={issue.code + issue.problem} issue={issue} />
          ))}
        </>
      )}
      {(refusal.tried ?? []).length > 0 && !reading && (
        <ul className="small quiet">
          {(refusal.tried ?? []).map((attempt) => (
            <li key={attempt.number} className="break">
              {attempt.tools.join(" → ")}: {attempt.problem}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** A follow-up in the same conversation; after a refusal, the same question to be changed. */
function Next({ run }: { run: Run }) {
  const { t } = useTexts();
  const ask = useAsk();
  const answered = run.state === "succeeded" || run.state === "partial";
  const thread = answered ? run.request.thread : null;
  const box = thread
    ? { label: t.follow.label, placeholder: t.follow.placeholder, initial: "" }
    : answered
      ? { label: t.run.again, placeholder: t.ask.placeholderPlain, initial: "" }
      : { label: t.refusal.edit, placeholder: t.ask.placeholderPlain, initial: run.request.question ?? questionOf(run) };
  return (
    <div className={css.next}>
      <QuestionBox {...box} send={t.follow.send} busy={ask.isPending} onSend={(question) => ask.mutate({ question, thread: thread ?? undefined })} />
      {ask.error && <FaultNote error={ask.error} />}
    </div>
  );
}

function Earlier({ run }: { run: Run }) {
  const { t } = useTexts();
  const thread = run.request.thread;
  const runs = useQuery({
    queryKey: ["runs", "thread", thread],
    queryFn: ({ signal }) => api.runs(null, 100, signal),
    enabled: !!thread,
  });
  const earlier = (runs.data?.runs ?? []).filter((one) => one.request.thread === thread && one.created < run.created).reverse();
  if (earlier.length === 0) return null;
  return (
    <nav className={css.earlier} aria-label={t.run.conversation}>
      <ol>
        {earlier.map((one) => (
          <li key={one.id}>
            <Link href={`/runs/${one.id}`} className="break">
              {questionOf(one)}
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function CopyLink() {
  const { t } = useTexts();
  const [copied, copy] = useCopied();
  return (
    <Button variant="subtle" size="xs" leftSection={<IconLink size={15} />} onClick={() => copy(location.href)} className={css.copy}>
      <span aria-live="polite">{copied ? t.run.copied : t.run.copy}</span>
    </Button>
  );
}

function Missing({ error, again }: { error: Error; again: () => void }) {
  const { t } = useTexts();
  const missing = error instanceof Fault && (error.status === 404 || error.status === 422);
  return (
    <div className="page">
      {missing ? (
        <>
          <h1>{t.run.missing}</h1>
          <p className="quiet">{t.run.missingHint}</p>
          <p>
            <Link href="/runs">{t.nav.runs}</Link>
          </p>
        </>
      ) : (
        <FaultNote error={error} again={again} />
      )}
    </div>
  );
}

function Loading() {
  return (
    <div className="page stack">
      <Skeleton height={34} width="70%" />
      <Skeleton height={62} />
      <Skeleton height={22} width="82%" />
      <Skeleton height={420} radius="lg" />
    </div>
  );
}
