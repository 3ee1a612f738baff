import { existsSync } from 'node:fs';
import { activityDepsOf } from '../../app/compose.ts';
import { OperatorError } from '../../base/errors.ts';
import { chainOf as factsOf } from '../../chains/index.ts';
import type { ChainReader } from '../../chains/reader.ts';
import type { Network } from '../../domain/assets.ts';
import { gasWalletsSince, publishGasWallets } from '../../services/payouts/gas.ts';
import { proveIdentity } from '../../services/watcher/cursor.ts';
import type { WatchedChain } from '../../services/watcher/watched-chain.ts';
import type { CommandGateway } from '../process.ts';
import { progress } from '../run.ts';

const IDENTITY_WITHIN_MS = 10_000;

/**
 * The chain as a command reads it, proven to be the configured one. Throws an
 * OperatorError where it is off, unreachable or another one.
 */
export async function chainOf(
  gateway: CommandGateway,
  network: Network,
  signal: AbortSignal,
): Promise<WatchedChain> {
  const chain = activityDepsOf(gateway, signal).chains.get(network);
  if (!chain) throw new OperatorError(`${network} is off`, offAction(network));
  await tellGasWallets(gateway, network);
  await checkIdentity(gateway, chain.reader);
  return chain;
}

/**
 * Money that comes from our own gas wallets is no deposit: without their addresses it cannot be told apart.
 * Who holds the wallet file tells them; that may be this command.
 */
async function tellGasWallets({ config, deps }: CommandGateway, network: Network): Promise<void> {
  const { readPublicParts } = await import('../../signer/wallet-file.ts');
  if (existsSync(config.wallet.seedFile))
    await publishGasWallets(deps, (await readPublicParts(config.wallet.seedFile)).gas);
  if ((await gasWalletsSince(deps.orm.em.fork(), network, '0')).length === 0)
    progress(
      `No gas wallet is known on ${network}, so transfers from one of yours look like deposits: start the signer, or set WALLET_SEED_FILE if you have any.`,
    );
}

async function checkIdentity({ deps }: CommandGateway, reader: ChainReader): Promise<void> {
  try {
    await proveIdentity(deps, reader, AbortSignal.timeout(IDENTITY_WITHIN_MS));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`The chain cannot be read: ${reason}`, 'See "gateway doctor"', { cause: error });
  }
}

function offAction(network: Network): string {
  return `Set ${factsOf(network).watchedBy} and try again`;
}
