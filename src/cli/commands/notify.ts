import { createNotifier, notifySecret, testNotice } from '../../app/notify/notifier.ts';
import { locateSecretsKey } from '../../app/process.ts';
import { OperatorError } from '../../base/errors.ts';
import { createSecretBox } from '../../base/secret-box.ts';
import { nameOf } from '../operator.ts';
import { commandConfig } from '../process.ts';
import type { Acting, CommandCall, CommandResult } from '../run.ts';

/** Sends a notice to NOTIFY_URL, or prints what notices are signed with. */
export async function notify({ args: [what], options }: CommandCall<Acting>): Promise<CommandResult> {
  const { config, log } = commandConfig('none');
  const isDerived = config.notify.secret === undefined;
  const box = createSecretBox(isDerived ? await locateSecretsKey(config, log) : new Uint8Array(32));
  if (what === 'secret') {
    const secret = notifySecret(config, box);
    const text = 'Notices are signed with this secret, as webhooks are (docs/guides/webhooks.md):';
    return { json: { secret, derived: isDerived }, text, copy: [secret] };
  }
  const sender = createNotifier(config, box);
  if (!sender)
    throw new OperatorError(
      'NOTIFY_URL is not set',
      'Set it to the address that takes notices, for every worker too',
    );
  const refused = await sender.tell(testNotice(nameOf(options.by)));
  const { host } = new URL(config.notify.url ?? '');
  if (refused !== undefined)
    throw new OperatorError(
      `The notice did not arrive at ${host}: ${refused}`,
      'See that it can be reached from here and answers a POST with 2xx; a redirect is not followed',
    );
  return { json: { ok: true, host }, text: `The notice arrived at ${host}.` };
}
