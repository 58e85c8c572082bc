/**
 * PostgreSQL's text holds neither U+0000 nor half a surrogate pair; a JavaScript string may hold both. They are written as
 * U+001A with the four hexadecimal digits of the code unit, and U+001A itself likewise, so that every string comes back as
 * it was, equal strings stay equal, and all usual text reads in SQL as it is.
 */
const ESCAPE = '\u001a'
const NEEDS_ESCAPE = /[\u0000\u001a]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
const ESCAPED = /\u001a([0-9a-f]{4})/g

export function toPostgresText(text: string): string {
  if (!text.includes('\u0000') && !text.includes(ESCAPE) && text.isWellFormed()) return text
  return text.replace(NEEDS_ESCAPE, (unit) => ESCAPE + unit.charCodeAt(0).toString(16).padStart(4, '0'))
}

export function fromPostgresText(text: string): string {
  if (!text.includes(ESCAPE)) return text
  return text.replace(ESCAPED, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
}
