import { ActionIcon, Button, Skeleton, TextInput } from "@mantine/core";
import { IconAbc, IconCalendar, IconHash, IconPencil, IconSearch, IconToggleLeft, IconTrash, IconQuestionMark } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { api } from "../api/client";
import type { Column, SourceSchema, Table, Upload } from "../api/types";
import { ColumnForm, useColumnSettings } from "../parts/column-form";
import { FaultNote } from "../parts/fault-note";
import { FileDrop, useUploads } from "../parts/file-drop";
import { type Arrow, Graph } from "../parts/graph";
import { Note } from "../parts/note";
import { Underscored } from "../parts/unbroken";
import { engineName } from "../parts/format";
import { useTexts } from "../texts/language";
import page from "./page.module.css";
import css from "./sources.module.css";

const LISTED = 6; // values of a column
const ICONS = { number: IconHash, text: IconAbc, time: IconCalendar, boolean: IconToggleLeft, other: IconQuestionMark };

export default function SourcesScreen() {
  const { t } = useTexts();
  const [search, setSearch] = useState("");
  const sources = useQuery({ queryKey: ["sources"], queryFn: ({ signal }) => api.sources(signal) });
  return (
    <div className="page">
      <h1 className={page.title}>{t.sources.title}</h1>
      <p className={page.lead}>{t.sources.lead}</p>
      <div className={css.add}>
        <FileDrop />
      </div>
      <TextInput
        aria-label={t.sources.search}
        placeholder={t.sources.search}
        leftSection={<IconSearch size={16} />}
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
        className={css.search}
      />
      {sources.isPending && <Skeleton height={420} radius="lg" />}
      {sources.error && <FaultNote error={sources.error} again={() => sources.refetch()} />}
      {sources.data?.every((source) => source.tables.length === 0) && <p className="quiet">{t.sources.noTables}</p>}
      {sources.data?.filter((source) => source.tables.length > 0).map((source) => <Source key={source.source} source={source} search={search.trim().toLowerCase()} />)}
    </div>
  );
}

function Source({ source, search }: { source: SourceSchema; search: string }) {
  const { t } = useTexts();
  const uploads = useUploads();
  const tables = source.tables
    .map((table) => ({ table, columns: table.columns.filter((column) => matches(column, search)) }))
    .filter(({ columns }) => !search || columns.length > 0);
  return (
    <section className={css.source} aria-label={source.source}>
      {tables.map(({ table, columns }) => (
        <TableSection key={table.name} table={table} columns={columns} engine={source.engine} upload={uploads.of(table.name)} />
      ))}
      {tables.length === 0 && <p className="quiet">{t.sources.none}</p>}
      {(source.relationships ?? []).length > 0 && !search && (
        <div className={`card ${css.links}`}>
          <h2 className={css.name}>{t.sources.relationships}</h2>
          <Links links={source.relationships ?? []} />
          <ul>
            {(source.relationships ?? []).map((link) => (
              <li key={`${link.table}.${link.columns.join()}.${link.to_table}`} className="break">
                <code>
                  {link.table}.{link.columns.join(", ")} → {link.to_table}.{link.to_columns.join(", ")}
                </code>{" "}
                <span className="quiet small">{t.sources.known[link.known ?? "proposed"]}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

function Links({ links }: { links: NonNullable<SourceSchema["relationships"]> }) {
  const { t } = useTexts();
  const names = [...new Set(links.flatMap((link) => [link.table, link.to_table]))];
  const arrows = [...new Map(links.map((link): [string, Arrow] => [`${link.table} ${link.to_table}`, [link.table, link.to_table]])).values()];
  const told = arrows.map(([from, to]) => `${from} → ${to}`).join("; ");
  return <Graph boxes={names.map((name) => ({ id: name, name }))} arrows={arrows} label={t.sources.graph} told={told} />;
}

function matches(column: Column, search: string): boolean {
  const said = [column.name, column.description, ...(column.synonyms ?? [])].join(" ").toLowerCase();
  return said.includes(search);
}

type Section = { table: Table; columns: Column[]; engine: string; upload: Upload | undefined };

function TableSection({ table, columns, engine, upload }: Section) {
  const { t, number } = useTexts();
  const about = [
    table.row_count == null ? null : t.ask.rows(table.row_count, number(table.row_count)),
    t.ask.columns(table.columns.length),
    upload ? t.upload.from(upload.name) : engineName(engine),
  ];
  return (
    <article className={`card ${css.table}`}>
      <header className={css.head}>
        <h2 className={`${css.name} break`}>{table.name}</h2>
        <p className="quiet small break">{about.filter(Boolean).join(" · ")}</p>
        {table.description && <p className="small break">{table.description}</p>}
        {table.unreadable && (
          <Note tone="warn" title={t.sources.unreadable}>
            <p className="break">{table.unreadable}</p>
          </Note>
        )}
        {upload && <DeleteUpload upload={upload} />}
      </header>
      <ul className={css.columns}>
        {columns.map((column) => (
          <ColumnRow key={column.name} table={table.name} column={column} />
        ))}
      </ul>
    </article>
  );
}

function DeleteUpload({ upload }: { upload: Upload }) {
  const { t } = useTexts();
  const queries = useQueryClient();
  const [asked, setAsked] = useState(false);
  const remove = useMutation({
    mutationFn: () => api.deleteUpload(upload.id),
    onSettled: () => Promise.all(["sources", "uploads"].map((name) => queries.invalidateQueries({ queryKey: [name] }))),
  });
  return (
    <div className={css.delete}>
      {asked && <p className="small">{t.upload.sure}</p>}
      <div className="row">
        <Button
          variant="default"
          className={asked ? css.sure : undefined}
          size="xs"
          leftSection={<IconTrash size={15} />}
          loading={remove.isPending}
          onClick={() => (asked ? remove.mutate() : setAsked(true))}
        >
          <span className={css.fileName}>{t.upload.delete(upload.name)}</span>
        </Button>
        {asked && (
          <Button variant="default" size="xs" onClick={() => setAsked(false)}>
            {t.upload.keep}
          </Button>
        )}
      </div>
      {remove.error && <FaultNote error={remove.error} />}
    </div>
  );
}

function ColumnRow({ table, column }: { table: string; column: Column }) {
  const { t, number } = useTexts();
  const listed = useQuery({ queryKey: ["values"], queryFn: ({ signal }) => api.values(signal) }).data?.[table]?.[column.name];
  const [open, setOpen] = useState(false);
  const settings = useColumnSettings();
  const saved = settings?.of(table, column.name);
  const edit = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    edit.current?.focus();
  };
  const Icon = ICONS[column.kind];
  const ranges = column.least != null && column.greatest != null;
  const several = (listed?.length ?? 0) > LISTED ? ` … (${t.sources.distinct(number(listed!.length))})` : "";
  const counted = column.cardinality == null ? null : t.sources.distinct(number(column.cardinality));
  const values = [
    ranges ? rangeOf(column, number) : listed ? listed.slice(0, LISTED).join(", ") + several : counted,
    column.nulls ? t.sources.empty(number(column.nulls)) : null,
  ];
  return (
    <li className={css.column}>
      <Icon size={18} stroke={1.6} className={css.icon} aria-label={t.sources.kinds[column.kind]} />
      <div className={css.what}>
        <span className={`${css.columnName} break`}>
          <Underscored name={column.name} />
        </span>
        {column.unit && <span className="quiet small break">{column.unit}</span>}
        {column.description && <p className="small quiet break">{column.description}</p>}
        {(column.synonyms ?? []).length > 0 && (
          <p className="small quiet break">
            {t.sources.also}: {(column.synonyms ?? []).join(", ")}
          </p>
        )}
        {saved && <p className={css.changed}>{t.column.changed}</p>}
      </div>
      <span className={css.meaning}>{column.meaning ? t.sources.meanings[column.meaning] : t.sources.kinds[column.kind]}</span>
      <span className={`${css.values} number break`}>{values.filter(Boolean).join(" · ")}</span>
      <ActionIcon
        ref={edit}
        variant="subtle"
        className={css.edit}
        aria-label={t.column.edit(column.name)}
        aria-expanded={open}
        disabled={!settings}
        onClick={() => setOpen(!open)}
      >
        <IconPencil size={16} stroke={1.7} />
      </ActionIcon>
      {open && settings && <ColumnForm table={table} column={column} saved={saved} choices={settings.choices(column)} onClose={close} />}
    </li>
  );
}

/** From the least to the greatest; times of day only within one day. */
function rangeOf(column: Column, number: (n: number) => string): string {
  const ends = [column.least, column.greatest].map((value) => shown(value, column, number));
  const days = ends.map((end) => end.slice(0, 10));
  return [...new Set(column.kind === "time" && days[0] !== days[1] ? days : ends)].join(" – ");
}

/** A bound of the column: a number by the language, but an identifier as it is; a time without an empty end. */
function shown(value: unknown, column: Column, number: (n: number) => string): string {
  if (typeof value === "number") return column.meaning === "identifier" || column.meaning === "year" ? String(value) : number(value);
  return column.kind === "time" ? String(value).replace(/T00:00:00$/, "").replace(/T(\d\d:\d\d):00$/, " $1").replace("T", " ") : String(value);
}
