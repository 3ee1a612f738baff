import type { OverviewView } from '../../../services/overview/overview.ts';
import { foreign, type Html, html } from '../../html.ts';
import { notice } from '../../parts/notice.ts';
import { time } from '../../parts/time.ts';
import { shownUrl } from '../endpoints/address.ts';
import type { Visit } from '../visit.ts';
import { counted } from './counted.ts';

type Trouble = OverviewView['endpoints'][number];

/** Endpoints that are not told what happens: said before everything else, and not said where all is well. */
export function troubles({ to }: Visit, endpoints: readonly Trouble[]): Html[] {
  return endpoints.map(({ endpoint, failing_since: since, failed }) => {
    const { id, url, enabled, disabled_reason: reason, last_status_code: code } = endpoint;
    const title = enabled ? 'An endpoint fails' : 'An endpoint is switched off';
    return notice(enabled ? 'warn' : 'bad', {
      title,
      text: html`${shownUrl(url)}${code === null ? null : html`, which last answered HTTP ${code}`}.
${since === null ? null : html`Since ${time(since)}.`} ${reason === null ? null : html`${foreign(reason)}.`}
${failed.count === 0 ? null : html`${counted(failed, 'delivery was', 'deliveries were')} given up.`}
<a href="${to(`/endpoints/${id}`)}">Look at the endpoint</a>`,
    });
  });
}
