import type { Words } from './en.ts';
import { createFormat } from './format.ts';

const { money, dateTime, clock, count } = createFormat('de-DE');
const confirmations = (n: number) => count(n, 'Bestätigung', 'Bestätigungen');

/** Everything that a payer reads, in German. */
export const DE: Words = {
  name: 'Deutsch',
  usd: (value) => `${money(value)} USD`,
  dateTime,
  clock,
  copy: { copy: 'Kopieren', copied: 'Kopiert' },
  copies: {
    amount: 'Betrag',
    address: 'Adresse',
    contract: 'Contract-Adresse',
    transaction: (n) => `Transaktion ${n}`,
  },
  states: {
    pending: { title: 'Wir warten auf Ihre Zahlung' },
    seen: {
      title: 'Zahlung gesehen',
      wait: 'Das Netzwerk bestätigt sie gerade. Sie können diese Seite schließen.',
    },
    seenCovered: 'Sie müssen jetzt nichts mehr senden.',
    held: {
      title: 'Eine Zahlung ist eingegangen und zählt nicht',
      text: (amount) =>
        `${amount} sind eingegangen und zählen nicht. Senden Sie sie nicht noch einmal, bevor Sie den Shop gefragt haben.`,
    },
    replaced: {
      title: 'Eine Zahlung steht nicht mehr in der Kette',
      text: (amount) =>
        `${amount} waren zu sehen, und das Netzwerk hat sie zurückgenommen. Oft kommen sie von selbst wieder: Sehen Sie in Ihrer Wallet nach, bevor Sie noch einmal etwas senden.`,
    },
    anyway: 'Trotzdem bezahlen',
    partial: {
      title: 'Ein Teil ist eingegangen',
      arrived: (part, asked) => `Eingegangen: ${part} von ${asked}.`,
    },
    missing: (rest) => (rest === undefined ? 'Es fehlt noch ein Teil.' : `Es fehlen noch ${rest}.`),
    paid: {
      title: 'Bezahlt',
      thanks: 'Die Zahlung ist bestätigt. Vielen Dank.',
      overpaid: 'Sie haben mehr gesendet als verlangt. Fragen Sie den Shop nach der Differenz.',
      overpaidBy: (more) => `Sie haben ${more} mehr gesendet als verlangt. Fragen Sie den Shop danach.`,
      underpaid: 'Es ist etwas weniger eingegangen als verlangt; der Betrag wird so angenommen.',
    },
    takenBack: {
      title: 'Eine Zahlung wurde zurückgenommen',
      confirmed: (now, asked) => `Bestätigt sind jetzt ${now} von ${asked}.`,
      text: 'Sie war bestätigt und ist danach fehlgeschlagen. Fragen Sie den Shop, bevor Sie etwas senden.',
    },
    over: {
      title: 'Die Zeit zum Bezahlen ist abgelaufen',
      text: 'Senden Sie jetzt nichts mehr. Eine Zahlung, die das Netzwerk rechtzeitig aufgenommen hat, zählt noch, sobald sie hier gesehen wird.',
    },
    unpayable: {
      title: 'Dieser Link kann zurzeit nicht bezahlt werden',
      text: 'Senden Sie nichts: Niemand würde es bemerken. Versuchen Sie es später noch einmal oder fragen Sie den Shop.',
    },
    expired: { title: 'Dieser Zahlungslink ist abgelaufen' },
    cancelled: { title: 'Dieser Zahlungslink wurde storniert' },
    late: {
      title: 'Ihre Zahlung wurde zu spät bestätigt',
      text: 'Sie wurde bestätigt, als der Link nicht mehr galt. Verloren ist sie nicht: Fragen Sie den Shop, was damit geschieht. Senden Sie nicht noch mehr.',
    },
    nothingArrived: 'Senden Sie dafür kein Geld. Der Shop kann einen neuen Link erstellen.',
    somethingArrived:
      'Senden Sie dafür kein weiteres Geld. Es ist etwas eingegangen: Fragen Sie den Shop, was damit geschieht.',
    awaited: 'Ist schon etwas unterwegs? Diese Seite zeigt es, wenn es eingeht.',
  },
  timeLeft: 'Noch',
  until: (time) => `bis ${time}`,
  confirmations: {
    progress: (done, needed) => `${done} von ${confirmations(needed)}`,
    last: (needed) => `${confirmations(needed)} erreicht; es folgt eine letzte Prüfung`,
    done: 'Bestätigt',
    failed: 'Nicht gezählt',
  },
  failures: {
    REORGED: 'Das Netzwerk hat sie zurückgenommen: Sie steht nun in keinem Block.',
    BELOW_MINIMUM: 'Sie ist kleiner als der kleinste Betrag, der gutgeschrieben wird.',
    other: 'Fragen Sie den Shop danach.',
  },
  way: {
    title: 'So bezahlen Sie',
    choose: 'Wählen Sie das Netzwerk',
    fee: { cents: 'Gebühr: einige Cent', dollars: 'Gebühr: einige Dollar' },
    takes: (minutes) => (minutes < 1 ? 'unter einer Minute' : `etwa ${count(minutes, 'Minute', 'Minuten')}`),
    send: 'Senden Sie genau',
    to: (network) => `An diese Adresse über ${network}`,
    testTo: (network) => `An diese Testadresse über ${network}`,
    code: (address, network) => `QR-Code der Adresse ${address} auf ${network}`,
    codeCaption: 'Dieser Code enthält die Adresse. Den Betrag geben Sie selbst ein.',
    wholeCode: 'Code mit Betrag, für Wallets, die ihn lesen',
    wholeCodeLabel: (amount, address, network) => `QR-Code für ${amount} an ${address} auf ${network}`,
    wholeCodeCaption:
      'Prüfen Sie Betrag und Netzwerk in Ihrer Wallet, bevor Sie senden: Nicht jede Wallet liest alles.',
    openWallet: 'In einer Wallet auf diesem Gerät öffnen',
  },
  warnings: {
    title: (currency, network) => `Senden Sie nur ${currency} über ${network}`,
    wrong: (currency) => `Andere Coins, oder ${currency} über ein anderes Netzwerk, können verloren gehen.`,
    exchange:
      'Börsen ziehen ihre Gebühr oft vom Betrag ab. Er muss vollständig ankommen; rechnen Sie die Gebühr hinzu.',
    coin: (native) => `Für die Gebühr braucht Ihre Wallet etwas ${native}.`,
  },
  details: {
    title: 'Zu Betrag, Coin und Dauer',
    amount: 'Wenn der Betrag nicht genau stimmt',
    tolerated: (least) =>
      `Ab ${least} gilt der Link als bezahlt. Kommt weniger an, fragt diese Seite nach dem Rest. Kommt mehr an, fragen Sie den Shop nach der Differenz.`,
    nothingTolerated:
      'Kommt weniger an, fragt diese Seite nach dem Rest. Kommt mehr an, fragen Sie den Shop nach der Differenz.',
    contract: (currency) => `Contract-Adresse von ${currency}`,
    counts: 'Wann die Zahlung zählt',
    confirmations: (needed) =>
      `Nach ${needed} ${needed === 1 ? 'Bestätigung' : 'Bestätigungen'} im Netzwerk.`,
  },
  transactions: {
    title: (n) => (n === 1 ? 'Transaktion' : 'Transaktionen'),
    amountOn: (amount, network) => `${amount} über ${network}`,
    firstOnly: (n) => `Nur die ersten ${n} sind aufgeführt.`,
    late: (n) => (n === 1 ? 'Zu spät bestätigt' : 'Diese wurden zu spät bestätigt'),
    tooLate: 'zu spät',
    notCounted: 'Sie ist bestätigt und zählt nicht für diesen Link.',
    firstLate: (n) => `Nur die ersten ${n} sind aufgeführt.`,
  },
  receipt: {
    title: 'Beleg',
    from: 'Bezahlt an',
    purpose: 'Für',
    asked: 'Verlangt',
    received: 'Eingegangen',
    time: 'Bezahlt am',
    network: 'Netzwerk',
    keep: 'Drucken oder speichern Sie diese Seite, um den Beleg zu behalten.',
  },
  description: 'Wofür',
  address: {
    title: 'Ihre Einzahlungsadresse',
    yours: (network) => `Ihre Adresse auf ${network}`,
    testYours: (network) => `Ihre Testadresse auf ${network}`,
    or: 'oder',
    least: (amounts) => `Senden Sie mindestens ${amounts}: Weniger wird nicht gutgeschrieben.`,
    codeCaption: 'Dieser Code enthält die Adresse. Coin und Betrag geben Sie selbst ein.',
    walletCaption: 'Prüfen Sie Coin und Netzwerk in Ihrer Wallet, bevor Sie senden.',
    details: 'Zu Adresse, Coin und Dauer',
    permanent: {
      title: 'Wie lange sie Ihnen gehört',
      text: 'Für immer: Sie können jederzeit wieder etwas an sie senden.',
    },
    states: {
      empty: 'Es ist noch nichts eingegangen',
      follows: 'Diese Seite zeigt eine Einzahlung, sobald das Netzwerk sie zeigt.',
      seen: 'Einzahlung gesehen',
      arrived: 'Eingegangen',
      confirmed: (amount) => `${amount} sind bestätigt.`,
      failed: 'Eine Einzahlung wurde nicht gezählt',
      why: 'Die Liste unten sagt, warum.',
      unwatched: 'Zurzeit kann nichts eingezahlt werden',
    },
    deposits: 'Bisherige Einzahlungen',
    none: 'Es gibt noch keine.',
    more: 'Mehr anzeigen',
    newestOnly: (n) => `Nur die neuesten ${n} sind aufgeführt. Der Shop kennt alle.`,
    testWarning: 'Es würde nicht gutgeschrieben: Diese Adresse ist nur eine Probe.',
    receive: (amount) => `${amount} empfangen`,
    unknown: {
      title: 'Seite nicht gefunden',
      heading: 'Diese Seite gibt es nicht',
      text: 'Prüfen Sie, ob die Adresse vollständig ist, oder bitten Sie den Shop um eine neue.',
    },
  },
  test: {
    mark: 'TEST',
    title: 'Testmodus: kein echtes Geld',
    warning: {
      title: 'Senden Sie kein echtes Geld',
      text: 'Es würde nicht gutgeschrieben: Dieser Link ist nur eine Probe.',
    },
    code: 'Überstempelt, damit keine Wallet ihn liest.',
    simulate: {
      title: 'Eine Zahlung simulieren',
      text: 'Spielt durch, was bei einem Zahlungseingang geschieht. In keinem Netzwerk bewegt sich etwas.',
      all: 'Alles zahlen',
      half: 'Die Hälfte zahlen',
      more: 'Zu viel zahlen',
    },
  },
  ways: {
    onTo: (host) => `Weiter zu ${host}`,
    backTo: (host) => `Zurück zu ${host}`,
  },
  refresh: {
    every: (seconds) => `Diese Seite lädt alle ${seconds} Sekunden neu.`,
    stop: 'Nicht mehr neu laden',
    now: 'Jetzt neu laden',
    start: 'Von selbst neu laden',
  },
  language: 'Sprache',
  notSimulated: {
    title: 'Es wurde keine Zahlung simuliert',
    foreign: 'Das Formular kam nicht von dieser Seite.',
    incomplete: 'Das Formular ist nicht vollständig.',
    refused: (status) => {
      if (status === 429)
        return 'Es waren zu viele Versuche. Warten Sie etwas und versuchen Sie es dann wieder.';
      return status >= 500
        ? 'Das ist zurzeit nicht möglich. Versuchen Sie es gleich noch einmal.'
        : 'So geht es nicht: Laden Sie die Seite neu und versuchen Sie es noch einmal.';
    },
    ofToday:
      'Heute können auf Seiten dieses Shops keine Zahlungen mehr simuliert werden. Der Shop selbst kann das noch.',
    back: 'Zurück zur Zahlung',
  },
  notPossible: {
    title: 'Nicht möglich',
    form: 'An diese Seite kann nur ein Formular gesendet werden',
    read: 'Diese Seite kann nur gelesen werden',
  },
  unknown: {
    title: 'Zahlungslink nicht gefunden',
    heading: 'Diesen Zahlungslink gibt es nicht',
    text: 'Prüfen Sie, ob die Adresse vollständig ist, oder bitten Sie den Shop um einen neuen Link.',
  },
  tooOften: {
    title: 'Einen Moment, bitte',
    heading: 'Aus Ihrem Netz kommen zu viele Anfragen',
    text: 'Nichts, was Sie gesendet haben, ist verloren.',
  },
  unavailable: {
    title: 'Zurzeit nicht verfügbar',
    heading: 'Diese Seite ist zurzeit nicht verfügbar',
    text: 'Nichts, was Sie gesendet haben, ist verloren.',
  },
};
