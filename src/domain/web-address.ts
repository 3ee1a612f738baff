/**
 * The URL that a text is letter by letter: absolute, of the web, without a user name or password.
 * Undefined for anything else, which is never a link on a page. For the URLs of endpoints the
 * target rule adds more, with a sentence for each fault.
 */
export function webAddress(text: string): URL | undefined {
  // The parser repairs a lot: "https:host", backslashes and line feeds would become
  // another address than the one that a person read.
  if (!/^https?:\/\/[^\s\\]+$/i.test(text)) return undefined;
  const url = URL.parse(text);
  return url && url.username === '' && url.password === '' ? url : undefined;
}
