import type { RunState } from "../api/types";
import { useTexts } from "../texts/language";
import css from "./state-mark.module.css";

export function StateMark({ state }: { state: RunState }) {
  const { t } = useTexts();
  return (
    <span className={css.state} data-state={state}>
      {t.states[state]}
    </span>
  );
}
