import type { Context } from 'koa';
import type { PublicPaymentView } from '../contract/payment-link.ts';
import { NETWORKS, type Network } from '../domain/assets.ts';
import type { Page } from './layout.ts';
import { type Lang, pickLanguage } from './words/index.ts';

/**
 * What a request for a payment link chose of how the page looks. There are few of them, because each member
 * is one of few known values: visitors who chose the same are sent the same rendering.
 */
export type Visitor = {
  /** The network that the payer picked; an unknown one counts as none. */
  readonly network?: Network | undefined;
  /** False once the payer stopped the page from loading itself again. */
  readonly refresh: boolean;
  readonly lang: Lang;
};

/** The pages of a payment link. Each is made of what is handed in alone: no clock, no request. */
export type PayerPages = {
  render(view: PublicPaymentView, visitor: Visitor): Page;
  /** For a token that is unknown and for one that cannot exist: the same, to the byte. */
  unknown(visitor: Visitor): Page;
  /** For an address that asks too often. */
  tooOften(visitor: Visitor): Page;
  /** While the link cannot be read. */
  unavailable(visitor: Visitor): Page;
};

/** What this request chose. It is read here and nowhere else, for the page and for its stream alike. */
export function visitorOf(ctx: Context): Visitor {
  const { network, refresh } = ctx.query;
  return {
    network: NETWORKS.find((known) => known === network),
    refresh: refresh !== 'off',
    lang: pickLanguage(ctx),
  };
}
