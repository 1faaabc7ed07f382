import { Button, Menu } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useState } from "react";
import { send } from "../api/client";
import type { Answer } from "../api/types";
import { useTexts } from "../texts/language";
import type { Result } from "./results";

export function SaveMenu({ result, answer, run }: { result: Result; answer: Answer; run: string }) {
  const { t } = useTexts();
  const [busy, setBusy] = useState(false);
  const name = `groundplan-${run.slice(-8)}`;
  const save = (file: string, blob: () => Promise<Blob>) => async () => {
    setBusy(true);
    try {
      download(await blob(), file);
    } finally {
      setBusy(false);
    }
  };
  const fetched = (path: string) => async () => (await send(path)).blob();
  const drawn = (format: "png" | "svg") => async () => (await import("./draw-chart")).chartFile(result.chart!, format);
  const json = async () => new Blob([JSON.stringify(answer, null, 2)], { type: "application/json" });
  return (
    <Menu position="bottom-end" radius="md">
      <Menu.Target>
        <Button variant="default" size="xs" flex="none" leftSection={<IconDownload size={15} />} loading={busy}>
          {t.save.title}
        </Button>
      </Menu.Target>
      <Menu.Dropdown aria-label={t.save.title}>
        {result.chart && <Menu.Item onClick={save(`${name}.png`, drawn("png"))}>{t.save.png}</Menu.Item>}
        {result.chart && <Menu.Item onClick={save(`${name}.svg`, drawn("svg"))}>{t.save.svg}</Menu.Item>}
        {result.table && (
          <Menu.Item onClick={save(`${name}.csv`, fetched(`/v1/runs/${run}/tables/${encodeURIComponent(result.step)}.csv`))}>
            {t.save.csv}
          </Menu.Item>
        )}
        <Menu.Item onClick={save(`${name}.json`, json)}>{t.save.json}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
