import { Button, NativeSelect, Skeleton } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link } from "wouter";
import { api, Fault } from "../api/client";
import type { Estimate, RolloutStatus, SideStatus } from "../api/types";
import { Curve } from "../parts/curve";
import { FaultNote } from "../parts/fault-note";
import { Note } from "../parts/note";
import { useTexts } from "../texts/language";
import page from "./page.module.css";
import css from "./rollout.module.css";

const LOOK = 5_000;
const SIDES = ["current", "trial", "shadow"] as const;
type Side = (typeof SIDES)[number];

export default function RolloutScreen() {
  const { t } = useTexts();
  const found = useQuery({ queryKey: ["rollout"], queryFn: ({ signal }) => api.rollout(signal), refetchInterval: LOOK });
  const forbidden = found.error instanceof Fault && found.error.status === 403;
  return (
    <div className="page">
      <h1 className={page.title}>{t.rollout.title}</h1>
      <p className={page.lead}>{forbidden ? t.rollout.notAllowed : t.rollout.lead}</p>
      {found.isPending && <Skeleton height={240} />}
      {found.error && !forbidden && <FaultNote error={found.error} again={() => found.refetch()} />}
      {found.data && <Status status={found.data} />}
    </div>
  );
}

function Status({ status }: { status: RolloutStatus }) {
  const { t } = useTexts();
  const rollout = status.rollout;
  const running = rollout?.state === "running";
  const sides = SIDES.filter((side) => status.sides?.[side]);
  return (
    <div className="stack">
      <section className={`card ${css.now}`}>
        <dl className={css.facts}>
          <div>
            <dt className="label">{t.rollout.current}</dt>
            <dd>{status.current}</dd>
          </div>
          <div>
            <dt className="label">{t.rollout.trial}</dt>
            <dd>
              {rollout ? rollout.variant : t.rollout.none}
              {rollout && <span className="quiet"> · {running ? (rollout.share ? t.rollout.share(rollout.share) : t.rollout.shadow) : t.rollout.ended[rollout.state ?? ""]}</span>}
            </dd>
          </div>
        </dl>
        <Commands status={status} />
      </section>
      {rollout && (
        <Note tone={rollout.state === "stopped" && rollout.why ? "bad" : status.supported ? "accent" : "plain"}>
          <p className="break">{status.advice}</p>
        </Note>
      )}
      {sides.length > 0 && <Sides status={status} sides={sides} />}
      {sides.length > 0 && (
        <div className={css.curves}>
          <Curve title={t.rollout.curve(t.rollout.errors)} curves={status.curves ?? {}} of="errors" />
          <Curve title={t.rollout.curve(t.rollout.bad)} curves={status.curves ?? {}} of="thumbs_down" />
        </div>
      )}
      <Shadow status={status} />
    </div>
  );
}

function Commands({ status }: { status: RolloutStatus }) {
  const { t } = useTexts();
  const queries = useQueryClient();
  const running = status.rollout?.state === "running";
  const others = ["settings", ...(status.variants ?? [])].filter((name) => name !== status.current);
  const [variant, setVariant] = useState(others.at(-1) ?? "");
  const done = () => queries.invalidateQueries({ queryKey: ["rollout"] });
  const start = useMutation({ mutationFn: () => api.startRollout(variant), onSuccess: done });
  const change = useMutation({ mutationFn: api.changeRollout, onSuccess: done });
  const busy = start.isPending || change.isPending;
  const next = status.next_share;
  return (
    <div className={css.commands}>
      {running && next && (
        <Button onClick={() => change.mutate("step")} loading={busy} variant={status.supported ? "filled" : "default"}>
          {t.rollout.step(next)}
        </Button>
      )}
      {running && !next && (
        <Button onClick={() => change.mutate("promote")} loading={busy} variant={status.supported ? "filled" : "default"}>
          {t.rollout.promote}
        </Button>
      )}
      {running && (
        <Button variant="default" onClick={() => change.mutate("stop")} disabled={busy}>
          {t.rollout.stop}
        </Button>
      )}
      {!running && others.length > 0 && (
        <>
          <NativeSelect label={t.rollout.variant} data={others} value={variant} onChange={(event) => setVariant(event.currentTarget.value)} />
          <Button onClick={() => start.mutate()} loading={busy}>
            {t.rollout.start}
          </Button>
        </>
      )}
      {(start.error ?? change.error) && <FaultNote error={(start.error ?? change.error)!} />}
    </div>
  );
}

function Sides({ status, sides }: { status: RolloutStatus; sides: Side[] }) {
  const { t } = useTexts();
  const columns: [string, (side: SideStatus) => ReactNode][] = [
    [t.rollout.questions, (side) => String(side.n)],
    [t.rollout.errors, (side) => <Shown share={side.errors} />],
    [t.rollout.bad, (side) => <Shown share={side.thumbs_down} />],
    [t.rollout.refused, (side) => <Shown share={side.refused} />],
    [t.rollout.seconds, (side) => `${(side.p50 ?? 0).toFixed(1)} · ${(side.p95 ?? 0).toFixed(1)}`],
    [t.rollout.tokens, (side) => Math.round(side.tokens ?? 0).toLocaleString()],
  ];
  return (
    <div className={`card ${css.scroll}`} tabIndex={0} role="region" aria-label={t.rollout.side}>
      <table className={css.table}>
        <caption className="quiet small">{t.rollout.interval}</caption>
        <thead>
          <tr>
            <th scope="col">{t.rollout.side}</th>
            {columns.map(([name]) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sides.map((side) => (
            <tr key={side}>
              <th scope="row" data-side={side}>
                {t.rollout.sides[side]}
              </th>
              {columns.map(([name, cell]) => (
                <td key={name}>{cell(status.sides![side]!)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Shadow({ status }: { status: RolloutStatus }) {
  const { t } = useTexts();
  const agreed = [
    [t.rollout.meaning, status.same_meaning],
    [t.rollout.rows, status.same_rows],
  ] as const;
  const differing = status.differing ?? [];
  if (!status.same_meaning && !status.same_rows) return null;
  return (
    <section className={`card ${css.now}`}>
      <dl className={css.facts}>
        {agreed.map(
          ([name, share]) =>
            share && (
              <div key={name}>
                <dt className="label">{name}</dt>
                <dd>
                  <Shown share={share} />
                </dd>
              </div>
            ),
        )}
      </dl>
      {differing.length > 0 && (
        <>
          <h2 className="label">{t.rollout.differing}</h2>
          <ul className={css.runs}>
            {differing.map((run) => (
              <li key={run}>
                <Link href={`/runs/${run}`}>{run}</Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** A share over its interval. */
function Shown({ share }: { share: Estimate | null | undefined }) {
  if (!share) return "–";
  const percent = (value: number) => `${(100 * value).toFixed(value < 0.1 && value > 0 ? 1 : 0)} %`;
  return (
    <>
      {percent(share.value)}
      <span className={css.interval}>
        {percent(share.low)} – {percent(share.high)}
      </span>
    </>
  );
}
