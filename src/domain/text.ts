/** How much is kept of a reason that is noted on a row: its columns hold 300 characters. */
export const MAX_REASON = 290;

/**
 * A text of any length that fits a column of `most` characters: cut between whole characters, without what
 * PostgreSQL refuses (NUL, and in JSON half of a surrogate pair). It is for text from others: if such a
 * note of a fault were refused, the fault would be hidden.
 */
export function fitted(text: string, most: number): string {
  const cut = /[\uD800-\uDBFF]/.test(text.charAt(most - 1)) ? most - 1 : most;
  return text.slice(0, cut).toWellFormed().replaceAll('\0', ' ');
}
