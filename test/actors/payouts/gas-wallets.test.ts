import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { HDNodeWallet, Wallet } from 'ethers';
import { eventually } from '../../../dev/support/eventually.ts';
import { type LiveChains, startLiveChains, tronEnv } from '../../../dev/support/live-chains.ts';
import { addressOn } from '../../../dev/support/live-money.ts';
import { tempDir } from '../../../dev/support/parts.ts';
import { keyOfHex } from '../../../src/chains/address-key.ts';
import { TRON_ADDRESSES } from '../../../src/chains/tron/addresses.ts';
import { FROM_OWN_WALLET } from '../../../src/services/reconciliation/attribute.ts';
import { createWallet } from '../../../src/signer/wallet-file.ts';
import { type GatewayChild, startGatewayChild } from '../../support/gateway-child.ts';

const PHRASE = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const PASSPHRASE = 'a passphrase for the signer alone';
const BLOCK_EVERY_MS = 300;
const TOP_UP = { bsc: 10n ** 16n, tron: 5_000_000n } as const;

/** The wallet file lies with the signer alone, as in production. */
describe('a worker and a signer with folders of their own', function () {
  this.timeout(120_000);
  let chains: LiveChains;
  let worker: GatewayChild;
  let signer: GatewayChild;
  let clock: NodeJS.Timeout;

  const rows = (text: string, values: unknown[] = []) =>
    chains.live.gateway.deps.orm.em.fork().execute<Record<string, unknown>[]>(text, values);

  before(async () => {
    chains = await startLiveChains({ tron: { blockTimeMs: BLOCK_EVERY_MS } });
    clock = setInterval(() => void chains.bsc.mine().catch(() => undefined), BLOCK_EVERY_MS);
    await chains.live.gateway.stopWorker();
    worker = await startGatewayChild(
      {
        DATABASE_URL: chains.live.databaseUrl,
        TEMPORAL_ADDRESS: chains.live.temporal.now.address,
        BSC_RPC_URLS: chains.live.chain.url,
        BSC_USDT_CONTRACT: chains.bsc.contract,
        ...tronEnv(chains.node),
      },
      'worker',
    );
    signer = await startGatewayChild(await signerEnv(chains.live.databaseUrl), 'signer');
  });
  after(async () => {
    clearInterval(clock);
    await Promise.all([worker, signer].map((role) => role?.child.kill()));
    await chains?.stop();
  });

  it('agree on the gas wallets, so that a top-up is no deposit and nothing set aside', async () => {
    await eventually(
      'the watchers of both chains knowing the gas wallets',
      async () => (await rows('select network from gas_wallets where noted_at is not null')).length === 2,
      30_000,
    );
    const hashes = [await topUpOnBsc(chains), await topUpOnTron(chains)];
    const paid = await Promise.all(
      [chains.bsc, chains.tron].map((chain) => chain.pay({ currency: 'USDT', units: chain.usdtUnit })),
    );
    // Later than the top-ups: their blocks were read by then, and read again.
    for (const hash of paid) await chains.live.eventOf('deposit.completed', hash, 60_000);
    for (const hash of hashes)
      expect(await rows('select id from deposits where transaction_hash = ?', [hash])).to.deep.equal([]);
    // Nobody signed these top-ups here: a comparison of balances that ran meanwhile has set them aside.
    const aside = await rows('select * from unrecognised_transfers where reason <> ?', [FROM_OWN_WALLET]);
    expect(aside).to.deep.equal([]);
    const sent = await rows('select hash, state, verified_at is not null as verified from sent_transactions');
    expect(sent).to.have.deep.members(hashes.map((hash) => ({ hash, state: 'foreign', verified: true })));
    expect(signer.log()).not.to.contain('could not be told');
  });
});

async function signerEnv(databaseUrl: string): Promise<NodeJS.ProcessEnv> {
  const folder = await tempDir('signer');
  const [file, passphraseFile] = [join(folder, 'wallet.json'), join(folder, 'wallet.passphrase')];
  writeFileSync(passphraseFile, PASSPHRASE, { mode: 0o600 });
  await createWallet({ file, passphrase: PASSPHRASE, phrase: PHRASE, now: new Date() });
  return { DATABASE_URL: databaseUrl, WALLET_SEED_FILE: file, WALLET_PASSPHRASE_FILE: passphraseFile };
}

/** The gas wallet's own key: account 2 of the chain. */
const gasSecret = (coin: number): string =>
  HDNodeWallet.fromPhrase(PHRASE, undefined, `m/44'/${coin}'/2'/0/0`).privateKey;

async function topUpOnBsc({ live, bsc }: LiveChains): Promise<string> {
  const gas = new Wallet(gasSecret(60));
  const { anvil } = live.chain;
  await anvil.rpc('anvil_setBalance', [gas.address, `0x${(10n ** 18n).toString(16)}`]);
  const raw = await gas.signTransaction({
    chainId: 56,
    nonce: 0,
    gasLimit: 21_000n,
    gasPrice: 5_000_000_000n,
    to: bsc.address,
    value: TOP_UP.bsc,
  });
  return String(await anvil.rpc('eth_sendRawTransaction', [raw]));
}

async function topUpOnTron({ live, node }: LiveChains): Promise<string> {
  const secret = gasSecret(195);
  const address = keyOfHex(new Wallet(secret).address, 2);
  await node.pay({ to: address, currency: 'TRX', units: 1_000_000_000n });
  await node.mine();
  return await node.pay({
    to: TRON_ADDRESSES.key(addressOn(live.customer, 'tron')),
    currency: 'TRX',
    units: TOP_UP.tron,
    from: { address, privateKey: secret.slice(2) },
  });
}
