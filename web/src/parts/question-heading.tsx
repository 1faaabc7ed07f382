import type { Chip } from "../api/types";
import { characters } from "./format";
import { useLit } from "./lit";
import { Unbroken } from "./unbroken";
import css from "./question-heading.module.css";

type Part = { text: string; chips: string[] };

/** The question, with the words of each chip underlined. */
export function QuestionHeading({ question, chips }: { question: string; chips: Chip[] }) {
  const lit = useLit();
  return (
    <h1 className={css.question}>
      {parts(question, chips).map((part, index) =>
        part.chips.length === 0 ? (
          <Unbroken key={index} text={part.text} />
        ) : (
          <span
            key={index}
            className={css.words}
            data-lit={part.chips.includes(lit.requirement ?? "") || undefined}
            onMouseEnter={() => lit.point(part.chips[0] ?? null)}
            onMouseLeave={() => lit.point(null)}
          >
            {part.text}
          </span>
        ),
      )}
    </h1>
  );
}

function parts(question: string, chips: Chip[]): Part[] {
  const letters = characters(question);
  const asked: string[][] = letters.map(() => []);
  for (const chip of chips.filter((chip) => !chip.implied)) {
    for (const { text, start } of chip.words) {
      if (start === null || start === undefined) continue;
      for (let at = start; at < start + characters(text).length; at++) asked[at]?.push(chip.requirement);
    }
  }
  const found: Part[] = [];
  letters.forEach((letter, at) => {
    const chips = asked[at] ?? [];
    const last = found.at(-1);
    if (last && last.chips.join() === chips.join()) last.text += letter;
    else found.push({ text: letter, chips });
  });
  return found;
}
