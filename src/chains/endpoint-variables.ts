import * as urls from '../config/urls.ts';
import { variable } from '../config/variable.ts';

/** What holds for the endpoints of every chain. */
export const ENDPOINT_VARIABLES = {
  RPC_HTTP_HOSTS: variable({
    group: 'bsc',
    parser: urls.hostNames,
    example: 'bsc-node,10-1-2-3.nodes.internal',
    about:
      'Hosts of RPC endpoints that may be asked without TLS in production, comma-separated: whoever sits on the way to one writes the deposits that are credited. Loopback and private addresses (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7) need not be named; every other http URL is refused there.',
  }),
} as const;
