import { createHash } from 'node:crypto';
import type { Network } from '../../domain/assets.ts';
import { plainText } from '../html.ts';
import type { Page } from '../layout.ts';

/** What every view has that a page is made of. */
export type Shown = { readonly token: string; readonly server_time: string };

/**
 * A kind of thing that has a page for whoever knows its token, and that the page follows. It is asked for
 * many of them at once; tokens of nothing are left out of every answer.
 */
export type Followed<View extends Shown> = {
  /** In the singular, for sentences and the log. */
  readonly what: string;
  /** What every token looks like: anything else is not looked up. */
  readonly token: RegExp;
  read(tokens: readonly string[]): Promise<ReadonlyMap<string, View>>;
  /**
   * Those (version by token) that may show something else than at that version, with their version of
   * now: '' for what had one and is gone, whose reading ends those who watch it.
   */
  changed(versions: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>>;
  /** False when nothing of it can change any more: nobody has to follow it. */
  isLive(view: View): boolean;
  /** Whether the view is old by the clock alone, which no row tells. */
  isOver(view: View, now: number): boolean;
  /** The texts of the QR codes in its page, where this network was picked: most of what a page costs. */
  codes(view: View, network: Network | undefined): readonly string[];
};

/** A page as its script takes it over: what the page itself would show at this moment. */
export type Rendering = {
  /** The entity tag of what is shown; the time at which it was made is no part of it. */
  readonly tag: string;
  /** The whole as JSON: `title`, `main`, `server_time` and `open`. */
  readonly json: string;
  /** False when nothing can change any more. */
  readonly open: boolean;
};

/** The page of a view as its script takes it over. */
export function renderingOf({ title, body }: Page, open: boolean, serverTime: string): Rendering {
  const [text, main] = [plainText(title), body.markup];
  // The text of a countdown is another one each second, and the script counts by itself.
  const lasting = main.replace(/(<time [^>]*data-until="[^"]*">)[^<]*/g, '$1');
  return {
    tag: `"${createHash('sha256').update(`${open} ${text}\n${lasting}`).digest('base64url')}"`,
    json: JSON.stringify({ title: text, main, server_time: serverTime, open }),
    open,
  };
}
