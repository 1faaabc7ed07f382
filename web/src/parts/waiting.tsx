import { Button, Modal } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client";
import type { Clarification, Refusal, Run } from "../api/types";
import { useTexts } from "../texts/language";
import { FaultNote } from "./fault-note";
import { called } from "./format";
import { paramText } from "./plan-list";
import { QuestionBox } from "./question-box";
import { Unbroken } from "./unbroken";
import css from "./waiting.module.css";

/** A question back: its choices as buttons, or one reading to run, and room for other words. A click sends a number. */
export function QuestionBack({ run, asked }: { run: Run; asked: Clarification }) {
  const { t } = useTexts();
  const queries = useQueryClient();
  const reply = useMutation({
    mutationFn: (said: { text: string } | { choice: number }) => api.answer(run.id, said),
    onSuccess: (next) => queries.setQueryData(["run", run.id], next),
  });
  const choices = asked.candidates ?? [];
  const reading = (asked.readings ?? []).length === 1 ? choices[0] : undefined;
  return (
    <section className={`card ${css.card}`} aria-labelledby="question-back">
      <h2 id="question-back" className="label">
        {t.question.title}
      </h2>
      <p className={css.text}>
        <Unbroken text={asked.text} />
      </p>
      {reading !== undefined ? (
        <>
          {!asked.text.includes(reading) && <p className={css.reading}>{reading}</p>}
          <div className={css.confirm}>
            <Button loading={reply.isPending} onClick={() => reply.mutate({ choice: 1 })}>
              {t.question.run}
            </Button>
            <Button variant="default" disabled={reply.isPending} onClick={() => reply.mutate({ text: "no" })}>
              {t.question.decline}
            </Button>
          </div>
        </>
      ) : (
        choices.length > 0 && (
          <ol className={css.choices}>
            {choices.map((choice, index) => (
              <li key={choice}>
                <button type="button" className={css.choice} disabled={reply.isPending} onClick={() => reply.mutate({ choice: index + 1 })}>
                  {choice}
                </button>
              </li>
            ))}
          </ol>
        )
      )}
      <QuestionBox
        label={choices.length ? t.question.other : t.question.reply}
        placeholder=""
        send={t.question.send}
        busy={reply.isPending}
        onSend={(text) => reply.mutate({ text })}
      />
      {reply.error && <FaultNote error={reply.error} />}
    </section>
  );
}

/** Steps with an effect: shown value by value, then yes or no. */
export function ApprovalNeeded({ run, asked }: { run: Run; asked: Refusal }) {
  const { t } = useTexts();
  const queries = useQueryClient();
  const [open, setOpen] = useState(true);
  const decide = useMutation({
    mutationFn: (approved: boolean) => api.approve(run.id, run.approve!, approved),
    onSuccess: (next) => {
      setOpen(false);
      queries.setQueryData(["run", run.id], next);
    },
  });
  return (
    <section className={`card ${css.card}`}>
      <p className={css.text}>{t.approval.waits}</p>
      <Button onClick={() => setOpen(true)}>{t.approval.review}</Button>
      <Modal opened={open} onClose={() => setOpen(false)} title={t.approval.title} classNames={{ title: css.title }} size="lg" radius="lg" closeButtonProps={{ "aria-label": t.approval.later }}>
        <p className="quiet small">{t.approval.lead}</p>
        {bySteps(asked.effects ?? []).map((calls) => (
          <Effects key={calls[0]!.step} calls={calls} />
        ))}
        {(asked.effects ?? []).length === 0 && <p className={`${css.said} small break`}>{asked.text}</p>}
        {decide.error && <FaultNote error={decide.error} />}
        <div className={css.decide}>
          <Button variant="default" disabled={decide.isPending} onClick={() => decide.mutate(false)}>
            {t.approval.decline}
          </Button>
          <Button loading={decide.isPending} onClick={() => decide.mutate(true)}>
            {t.approval.approve}
          </Button>
        </div>
      </Modal>
    </section>
  );
}

type Call = NonNullable<Refusal["effects"]>[number];

function bySteps(calls: Call[]): Call[][] {
  return [...new Set(calls.map((call) => call.step))].map((step) => calls.filter((call) => call.step === step));
}

/** What one step sends: value by value, or a row for each item of a list. */
function Effects({ calls }: { calls: Call[] }) {
  const { t } = useTexts();
  const names = [...new Set(calls.flatMap((call) => Object.keys(call.params)))];
  const many = calls.length > 1;
  return (
    <div className={css.effect}>
      <h3 className="break">
        {called(calls[0]!.tool)} {many && <span className="quiet">× {calls.length}</span>}
      </h3>
      <div className={css.scroll} tabIndex={many ? 0 : undefined}>
        <table className={css.values} data-many={many || undefined}>
          <thead>
            <tr>{(many ? names : [t.approval.field, t.approval.value]).map((name) => <th key={name} scope="col">{name}</th>)}</tr>
          </thead>
          <tbody>
            {many
              ? calls.map((call, at) => <tr key={at}>{names.map((name) => <td key={name}>{paramText(call.params[name] ?? "")}</td>)}</tr>)
              : names.map((name) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    <td>{paramText(calls[0]!.params[name])}</td>
                  </tr>
                ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
