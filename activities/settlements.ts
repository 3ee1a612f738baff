import type { SettlementActorInput, WalletActorInput } from '../src/domain/actor-message.ts';
import { isDecided, type RecordedDecision } from '../src/services/payouts/pauses.ts';
import { advanceSettlement as advance } from '../src/services/payouts/settle/advance.ts';
import { createAsks } from '../src/services/payouts/settle/asking.ts';
import {
  newMemory,
  type SettlementDeps,
  type SettlementInput,
  type SettlementStep,
} from '../src/services/payouts/settle/context.ts';
import { advanceWallet as advanceOfWallet, type WalletStep } from '../src/services/payouts/wallet.ts';
import { failure, guarded, waiting } from './faults.ts';

/** The server reads a pause of nothing as "no retry", which would end the activity. */
const LEAST_PAUSE_MS = 50;

/** A step that was made, or that there is none to make; the actor reads it as `workflows/results.ts` says. */
type Made =
  | { readonly kind: 'went'; readonly state: string; readonly note: string }
  | { readonly kind: 'rest'; readonly note: string };

/** Endpoints that hang keep each place for half a minute, and steps of deposits share those of the worker. */
const ASK_AT_ONCE = 10;

/** The steps of the actor that pays out what was completed on an address. */
export function settlementActivities(given: SettlementDeps) {
  const deps = { ...given, asks: createAsks(ASK_AT_ONCE), memory: newMemory() };
  return {
    /**
     * One step of what pays out an address. While there is none to make, it fails benignly with what an
     * operator wants to read, and says when to look again. Where a person is needed it fails once with the
     * type NeedsOperator, which is not retried: `alarmed` says that it has.
     */
    async advanceSettlement(input: SettlementActorInput & { readonly alarmed: boolean }): Promise<Made> {
      const step = await tried(deps, input, 'a step of a payout', (of) => advance(deps, of));
      if (step.kind === 'wait') throw pause(deps, step);
      return step;
    },

    /** The same of a wallet of ours that has signed something which no block has. */
    async advanceWallet(
      input: WalletActorInput & { readonly alarmed: boolean },
    ): Promise<Exclude<WalletStep, { kind: 'wait' }>> {
      const step = await tried(deps, input, 'a step of a wallet', (of) => advanceOfWallet(deps, of));
      if (step.kind === 'wait') throw pause(deps, step);
      return step;
    },

    /**
     * Whether an operator's decision about the payouts of an address is recorded in the database: anybody may
     * have typed its words into Temporal. Returns true, or is refused.
     */
    async requirePayoutDecision(input: SettlementActorInput & RecordedDecision): Promise<true> {
      const { network, kind, by, reason } = input;
      const addressKey = input.addressKey as SettlementInput['addressKey'];
      const known = await guarded(
        () => isDecided(deps.orm.em.fork(), { network, addressKey }, { kind, by, reason }),
        (error) =>
          deps.log.warn(
            { err: error, network, addressKey },
            'a decision about payouts met a fault of our own',
          ),
      );
      if (known) return true;
      throw failure({
        message: `no operator's decision of this name and reason is recorded for these payouts; decide with "gateway payout ${kind}"`,
        type: 'DecisionRefused',
        nonRetryable: true,
      });
    },
  };
}

async function tried<Step>(
  deps: SettlementDeps,
  { network, alarmed, addressKey: key }: SettlementActorInput & { readonly alarmed: boolean },
  what: string,
  take: (input: SettlementInput) => Promise<Step>,
): Promise<Step> {
  // The actor has looked at its form; where no address of ours has it, there is nothing to do.
  const addressKey = key as SettlementInput['addressKey'];
  return await guarded(
    () => take({ network, addressKey, alarmed }),
    (error) => deps.log.warn({ err: error, network, addressKey }, `${what} met a fault of our own`),
  );
}

/** The failure that says why a step waits, and when it is tried again; never where a person is needed. */
function pause(deps: SettlementDeps, { reason, delayMs, stuck }: SettlementStep & { kind: 'wait' }) {
  if (stuck) return failure({ message: reason, type: 'NeedsOperator', nonRetryable: true });
  return waiting(deps, reason, Math.max(LEAST_PAUSE_MS, delayMs));
}
