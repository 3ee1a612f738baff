import { UsageError } from '../../base/errors.ts';
import { readSecret } from '../stdin.ts';
import { forwardEvents } from './forward.ts';

/** What a person says, beside the environment, to have events forwarded. */
export type Given = {
  readonly to: URL;
  readonly api?: string | undefined;
  readonly keyStdin?: boolean | undefined;
  readonly secretStdin?: boolean | undefined;
  readonly events?: readonly string[] | undefined;
  readonly since?: Date | undefined;
  readonly json?: boolean | undefined;
};

const ASKED = {
  name: 'signing secret',
  maxBytes: 1_024,
  nextAction: 'Give it on one line, as it was shown',
} as const;
const ASKED_KEY = { ...ASKED, name: 'API key' } as const;
const SECRET = /^whsec_[A-Za-z0-9+/_=-]{24,200}$/;

/**
 * Forwards events until SIGINT or SIGTERM, with key and secret from the environment or stdin. Throws a
 * UsageError for what is missing or wrong, and an OperatorError for what the gateway refuses.
 */
export async function followAs({ to, keyStdin, secretStdin, events = ['*'], since, json, ...given }: Given) {
  if (keyStdin && secretStdin)
    throw new UsageError(
      'Only one of key and secret can come on stdin: give the other one in the environment',
    );
  const api = given.api ?? process.env['GATEWAY_URL'];
  if (!api) throw new UsageError('Say with --api, or in GATEWAY_URL, where the gateway is');
  const key = (keyStdin ? await readSecret(ASKED_KEY) : process.env['GATEWAY_KEY'])?.trim();
  if (!key) throw new UsageError('There is no API key: give it in GATEWAY_KEY, or on stdin with --key-stdin');
  const secret = await readSigningSecret(secretStdin);
  await forwardEvents({ api, key, to, secret, events, since, json: json === true });
}

/**
 * The secret never comes as an argument: arguments are visible in the process list and in
 * the shell's history. An empty one counts as none. Throws a UsageError for one that is not whole.
 */
export async function readSigningSecret(onStdin: boolean | undefined): Promise<string | undefined> {
  const given = onStdin ? await readSecret(ASKED) : process.env['WEBHOOK_SECRET'];
  const secret = given?.trim() || undefined;
  if (secret !== undefined && !SECRET.test(secret))
    throw new UsageError('The signing secret must be the whole one as it was shown, whsec_ included');
  if (onStdin && secret === undefined) throw new UsageError('There is no secret on stdin');
  return secret;
}
