import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const service = process.env.GROUNDPLAN_SERVICE ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../src/groundplan/service/web",
    emptyOutDir: true,
    assetsInlineLimit: 0, // the page's policy allows no data: URLs
    chunkSizeWarningLimit: 1200, // the chart's libraries, which load when a chart is shown
  },
  server: { proxy: { "/v1": { target: service, headers: { origin: service } } } },
});
