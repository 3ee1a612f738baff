import type { Command } from 'commander';
import { group } from '../../run.ts';
import { addAcceptCommands } from './accept.ts';
import { addApproveDestinationCommand } from './approve-destination.ts';
import { addConcludeCommand } from './conclude.ts';
import { addPauseCommands } from './pause.ts';
import { addPayoutReads } from './payout-reads.ts';
import { addRetryCommand } from './retry.ts';

/** `payout`: each command is a file beside this one. */
export function addPayoutCommands(program: Command): void {
  const payout = group(program, 'payout', 'money that is paid out to merchants');
  addPayoutReads(payout);
  addRetryCommand(payout);
  addPauseCommands(payout);
  addAcceptCommands(payout);
  addConcludeCommand(payout);
  addApproveDestinationCommand(payout);
}
