import { createContext, useContext, useState, type ReactNode } from "react";
import type { Cell } from "../api/types";

type Lit = {
  requirement: string | null; // pointed at: its chip, its words and its steps light up together
  point: (requirement: string | null) => void;
  cells: Cell[]; // behind the number that is pointed at
  mark: (cells: Cell[]) => void;
  shown: { cells: Cell[]; times: number }; // asked to be shown in the table
  show: (cells: Cell[]) => void;
};

const Context = createContext<Lit | null>(null);

/** What the reader points at, in every part of an answer. */
export function LitProvider({ children }: { children: ReactNode }) {
  const [requirement, point] = useState<string | null>(null);
  const [cells, mark] = useState<Cell[]>([]);
  const [shown, setShown] = useState<{ cells: Cell[]; times: number }>({ cells: [], times: 0 });
  const show = (wanted: Cell[]) => setShown(({ times }) => ({ cells: wanted, times: times + 1 }));
  return <Context value={{ requirement, point, cells, mark, shown, show }}>{children}</Context>;
}

export function useLit(): Lit {
  const lit = useContext(Context);
  if (!lit) throw new Error("useLit is used outside LitProvider");
  return lit;
}
