import { createHash, randomUUID } from 'node:crypto';
import type { SecretBox } from '../../base/secret-box.ts';
import type { Config } from '../../config/index.ts';
import { createLookup } from '../../services/webhooks/http/lookup.ts';
import { buildHeaders } from '../../services/webhooks/http/signature.ts';
import { createWebhookTransport } from '../../services/webhooks/http/transport.ts';
import { noticeBody, type Told } from './body.ts';

/** Sends notices to NOTIFY_URL. */
export type Notifier = {
  /** Undefined where the receiver has it; else a sentence that says why not. Throws for defects alone. */
  tell(told: Told, attempt?: number): Promise<string | undefined>;
};

/** The operator's own receiver may be anywhere: inside the network, on this machine, without TLS. */
const ANYWHERE = { allowedCidrs: ['0.0.0.0/0', '::/0'], allowHttp: true } as const;

/**
 * The notifier of this installation; undefined where NOTIFY_URL is not set. It follows no redirect, waits as
 * long as a webhook does, and signs as webhooks are signed.
 */
export function createNotifier(
  config: Pick<Config, 'notify' | 'http' | 'webhooks'>,
  box: Pick<SecretBox, 'keyedHash'>,
): Notifier | undefined {
  const { url } = config.notify;
  if (url === undefined) return undefined;
  const { caPem } = config.webhooks.target;
  const transport = createWebhookTransport({
    lookup: createLookup({ useSystem: true }),
    policy: caPem === undefined ? ANYWHERE : { ...ANYWHERE, caPem },
    now: () => performance.now(),
  });
  const secret = notifySecret(config, box);
  return {
    tell: async (told, attempt = 1) => {
      const now = new Date();
      const body = noticeBody(told, { publicUrl: config.http.publicUrl, now });
      const headers = buildHeaders({
        eventId: `${told.id}.${told.what}`,
        event: `notice.${told.what}`,
        attempt,
        sentAt: now,
        body,
        secrets: [secret],
      });
      const outcome = await transport.post({ url, headers, body });
      if (outcome.kind === 'error') return outcome.message;
      const { status } = outcome;
      return status >= 200 && status < 300 ? undefined : `the receiver answered ${status}`;
    },
  };
}

/** The secret that notices are signed with: NOTIFY_SECRET, else one that follows from SECRETS_KEY. */
export function notifySecret({ notify }: Pick<Config, 'notify'>, box: Pick<SecretBox, 'keyedHash'>): string {
  if (notify.secret !== undefined) return notify.secret;
  const bytes = createHash('sha256').update(box.keyedHash('notices', 'notify-secret')).digest();
  return `whsec_${bytes.toString('base64')}`;
}

/** A notice that only shows that notices get out. */
export function testNotice(by: string): Told {
  return {
    id: randomUUID(),
    what: 'test',
    key: 'test',
    kind: 'test',
    severity: 'info',
    reason: `${by} tests whether notices of this gateway arrive: they do`,
    action: 'Nothing has to be done',
    beganAt: new Date(),
    endedAt: null,
    beginningTold: true,
  };
}
