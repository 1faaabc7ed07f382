// Runs before the first paint, so that a dark page never flashes white.
(function () {
  var kept = null;
  try { kept = localStorage.getItem("mantine-color-scheme-value"); } catch (error) { /* storage is off */ }
  var dark = kept === "dark" || (kept !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", dark ? "dark" : "light");
})();
