import type { Mode } from '../domain/assets.ts';

/** Whose data is meant: every read and write of the API names both. */
export type Scope = { readonly merchantId: string; readonly mode: Mode };
