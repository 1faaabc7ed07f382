import { Button } from "@mantine/core";
import { Fault } from "../api/client";
import { useTexts } from "../texts/language";
import { Note } from "./note";

export function FaultNote({ error, title, again }: { error: Error; title?: string; again?: () => void }) {
  const { t } = useTexts();
  const unreachable = error instanceof Fault && error.status === 0;
  return (
    <Note tone="bad" title={title ?? t.fault.title}>
      <p className="break">{unreachable ? t.fault.offline : error.message}</p>
      {again && (
        <Button variant="default" size="xs" mt="xs" onClick={again}>
          {t.fault.again}
        </Button>
      )}
    </Note>
  );
}
