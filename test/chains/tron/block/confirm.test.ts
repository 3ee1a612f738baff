// The second read of a quiet block, from its infos alone: whatever a whole read would find in them, it sees.
import { expect } from 'chai';
import type { QuietBlock } from '../../../../src/chains/reader.ts';
import { EndpointFailure } from '../../../../src/chains/rpc/errors.ts';
import { readTronHeader } from '../../../../src/chains/tron/block/header.ts';
import { confirmInfos, fingerprintOf } from '../../../../src/chains/tron/reads/confirm.ts';
import {
  answer,
  blockOfOne,
  EVERYBODY,
  PEOPLE,
  type Person,
  pairOf,
  RECORDED,
  readWhole,
  type Sent,
  TOKEN,
  TRANSFER_TOPIC,
  watching,
  word,
} from '../vectors.ts';

type Case = { readonly name: string; readonly block: Sent; readonly infos: Sent[] };

/** Every recorded transaction whose info is there too, each as the only one of a block. */
const ALONE: readonly Case[] = RECORDED.flatMap((name) => {
  const [, shape = ''] = /^wallet_gettransactionbyid__(.+)$/.exec(name) ?? [];
  const info = `wallet_gettransactioninfobyid__${shape}`;
  if (!RECORDED.includes(info) || shape.endsWith('_visible')) return [];
  const [sent, told] = [answer(name), answer(info)];
  return sent.txID !== undefined && told.id === sent.txID ? [{ name: shape, ...blockOfOne(sent, told) }] : [];
});
const MANY: Case = { name: 'contracts', ...pairOf() };

function quietOf({ block }: Case): QuietBlock {
  const ids: string[] = block.transactions.map(({ txID }: Sent) => txID);
  return { ...(readTronHeader(block) ?? expect.fail('no header')), fingerprint: fingerprintOf(ids) };
}

const confirm = (one: Case, infos: unknown, people: readonly Person[]) =>
  confirmInfos(quietOf(one), infos, { token: TOKEN, watched: watching(...people) });

describe('a quiet block of Tron that is read again', () => {
  /** What infos tell of somebody: all but a plain transfer, for which the id stands. */
  const showsInInfos = ({ block, infos }: Case, person: Person): boolean => {
    const { transfers, unrecognised, own = [] } = readWhole(block, infos, [person]);
    const isPlain = (txHash: string): boolean =>
      block.transactions.find(({ txID }: Sent) => txID === txHash).raw_data.contract[0].type ===
      'TransferContract';
    return [...transfers, ...unrecognised, ...own].some(({ txHash }) => !isPlain(txHash));
  };

  it('is not quiet for anybody to whom a log or a contract brought something', () => {
    const seen = { loud: 0, quiet: 0 };
    for (const one of [...ALONE, MANY])
      for (const person of EVERYBODY) {
        const said = confirm(one, one.infos, [person]);
        const where = `${one.name} for ${person}`;
        if (showsInInfos(one, person)) expect(said?.isQuiet, where).to.equal(false);
        seen[said?.isQuiet ? 'quiet' : 'loud'] += 1;
      }
    expect(seen.loud).to.be.above(30);
    expect(seen.quiet, 'it is not read whole for strangers').to.be.above(10 * seen.loud);
  });

  it('is quiet for nobody where the transactions are not those of the first read', () => {
    const [first, second, ...rest] = MANY.infos;
    const others = {
      'one too few': MANY.infos.slice(1),
      'one too many': [...MANY.infos, { ...first, id: 'ab'.repeat(32) }],
      'in another order': [second, first, ...rest],
      'shown twice': [first, ...MANY.infos],
      'another one': [{ ...first, id: 'ab'.repeat(32) }, second, ...rest],
    };
    expect(confirm(MANY, MANY.infos, [])?.isQuiet).to.equal(true);
    for (const [name, infos] of Object.entries(others))
      expect(confirm(MANY, infos, [])?.isQuiet, name).to.equal(false);
  });

  it('is told by nothing that an endpoint does not have, and by no infos of another block', () => {
    for (const nothing of [[], {}]) expect(confirm(MANY, nothing, [])).to.equal(undefined);
    const [first, ...rest] = MANY.infos;
    const wrong = [{ blockNumber: first.blockNumber + 1 }, { blockTimeStamp: first.blockTimeStamp + 3_000 }];
    for (const change of [...wrong, { id: 'ab' }, { blockNumber: undefined }])
      expect(() => confirm(MANY, [{ ...first, ...change }, ...rest], [])).to.throw(EndpointFailure);
  });

  it('is not quiet where a log or a receiver is spelled so that nobody is found in it', () => {
    const [one] = ALONE.filter(({ name }) => name === 'internal_trx_existing');
    const [info] = one?.infos ?? [];
    const [log] = answer('wallet_gettransactioninfobyid__token_transfer_again').log;
    const [passed] = info.internal_transactions;
    const isQuiet = (change: object) => one && confirm(one, [{ ...info, log: [], ...change }], [])?.isQuiet;
    expect(isQuiet({ log: [log] }), 'a stranger is paid').to.equal(true);
    const [topic, from, to] = log.topics;
    const base58 = { ...passed, transferTo_address: 'TGQ1Rb3iQbuBUNcBV3Qo4AakT9PtQJDDmJ' };
    for (const change of [
      { log: [{ ...log, topics: [topic, from, `41${to.slice(24)}`] }] },
      { log: [{ ...log, topics: [`0x${topic}`, from, to] }] },
      { internal_transactions: [base58] },
    ])
      expect(isQuiet(change), JSON.stringify(change)).to.equal(false);
  });

  it('is not quiet where a log tells of tokens that left a wallet of ours', () => {
    const out = (change: object = {}) => ({
      address: PEOPLE.token,
      topics: [TRANSFER_TOPIC, word(PEOPLE.bob), word(PEOPLE.carol)],
      data: word('7'),
      ...change,
    });
    const [one] = ALONE.filter(({ name }) => name === 'token_approve');
    const isQuiet = (log: Sent) => one && confirm(one, [{ ...one.infos[0], log: [log] }], ['bob'])?.isQuiet;
    const capitals = out().topics.map((topic) => topic.toUpperCase());
    expect([isQuiet(out()), isQuiet(out({ topics: capitals }))]).to.deep.equal([false, false]);
    expect(isQuiet(out({ data: word('') })), 'anybody can move nothing').to.equal(true);
    expect(isQuiet(out({ address: PEOPLE.batch })), 'another token').to.equal(true);
    const others = [TRANSFER_TOPIC, word(PEOPLE.carol), word(PEOPLE.dave)];
    expect(isQuiet(out({ topics: others })), 'another wallet').to.equal(true);
  });

  it('says whether code ran and whether it shows what was passed on', () => {
    const said = (name: string) => {
      const one = ALONE.find((other) => other.name === name) ?? expect.fail(`no ${name}`);
      const { ranCode, showsInternals } = confirm(one, one.infos, []) ?? expect.fail('nothing');
      return [ranCode, showsInternals];
    };
    for (const [name, ...found] of [
      ['internal_trx_existing', true, true],
      ['internal_trx_existing__node_without_saveInternalTx', true, false],
      ['token_transfer_failing_revert', false, false],
      ['trx_transfer_existing', false, false],
    ] as const)
      expect(said(name), name).to.deep.equal(found);
  });
});
