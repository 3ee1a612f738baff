import { AllowedNetwork } from './allowed-network.ts';
import { ApiKey } from './api-key.ts';
import { BalanceChange } from './balance-change.ts';
import { BalanceDifference } from './balance-difference.ts';
import { BalanceRound } from './balance-round.ts';
import { BalanceTotal } from './balance-total.ts';
import { ChainBlock } from './chain-block.ts';
import { ChainCursor } from './chain-cursor.ts';
import { Customer } from './customer.ts';
import { Deposit } from './deposit.ts';
import { DepositAddress } from './deposit-address.ts';
import { DepositAttribution } from './deposit-attribution.ts';
import { DepositDecision } from './deposit-decision.ts';
import { DepositTransition } from './deposit-transition.ts';
import { Event } from './event.ts';
import { IdempotencyAnswer } from './idempotency-answer.ts';
import { LedgerEntry } from './ledger-entry.ts';
import { LedgerTransaction } from './ledger-transaction.ts';
import { LoginBudget } from './login-budget.ts';
import { LoopRun } from './loop-run.ts';
import { Merchant } from './merchant.ts';
import { MonthlyChange } from './monthly-change.ts';
import { MonthlyTotal } from './monthly-total.ts';
import { OperatorAction } from './operator-action.ts';
import { OutboxMessage } from './outbox-message.ts';
import { PartitionMonth } from './partition-month.ts';
import { PasswordLink } from './password-link.ts';
import { PaymentLink } from './payment-link.ts';
import { Quota } from './quota.ts';
import { RateLimit } from './rate-limit.ts';
import { RowCount } from './row-count.ts';
import { RowCountChange } from './row-count-change.ts';
import { Session } from './session.ts';
import { UnrecognisedDay } from './unrecognised-day.ts';
import { UnrecognisedTransfer } from './unrecognised-transfer.ts';
import { User } from './user.ts';
import { UserSite } from './user-site.ts';
import { WebhookAttempt } from './webhook-attempt.ts';
import { WebhookDelivery } from './webhook-delivery.ts';
import { WebhookEndpoint } from './webhook-endpoint.ts';
import { WebhookSlot } from './webhook-slot.ts';

export {
  AllowedNetwork,
  ApiKey,
  BalanceChange,
  BalanceDifference,
  BalanceRound,
  BalanceTotal,
  ChainBlock,
  ChainCursor,
  Customer,
  Deposit,
  DepositAddress,
  DepositAttribution,
  DepositDecision,
  DepositTransition,
  Event,
  IdempotencyAnswer,
  LedgerEntry,
  LedgerTransaction,
  LoginBudget,
  LoopRun,
  Merchant,
  MonthlyChange,
  MonthlyTotal,
  OperatorAction,
  OutboxMessage,
  PartitionMonth,
  PasswordLink,
  PaymentLink,
  Quota,
  RateLimit,
  RowCount,
  RowCountChange,
  Session,
  UnrecognisedDay,
  UnrecognisedTransfer,
  User,
  UserSite,
  WebhookAttempt,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookSlot,
};

/** Every entity, in one list for the ORM's set-up. */
export const ENTITIES = [
  AllowedNetwork,
  ApiKey,
  BalanceChange,
  BalanceDifference,
  BalanceRound,
  BalanceTotal,
  ChainBlock,
  ChainCursor,
  Customer,
  Deposit,
  DepositAddress,
  DepositAttribution,
  DepositDecision,
  DepositTransition,
  Event,
  IdempotencyAnswer,
  LedgerEntry,
  LedgerTransaction,
  LoginBudget,
  LoopRun,
  Merchant,
  MonthlyChange,
  MonthlyTotal,
  OperatorAction,
  OutboxMessage,
  PartitionMonth,
  PasswordLink,
  PaymentLink,
  Session,
  Quota,
  RateLimit,
  RowCount,
  RowCountChange,
  UnrecognisedDay,
  UnrecognisedTransfer,
  User,
  UserSite,
  WebhookAttempt,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookSlot,
];
