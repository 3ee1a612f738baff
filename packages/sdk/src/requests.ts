import type {
  Currency,
  DeliveryStatus,
  DepositStatus,
  EventType,
  ListedEvent,
  Network,
  PaymentLinkStatus,
} from './types.ts';

// What the client lets callers ask in a form of its own: without aliases, and with times as dates.

/** One page of a list, newest first. `pagination.page` is null where a cursor was given. */
export type Page<Row> = {
  data: Row[];
  has_more: boolean;
  /** `total_is_at_least` is there where not everything was counted: there may be more rows than `total`. */
  pagination: {
    page: number | null;
    limit: number;
    total: number;
    total_is_at_least?: true;
    total_pages: number;
  };
};

/** Where a page lies: at most one of `page`, `starting_after` and `ending_before`. */
export type PageQuery = { limit?: number; page?: number; starting_after?: string; ending_before?: string };
export type CreatedBetween = { created_from?: string | Date; created_to?: string | Date };

export type CustomerQuery = CreatedBetween & {
  email?: string;
  external_id?: string;
  address?: string;
  search?: string;
};
export type DepositQuery = CreatedBetween & {
  status?: DepositStatus;
  network?: Network;
  currency?: Currency;
  customer_id?: string;
  external_id?: string;
  email?: string;
  address?: string;
  transaction_hash?: string;
};
export type PaymentLinkQuery = CreatedBetween & {
  status?: PaymentLinkStatus;
  customer_id?: string;
  external_id?: string;
  search?: string;
};
export type EventQuery = CreatedBetween & { type?: EventType | 'webhook.test'; subject_id?: string };
/** A page of events. Nothing with a `created_at` before `complete_before` can appear any more. */
export type EventPage = Page<ListedEvent> & { complete_before: string };
export type DeliveryQuery = { status?: DeliveryStatus; event?: EventType | 'webhook.test' };

export type NewEndpoint = { url: string; events: (EventType | '*')[] | '*'; description?: string | null };
export type EndpointChange = Partial<NewEndpoint> & { enabled?: boolean };
