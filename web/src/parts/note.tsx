import type { ReactNode } from "react";
import css from "./note.module.css";

type Props = { tone: "plain" | "accent" | "warn" | "bad"; title?: string; children?: ReactNode; id?: string };

/** Something the reader should know, beside what it is about. */
export function Note({ tone, title, children, id }: Props) {
  return (
    <div className={css.note} data-tone={tone} role={tone === "bad" ? "alert" : "status"} id={id}>
      {title && <p className={css.title}>{title}</p>}
      {children}
    </div>
  );
}
