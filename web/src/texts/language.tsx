import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from "react";
import { en, type Texts } from "./en";
import { ru } from "./ru";

export type Language = "en" | "ru";

const KEPT = "groundplan-language";
const TEXTS: Record<Language, Texts> = { en, ru };

type Spoken = { language: Language; setLanguage: (language: Language) => void; t: Texts; number: (n: number) => string };

const Context = createContext<Spoken | null>(null);

/** The texts in the browser's language, or in the one that was chosen here. */
export function Languages({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(preferred);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const spoken = useMemo(() => {
    const format = new Intl.NumberFormat(language, { maximumFractionDigits: 2 });
    return {
      language,
      t: TEXTS[language],
      number: (n: number) => format.format(n),
      setLanguage: (chosen: Language) => {
        localStorage.setItem(KEPT, chosen);
        setLanguage(chosen);
      },
    };
  }, [language]);
  return <Context value={spoken}>{children}</Context>;
}

export function useTexts(): Spoken {
  const spoken = useContext(Context);
  if (!spoken) throw new Error("useTexts is used outside Languages");
  return spoken;
}

function preferred(): Language {
  const kept = localStorage.getItem(KEPT);
  if (kept === "en" || kept === "ru") return kept;
  return navigator.language.toLowerCase().startsWith("ru") ? "ru" : "en";
}
