/** Rows of this table are written once: refused is each change, each removal, and to empty the table. */
export const neverChanged = (table: string): string => `
create trigger ${table}_append_only before update or delete on ${table} for each row execute function refuse_change();
${neverEmptied(table)}`;

/** A trigger for each row knows nothing of a table that is emptied as a whole. */
export const neverEmptied = (table: string): string =>
  `create trigger ${table}_no_truncate before truncate on ${table} for each statement execute function refuse_change();`;
