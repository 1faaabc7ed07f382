import { Button, Textarea } from "@mantine/core";
import { IconThumbDown, IconThumbUp } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client";
import type { Feedback } from "../api/types";
import { useTexts } from "../texts/language";
import { FaultNote } from "./fault-note";
import css from "./thumbs.module.css";

/** Whether the answer is good; a bad one may be given a reason. */
export function Thumbs({ run }: { run: string }) {
  const { t } = useTexts();
  const queries = useQueryClient();
  const [reason, setReason] = useState("");
  const place = ["feedback", run];
  const given = useQuery({ queryKey: place, queryFn: ({ signal }) => api.feedback(run, signal) });
  const rate = useMutation({
    mutationFn: (feedback: Feedback) => api.rate(run, feedback),
    onSuccess: (_, feedback) => queries.setQueryData(place, feedback),
  });
  const thumb = given.data?.thumb;
  const thanked = thumb === "good" || !!given.data?.reason;
  return (
    <section className={css.thumbs} aria-label={t.feedback.label}>
      <div className={css.line}>
        <span className="quiet small">{t.feedback.label}</span>
        <Thumb chosen={thumb === "good"} icon={IconThumbUp} name={t.feedback.good} onClick={() => rate.mutate({ thumb: "good", reason: "" })} />
        <Thumb chosen={thumb === "bad"} icon={IconThumbDown} name={t.feedback.bad} onClick={() => rate.mutate({ thumb: "bad", reason: "" })} />
        <span className="quiet small" role="status">
          {thanked && (thumb === "good" ? t.feedback.thanks : t.feedback.kept)}
        </span>
      </div>
      {thumb === "bad" && !given.data?.reason && (
        <form
          className={css.why}
          onSubmit={(event) => {
            event.preventDefault();
            if (reason.trim()) rate.mutate({ thumb: "bad", reason: reason.trim() });
          }}
        >
          <Textarea label={t.feedback.why} value={reason} onChange={(event) => setReason(event.currentTarget.value)} autosize minRows={1} maxRows={4} maxLength={2000} className={css.reason} />
          <Button type="submit" variant="default" size="sm" loading={rate.isPending} disabled={!reason.trim()}>
            {t.feedback.send}
          </Button>
        </form>
      )}
      {rate.error && <FaultNote error={rate.error} />}
    </section>
  );
}

function Thumb({ chosen, icon: Icon, name, onClick }: { chosen: boolean; icon: typeof IconThumbUp; name: string; onClick: () => void }) {
  return (
    <Button variant={chosen ? "light" : "subtle"} size="compact-sm" leftSection={<Icon size={16} stroke={1.7} aria-hidden />} aria-pressed={chosen} onClick={onClick}>
      {name}
    </Button>
  );
}
