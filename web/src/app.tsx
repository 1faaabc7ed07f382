import { Skeleton } from "@mantine/core";
import { lazy, Suspense, useSyncExternalStore } from "react";
import { useQuery } from "@tanstack/react-query";
import { Redirect, Route, Switch } from "wouter";
import { api, Fault, key } from "./api/client";
import { SignIn } from "./parts/sign-in";
import { TopBar } from "./parts/top-bar";
import { AskScreen } from "./screens/ask";
import { useTexts } from "./texts/language";

const RunScreen = lazy(() => import("./screens/run"));
const RunsScreen = lazy(() => import("./screens/runs"));
const RolloutScreen = lazy(() => import("./screens/rollout"));
const SourcesScreen = lazy(() => import("./screens/sources"));

export function App() {
  const { t } = useTexts();
  const held = useSyncExternalStore(key.subscribe, key.get);
  const allowed = useQuery({ queryKey: ["allowed", held], queryFn: ({ signal }) => api.runs(null, 1, signal) });
  const refused = allowed.error instanceof Fault && allowed.error.status === 401;
  return (
    <>
      <a className="skip" href="#content">
        {t.nav.skip}
      </a>
      <TopBar />
      <main id="content" tabIndex={-1}>
        {refused ? <SignIn wrong={held !== null} /> : <Screens key={held} />}
      </main>
    </>
  );
}

function Screens() {
  return (
    <Suspense fallback={<Loading />}>
    <Switch>
      <Route path="/" component={AskScreen} />
      <Route path="/runs" component={RunsScreen} />
      <Route path="/runs/:id">{({ id }) => <RunScreen key={id} id={id} />}</Route>
      <Route path="/sources" component={SourcesScreen} />
      <Route path="/rollout" component={RolloutScreen} />
      <Route>
        <Redirect to="/" />
      </Route>
    </Switch>
    </Suspense>
  );
}

function Loading() {
  return (
    <div className="page stack">
      <Skeleton height={38} width="50%" />
      <Skeleton height={420} radius="lg" />
    </div>
  );
}
