/** What the first line of a file of comma-separated values says. The page and `npm start -- import` guess by the same rules. Knows no page. */

/** As people head their columns. @type {Readonly<Record<string, string>>} */
const WORDS = {
  PROFILE: 'TYPE',
  DEVICE_PROFILE: 'TYPE',
  ASSET_PROFILE: 'TYPE',
  TOKEN: 'ACCESS_TOKEN',
  GATEWAY: 'IS_GATEWAY',
}
/** As in `shared:model`. @type {Readonly<Record<string, string>>} */
const PREFIXES = { server: 'SERVER_ATTRIBUTE', shared: 'SHARED_ATTRIBUTE', series: 'TIMESERIES' }

/** Letters that the first line is looked for in: a quote that nothing ends goes on to the end of the file. */
export const MAX_HEADER = 65_536

/** The one of comma, semicolon and tab that cuts the first line into most cells. @param {string} text */
export function delimiterOf(text) {
  const cells = (/** @type {string} */ each) => firstLines(text.slice(0, MAX_HEADER), each, 1)[0]?.length ?? 0
  return [',', ';', '\t'].reduce((best, each) => (cells(each) > cells(best) ? each : best))
}

/** The cells of the first lines that have any text. @param {string} text @param {string} delimiter @param {number} count */
export function firstLines(text, delimiter, count) {
  /** @type {string[][]} */
  const lines = []
  for (const { cells } of linesOf(text, delimiter)) {
    lines.push(cells)
    if (lines.length === count) break
  }
  return lines
}

/** Where the first line that has any text ends: the place behind its line end. @param {string} text @param {string} delimiter */
export function headerEnd(text, delimiter) {
  for (const { end } of linesOf(text, delimiter)) return end
  return text.length
}

/** Where in a line a letter stands. @typedef {'cell start' | 'plain' | 'quoted' | 'after quote'} CsvState */

const QUOTE = 0x22
const LINE_END = 0x0a
const RETURN = 0x0d
const MARK = [0xef, 0xbb, 0xbf]

/** @param {CsvState} state @param {number} byte @param {number} separator @returns {CsvState} */
export function nextState(state, byte, separator) {
  if (state === 'quoted') return byte === QUOTE ? 'after quote' : 'quoted'
  // Of two quotes in quotes the second seems to begin them anew: they are one of the text.
  if (byte === QUOTE && state !== 'plain') return 'quoted'
  return byte === separator || byte === LINE_END || byte === RETURN ? 'cell start' : 'plain'
}

/** Looks for a quote that nothing ends, in UTF-8 that comes in pieces. @param {string} delimiter */
export function quoteScan(delimiter) {
  const separator = delimiter.charCodeAt(0)
  /** @type {CsvState} */
  let state = 'cell start'
  let [place, line, opened] = [0, 1, 0]
  return {
    /** @param {Uint8Array} bytes */
    take(bytes) {
      for (const byte of bytes) {
        // The mark of UTF-8 is no part of the first cell.
        if (place++ < MARK.length && byte === MARK[place - 1]) continue
        if (byte === LINE_END) line++
        if (byte === QUOTE && state === 'cell start') opened = line
        state = nextState(state, byte, separator)
      }
    },
    /** The number of the line in which it stands, from 1; undefined where each is ended. */
    unended: () => (state === 'quoted' ? opened : undefined),
  }
}

/** A type of column, with a key where the head names one: `shared:model`. @param {string} head @returns {{ type: string, key?: string }} */
export function columnOfHead(head) {
  const [kind = '', ...key] = head.split(':')
  const prefix = kind.trim().toLowerCase()
  const type = Object.hasOwn(PREFIXES, prefix) ? PREFIXES[prefix] : undefined
  if (type !== undefined && key.length > 0) return { type, key: key.join(':').trim() }
  const word = head
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, '_')
  return { type: (Object.hasOwn(WORDS, word) ? WORDS[word] : undefined) ?? word }
}

/** Quotes may hold delimiters and ends of lines. @param {string} text @param {string} delimiter @returns {Generator<{ cells: string[], end: number }>} */
function* linesOf(text, delimiter) {
  /** @type {string[]} */
  let cells = []
  let cell = ''
  let isQuoted = false
  let wasQuoted = false
  let place = 0
  const endCell = () => {
    cells.push(cell.trim())
    cell = ''
    wasQuoted = false
  }
  const hasText = () => cells.some((each) => each !== '')
  for (const letter of text) {
    place += letter.length
    if (letter === '\uFEFF' && place === 1) continue
    if (letter === '"' && (isQuoted || wasQuoted || cell === '')) {
      // A quote within quotes is written twice: the first seems to end them.
      if (wasQuoted && !isQuoted) cell += letter
      wasQuoted = isQuoted
      isQuoted = !isQuoted
    } else if (isQuoted) cell += letter
    else if (letter === delimiter) endCell()
    else if (letter === '\n') {
      endCell()
      if (hasText()) yield { cells, end: place }
      cells = []
    } else cell += letter
  }
  endCell()
  if (hasText()) yield { cells, end: place }
}
