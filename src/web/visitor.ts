import type { Context } from 'koa';
import type { PublicPaymentView } from '../contract/payment-link.ts';
import { NETWORKS, type Network } from '../domain/assets.ts';
import type { Page } from './layout.ts';
import { type Lang, pickLanguage } from './words/index.ts';

/**
 * What a request for a payer's page chose of how the page looks. There are few of them, because each member
 * is one of few known values: visitors who chose the same are sent the same rendering.
 */
export type Visitor = {
  /** The network that the payer picked; an unknown one counts as none. */
  readonly network?: Network | undefined;
  /** False once the payer stopped the page from loading itself again. */
  readonly refresh: boolean;
  readonly lang: Lang;
  /** True for all that is shown of a long list, and not its beginning alone. */
  readonly all?: boolean;
};

/** Whom a failure is told: somebody who looked at a page, or who sent its form. */
export type Failing = Visitor | { readonly lang: Lang };

/** A page of a view for a visitor, made of these two alone: no clock, no request. */
export type PageOf<View> = (view: View, visitor: Visitor) => Page;

/** All pages that a payer can be answered with: of a payment link, where nothing else is said. */
export type PayerPages<View = PublicPaymentView> = {
  readonly render: PageOf<View>;
  /** For a token that is unknown and for one that cannot exist: the same, to the byte. */
  unknown(visitor: Failing): Page;
  /** For an address that asks too often. */
  tooOften(visitor: Failing): Page;
  /** While nothing can be read. */
  unavailable(visitor: Failing): Page;
};

/** What this request chose. It is read here and nowhere else, for the page and for its stream alike. */
export function visitorOf(ctx: Context): Visitor {
  const { network, refresh, list } = ctx.query;
  return {
    network: NETWORKS.find((known) => known === network),
    refresh: refresh !== 'off',
    lang: pickLanguage(ctx),
    ...(list === 'all' && { all: true }),
  };
}
