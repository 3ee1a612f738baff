// Which path is answered by what.
import { BLOCK_HANDLERS, PENDING_HANDLERS } from './blocks.ts';
import type { Asked, Handler, Served } from './handler.ts';
import { PARAMETER_HANDLERS } from './parameters.ts';
import { type Body, JavaError, type View } from './requests.ts';
import { RESOURCE_HANDLERS } from './resources.ts';
import { SENDING_HANDLERS } from './sending.ts';
import { FULL_STATE_HANDLERS, STATE_HANDLERS } from './state.ts';

const SOLID = new Map<string, Handler>(
  Object.entries({ ...BLOCK_HANDLERS, ...STATE_HANDLERS, ...RESOURCE_HANDLERS }),
);
const FULL = new Map<string, Handler>([
  ...SOLID,
  ...Object.entries({
    ...PENDING_HANDLERS,
    ...PARAMETER_HANDLERS,
    ...SENDING_HANDLERS,
    ...FULL_STATE_HANDLERS,
  }),
]);

/** What serves this path; undefined where nothing does. */
export function handlerOf(view: View, name: string): Handler | undefined {
  return (view === 'wallet' ? FULL : SOLID).get(name);
}

/** The node's answer. What goes wrong in answering is an error of Java, with status 200. */
export async function answerOf(
  served: Served & Pick<Asked, 'top'>,
  handler: Handler,
  view: View,
  body: () => Body,
): Promise<unknown> {
  try {
    const { chain, savesInternals, top } = served;
    return await handler({ chain, savesInternals, top, view, body: body() });
  } catch (error) {
    if (error instanceof JavaError) return { Error: error.message };
    return { Error: `class java.lang.RuntimeException : ${error instanceof Error ? error.message : error}` };
  }
}

/** The answer to a request that does not come by HTTP. Throws a sentence for a path that nothing serves. */
export async function askDirectly(
  served: Served & Pick<Asked, 'top'>,
  path: string,
  body: Body,
): Promise<unknown> {
  const [base, name = ''] = path.split('/');
  const view: View = base === 'walletsolidity' ? base : 'wallet';
  const handler = handlerOf(view, name);
  if (!handler) throw new Error(`nothing serves ${path}`);
  return await answerOf(served, handler, view, () => body);
}
