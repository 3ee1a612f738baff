import type { Command } from 'commander';
import { OperatorError } from '../../../base/errors.ts';
import { type Acting, acting, operatorOf } from '../../operator.ts';
import { answering, leaf } from '../../run.ts';
import { terminal } from '../../terminal.ts';

/** `payout approve-destination`. */
export function addApproveDestinationCommand(payout: Command): void {
  acting(
    leaf(
      payout,
      'approve-destination <merchant> <address>',
      "lets a new withdraw address be paid to at once; on the signer's machine, where the wallet opens",
    ),
  ).action(answering(approveDestination));
}

async function approveDestination({ args, options }: { args: readonly string[]; options: Acting }) {
  const [merchant = '', given = ''] = args;
  const [{ loadConfig }, files, { approve }, { CHAINS }, { isUuid }] = await Promise.all([
    import('../../../config/index.ts'),
    import('../../../signer/wallet-file.ts'),
    import('../../../signer/pull/approvals.ts'),
    import('../../../chains/index.ts'),
    import('../../../domain/ids.ts'),
  ]);
  if (!isUuid(merchant))
    throw new OperatorError('This is no id of a merchant', 'See "merchant list" on the gateway\'s machine');
  const chain = CHAINS.find(({ addresses }) => addresses.parse(given) !== undefined);
  const address = chain?.addresses.parse(given);
  if (!chain || address === undefined)
    throw new OperatorError(
      'This is no address of a chain that the gateway knows',
      'Copy it again from what the merchant wrote, and compare it with what the signer waits for',
    );
  const actor = operatorOf(options.by);
  const { wallet: place, signing } = loadConfig(terminal().env, { role: 'none' });
  const { passphrase } = await files.readPassphraseFile(place.passphraseFile);
  const wallet = await files.openWallet({ file: place.seedFile, passphrase });
  await approve(signing.journalFile, wallet, {
    merchant_id: merchant.toLowerCase(),
    network: chain.network,
    address,
    approved_at: new Date().toISOString(),
    by_name: actor.kind === 'operator' ? actor.name : null,
  });
  return {
    json: {
      ok: true,
      merchant_id: merchant,
      network: chain.network,
      address: chain.addresses.format(address),
    },
    text: `${chain.addresses.format(address)} may be paid to at once.`,
    next: 'It counts for the address as it is set now; one that is set later has to be approved again.',
  };
}
