import type { Command } from 'commander';
import type { Allowlist } from '../../services/access/allowlist.ts';
import { text } from '../arguments.ts';
import { type Acting, acting } from '../operator.ts';
import { answering, group, leaf } from '../run.ts';
import { listing } from '../table.ts';

type Options = Acting & { readonly merchant: string };

const NETWORK = ['<network>', 'an address or a network, such as 203.0.113.7 or 2001:db8::/32'] as const;

/** `allow-ip`. */
export function addAllowIpCommands(program: Command): void {
  const allow = group(program, 'allow-ip', 'from where live keys of a merchant may be used');
  withMerchant(
    acting(
      leaf(allow, 'add', 'lets live keys be used from a network; the first one closes all others'),
    ).argument(...NETWORK),
  ).action(answering(add));
  withMerchant(
    acting(
      leaf(allow, 'remove', 'takes a network off the list; without the last one everybody may'),
    ).argument(...NETWORK),
  ).action(answering(remove));
  withMerchant(leaf(allow, 'list', 'shows the list')).action(answering(list));
}

function withMerchant(command: Command): Command {
  return command.requiredOption('--merchant <id>', 'merchant id', text());
}

async function add({ args, options }: { args: readonly string[]; options: Options }) {
  const { withGateway, allowNetwork } = await load();
  return shown(
    await withGateway({ by: options.by }, ({ deps }) =>
      allowNetwork(deps, { merchantId: options.merchant, network: args[0] ?? '' }),
    ),
  );
}

async function remove({ args, options }: { args: readonly string[]; options: Options }) {
  const { withGateway, disallowNetwork } = await load();
  return shown(
    await withGateway({ by: options.by }, ({ deps }) =>
      disallowNetwork(deps, { merchantId: options.merchant, network: args[0] ?? '' }),
    ),
  );
}

async function list({ options }: { options: Options }) {
  const { withGateway, listAllowedNetworks } = await load();
  return shown(
    await withGateway({}, ({ deps }) => listAllowedNetworks(deps, { merchantId: options.merchant })),
  );
}

async function load() {
  const [wiring, allowlist] = await Promise.all([
    import('../process.ts'),
    import('../../services/access/allowlist.ts'),
  ]);
  return { ...wiring, ...allowlist };
}

function shown({ merchantId, networks }: Allowlist) {
  const none =
    'Empty: live keys work from every address. Close the others: "allow-ip add NETWORK --merchant ID".';
  const next = 'Live keys work from nowhere else. Take one off with "allow-ip remove NETWORK --merchant ID".';
  const rows = networks.map((network) => [network]);
  return {
    json: { merchant_id: merchantId, networks },
    ...listing({ header: ['LIVE KEYS WORK FROM'], rows, none, next }),
  };
}
