import { Button } from "@mantine/core";
import { IconArrowUp } from "@tabler/icons-react";
import { useEffect, useId, useRef, useState } from "react";
import css from "./question-box.module.css";

type Props = {
  label: string;
  placeholder: string;
  send: string;
  hint?: string;
  initial?: string;
  large?: boolean;
  focus?: boolean;
  busy: boolean;
  onSend: (question: string) => void;
};

export function QuestionBox({ label, placeholder, send, hint, initial = "", large, focus, busy, onSend }: Props) {
  const [typed, setTyped] = useState(initial);
  const area = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  useEffect(() => {
    if (focus) area.current?.focus({ preventScroll: true });
  }, [focus]);

  const submit = () => {
    if (typed.trim() && !busy) onSend(typed.trim());
  };
  return (
    <form
      className={css.box}
      data-large={large || undefined}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label htmlFor={id} className={large ? css.hidden : css.label}>
        {label}
      </label>
      <div className={css.line}>
        <div className={css.grow} data-value={`${typed || placeholder} `}>
          <textarea
            id={id}
            ref={area}
            className={css.area}
            rows={1}
            value={typed}
            placeholder={placeholder}
            maxLength={20_000}
            onChange={(event) => setTyped(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
              event.preventDefault();
              submit();
            }}
          />
        </div>
        <Button type="submit" className={css.send} disabled={!typed.trim()} loading={busy} rightSection={<IconArrowUp size={16} />}>
          {send}
        </Button>
      </div>
      {hint && <p className={css.hint}>{hint}</p>}
    </form>
  );
}
