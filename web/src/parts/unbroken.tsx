import { Fragment } from "react";

const DATE = /(\d{4}-\d\d-\d\d)/;

/** A text whose dates stay on one line. */
export function Unbroken({ text }: { text: string }) {
  return text.split(DATE).map((part, at) =>
    DATE.test(part) ? (
      <span key={at} style={{ whiteSpace: "nowrap" }}>
        {part}
      </span>
    ) : (
      <Fragment key={at}>{part}</Fragment>
    ),
  );
}

/** A name that breaks behind its underscores, not inside its words. */
export function Underscored({ name }: { name: string }) {
  return name.split("_").map((part, at) => (
    <Fragment key={at}>
      {at > 0 && "_"}
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
