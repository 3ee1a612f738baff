import { expect } from 'chai';
import { caseOf } from './cases.ts';
import { ALL, recordedAs, sendLike } from './recorded.ts';
import { shapeOf } from './shape.ts';
import { makeWorld, type World } from './world.ts';

/** What of the recorded network is not on the double, or has a test of its own. */
const ELSEWHERE: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [
    /unfreeze|vote_witness|contract_owner|multisig|permission|with_trc10|account_create|internal_(create|self)|to_self|batch_same/,
    'nobody votes, takes a stake back, pays for the calls of others or shares an account',
  ],
  [
    /createtransaction|estimateenergy|triggersmart|blockbyid|^wallet_getblockby(limit|latest)|count|prices|nodeinfo/,
    'nobody asks for it',
  ],
  [
    /visible|^http_get|detail|pending_state|too_much|balanceOf_un|getaccount__(activated|after|contract|genesis)/,
    'nor so',
  ],
  [/after_frank/, 'nor so'],
  [/broadcast(transaction|hex)|^http__/, 'refusals.test.ts'],
  [/never_l|frompending|byid__pending|pendingsize/, 'pending.test.ts'],
  [/^reorg__/, 'forks.test.ts'],
];
const COMPARED = [...ALL.keys()].filter((name) => !ELSEWHERE.some(([pattern]) => pattern.test(name)));

const STAKED = /id__stake_|energy_staked|approve_bob/;
/** Members that differ for another reason than the node. */
const IGNORED: readonly (readonly [pattern: RegExp, members: readonly string[]])[] = [
  // What the contracts of the recorded network log besides.
  [/internal_trx_(existing|new_account)|blocknum__contracts/, ['log']],
  // Bandwidth that was paid by a stake: on the double, stakes give energy alone.
  [STAKED, ['fee', 'net_fee', 'net_usage']],
  [
    /__staked$/,
    ['votes', 'net_usage', 'latest_consume_time', 'amount', 'tronPowerUsed', 'NetUsed', 'NetLimit'],
  ],
  [/accountresource__(staked|delegated)/, ['TotalNetWeight']],
  // The same was done once more, when a stake paid for it.
  [/(receivers|existing)__node/, ['fee', 'receipt']],
  // The recorded one had made a token of its own.
  [
    /delegated_to/,
    [
      'asset_issued_name',
      'asset_issued_ID',
      'assetV2',
      'free_asset_net_usageV2',
      'assetNetUsed',
      'assetNetLimit',
    ],
  ],
  // Which transactions are in the blocks is compared where the block itself is asked for.
  [/limitnext/, ['transactions']],
  [/genesis|no_num/, ['transactions']],
  // Nodes write it to some accounts only, and none of ours has a name.
  [/getaccount/, ['asset_optimized', 'account_name']],
  [/getcontract/, ['abi', 'name']],
];

describe('the double beside recorded answers of a node', function () {
  this.timeout(60_000);
  let world: World;
  before(async () => {
    world = await makeWorld();
  });
  after(() => world?.node.stop());

  for (const name of COMPARED)
    it(`answers in the shape of ${name}`, async () => {
      const { request, response, status } = recordedAs(name);
      const ignored = IGNORED.flatMap(([pattern, members]) => (pattern.test(name) ? members : []));
      const query = new URLSearchParams(request.path.split('?')[1]);
      const body = await caseOf(name)(world, request.body ?? Object.fromEntries(query));
      world.node.savesInternals = !name.includes('without_saveInternalTx');
      const answer = await sendLike(world, request, body);
      expect(answer.status).to.equal(status);
      expect(shapeOf(answer.response, ignored)).to.deep.equal(shapeOf(response, ignored));
    });
});
