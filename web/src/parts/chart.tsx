import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { Spec } from "../api/types";
import { useTexts } from "../texts/language";
import css from "./chart.module.css";
import { drawChart } from "./draw-chart";
import { Note } from "./note";

type Props = { spec: Spec; title: string; onDrawn: (height: number) => void };

export default function Chart({ spec, title, onDrawn }: Props) {
  const { t } = useTexts();
  const dark = useComputedColorScheme("light") === "dark";
  const frame = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<"drawing" | "drawn" | "failed">("drawing");
  useEffect(() => {
    const holder = document.createElement("div");
    holder.className = css.holder ?? "";
    frame.current?.replaceChildren(holder);
    let finalize = () => {};
    let gone = false;
    drawChart(holder, spec, dark)
      .then((drawn) => {
        if (gone) return drawn.finalize();
        finalize = () => drawn.finalize();
        setState("drawn");
        onDrawn(holder.offsetHeight);
      })
      .catch(() => setState("failed"));
    return () => {
      gone = true;
      finalize();
    };
  }, [spec, dark, onDrawn]);
  if (state === "failed") return <Note tone="warn">{t.views.chartFails}</Note>;
  return (
    <div className={css.scroll} data-state={state} tabIndex={0} role="region" aria-label={t.views.chart}>
      <div ref={frame} role="img" aria-label={named(spec) || title || t.views.chart} className={css.frame} />
    </div>
  );
}

function named(spec: Spec): string {
  const title = spec.title as { text?: string | string[] } | string | undefined;
  const text = typeof title === "object" ? title.text : title;
  return Array.isArray(text) ? text.join(" ") : (text ?? "");
}
