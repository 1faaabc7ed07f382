import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { api, Fault } from "../api/client";
import type { Column, ColumnSettings } from "../api/types";
import { useTexts } from "../texts/language";
import css from "./column-form.module.css";
import { FaultNote } from "./fault-note";

type Meaning = NonNullable<Column["meaning"]>;
const FIELDS = ["called", "meaning", "description"];

/** What was said about columns, and what they could mean. */
export function useColumnSettings() {
  const { data } = useQuery({ queryKey: ["columns"], queryFn: ({ signal }) => api.columnSettings(signal) });
  return (
    data && {
      of: (table: string, column: string) => data.columns.find((one) => one.table === table && one.column === column)?.settings,
      choices: (column: Column) => data.meanings[column.kind] ?? [],
    }
  );
}

type Props = { table: string; column: Column; saved: ColumnSettings | undefined; choices: Meaning[]; onClose: () => void };

/** Says what a column means. Questions know it at once. */
export function ColumnForm({ table, column, saved, choices, onClose }: Props) {
  const { t } = useTexts();
  const queries = useQueryClient();
  const title = useId();
  const [called, setCalled] = useState((saved?.called ?? []).join(", "));
  const [meaning, setMeaning] = useState<Meaning | "">(saved?.meaning ?? "");
  const [description, setDescription] = useState(saved?.description ?? "");
  const done = {
    onSuccess: async () => {
      await Promise.all(["sources", "columns"].map((name) => queries.invalidateQueries({ queryKey: [name] })));
      onClose();
    },
  };
  const save = useMutation({
    mutationFn: (settings: ColumnSettings) => api.saveColumn(table, column.name, settings),
    ...done,
  });
  const reset = useMutation({ mutationFn: () => api.resetColumn(table, column.name), ...done });
  const failed = save.error ?? reset.error;
  const fieldOf = failed instanceof Fault ? failed.field.split(".")[0] : "";
  const wrong = (field: string) => (fieldOf === field ? plain(failed!.message) : undefined);

  function submit(event: FormEvent) {
    event.preventDefault();
    const names = called.split(",").map((name) => name.trim()).filter(Boolean);
    if (names.length || meaning || description.trim()) save.mutate({ called: names, meaning: meaning || null, description });
    else reset.mutate();
  }

  return (
    <form className={css.form} aria-labelledby={title} onSubmit={submit} onKeyDown={(event) => event.key === "Escape" && onClose()}>
      <h3 id={title} className={`${css.title} break`}>
        {t.column.title(column.name)}
      </h3>
      <TextInput
        label={t.column.called}
        description={t.column.calledHint}
        value={called}
        onChange={(event) => setCalled(event.currentTarget.value)}
        error={wrong("called")}
        autoFocus
      />
      {choices.length > 0 && (
        <NativeSelect
          label={t.column.meaning}
          data={[{ value: "", label: t.column.found }, ...choices.map((one) => ({ value: one, label: t.sources.uses[one] ?? one }))]}
          value={meaning}
          onChange={(event) => setMeaning(event.currentTarget.value as Meaning | "")}
          error={wrong("meaning")}
        />
      )}
      <TextInput
        label={t.column.description}
        placeholder={saved?.description ? undefined : column.description}
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
        error={wrong("description")}
      />
      {failed && !FIELDS.includes(fieldOf ?? "") && <FaultNote error={failed} />}
      <div className="row">
        <Button type="submit" size="xs" loading={save.isPending}>
          {t.column.save}
        </Button>
        <Button variant="default" size="xs" onClick={onClose}>
          {t.column.cancel}
        </Button>
        {saved && (
          <Button variant="default" size="xs" loading={reset.isPending} onClick={() => reset.mutate()}>
            {t.column.reset}
          </Button>
        )}
      </div>
    </form>
  );
}

/** The reason without the place, beside which it stands. */
function plain(message: string): string {
  const said = message.replace(/^body\.[\w.]+: /, "");
  return said.slice(0, 1).toUpperCase() + said.slice(1);
}
