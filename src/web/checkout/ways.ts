import { chainOf } from '../../chains/index.ts';
import type { Network } from '../../domain/assets.ts';
import { type Html, html } from '../html.ts';
import { copyable } from '../parts/copyable.ts';
import { keptQrCode } from '../qr.ts';
import type { Visitor } from '../visitor.ts';
import { type Words, wordsOf } from '../words/index.ts';
import { usualMinutes } from './durations.ts';
import { ownQuery } from './own-query.ts';

/** A network on which money may be sent, and the address there. */
export type Way = {
  readonly network: Network;
  readonly address: string;
  readonly required_confirmations: number;
};

/** The networks to choose from, each a link to this page; null where there is no choice. */
export function networks(ways: readonly Way[], chosen: Way, visitor: Visitor): Html | null {
  if (ways.length < 2) return null;
  const words = wordsOf(visitor.lang);
  const items = ways.map((way) => {
    const current = way.network === chosen.network ? html` aria-current="true"` : null;
    return html`<li><a href="${ownQuery({ ...visitor, network: way.network })}"${current}><strong>${chainOf(way.network).label}</strong> <span>${costs(way, words)}</span></a></li>\n`;
  });
  return html`<ul class="ways" aria-label="${words.way.choose}">
${items}</ul>`;
}

/** What the only way costs; null where {@link networks} says it of each. */
export function costsAlone(ways: readonly Way[], words: Words): Html | null {
  const [only, more] = ways;
  if (only === undefined || more !== undefined) return null;
  return html`<p class="muted" id="costs">${costs(only, words)}</p>`;
}

/** "Fee: a few cents · under a minute". */
function costs({ network, required_confirmations }: Way, { way }: Words): string {
  const { transferFee, blockMs } = chainOf(network);
  return `${way.fee[transferFee]} · ${way.takes(usualMinutes(required_confirmations, blockMs))}`;
}

/** The way to pay on the picked network, else the first; undefined where there is none. */
export const pickedWay = <Any extends Pick<Way, 'network'>>(
  ways: readonly Any[],
  network: Network | undefined,
): Any | undefined => ways.find((way) => way.network === network) ?? ways[0];

/** How many characters of an address the eye takes at once. */
const GROUP = 4;

/**
 * An address with its button, in groups that can be compared, and that stay one text when it is copied or
 * read aloud: the space between them is drawn, and a line may end there.
 */
export function addressText(address: string, { copy, copies }: Words): Html {
  const groups = Array.from({ length: Math.ceil(address.length / GROUP) }, (_, index) =>
    address.slice(index * GROUP, (index + 1) * GROUP),
  );
  const shown = html`<span class="groups" data-part="address">${groups.map((group) => html`<span>${group}</span><wbr>`)}</span>`;
  return copyable(address, { id: 'address', name: copies.address, words: copy, shown });
}

/** The code of the address alone, which every wallet reads. */
export function addressCode({ network, address }: Way, { way }: Words, caption: string): Html {
  return html`<figure id="code-${network}">
${keptQrCode(address, way.code(address, chainOf(network).label))}
<figcaption class="muted">${caption}</figcaption>
</figure>`;
}

/** Stamped, so that no wallet reads it: what is sent there for real would not be credited. */
export function testCode({ network, address }: Way, { way, test }: Words): Html {
  return html`<figure class="stamped" id="code-${network}">
${keptQrCode(address, way.code(address, chainOf(network).label))}
<span class="stamp">${test.mark}</span>
<figcaption class="muted">${test.code}</figcaption>
</figure>`;
}
