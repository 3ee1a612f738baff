import { hostname } from 'node:os';
import { hideInText } from '../../base/log.ts';
import { harmless } from '../../base/terminal.ts';
import type { Severity } from '../../db/entities/index.ts';

/** What a notice is about, and how far it is. */
export type Told = {
  readonly id: string;
  readonly what: 'began' | 'ended' | 'test';
  readonly key: string;
  readonly kind: string;
  readonly severity: Severity;
  readonly reason: string;
  readonly action: string;
  readonly beganAt: Date;
  readonly endedAt: Date | null;
  /** False for an end whose beginning never got out. */
  readonly beginningTold: boolean;
};

/** Chat tools refuse what is longer, however it became so. */
const MAX_TEXT = 1_900;

/**
 * The body of a notice: an event as webhooks have it, which the same verifiers take, and beside it a line
 * that a chat tool shows as it is (`text`, and `content` for those that call it so). Nothing in it addresses
 * anybody, colours or breaks a line, or is a secret.
 */
export function noticeBody(
  told: Told,
  { publicUrl, now }: { publicUrl: string | undefined; now: Date },
): Buffer {
  const text = lineOf(told);
  const body = {
    event: `notice.${told.what}`,
    id: told.id,
    timestamp: now.toISOString(),
    text,
    content: text,
    allowed_mentions: { parse: [] },
    data: {
      key: clean(told.key),
      kind: told.kind,
      severity: told.severity,
      reason: clean(told.reason),
      action: clean(told.action),
      began_at: told.beganAt.toISOString(),
      ended_at: told.endedAt?.toISOString() ?? null,
      beginning_told: told.beginningTold,
    },
    gateway: { url: publicUrl ?? null, host: hostname() },
  };
  return Buffer.from(JSON.stringify(body), 'utf8');
}

function lineOf({ what, severity, reason, action, beganAt, endedAt, beginningTold }: Told): string {
  if (what === 'test') return chatText(`[test] ${reason}`);
  if (what === 'began' || endedAt === null) return chatText(`[${severity}] ${reason} → ${action}`);
  const lasted = `${Math.max(1, Math.round((endedAt.getTime() - beganAt.getTime()) / 60_000))} min`;
  const unheard = beginningTold
    ? ''
    : ` (it began at ${beganAt.toISOString().slice(0, 16)}Z, which could not be told)`;
  return chatText(`[over after ${lasted}] ${reason}${unheard}`);
}

const clean = (text: string): string => hideInText(harmless(text));

/** What the markup of chat tools would act on is shown as it is: links, mentions of everybody, formatting. */
function chatText(text: string): string {
  let shown = '';
  // What names a link stands apart from its address, which is seen then.
  for (const sign of clean(text).toWellFormed().replaceAll('](', ']\u200b(')) {
    const next = SHOWN.get(sign) ?? sign;
    if (shown.length + next.length > MAX_TEXT) break;
    shown += next;
  }
  return shown;
}

const SHOWN: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['@', '@\u200b'],
]);
