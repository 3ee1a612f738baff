import { at, delivery, type Fault, find, forget, of, set } from './spoil.ts';

/** What receivers were sent, held against what they asked for and what is on record. */
export const DELIVERY_FAULTS: readonly Fault[] = [
  [
    'signs wrongly',
    'every signature is valid',
    (records) => set(find(records, 'flaky', 'deposit.detected'), { allVerified: false }),
  ],
  [
    'changes a body between attempts',
    'one body for each event',
    (records) => set(find(records, 'flaky', 'deposit.detected'), { bodies: 2 }),
  ],
  [
    'tries six times',
    'at most five attempts, each number once',
    (records) => set(find(records, 'flaky', 'deposit.detected'), { attempts: [1, 2, 3, 4, 5, 6] }),
  ],
  [
    'makes an attempt twice',
    'at most five attempts, each number once',
    (records) => set(find(records, 'flaky', 'deposit.detected'), { attempts: [1, 1] }),
  ],
  [
    'tells one merchant of another',
    'a receiver hears of its own customers only',
    (records) => set(find(records, 'healthy-b', 'deposit.detected').data, { customer_id: 'customer-1' }),
  ],
  [
    'forgets a subscriber',
    'every subscriber is sent every event',
    (records) => forget(records, 'slow', find(records, 'slow', 'deposit.failed').eventId),
  ],
  [
    'sends what was not asked for',
    'nobody is sent what was not asked for',
    (records) => {
      const other = find(records, 'flaky', 'deposit.detected');
      records.seen.get('slow')?.set(other.eventId, { ...other, receiver: 'slow' });
    },
  ],
  [
    'leaves a delivery open',
    'every delivery ends',
    (records) => set(delivery(records, 'flaky'), { status: 'pending' }),
  ],
  [
    'records a sixth attempt',
    'at most five attempts',
    (records) => set(delivery(records, 'flaky'), { attempts: 6 }),
  ],
  [
    'leaves an attempt without a result',
    'every attempt ends',
    (records) => set(delivery(records, 'flaky'), { open: 1 }),
  ],
  [
    'calls a refused delivery taken',
    'a delivery that succeeded was taken',
    (records) => set(at(of(records, 'flaky'), 0), { taken: false }),
  ],
  [
    'gives up too early',
    'a delivery fails after five attempts or a final answer',
    (records) => set(delivery(records, 'flaky'), { status: 'failed', attempts: 3, last_status: 503 }),
  ],
  [
    'posts without an attempt',
    'no request without an attempt',
    (records) => set(at(of(records, 'flaky'), 0), { attempts: [1, 2] }),
  ],
  [
    'goes on after it was taken',
    'no request after one that is known to be taken',
    (records) => {
      delivery(records, 'flaky').attempts = 2;
      at(of(records, 'flaky'), 0).attempts = [1, 2];
    },
  ],
  [
    'makes two deliveries of one',
    'one delivery for each event and endpoint',
    (records) => void records.deliveries.push({ ...delivery(records, 'flaky'), id: 'twin' }),
  ],
  [
    'posts what it does not know',
    'no request without a delivery',
    (records) => set(delivery(records, 'flaky'), { event_id: 'another' }),
  ],
];
