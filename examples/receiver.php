<?php
// A receiver in plain PHP 8.1 or newer, without any package. Copy this file and the verifier, which the gateway serves:
// curl -O https://GATEWAY/sdk/GatewayWebhook.php
// For a try: WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:3000 receiver.php; in a shop it is the script behind your webhook URL.
declare(strict_types=1);

require __DIR__ . '/GatewayWebhook.php';

const MAX_BODY_BYTES = 1048576;

// During a rotation the old secret stays valid for 24 hours: put the new one here within that time.
$secret = (string) getenv('WEBHOOK_SECRET');
$folder = getenv('CREDITED_DIR') ?: 'credited';

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

// A script cannot refuse to start, and a 400 is final: with 500 the gateway sends the event again.
if (!str_starts_with($secret, 'whsec_')) {
    error_log('Set WEBHOOK_SECRET to the secret of your endpoint (whsec_…): the gateway showed it when the endpoint was made.');
    answer(500, 'WEBHOOK_SECRET is not set');
}
if ($_SERVER['REQUEST_METHOD'] !== 'POST' || parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) !== '/webhooks') {
    answer(404, 'not found');
}
$rawBody = (string) file_get_contents('php://input', false, null, 0, MAX_BODY_BYTES + 1);
if (strlen($rawBody) > MAX_BODY_BYTES) {
    answer(413, 'too large');
}
try {
    $event = GatewayWebhook::verify($rawBody, getallheaders(), $secret);
    if ($event['event'] !== 'deposit.completed') {
        answer(200, 'ignored');
    }
    answer(200, credit_once($folder, $event['data']) ? 'credited' : 'credited before');
} catch (WebhookVerificationError $error) {
    answer(400, $error->reason);
} catch (RuntimeException $error) {
    error_log($error->getMessage());
    answer(500, 'not credited, try again');
}
