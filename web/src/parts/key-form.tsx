import { Button, PasswordInput } from "@mantine/core";
import { useState } from "react";
import { key } from "../api/client";
import { useTexts } from "../texts/language";

export function KeyForm({ wrong }: { wrong: boolean }) {
  const { t } = useTexts();
  const [typed, setTyped] = useState("");
  return (
    <div className="page">
      <form
        className="card stack"
        style={{ maxWidth: "28rem", margin: "4vh auto 0", padding: "1.75rem" }}
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim()) key.set(typed.trim());
        }}
      >
        <h1 style={{ fontSize: "var(--text-xl)" }}>{t.key.title}</h1>
        <p className="quiet">{t.key.lead}</p>
        <PasswordInput
          label={t.key.label}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          placeholder="gp_…"
          autoComplete="off"
          error={wrong ? t.key.wrong : null}
          data-autofocus
        />
        <Button type="submit">{t.key.send}</Button>
      </form>
    </div>
  );
}
