import { useEffect, useState } from "react";
import { Fault, send } from "./client";
import type { RunEvent } from "./types";

const LONGEST_PAUSE = 10_000;

export type Followed = { events: RunEvent[]; lost: boolean };

/** The events of a run. A lost connection is taken up again after the last event, so none is missed or repeated. */
export function useEvents(run: string, active: boolean, told: (event: RunEvent) => void): Followed {
  const [followed, setFollowed] = useState<Followed>({ events: [], lost: false });
  useEffect(() => {
    if (!active) return;
    const stop = new AbortController();
    setFollowed({ events: [], lost: false });
    void follow(run, stop.signal, {
      event(event) {
        setFollowed(({ events }) => ({ events: [...events, event], lost: false }));
        told(event);
      },
      lost: () => setFollowed(({ events }) => ({ events, lost: true })),
    });
    return () => stop.abort();
    // `told` only asks for the run again
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [run, active]);
  return followed;
}

type Listener = { event: (event: RunEvent) => void; lost: () => void };

async function follow(run: string, signal: AbortSignal, listener: Listener): Promise<void> {
  let last = 0;
  let pause = 500;
  while (!signal.aborted) {
    try {
      const headers: Record<string, string> = last ? { "Last-Event-ID": String(last) } : {};
      const response = await send(`/v1/runs/${run}/events`, { headers, signal });
      if (response.status === 204 || !response.body) return;
      for await (const event of read(response.body)) {
        pause = 500;
        last = event.number;
        listener.event(event);
        if (event.kind === "run.ended") return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Fault && error.status >= 400 && error.status < 500) return;
      listener.lost();
    }
    await new Promise((wake) => setTimeout(wake, pause));
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}

async function* read(body: ReadableStream<Uint8Array>): AsyncGenerator<RunEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parse(block);
      if (event) yield event;
    }
  }
}

function parse(block: string): RunEvent | null {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const at = line.indexOf(": ");
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 2));
  }
  const [number, kind, data] = [fields.get("id"), fields.get("event"), fields.get("data")];
  return number && kind && data ? { number: Number(number), kind, data: JSON.parse(data) } : null;
}
