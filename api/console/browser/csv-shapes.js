/** Files of comma-separated values, as a bulk import takes them: what their first lines say, and what each column may hold. Knows no page. */

/** @typedef {{ type: string, key?: string }} Column */

/** Passed over by the server: a value that has no key. @type {Column} */
const LEFT_OUT = { type: 'SERVER_ATTRIBUTE' }

/** Of these the text at the top of the column is the key. */
const KEYED = ['SERVER_ATTRIBUTE', 'SHARED_ATTRIBUTE', 'TIMESERIES']
const NOTHING = ''

export const ASSET_COLUMNS = /** @type {readonly (readonly [type: string, text: string])[]} */ ([
  [NOTHING, 'nothing: leave it out'],
  ['NAME', 'name'],
  ['TYPE', 'profile'],
  ['LABEL', 'label'],
  ['DESCRIPTION', 'description'],
  ['SERVER_ATTRIBUTE', 'attribute of the server'],
  ['TIMESERIES', 'time series'],
])

export const DEVICE_COLUMNS = /** @type {typeof ASSET_COLUMNS} */ ([
  ...ASSET_COLUMNS,
  ['SHARED_ATTRIBUTE', 'attribute shared with it'],
  ['IS_GATEWAY', 'whether it is a gateway'],
  ['ACCESS_TOKEN', 'token'],
  ['MQTT_CLIENT_ID', 'MQTT client id'],
  ['MQTT_USER_NAME', 'MQTT user name'],
  ['MQTT_PASSWORD', 'MQTT password'],
  ['X509', 'X.509 certificate'],
])

/** As people head their columns. @type {Readonly<Record<string, string>>} */
const WORDS = {
  PROFILE: 'TYPE',
  DEVICE_PROFILE: 'TYPE',
  ASSET_PROFILE: 'TYPE',
  TOKEN: 'ACCESS_TOKEN',
  GATEWAY: 'IS_GATEWAY',
}
/** As `npm start -- import` reads them: `shared:model`. @type {Readonly<Record<string, string>>} */
const PREFIXES = { server: 'SERVER_ATTRIBUTE', shared: 'SHARED_ATTRIBUTE', series: 'TIMESERIES' }

/** Letters that the first line is looked for in: a quote that nothing ends goes on to the end of the file. */
const MAX_HEADER = 65_536

/** The one that cuts the first line into most cells. @param {string} text */
export function delimiterOf(text) {
  const cells = (/** @type {string} */ each) => firstLines(text.slice(0, MAX_HEADER), each, 1)[0]?.length ?? 0
  return [',', ';', '\t'].reduce((best, each) => (cells(each) > cells(best) ? each : best))
}

/** The cells of the first lines: quotes may hold delimiters and ends of lines. @param {string} text @param {string} delimiter @param {number} count @returns {string[][]} */
export function firstLines(text, delimiter, count) {
  /** @type {string[][]} */
  const lines = []
  /** @type {string[]} */
  let cells = []
  let cell = ''
  let isQuoted = false
  let wasQuoted = false
  const end = () => {
    cells.push(cell.trim())
    cell = ''
    wasQuoted = false
  }
  for (const letter of text.replace(/^\uFEFF/, '')) {
    if (letter === '"' && (isQuoted || wasQuoted || cell === '')) {
      // A quote within quotes is written twice: the first seems to end them.
      if (wasQuoted && !isQuoted) cell += letter
      wasQuoted = isQuoted
      isQuoted = !isQuoted
    } else if (isQuoted) cell += letter
    else if (letter === delimiter) end()
    else if (letter === '\n') {
      end()
      if (cells.some((each) => each !== '')) lines.push(cells)
      cells = []
      if (lines.length === count) return lines
    } else cell += letter
  }
  end()
  if (cells.some((each) => each !== '')) lines.push(cells)
  return lines
}

/** What a column is likely to hold, by what stands at its top: a type that is offered. @param {string} head @param {typeof ASSET_COLUMNS} offered */
export function guessed(head, offered) {
  const [kind = '', key] = head.split(':')
  const prefixed = PREFIXES[kind.trim().toLowerCase()]
  const word = head
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, '_')
  const wanted = key !== undefined && prefixed !== undefined ? prefixed : (WORDS[word] ?? word)
  return offered.some(([type]) => type === wanted) ? wanted : 'SERVER_ATTRIBUTE'
}

/**
 * As the server takes them. Throws, in words, where none is the name.
 * @param {readonly { head: string, type: string }[]} chosen @returns {Column[]}
 */
export function columnsOf(chosen) {
  if (!chosen.some(({ type }) => type === 'NAME'))
    throw new Error('Say which column is the name: lines are told apart by it.')
  return chosen.map(({ head, type }) => {
    if (type === NOTHING) return LEFT_OUT
    return KEYED.includes(type) ? { type, key: keyOf(head) } : { type }
  })
}

/** @param {string} head */
function keyOf(head) {
  const [kind = '', ...others] = head.split(':')
  return others.length > 0 && Object.hasOwn(PREFIXES, kind.trim().toLowerCase()) ? others.join(':').trim() : head
}
