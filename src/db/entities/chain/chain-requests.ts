import { defineEntity, p } from '@mikro-orm/core';
import type { Network } from '../../../domain/assets.ts';

const schema = defineEntity({
  name: 'ChainRequests',
  tableName: 'chain_requests',
  properties: {
    network: p.string().length(8).$type<Network>().primary(),
    /** UTC. */
    day: p.date(),
    used: p.integer(),
  },
});

/** How many requests of a day all processes have sent to a chain's endpoints. */
export class ChainRequests extends schema.class {}
schema.setClass(ChainRequests);
