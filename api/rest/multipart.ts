/**
 * Bodies of the kind `multipart/form-data` (RFC 7578, RFC 2046 5.1) as programs write them: names without quotes (.NET), file names by
 * RFC 5987 or RFC 2047, text before the first part and after the last one.
 */
export interface FormPart {
  readonly name: string
  /** Absent: the part is a text. */
  readonly fileName: string | undefined
  readonly contentType: string
  /** A view on the body: no copy of a large file. */
  readonly bytes: Buffer
}

/** Forms here have five at most. Each takes more memory than the shortest part has bytes. */
export const MAX_PARTS = 100
/** Of one part: each of its lines takes far more memory than it has bytes. */
export const MAX_HEAD_BYTES = 16_384

const HEADER_END = '\r\n\r\n'
const DASH = 0x2d
/** Spaces and tabs may follow a boundary (RFC 2046 5.1.1). */
const PADDING: readonly (number | undefined)[] = [0x20, 0x09]

/** In their order. Undefined where `body` is no such form: without its end above all, which one that was cut short lacks. */
export function formParts(contentType: string, body: Buffer): readonly FormPart[] | undefined {
  const boundary = parametersOf(contentType).get('boundary')
  if (boundary === undefined || boundary === '' || !/^multipart\/form-data\b/i.test(contentType)) return undefined
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const parts: FormPart[] = []
  let before = firstLine(body, delimiter)
  while (before !== undefined && !before.isLast) {
    const next = nextLine(body, delimiter, before.end - 2)
    if (next === undefined || parts.length === MAX_PARTS) return undefined
    const bytes = body.subarray(before.end, Math.max(before.end, next.start))
    const headEnd = bytes.indexOf(HEADER_END)
    if (headEnd > MAX_HEAD_BYTES) return undefined
    const part = headEnd < 0 ? undefined : partOf(bytes, headEnd)
    if (part !== undefined) parts.push(part)
    before = next
  }
  return before === undefined ? undefined : parts
}

/** Of a line with the boundary: where the line break before it begins, and where what follows its own begins. */
interface BoundaryLine {
  readonly start: number
  readonly end: number
  readonly isLast: boolean
}

/** Nothing need stand before the first one. */
function firstLine(body: Buffer, delimiter: Buffer): BoundaryLine | undefined {
  const bare = delimiter.subarray(2)
  const atOnce = body.subarray(0, bare.length).equals(bare) ? lineAt(body, -2, bare.length) : undefined
  return atOnce ?? nextLine(body, delimiter, 0)
}

function nextLine(body: Buffer, delimiter: Buffer, from: number): BoundaryLine | undefined {
  for (let start = body.indexOf(delimiter, from); start >= 0; start = body.indexOf(delimiter, start + 2)) {
    const line = lineAt(body, start, start + delimiter.length)
    if (line !== undefined) return line
  }
  return undefined
}

/** Undefined where the boundary is only how a longer line begins. */
function lineAt(body: Buffer, start: number, after: number): BoundaryLine | undefined {
  if (body[after] === DASH && body[after + 1] === DASH) return { start, end: after + 2, isLast: true }
  let end = after
  while (PADDING.includes(body[end])) end++
  return body[end] === 0x0d && body[end + 1] === 0x0a ? { start, end: end + 2, isLast: false } : undefined
}

/** Undefined where it has no name: no member of the form. */
function partOf(part: Buffer, headEnd: number): FormPart | undefined {
  const headers = new Map<string, string>()
  for (const line of part.toString('utf8', 0, headEnd).split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim())
  }
  const parameters = parametersOf(headers.get('content-disposition') ?? '')
  const name = parameters.get('name')
  if (name === undefined) return undefined
  return {
    name,
    fileName: fileNameOf(parameters),
    contentType: headers.get('content-type') ?? '',
    bytes: part.subarray(headEnd + HEADER_END.length),
  }
}

/** A part that is a text, in the alphabet that it names. */
export function textOf({ contentType, bytes }: FormPart): string {
  return decoded(parametersOf(contentType).get('charset') ?? 'utf-8', bytes)
}

const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^;"]*))/g

/** Of a header such as `form-data; name="file"`, by their names in small letters. */
function parametersOf(header: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  for (const [, name = '', quoted, plain = ''] of header.matchAll(PARAMETER)) {
    parameters.set(name.toLowerCase(), quoted === undefined ? plain.trim() : unquoted(quoted))
  }
  return parameters
}

/** A backslash of a path on Windows stays. Browsers write these three signs in percent. */
function unquoted(text: string): string {
  return text
    .replace(/\\(["\\])/g, '$1')
    .replace(/%22/g, '"')
    .replace(/%0D/gi, '\r')
    .replace(/%0A/gi, '\n')
}

function fileNameOf(parameters: ReadonlyMap<string, string>): string | undefined {
  // RFC 5987: utf-8''%C3%BC.gif
  const [, alphabet, percents] = /^([\w-]+)'[^']*'(.*)$/s.exec(parameters.get('filename*') ?? '') ?? []
  if (alphabet !== undefined && percents !== undefined) return decoded(alphabet, ofPercents(percents))
  // RFC 2047: =?UTF-8?B?w7wuZ2lm?=
  return parameters
    .get('filename')
    ?.replace(/=\?([\w-]+)\?([bq])\?([^?]*)\?=\s*/gi, (_, charset: string, kind: string, text: string) => {
      if (kind.toLowerCase() === 'b') return decoded(charset, Buffer.from(text, 'base64'))
      return decoded(charset, ofPercents(text.replaceAll('_', ' ').replaceAll('%', '%25').replaceAll('=', '%')))
    })
}

function ofPercents(text: string): Buffer {
  const signs = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(signs, 'latin1')
}

/** UTF-8 where nobody knows the alphabet. */
function decoded(alphabet: string, bytes: Buffer): string {
  try {
    return new TextDecoder(alphabet).decode(bytes)
  } catch {
    return bytes.toString('utf8')
  }
}
