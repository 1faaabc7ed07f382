import { Button, Skeleton, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch, IconTrash } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useRef, useState, type KeyboardEvent } from "react";
import { api } from "../api/client";
import type { Change, Kind, Reading, Suggestion } from "../api/types";
import { useTexts } from "../texts/language";
import { FaultNote } from "./fault-note";
import css from "./suggestions.module.css";

const KINDS: Kind[] = ["group_by", "filter", "metric", "rank"];

type Props = { reading: Reading; requirement: string | null; onChoose: (change: Change) => void; onRemove?: () => void };

/** What a chip could be instead, or what could be added, with a search. */
export function Suggestions({ reading, requirement, onChoose, onRemove }: Props) {
  const { t } = useTexts();
  const [typed, setTyped] = useState("");
  const [kind, setKind] = useState<Kind | null>(requirement ? null : "group_by");
  const [search] = useDebouncedValue(typed.trim(), 150);
  const list = useRef<HTMLDivElement>(null);
  const found = useQuery({
    queryKey: ["suggestions", reading, requirement, kind, search],
    queryFn: ({ signal }) => api.suggestions(reading, requirement, kind, search, signal),
    placeholderData: keepPreviousData,
  });
  return (
    <div onKeyDown={(event) => walk(event, list.current)}>
      {!requirement && (
        <div className={css.kinds} role="group" aria-label={t.chips.addTitle}>
          {KINDS.map((one) => (
            <button key={one} type="button" className={css.kindChoice} aria-pressed={kind === one} onClick={() => setKind(one)}>
              {t.chips.kinds[one]}
            </button>
          ))}
        </div>
      )}
      <TextInput
        data-autofocus
        aria-label={t.chips.search}
        placeholder={t.chips.search}
        leftSection={<IconSearch size={15} />}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <div className={css.list} ref={list}>
        {found.isPending && <Skeleton height={120} mt="xs" />}
        {found.error && <FaultNote error={found.error} />}
        {found.data?.length === 0 && <p className={css.nothing}>{t.chips.nothing}</p>}
        {groups(found.data ?? []).map(([group, items]) => (
          <div key={group}>
            <p className={css.group}>{t.chips.groups[group] ?? group}</p>
            <ul>
              {items.map((item) => (
                <li key={item.label}>
                  <button type="button" className={css.choice} onClick={() => onChoose(item.change)}>
                    {item.label}
                  </button>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
      {onRemove && (
        <Button fullWidth variant="subtle" color="red" size="xs" mt={4} leftSection={<IconTrash size={15} />} onClick={onRemove} className={css.remove}>
          {t.chips.remove}
        </Button>
      )}
    </div>
  );
}

function groups(found: Suggestion[]): [string, Suggestion[]][] {
  const byGroup = new Map<string, Suggestion[]>();
  for (const item of found) byGroup.set(item.group, [...(byGroup.get(item.group) ?? []), item]);
  return [...byGroup];
}

/** The arrow keys walk through the choices. */
function walk(event: KeyboardEvent, list: HTMLElement | null): void {
  if ((event.key !== "ArrowDown" && event.key !== "ArrowUp") || !list) return;
  const choices = [...list.querySelectorAll("button")];
  const at = choices.indexOf(document.activeElement as HTMLButtonElement);
  const next = event.key === "ArrowDown" ? Math.min(at + 1, choices.length - 1) : Math.max(at - 1, 0);
  choices[next]?.focus();
  event.preventDefault();
}
