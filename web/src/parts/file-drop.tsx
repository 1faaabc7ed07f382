import { Button, FileButton, Skeleton } from "@mantine/core";
import { IconUpload } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api } from "../api/client";
import type { Upload } from "../api/types";
import { useTexts } from "../texts/language";
import { FaultNote } from "./fault-note";
import css from "./file-drop.module.css";
import { Note } from "./note";

const KINDS: Record<string, string> = { ".csv": "CSV", ".tsv": "TSV", ".parquet": "Parquet", ".xlsx": "Excel" };

type Uploads = {
  tables: string[]; // newest first
  of: (table: string) => Upload | undefined;
  list: ReturnType<typeof useUploadList>;
};

function useUploadList() {
  return useQuery({ queryKey: ["uploads"], queryFn: ({ signal }) => api.uploads(signal) });
}

/** The files that were uploaded, and which of them a table is from. */
export function useUploads(): Uploads {
  const list = useUploadList();
  const files = list.data?.files ?? [];
  return {
    tables: [...files].reverse().flatMap((file) => file.tables),
    of: (table) => files.find((file) => file.tables.includes(table)),
    list,
  };
}

type Refused = { name: string; error: Error };
type Sending = { name: string; share: number };

/** Takes files that are dropped anywhere on the page, or chosen. One is sent after the other. */
export function FileDrop() {
  const { t, language } = useTexts();
  const { list } = useUploads();
  const queries = useQueryClient();
  const section = useRef<HTMLElement>(null);
  const reset = useRef<() => void>(null);
  const last = useRef(Promise.resolve());
  const [sending, setSending] = useState<Sending | null>(null);
  const [added, setAdded] = useState<string[]>([]);
  const [refused, setRefused] = useState<Refused[]>([]);
  const size = (bytes: number) => bytesIn(bytes, language);

  async function send(file: File, most: number) {
    setSending({ name: file.name, share: 0 });
    try {
      if (file.size > most) throw new Error(t.upload.tooLarge(size(file.size), size(most)));
      const made = await api.upload(file, (share) => setSending({ name: file.name, share }));
      await Promise.all(["sources", "uploads"].map((name) => queries.invalidateQueries({ queryKey: [name] })));
      setAdded((before) => [...before, made.name]);
    } catch (error) {
      setRefused((before) => [...before, { name: file.name, error: error as Error }]);
    }
    setSending(null);
  }

  function take(files: File[]) {
    if (!sending) {
      setAdded([]);
      setRefused([]);
    }
    for (const file of files) last.current = last.current.then(() => send(file, list.data?.most_bytes ?? 0));
    reset.current?.();
    section.current?.scrollIntoView({ block: "nearest" });
  }

  const over = useDropped(take, !!list.data?.most_files);
  if (list.isPending) return <Skeleton height={94} radius="lg" />;
  if (!list.data?.most_files) return null;
  const { kinds, most_bytes } = list.data;
  return (
    <section ref={section} className={css.drop} data-over={over || undefined} aria-label={t.upload.title}>
      <IconUpload size={20} stroke={1.6} className={css.icon} aria-hidden />
      <div className={css.what}>
        <p className={css.title}>{over ? t.upload.drop : t.upload.title}</p>
        <p className="quiet small">{t.upload.lead(kinds.map((kind) => KINDS[kind] ?? kind).join(", "), size(most_bytes))}</p>
      </div>
      <FileButton onChange={take} accept={kinds.join(",")} multiple resetRef={reset} disabled={!!sending}>
        {(props) => (
          <Button {...props} variant="default" size="xs" flex="none" loading={!!sending}>
            {t.upload.choose}
          </Button>
        )}
      </FileButton>
      {(sending || added.length > 0 || refused.length > 0) && (
        <div className={css.told}>
          {sending && <Sent sending={sending} />}
          {added.length > 0 && (
            <Note tone="accent">
              {added.map((name) => (
                <p key={name} className="break">
                  {t.upload.added(name)}
                </p>
              ))}
            </Note>
          )}
          {refused.map(({ name, error }, place) => (
            <FaultNote key={place} title={t.upload.refused(name)} error={error} />
          ))}
        </div>
      )}
    </section>
  );
}

function Sent({ sending: { name, share } }: { sending: Sending }) {
  const { t } = useTexts();
  const label = share < 1 ? t.upload.sending(name) : t.upload.reading(name);
  return (
    <div role="status">
      <p className="small break">{label}</p>
      <progress className={css.progress} aria-label={label} max={1} value={share < 1 ? share : undefined} />
    </div>
  );
}

function bytesIn(bytes: number, language: string): string {
  const large = bytes >= 100_000;
  const options = { style: "unit", unit: large ? "megabyte" : "kilobyte", maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(language, options).format(bytes / (large ? 1_000_000 : 1_000));
}

/** Whether files are held over the page. Those that are dropped on it are taken. */
function useDropped(take: (files: File[]) => void, enabled: boolean): boolean {
  const [over, setOver] = useState(false);
  const taken = useRef(take);
  taken.current = take;
  useEffect(() => {
    if (!enabled) return;
    const carries = (event: DragEvent) => !!event.dataTransfer?.types.includes("Files");
    const hold = (event: DragEvent) => {
      if (!carries(event)) return;
      event.preventDefault();
      event.dataTransfer!.dropEffect = "copy";
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (!event.relatedTarget) setOver(false);
    };
    const drop = (event: DragEvent) => {
      if (!carries(event)) return;
      event.preventDefault();
      setOver(false);
      taken.current([...event.dataTransfer!.files]);
    };
    window.addEventListener("dragover", hold);
    window.addEventListener("dragleave", leave);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", hold);
      window.removeEventListener("dragleave", leave);
      window.removeEventListener("drop", drop);
    };
  }, [enabled]);
  return over;
}
