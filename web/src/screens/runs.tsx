import { Button, Skeleton } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api } from "../api/client";
import { FaultNote } from "../parts/fault-note";
import { RunList } from "../parts/run-list";
import { useTexts } from "../texts/language";
import css from "./page.module.css";

const PAGE = 30;
const ACTIVE = new Set(["queued", "running"]);

export default function RunsScreen() {
  const { t } = useTexts();
  const pages = useInfiniteQuery({
    queryKey: ["runs", "all"],
    queryFn: ({ pageParam, signal }) => api.runs(pageParam, PAGE, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.cursor,
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.runs.some((run) => ACTIVE.has(run.state))) ? 2_000 : 15_000,
  });
  const runs = pages.data?.pages.flatMap((page) => page.runs) ?? [];
  return (
    <div className="page">
      <h1 className={css.title}>{t.runs.title}</h1>
      <p className={css.lead}>{t.runs.lead}</p>
      {pages.isPending && <div className="stack">{[1, 2, 3, 4, 5].map((n) => <Skeleton key={n} height={52} />)}</div>}
      {pages.error && <FaultNote error={pages.error} again={() => pages.refetch()} />}
      {pages.data && runs.length === 0 && (
        <div className={`card ${css.empty}`}>
          <p>{t.runs.none}</p>
          <Button component={Link} href="/">
            {t.runs.start}
          </Button>
        </div>
      )}
      {runs.length > 0 && <RunList runs={runs} />}
      {pages.hasNextPage && (
        <Button variant="default" mt="md" loading={pages.isFetchingNextPage} onClick={() => pages.fetchNextPage()}>
          {t.runs.more}
        </Button>
      )}
    </div>
  );
}
