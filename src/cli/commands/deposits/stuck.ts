import { ageOf, plain, wrapped } from '../../print.ts';

/** Everything that does not go on by itself, with the reason and the next action. */
export async function stuck() {
  const found = await readStuck();
  const { chains, wallets, deposits, payouts, links, changes, whose, page } = found;
  const lines = [
    ...chains.flatMap((row) => [...wrapped(plain(row.sentence)), ...wrapped(plain(row.action), '  → ')]),
    ...wallets.flatMap((row) => standing(`wallet ${row.wallet}  ${row.network}  ${sinceOf(row)}`, row)),
    ...deposits.flatMap((row) =>
      standing(`${row.deposit_id}  ${row.network}  ${row.state} ${sinceOf(row)}`, row, [
        ...(whose.get(row.deposit_id) ?? []),
        `transaction ${row.transaction_hash}`,
      ]),
    ),
    ...payouts.flatMap((row) =>
      standing(`${row.address}  ${row.network}  payout, ${row.state} ${sinceOf(row)}`, row, [
        ...(whose.get(row.deposit_id ?? '') ?? []),
        ...(row.deposits > 1 ? [`with ${row.deposits - 1} more deposits`] : []),
      ]),
    ),
    ...links.flatMap((row) =>
      standing(`${row.payment_link_id}  payment link, ${row.state}, ended at ${row.since}`, row),
    ),
    ...changes.flatMap((row) =>
      standing(
        `${row.withdraw_change_id}  ${row.network}  changed withdraw address, due ${sinceOf(row)}`,
        row,
      ),
    ),
  ];
  const chainViews = chains.map(({ network, part, number, sinceMs, reason, action }) => ({
    network,
    part,
    block_number: number,
    for_seconds: Math.floor(sinceMs / 1_000),
    reason,
    action,
  }));
  return {
    json: {
      stuck: [...deposits, ...payouts],
      wallets,
      payment_links: links,
      withdraw_changes: changes,
      chains: chainViews,
      temporal_url: page,
    },
    text:
      lines.length === 0 ? 'Nothing is stuck. Whether every part is well says "doctor".' : lines.join('\n'),
    ...(lines.length === 0 || page === null ? {} : { copy: ['', page] }),
    ...(deposits.length === 0 ? {} : { next: 'All about one: "deposit show ID".' }),
  };
}

async function readStuck() {
  const [
    { withGateway },
    { listStuck },
    { listStuckPayouts },
    { listForeign },
    { listOverdueLinks },
    { listLateChanges },
    { describeStandstill, readStandstills },
    { needsOperatorPage },
    { ownersOf },
  ] = await Promise.all([
    import('../../process.ts'),
    import('../../../services/deposits/stuck.ts'),
    import('../../../services/payouts/stuck.ts'),
    import('../../../services/payouts/foreign.ts'),
    import('../../../services/payment-links/overdue.ts'),
    import('../../../services/merchants/withdraw-notices.ts'),
    import('../../../services/alarms/alarms.ts'),
    import('../../links.ts'),
    import('./deposit-owners.ts'),
  ]);
  return await withGateway({}, async ({ deps, config }) => {
    const deposits = await listStuck(deps);
    const payouts = await listStuckPayouts(deps);
    return {
      chains: (await readStandstills(deps)).map((one) => ({ ...one, sentence: describeStandstill(one) })),
      wallets: await listForeign(deps),
      deposits,
      payouts,
      links: await listOverdueLinks(deps),
      changes: await listLateChanges(deps),
      whose: await ownersOf(
        deps,
        [...deposits, ...payouts].flatMap((row) => row.deposit_id ?? []),
      ),
      page: needsOperatorPage(config),
    };
  });
}

const sinceOf = ({ since }: { readonly since: string }): string => `since ${since}, for ${ageOf(since)}`;

function standing(
  head: string,
  { reason, action }: { readonly reason: string; readonly action: string },
  facts: readonly string[] = [],
): string[] {
  return [
    ...wrapped(head),
    ...facts.flatMap((fact) => wrapped(plain(fact), '  ')),
    ...wrapped(plain(reason), '  '),
    ...wrapped(plain(action), '  → '),
  ];
}
