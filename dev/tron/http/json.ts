// JSON as nodes of Tron write it: an amount is a number with all of its digits.

type Exact = typeof JSON & { rawJSON(text: string): unknown };

/** Writes a value in which every bigint is an exact number. */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'bigint' ? (JSON as Exact).rawJSON(member.toString()) : member,
  );
}
