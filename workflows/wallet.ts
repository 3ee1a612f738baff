import {
  CancellationScope,
  continueAsNew,
  defineQuery,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { WalletActorInput } from '../src/domain/actor-message.ts';
import { NETWORKS } from '../src/domain/assets.ts';
import { isAddressKey, ROW_CHANGED } from '../src/domain/ids.ts';
import { showNeedsOperator, showsNeedsOperator } from './attributes.ts';
import { asText } from './details.ts';
import { refuseInput } from './input.ts';
import { openLooks } from './looks.ts';
import { needsOperatorSays, reasonOf } from './needs-operator.ts';
import { walletResult } from './results.ts';
import { CRASH_RETRY, ROW_CHANGED_MEANS, SETTLE_START_TO_CLOSE_MS } from './timeouts.ts';

export type WalletView = { readonly needsOperator: boolean; readonly note: string };

/** Says that no block has something that the wallet sent. It carries nothing. */
export const walletChangedSignal = defineSignal(ROW_CHANGED);
/** What the actor knows, for operators. */
export const walletViewQuery = defineQuery<WalletView>('view');

/**
 * Sees to it that what one of our wallets has signed gets into a block: sends it again, the lowest nonce
 * first, replaces it by fee, and calls a person where that lasts. It is started for a wallet of which a
 * transaction was sent and is late, and ends when blocks have all that it signed. It holds no truth of its
 * own: every step reads the rows, so a second start, a reset or a lost store only makes it look again.
 */
export async function wallet(input: WalletActorInput): Promise<{ note: string }> {
  if (!(NETWORKS as readonly unknown[]).includes(input?.network)) throw refuseInput('network');
  if (!isAddressKey(input.addressKey)) throw refuseInput('addressKey');
  return await CancellationScope.nonCancellable(() => run(input));
}

async function run({ network, addressKey }: WalletActorInput): Promise<{ note: string }> {
  const looks = openLooks();
  const seen = { needsOperator: showsNeedsOperator(), note: '' };
  setHandler(walletViewQuery, () => ({ ...seen }), {
    description: 'What the actor knows of what its wallet signed: why no block has it.',
  });
  setHandler(walletChangedSignal, () => looks.news(), { description: ROW_CHANGED_MEANS });
  for (;;) {
    const alarmed = seen.needsOperator;
    const { advanceWallet } = proxyActivities<Activities>({
      startToCloseTimeout: SETTLE_START_TO_CLOSE_MS,
      retry: CRASH_RETRY,
      activityId: 'advance',
      cancellationType: 'WAIT_CANCELLATION_COMPLETED',
      summary: alarmed ? 'send (alarm raised)' : 'send',
    });
    try {
      const answer = await looks.look(
        () => advanceWallet({ network, addressKey, alarmed }),
        walletResult,
        needsOperatorSays,
      );
      if (answer) seen.note = answer.note;
      if (answer && !answer.late && seen.needsOperator) {
        seen.needsOperator = false;
        showNeedsOperator(false);
      }
      if (answer?.kind === 'rest' && looks.upToDate()) return { note: seen.note };
    } catch (error) {
      seen.needsOperator = true;
      seen.note = reasonOf(error);
      showNeedsOperator(true);
    }
    setCurrentDetails(asText(seen.note));
    // The new run reads the rows first: nothing has to be handed over to it.
    if (workflowInfo().continueAsNewSuggested)
      return await continueAsNew<typeof wallet>({ network, addressKey });
  }
}
