<?php
// A receiver in plain PHP 8, without any package. For a try: WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:3000 receiver.php
// In a shop it is the script behind your webhook URL.
declare(strict_types=1);

const TOLERANCE_SECONDS = 300;
const MAX_BODY_BYTES = 1048576;

// During a rotation the old secret stays valid for 24 hours: put the new one here within that time.
$secret = (string) getenv('WEBHOOK_SECRET');
$folder = getenv('CREDITED_DIR') ?: 'credited';

function header_of(string $name): string
{
    return (string) ($_SERVER['HTTP_' . strtoupper(strtr($name, '-', '_'))] ?? '');
}

function is_recent(int $sentAt): bool
{
    return abs(time() - $sentAt) <= TOLERANCE_SECONDS;
}

/** X-Webhook-Signature: hex HMAC-SHA256 over timestamp + "." + raw body, with the whole secret. */
function is_genuine(string $secret, string $rawBody): bool
{
    $sent = header_of('X-Webhook-Timestamp');
    if (!hash_equals(hash_hmac('sha256', "$sent.$rawBody", $secret), header_of('X-Webhook-Signature'))) {
        return false;
    }
    $sentAt = DateTimeImmutable::createFromFormat('!Y-m-d\TH:i:s\Z', $sent, new DateTimeZone('UTC'));
    return $sentAt !== false && is_recent($sentAt->getTimestamp());
}

/** webhook-signature: the Standard Webhooks form, which carries the old secret's signature too during a rotation. */
function is_genuine_standard(string $secret, string $rawBody): bool
{
    $sent = header_of('webhook-timestamp');
    if (preg_match('/^\d{1,12}$/D', $sent) !== 1 || !is_recent((int) $sent)) {
        return false;
    }
    $key = (string) base64_decode(substr($secret, strlen('whsec_')), true);
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', header_of('webhook-id') . ".$sent.$rawBody", $key, true));
    foreach (array_slice(explode(' ', header_of('webhook-signature')), 0, 16) as $given) {
        if (hash_equals($expected, $given)) {
            return true;
        }
    }
    return false;
}

/**
 * True for the first time. A shop has a table with the id as its primary key, written in the transaction that credits the customer; here
 * each id is a file, which the operating system makes once.
 */
function credit_once(string $folder, array $deposit): bool
{
    if (!is_dir($folder)) {
        @mkdir($folder, 0700, true);
    }
    $path = $folder . '/' . basename($deposit['id']);
    $file = @fopen($path, 'x');
    if ($file === false) {
        if (is_file($path)) {
            return false;
        }
        throw new RuntimeException("cannot write $path");
    }
    fwrite($file, "{$deposit['amount']} {$deposit['currency']} for customer {$deposit['customer_id']}\n");
    return fclose($file);
}

function answer(int $status, string $text): never
{
    http_response_code($status);
    header('Content-Type: text/plain');
    exit($text);
}

if (strlen($secret) < 32) {
    answer(500, 'WEBHOOK_SECRET is not set'); // an empty key is one that everybody knows
}
if ($_SERVER['REQUEST_METHOD'] !== 'POST' || parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) !== '/webhooks') {
    answer(404, 'not found');
}
$rawBody = (string) file_get_contents('php://input', false, null, 0, MAX_BODY_BYTES + 1);
if (strlen($rawBody) > MAX_BODY_BYTES) {
    answer(413, 'too large');
}
if (!is_genuine($secret, $rawBody) && !is_genuine_standard($secret, $rawBody)) {
    answer(400, 'bad signature');
}
try {
    $event = json_decode($rawBody, true, 64, JSON_THROW_ON_ERROR);
    if ($event['event'] !== 'deposit.completed') {
        answer(200, 'ignored');
    }
    answer(200, credit_once($folder, $event['data']) ? 'credited' : 'credited before');
} catch (JsonException | RuntimeException $error) {
    error_log($error->getMessage());
    answer(500, 'not credited, try again');
}
