import "@fontsource-variable/inter/wght.css";
import "./mantine.css";
import "./design.css";
import { MantineProvider } from "@mantine/core";
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Fault } from "./api/client";
import { App } from "./app";
import { Languages } from "./texts/language";
import { theme } from "./theme";

const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? "";
setNonce(nonce);

/** Where a session has expired or a key was revoked, the page asks again whether this browser is let in. */
function askAgain(error: Error) {
  if (!(error instanceof Fault) || error.status !== 401) return;
  void queries.invalidateQueries({ queryKey: ["allowed"], predicate: ({ state }) => state.status === "success" && state.fetchStatus === "idle" });
}

const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: askAgain }),
  mutationCache: new MutationCache({ onError: askAgain }),
  defaultOptions: {
    queries: {
      retry: (count, error) => count < 2 && error instanceof Fault && (error.status === 0 || error.status >= 500),
      refetchOnWindowFocus: false,
    },
  },
});

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <QueryClientProvider client={queries}>
        <Languages>
          <App />
        </Languages>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
