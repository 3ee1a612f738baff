import { createHash } from 'node:crypto';
import { plainText } from '../html.ts';
import type { PageOf, Visitor } from '../visitor.ts';
import type { Followed, Shown } from './followed.ts';

/** A page as its script takes it over: what the page itself would show at this moment. */
export type Rendering = {
  /** The entity tag of what is shown; the time at which it was made is no part of it. */
  readonly tag: string;
  /** The whole as JSON: `title`, `main`, `server_time` and `open`. */
  readonly json: string;
  /** False when nothing can change any more. */
  readonly open: boolean;
};

/** How views of one kind become what their readers are sent. */
export type Rendered<View extends Shown> = {
  readonly followed: Followed<View>;
  readonly render: PageOf<View>;
};

/** The page of this view for this visitor. */
export function renderingOf<View extends Shown>(
  { followed, render }: Rendered<View>,
  view: View,
  visitor: Visitor,
): Rendering {
  const page = render(view, visitor);
  const [title, main, open] = [plainText(page.title), page.body.markup, followed.isLive(view)];
  // The text of a countdown is another one each second, and the script counts by itself.
  const lasting = main.replace(/(<time [^>]*data-until="[^"]*">)[^<]*/g, '$1');
  return {
    tag: `"${createHash('sha256').update(`${open} ${title}\n${lasting}`).digest('base64url')}"`,
    json: JSON.stringify({ title, main, server_time: view.server_time, open }),
    open,
  };
}
