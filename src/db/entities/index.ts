import { AllowedNetwork } from './access/allowed-network.ts';
import { ApiKey } from './access/api-key.ts';
import { LoginBudget } from './access/login-budget.ts';
import { PasswordLink } from './access/password-link.ts';
import { RateLimit } from './access/rate-limit.ts';
import { Session } from './access/session.ts';
import { User } from './access/user.ts';
import { UserSite } from './access/user-site.ts';
import { BalanceDifference } from './chain/balance-difference.ts';
import { ChainBlock } from './chain/chain-block.ts';
import { ChainCursor } from './chain/chain-cursor.ts';
import { ChainRequests } from './chain/chain-requests.ts';
import { GasLevel } from './chain/gas-level.ts';
import { GasWallet } from './chain/gas-wallet.ts';
import { ReconciliationPass } from './chain/reconciliation-pass.ts';
import { SentTransaction } from './chain/sent-transaction.ts';
import { UnrecognisedDay } from './chain/unrecognised-day.ts';
import { UnrecognisedTransfer } from './chain/unrecognised-transfer.ts';
import { Deposit } from './deposits/deposit.ts';
import { DepositAddress } from './deposits/deposit-address.ts';
import { DepositAttribution } from './deposits/deposit-attribution.ts';
import { DepositDecision } from './deposits/deposit-decision.ts';
import { DepositTransition } from './deposits/deposit-transition.ts';
import { LatePayment } from './deposits/late-payment.ts';
import { PaymentLink } from './deposits/payment-link.ts';
import { BalanceChange } from './ledger/balance-change.ts';
import { BalanceTotal } from './ledger/balance-total.ts';
import { DailyVolume } from './ledger/daily-volume.ts';
import { DailyVolumeChange } from './ledger/daily-volume-change.ts';
import { LedgerEntry } from './ledger/ledger-entry.ts';
import { LedgerTransaction } from './ledger/ledger-transaction.ts';
import { MonthlyChange } from './ledger/monthly-change.ts';
import { MonthlyTotal } from './ledger/monthly-total.ts';
import { RowCount } from './ledger/row-count.ts';
import { RowCountChange } from './ledger/row-count-change.ts';
import { Customer } from './merchants/customer.ts';
import { Merchant } from './merchants/merchant.ts';
import { OperatorAction } from './merchants/operator-action.ts';
import { Quota } from './merchants/quota.ts';
import { WithdrawAddress } from './merchants/withdraw-address.ts';
import { WithdrawChange } from './merchants/withdraw-change.ts';
import { Payout } from './payouts/payout.ts';
import { PayoutDecision } from './payouts/payout-decision.ts';
import { SettlementWait } from './payouts/settlement-wait.ts';
import { IdempotencyAnswer } from './process/idempotency-answer.ts';
import { KeyInUse } from './process/key-in-use.ts';
import { LoopRun } from './process/loop-run.ts';
import { Notice } from './process/notice.ts';
import { OutboxMessage } from './process/outbox-message.ts';
import { PartitionMonth } from './process/partition-month.ts';
import { Restore } from './process/restore.ts';
import { SignerState } from './process/signer-state.ts';
import { Event } from './webhooks/event.ts';
import { WebhookAttempt } from './webhooks/webhook-attempt.ts';
import { WebhookDelivery } from './webhooks/webhook-delivery.ts';
import { WebhookEndpoint } from './webhooks/webhook-endpoint.ts';
import { WebhookSlot } from './webhooks/webhook-slot.ts';

export {
  AllowedNetwork,
  ApiKey,
  BalanceChange,
  BalanceDifference,
  BalanceTotal,
  ChainBlock,
  ChainCursor,
  ChainRequests,
  Customer,
  DailyVolume,
  DailyVolumeChange,
  Deposit,
  DepositAddress,
  DepositAttribution,
  DepositDecision,
  DepositTransition,
  Event,
  GasLevel,
  GasWallet,
  IdempotencyAnswer,
  KeyInUse,
  LatePayment,
  LedgerEntry,
  LedgerTransaction,
  LoginBudget,
  LoopRun,
  Merchant,
  MonthlyChange,
  MonthlyTotal,
  Notice,
  OperatorAction,
  OutboxMessage,
  PartitionMonth,
  PasswordLink,
  PaymentLink,
  Payout,
  PayoutDecision,
  Quota,
  RateLimit,
  ReconciliationPass,
  Restore,
  RowCount,
  RowCountChange,
  SentTransaction,
  Session,
  SettlementWait,
  SignerState,
  UnrecognisedDay,
  UnrecognisedTransfer,
  User,
  UserSite,
  WebhookAttempt,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookSlot,
  WithdrawAddress,
  WithdrawChange,
};

/** Every entity, in one list for the ORM's set-up. */
export const ENTITIES = [
  AllowedNetwork,
  ApiKey,
  BalanceChange,
  BalanceDifference,
  ReconciliationPass,
  BalanceTotal,
  ChainBlock,
  ChainCursor,
  ChainRequests,
  Customer,
  DailyVolume,
  DailyVolumeChange,
  Deposit,
  DepositAddress,
  DepositAttribution,
  DepositDecision,
  DepositTransition,
  Event,
  GasLevel,
  GasWallet,
  IdempotencyAnswer,
  LatePayment,
  LedgerEntry,
  LedgerTransaction,
  LoginBudget,
  KeyInUse,
  LoopRun,
  Merchant,
  MonthlyChange,
  MonthlyTotal,
  Notice,
  OperatorAction,
  OutboxMessage,
  PartitionMonth,
  PasswordLink,
  PaymentLink,
  Payout,
  PayoutDecision,
  SentTransaction,
  Session,
  SettlementWait,
  SignerState,
  Quota,
  RateLimit,
  Restore,
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
  WithdrawAddress,
  WithdrawChange,
];
