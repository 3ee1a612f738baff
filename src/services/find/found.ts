import type { ExplorerUrls } from '../../chains/index.ts';
import type { Em } from '../../db/orm.ts';
import type { Mode } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';
import type { FoundKind } from './look-up.ts';

/** Makes the addresses of pages, where they are known. */
export type Pages = {
  /** A page of Temporal's web interface about an actor. */
  workflow(workflowId: string): string | null;
  /** A page of the merchant's dashboard. */
  dashboard(mode: Mode, path: string): string | null;
  readonly explorers: ExplorerUrls;
};

/** What every look-up is given. */
export type Looking = { readonly em: Em; readonly deps: Deps; readonly pages: Pages };

/** What is said of a row: as the API shows it, where it has a view of it, and beside that. */
export type Shown = {
  readonly id: string;
  readonly view: Readonly<Record<string, unknown>>;
  readonly merchantId?: string | undefined;
  readonly why?: string | null;
  readonly action?: string | null;
  /** The command that shows all about it. */
  readonly command?: string | null;
  /** Pages about it; null where nobody knows where that is. */
  readonly links?: Readonly<Record<string, string | null>>;
};

/** One thing that was looked up. The view may hold what strangers wrote. */
export type Found = {
  readonly kind: FoundKind;
  readonly id: string;
  readonly merchant_id: string | null;
  readonly merchant: string | null;
  /** Why it is where it is, and what to do about that. */
  readonly why: string | null;
  readonly action: string | null;
  readonly command: string | null;
  readonly links: Readonly<Record<string, string | null>>;
  readonly view: Readonly<Record<string, unknown>>;
};
