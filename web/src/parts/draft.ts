import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { api } from "../api/client";
import type { Change, PlanReply, Reading, Run } from "../api/types";
import { newThread } from "./format";

export type Draft = {
  now: PlanReply | undefined; // the reading as it is, with the gate's verdict
  edited: boolean;
  busy: boolean;
  error: Error | null;
  change: (change: Change) => void;
  undo: () => void;
  run: () => void;
  running: boolean;
};

/** The query for the chips of a run's reading. */
export function chipsOf(run: string, reading: Reading | null | undefined) {
  return {
    queryKey: ["chips", run],
    queryFn: ({ signal }: { signal: AbortSignal }) => api.planReading(reading!, [], signal),
    staleTime: Infinity,
  };
}

/** A reading that is changed by hand. The service applies each change and the gate answers at once. */
export function useDraft(run: Run, reading: Reading | null | undefined): Draft {
  const [, go] = useLocation();
  const [edits, setEdits] = useState<PlanReply[]>([]);
  const first = useQuery({ ...chipsOf(run.id, reading), enabled: !!reading });
  const now = edits.at(-1) ?? first.data;
  const change = useMutation({
    mutationFn: (wanted: Change) => api.planReading(now!.reading!, [wanted]),
    onSuccess: (reply) => setEdits((before) => [...before, withReading(reply, now)]),
  });
  const start = useMutation({
    mutationFn: () => api.runPlan(now!.reading!, now!.plan, run.request.thread ?? newThread()),
    onSuccess: (started) => go(`/runs/${started.id}`),
  });
  return {
    now,
    edited: edits.length > 0,
    busy: change.isPending,
    error: change.error ?? start.error ?? first.error,
    change: (wanted) => now?.reading && change.mutate(wanted),
    undo: () => setEdits((before) => before.slice(0, -1)),
    run: () => now?.plan && start.mutate(),
    running: start.isPending,
  };
}

/** A refused change may come without a reading: the one before stays in view, with the refusal. */
function withReading(reply: PlanReply, before: PlanReply | undefined): PlanReply {
  return reply.reading || !before ? reply : { ...reply, reading: before.reading, chips: before.chips };
}
