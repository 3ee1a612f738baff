import type { Command } from 'commander';
import { OperatorError } from '../../../base/errors.ts';
import { type Acting, acting, operatorOf } from '../../operator.ts';
import { answering, type CommandResult, group, leaf } from '../../run.ts';

/** `notify`: notices that the workers send to NOTIFY_URL. */
export function addNotifyCommands(program: Command): void {
  const notify = group(program, 'notify', 'notices to NOTIFY_URL of what needs an operator');
  acting(leaf(notify, 'test', 'sends a notice now, and says whether it arrived')).action(answering(test));
  leaf(notify, 'secret', 'prints the secret by which the receiver proves who sent a notice').action(
    answering(secret),
  );
}

async function load() {
  const [{ commandConfig }, { locateSecretsKey }, { createSecretBox }, notifier] = await Promise.all([
    import('../../process.ts'),
    import('../../../app/process.ts'),
    import('../../../base/secret-box.ts'),
    import('../../../app/notify/notifier.ts'),
  ]);
  const { config, log } = commandConfig('none');
  const isDerived = config.notify.secret === undefined;
  const key = isDerived ? await locateSecretsKey(config, log) : new Uint8Array(32);
  const { createNotifier, notifySecret, testNotice } = notifier;
  return { createNotifier, notifySecret, testNotice, config, box: createSecretBox(key) };
}

async function test({ options }: { options: Acting }): Promise<CommandResult> {
  const { createNotifier, testNotice, config, box } = await load();
  const sender = createNotifier(config, box);
  if (!sender)
    throw new OperatorError(
      'NOTIFY_URL is not set',
      'Set it to the address that takes notices, for every worker too',
    );
  const actor = operatorOf(options.by);
  const refused = await sender.tell(testNotice(actor.kind === 'operator' ? actor.name : 'somebody'));
  const { host } = new URL(config.notify.url ?? '');
  if (refused !== undefined)
    throw new OperatorError(
      `The notice did not arrive at ${host}: ${refused}`,
      'See that it can be reached from here and answers a POST with 2xx; a redirect is not followed',
    );
  return { json: { ok: true, host }, text: `The notice arrived at ${host}.` };
}

async function secret(): Promise<CommandResult> {
  const { notifySecret, config, box } = await load();
  const text = notifySecret(config, box);
  return {
    json: { secret: text, derived: config.notify.secret === undefined },
    text: 'Notices are signed with this secret, as webhooks are (docs/guides/webhooks.md):',
    copy: [text],
  };
}
