// What a request is answered from.
import type { Chain } from '../chain.ts';
import type { Account } from '../execution/accounts.ts';
import type { Block, Executed } from '../types.ts';
import { type Body, keyIn, type View } from './requests.ts';

/** What all addresses of a node have in common. */
export type Served = {
  readonly chain: Chain;
  /** Whether it shows the transactions that code made; the node's own default is that it does not. */
  savesInternals: boolean;
};
export type Asked = Served & {
  readonly view: View;
  readonly body: Body;
  /** Where the node lags: nothing above this height is there, nor what waits. */
  readonly top?: number | undefined;
};
export type Handler = (asked: Asked) => unknown;

/** The newest height of the view that was asked. */
export function topOf({ chain, view, top }: Asked): number {
  return top ?? (view === 'wallet' ? chain.head.header.number : chain.solidHeight);
}

/** Whether what is in no block yet is part of the view. */
export function showsWaiting({ view, top }: Asked): boolean {
  return view === 'wallet' && top === undefined;
}

/** The block of a height; undefined above the view's newest. */
export function blockAt(asked: Asked, height: number): Block | undefined {
  return height <= topOf(asked) ? asked.chain.blocks.at(height) : undefined;
}

/** A transaction in a block of the view. */
export function placed(asked: Asked, id: string): { block: Block; executed: Executed } | undefined {
  const place = asked.chain.blocks.place(id);
  return place && place.block.header.number <= topOf(asked) ? place : undefined;
}

/** An account as it is in the view; undefined before it was activated. */
export function accountIn(asked: Asked, name = 'address'): Account | undefined {
  const key = keyIn(asked.body, name);
  if (!key) return undefined;
  const { accounts, blocks } = asked.chain;
  const mark = showsWaiting(asked) ? undefined : blocks.at(topOf(asked))?.mark;
  return mark === undefined ? accounts.get(key) : accounts.asOf(key, mark);
}
