/** Text of peers as YANG takes it. */

/** YANG strings are XML's characters (RFC 7950 §14): what is none becomes U+FFFD. */
export function xmlText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');
}

/** `domain-name` of RFC 6991. */
export function isDomainName(text: string): boolean {
  return (
    text.length <= 253 &&
    /^([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?\.?$/.test(
      text,
    )
  );
}
