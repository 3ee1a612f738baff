/** How one part is doing. `action` says what to do about it; null where there is nothing to do. */
export type Finding = {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly action: string | null;
};

/** A part that is well, or off by choice. */
export const good = (name: string, detail: string): Finding => ({ name, ok: true, detail, action: null });

/** A part that needs the operator. */
export const bad = (name: string, detail: string, action: string): Finding => ({
  name,
  ok: false,
  detail,
  action,
});
