import { Button, Popover, Skeleton } from "@mantine/core";
import { IconArrowBackUp, IconChevronDown, IconPlayerPlay, IconPlus } from "@tabler/icons-react";
import { useId, useState } from "react";
import type { Chip, Issue, Reading } from "../api/types";
import { useTexts } from "../texts/language";
import css from "./chips.module.css";
import type { Draft } from "./draft";
import { FaultNote } from "./fault-note";
import { useLit } from "./lit";
import { Suggestions } from "./suggestions";

/** How the question was read, part by part. Each part can be changed or removed, and others added. */
export function Chips({ draft }: { draft: Draft }) {
  const { t } = useTexts();
  const { now } = draft;
  if (!now) return draft.error ? <FaultNote error={draft.error} /> : <ReadingSoon />;
  if (!now.reading || now.chips.length === 0) return null;
  const issues = now.fingerprint ? [] : withoutRepeats(now.issues ?? []);
  const named = new Set(now.chips.map((chip) => chip.requirement));
  const others = issues.filter((issue) => !issue.requirement || !named.has(issue.requirement));
  return (
    <section className={css.reading} aria-label={t.chips.title} aria-busy={draft.busy}>
      <h2 className="label">{t.chips.title}</h2>
      <ul className={css.chips}>
        {now.chips.map((chip) => (
          <ChipItem
            key={chip.requirement}
            chip={chip}
            reading={now.reading!}
            draft={draft}
            issues={issues.filter((issue) => issue.requirement === chip.requirement)}
          />
        ))}
        <li>
          <AddChip reading={now.reading} draft={draft} />
        </li>
      </ul>
      {others.map((issue) => (
        <IssueText key={issue.code + issue.problem} issue={issue} />
      ))}
      {draft.error && <FaultNote error={draft.error} />}
      {draft.edited && <EditedBar draft={draft} />}
    </section>
  );
}

/** The steps of a plan may fail for the same reason. */
function withoutRepeats(issues: Issue[]): Issue[] {
  return issues.filter((issue, at) => issues.findIndex((one) => one.code === issue.code && one.requirement === issue.requirement) === at);
}

export function ReadingSoon() {
  const { t } = useTexts();
  return (
    <section className={css.reading} aria-busy="true">
      <h2 className="label">{t.chips.title}</h2>
      <div className={css.chips}>
        <Skeleton height={34} width={170} />
        <Skeleton height={34} width={110} />
      </div>
    </section>
  );
}

function EditedBar({ draft }: { draft: Draft }) {
  const { t } = useTexts();
  const passed = !!draft.now?.fingerprint;
  return (
    <div className={css.edited} data-passed={passed}>
      <p role="status">
        <strong>{passed ? t.chips.proved : t.chips.refused}</strong> <span className="quiet">{t.chips.edited}</span>
      </p>
      <div className="row">
        <Button variant="default" size="sm" leftSection={<IconArrowBackUp size={16} />} onClick={draft.undo}>
          {t.chips.undo}
        </Button>
        <Button size="sm" leftSection={<IconPlayerPlay size={16} />} disabled={!passed} loading={draft.running} onClick={draft.run}>
          {t.chips.run}
        </Button>
      </div>
    </div>
  );
}

type ItemProps = { chip: Chip; reading: Reading; draft: Draft; issues: Issue[] };

function ChipItem({ chip, reading, draft, issues }: ItemProps) {
  const { t } = useTexts();
  const lit = useLit();
  const [open, setOpen] = useState(false);
  const said = useId();
  return (
    <li className={css.item}>
      <Popover opened={open} onChange={setOpen} position="bottom-start" width={300} trapFocus returnFocus shadow="md" radius="lg">
        <Popover.Target>
          <button
            type="button"
            className={css.chip}
            data-implied={chip.implied || undefined}
            data-chosen={(!chip.implied && chip.words.every((words) => words.chosen)) || undefined}
            data-bad={issues.length > 0 || undefined}
            data-lit={lit.requirement === chip.requirement || undefined}
            aria-describedby={issues.length ? said : undefined}
            title={chip.implied ? t.chips.implied : undefined}
            onClick={() => setOpen(!open)}
            onMouseEnter={() => lit.point(chip.requirement)}
            onMouseLeave={() => lit.point(null)}
            onFocus={() => lit.point(chip.requirement)}
            onBlur={() => lit.point(null)}
          >
            <span className={css.kind}>{t.chips.kinds[chip.kind] ?? chip.kind}</span>
            <span className={css.text}>{chip.label}</span>
            <IconChevronDown size={14} stroke={2} aria-hidden className={css.more} />
          </button>
        </Popover.Target>
        <Popover.Dropdown p="xs" aria-label={t.chips.change(chip.label)}>
          <Suggestions
            reading={reading}
            requirement={chip.requirement}
            onChoose={(change) => {
              setOpen(false);
              draft.change(change);
            }}
            onRemove={chip.removable ? () => draft.change({ requirement: chip.requirement, to: null }) : undefined}
          />
        </Popover.Dropdown>
      </Popover>
      {issues.length > 0 && (
        <div id={said}>
          {issues.map((issue) => (
            <IssueText key={issue.code + issue.problem} issue={issue} />
          ))}
        </div>
      )}
    </li>
  );
}

function AddChip({ reading, draft }: { reading: Reading; draft: Draft }) {
  const { t } = useTexts();
  const [open, setOpen] = useState(false);
  return (
    <Popover opened={open} onChange={setOpen} position="bottom-start" width={300} trapFocus returnFocus shadow="md" radius="lg">
      <Popover.Target>
        <button type="button" className={css.add} onClick={() => setOpen(!open)}>
          <IconPlus size={14} stroke={2} aria-hidden />
          {t.chips.add}
        </button>
      </Popover.Target>
      <Popover.Dropdown p="xs" aria-label={t.chips.addTitle}>
        <Suggestions
          reading={reading}
          requirement={null}
          onChoose={(change) => {
            setOpen(false);
            draft.change(change);
          }}
        />
      </Popover.Dropdown>
    </Popover>
  );
}

export function IssueText({ issue }: { issue: Issue }) {
  return (
    <p className={css.issue} role="alert">
      <span>{capital(issue.problem)}.</span> {issue.hint && <span className="quiet">{capital(issue.hint)}.</span>}
    </p>
  );
}

function capital(text: string): string {
  return (text.slice(0, 1).toUpperCase() + text.slice(1)).replace(/\.$/, "");
}
