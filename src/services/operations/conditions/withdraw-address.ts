import { isoSeconds } from '../../../domain/events.ts';
import { listPendingWithdrawChanges } from '../../merchants/withdraw-notices.ts';
import { type Condition, type ConditionKind, listed, shownTime } from './condition.ts';

/** Longer than some turns of the loop that makes them count. */
const LATE_MS = 5 * 60_000;

/** Withdraw addresses that users changed: whoever asked may be a thief, and one that is due may not count. */
export const withdrawAddress: ConditionKind = {
  name: 'withdraw_address',
  group: 'withdraw_changes',
  namedBy: '"merchant changes"',
  read: async (deps) => {
    const changes = await listPendingWithdrawChanges(deps);
    const lateBefore = new Date(deps.now().getTime() - LATE_MS);
    const [next] = changes;
    const wait = changes.length === 1 ? 'address waits' : 'addresses wait';
    return {
      found: changes.map((change): Condition => {
        const { id, merchantId, network, address, countsAt } = change;
        const key = { key: `withdraw_address:${id}`, severity: 'warning' } as const;
        const back = `"merchant changes --cancel ${id}" takes it back`;
        if (countsAt > lateBefore)
          return {
            ...key,
            reason: `the withdraw address of merchant ${merchantId} on ${network} is asked to become ${address ?? 'none'}, and counts at ${shownTime(countsAt)}`,
            action: `ask the merchant over another way; ${back}`,
          };
        const since = isoSeconds(countsAt);
        const reason = `payouts of merchant ${merchantId} should go to ${address ?? 'no address'} by now, and do not`;
        const action = `see that a worker runs and what its loop "withdraw changes" says ("doctor"); ${back}`;
        const row = { withdraw_change_id: id, merchant_id: merchantId, network, since, reason, action };
        const subject = `changed withdraw address ${id} on ${network} is due and does not count`;
        return listed(row, { ...key, check: 'withdraw_changes', subject });
      }),
      well: {
        withdraw_changes: next
          ? `${changes.length} changed withdraw ${wait}, the next one until ${shownTime(next.countsAt)}: "merchant changes" lists them`
          : 'none waits',
      },
    };
  },
};
