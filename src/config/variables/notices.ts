import * as parse from '../key-parsers.ts';
import * as urls from '../urls.ts';
import { variable } from '../variable.ts';

/** Where an operator is told of what needs one. */
export const NOTICE_VARIABLES = {
  NOTIFY_URL: variable({
    group: 'service',
    parser: urls.receiverUrl,
    secret: true,
    example: 'https://chat.example.com/hooks/KEY',
    about:
      'Workers post there, signed like a webhook, what needs an operator: once when it begins and once when it ends ("Notices" in operations.md). It may be inside your network, and http. Unset: nobody is told.',
  }),
  NOTIFY_SECRET: variable({
    group: 'service',
    parser: parse.webhookSecret,
    secret: true,
    example: 'whsec_BASE64_OF_32_RANDOM_BYTES',
    about:
      'The secret that notices are signed with. Unset: one that follows from SECRETS_KEY; "notify secret" shows it.',
  }),
} as const;
