import type { components } from "./schema";

type Schemas = components["schemas"];

export type Run = Schemas["Run"];
export type RunState = Run["state"];
export type Page = Schemas["Page"];
export type Reading = Schemas["Reading"];
export type Plan = Schemas["Plan"];
export type Step = Schemas["Step"];
export type Issue = Schemas["Issue"];
export type Answer = Schemas["Answer"];
export type Refusal = Schemas["Refusal"];
export type Clarification = Schemas["Clarification"];
export type Citation = Schemas["Citation"];
export type Cell = Schemas["CitedCell"];
export type ShownTable = Schemas["ShownTable"];
export type TableColumn = Schemas["TableColumn"];
export type SourceSchema = Schemas["SourceSchema"];
export type Table = Schemas["Table"];
export type Column = Table["columns"][number];
export type Upload = Schemas["UploadEntry"];
export type UploadList = Schemas["UploadList"];
export type SessionState = Schemas["SessionState"];
export type SignInOffer = Schemas["SignInOffer"];
export type Feedback = Schemas["Feedback"];
export type RolloutStatus = Schemas["RolloutStatus"];
export type SideStatus = Schemas["SideStatus"];
export type Estimate = Schemas["Estimate"];
export type Point = Schemas["Point"];
export type ColumnSettings = Schemas["ColumnSettings"];
export type SavedColumns = Schemas["SavedColumns"];
export type PlanReply = Schemas["PlanReply"];
export type Chip = Schemas["Chip"];
export type Suggestion = Schemas["Suggestion"];
export type Change = Suggestion["change"];
export type Kind = NonNullable<Schemas["SuggestionsAsked"]["kind"]>;
export type Scalar = string | number | boolean | null;

/** A Vega-Lite specification with its data. */
export type Spec = Record<string, unknown>;

export type RunEvent = { number: number; kind: string; data: Record<string, unknown> };
