// Bytes that a node of Tron accepts and no wallet writes: nobody can stop the chain with them, and what they
// pay is paid.
import { expect } from 'chai';
import { sha256 } from '../../../../dev/tron/ids.ts';
import { encode, RAW } from '../../../../dev/tron/messages.ts';
import { writePresent } from '../../../../dev/tron/proto.ts';
import { sign } from '../../../../dev/tron/signing.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { paid, states, tronStage } from './scenes.ts';
import type { TronWatcher } from './tron-watcher.ts';

const NORMAL_URL = 'type.googleapis.com/protocol.TransferContract';
type Crafted = { readonly url?: string; readonly value: Buffer };

/** Signs and broadcasts a transfer of TRX with these bytes; returns its id. */
async function send(live: TronWatcher, { url = NORMAL_URL, value }: Crafted): Promise<string> {
  const { node } = live;
  const head = node.head();
  const raw = encode(RAW, {
    ref_block_bytes: head.id.slice(12, 16),
    ref_block_hash: head.id.slice(16, 32),
    expiration: BigInt(head.header.timestampMs + 600_000),
    contract: [{ type: 'TransferContract', parameter: { type_url: url, value: value.toString('hex') } }],
    timestamp: BigInt(Date.now()),
  });
  const id = sha256(raw).toString('hex');
  const signature = Buffer.from(sign(id, node.accounts[0]?.privateKey ?? ''), 'hex');
  const transaction = Buffer.concat([writePresent(1, raw), writePresent(2, signature)]).toString('hex');
  const answer = await node.ask('wallet/broadcasthex', { transaction });
  expect(answer).to.include({ result: true, txid: id });
  return id;
}

describe('bytes of a transfer that no wallet writes', () => {
  const live = tronStage({ others: 1 });

  const owner = (): Buffer => writePresent(1, Buffer.from(`41${live.node.accounts[0]?.address}`, 'hex'));
  const to = (key: AddressKey): Buffer => writePresent(2, Buffer.from(`41${key}`, 'hex'));
  const amount = writePresent(3, 5n);
  const CRAFTED: Readonly<Record<string, (key: AddressKey) => Crafted>> = {
    'a type under another address': (key) => ({
      url: 'example.com/protocol.TransferContract',
      value: Buffer.concat([owner(), to(key), amount]),
    }),
    'an amount with more digits than it needs': (key) => ({
      value: Buffer.concat([owner(), to(key), Buffer.from('18858000', 'hex')]),
    }),
    'a member twice, of which the last one counts': (key) => ({
      value: Buffer.concat([owner(), to('5e'.repeat(20) as AddressKey), amount, to(key)]),
    }),
    'a group, as old versions knew them': (key) => ({
      value: Buffer.concat([owner(), Buffer.from('531b08011c54', 'hex'), to(key), amount]),
    }),
    'members of four and of eight bytes': (key) => ({
      value: Buffer.concat([owner(), Buffer.from('5501020304590102030405060708', 'hex'), to(key), amount]),
    }),
  };
  it('pay, each as any other, and hold no block', async () => {
    const all: { name: string; address: AddressKey; txHash: string; next: AddressKey }[] = [];
    for (const [name, craft] of Object.entries(CRAFTED)) {
      const address = await live.newAddress();
      const txHash = await send(live, craft(address));
      await live.node.mine();
      all.push({ name, address, txHash, next: (await paid(live, { currency: 'USDT', units: 6n })).address });
      expect(await live.tryToCatchUp(1), name).to.deep.equal([]);
    }
    await live.finish();
    for (const { name, address, txHash, next } of all) {
      const [deposit, ...others] = await live.deposits(address);
      expect([deposit?.['transaction_hash'], others], name).to.deep.equal([txHash, []]);
      expect(states([deposit ?? {}]), name).to.deep.equal(['5 TRX verified']);
      expect(states(await live.deposits(next)), name).to.deep.equal(['6 USDT verified']);
    }
  });
});
