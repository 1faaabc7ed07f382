import type { Change, ColumnSettings, Feedback, Kind, Page, PlanReply, Reading, RolloutStatus, Run, SavedColumns, SessionState, SourceSchema, Suggestion, Upload, UploadList } from "./types";

const KEPT = "groundplan-key";

/** A problem (RFC 9457) that the service answered with. */
export class Fault extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly field = "", // of the body, such as `called.0`
  ) {
    super(detail);
  }
}

const listeners = new Set<() => void>();

/** The bearer key of a service with keys. It lives as long as the tab. */
export const key = {
  get: () => sessionStorage.getItem(KEPT),
  set(value: string | null) {
    if (value) sessionStorage.setItem(KEPT, value);
    else sessionStorage.removeItem(KEPT);
    listeners.forEach((tell) => tell());
  },
  subscribe(tell: () => void) {
    listeners.add(tell);
    return () => void listeners.delete(tell);
  },
};

export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const held = key.get();
  if (held) headers.set("Authorization", `Bearer ${held}`);
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Fault(0, "service/unreachable", "");
  }
  if (!response.ok) throw await faultOf(response);
  return response;
}

async function faultOf(response: Response): Promise<Fault> {
  const problem: { code?: string; detail?: string; field?: string } = await response.json().catch(() => ({}));
  return new Fault(response.status, problem.code ?? "service/http", problem.detail ?? response.statusText, problem.field);
}

/** Sends a file and tells the share that was sent, which `fetch` cannot. */
function upload(file: File, onSent: (share: number) => void): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/v1/uploads?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    const held = key.get();
    if (held) request.setRequestHeader("Authorization", `Bearer ${held}`);
    request.upload.onprogress = (sent) => onSent(sent.lengthComputable ? sent.loaded / sent.total : 0);
    request.upload.onload = () => onSent(1);
    request.onerror = () => reject(new Fault(0, "service/unreachable", ""));
    request.onload = () => {
      const response = new Response(request.response, { status: request.status, statusText: request.statusText });
      (response.ok ? response.json().then(resolve) : faultOf(response).then(reject)).catch(reject);
    };
    request.send(file);
  });
}

async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await send(path, { signal })).json() as Promise<T>;
}

async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  return (await send(path, { method: "POST", headers, body: JSON.stringify(body), signal })).json() as Promise<T>;
}

function ofColumn(table: string, column: string): string {
  return `/v1/column-settings?${new URLSearchParams({ table, column })}`;
}

const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export const api = {
  session: (signal?: AbortSignal) => get<SessionState>("/v1/session", signal),
  signOut: () => send("/v1/session", { method: "DELETE" }),
  sources: (signal?: AbortSignal) => get<SourceSchema[]>("/v1/sources", signal),
  values: (signal?: AbortSignal) => get<Record<string, Record<string, string[]>>>("/v1/values", signal),
  upload,
  uploads: (signal?: AbortSignal) => get<UploadList>("/v1/uploads", signal),
  deleteUpload: (id: string) => send(`/v1/uploads/${id}`, { method: "DELETE" }),
  columnSettings: (signal?: AbortSignal) => get<SavedColumns>("/v1/column-settings", signal),
  saveColumn: (table: string, column: string, settings: ColumnSettings) =>
    send(ofColumn(table, column), { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify(settings) }),
  resetColumn: (table: string, column: string) => send(ofColumn(table, column), { method: "DELETE" }),
  runs: (cursor: string | null, limit: number, signal?: AbortSignal) =>
    get<Page>(`/v1/runs?limit=${limit}${cursor ? `&cursor=${cursor}` : ""}`, signal),
  run: (id: string, signal?: AbortSignal) => get<Run>(`/v1/runs/${id}`, signal),
  ask: (question: string, thread: string) => post<Run>("/v1/runs", { question, thread, timezone }),
  runPlan: (reading: Reading, plan: unknown, thread: string) => post<Run>("/v1/runs", { plan: { reading, plan }, thread, timezone }),
  cancel: (id: string) => post<Run>(`/v1/runs/${id}/cancel`, {}),
  resume: (id: string) => post<Run>(`/v1/runs/${id}/resume`, {}),
  answer: (id: string, reply: { text: string } | { choice: number }) => post<Run>(`/v1/runs/${id}/answer`, reply),
  approve: (id: string, plan: string, approved: boolean) => post<Run>(`/v1/runs/${id}/approval`, { plan, approved }),
  feedback: (id: string, signal?: AbortSignal) => get<Feedback | null>(`/v1/runs/${id}/feedback`, signal),
  rate: (id: string, feedback: Feedback) =>
    send(`/v1/runs/${id}/feedback`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(feedback) }),
  rollout: (signal?: AbortSignal) => get<RolloutStatus>("/v1/rollout", signal),
  startRollout: (variant: string) => post<unknown>("/v1/rollout", { variant }),
  changeRollout: (command: "step" | "stop" | "promote") => post<unknown>(`/v1/rollout/${command}`, {}),
  planQuestion: (question: string, signal?: AbortSignal) =>
    post<PlanReply>("/v1/plans", { question, timezone, strategy: "rules" }, signal),
  planReading: (reading: Reading, changes: Change[], signal?: AbortSignal) =>
    post<PlanReply>("/v1/plans", { reading, changes }, signal),
  suggestions: (reading: Reading, requirement: string | null, kind: Kind | null, search: string, signal?: AbortSignal) =>
    post<Suggestion[]>("/v1/suggestions", { reading, requirement, kind, search }, signal),
};
