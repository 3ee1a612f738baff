import { Refused } from '../../../base/errors.ts';

/** Why something is not concluded. Nothing was changed; the message ends with the next action. */
export class NotConcluded extends Refused {
  override readonly name = 'NotConcluded';
}
