/** Files of comma-separated values, as a bulk import takes them: what each column may hold. Knows no page. */
import { columnOfHead } from './csv-header.js'

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

/** What a column is likely to hold, by what stands at its top: a type that is offered. @param {string} head @param {typeof ASSET_COLUMNS} offered */
export function guessed(head, offered) {
  const { type: wanted } = columnOfHead(head)
  return offered.some(([type]) => type === wanted) ? wanted : 'SERVER_ATTRIBUTE'
}

/**
 * As the server takes them. Throws, in words, where none is the name, and where two are the same: the server keeps the last one's value.
 * @param {readonly { head: string, type: string }[]} chosen @returns {Column[]}
 */
export function columnsOf(chosen) {
  if (!chosen.some(({ type }) => type === 'NAME'))
    throw new Error('Say which column is the name: lines are told apart by it.')
  /** Head of the first column of each kind and key. @type {Map<string, string>} */
  const heads = new Map()
  return chosen.map(({ head, type }) => {
    if (type === NOTHING) return LEFT_OUT
    const column = KEYED.includes(type) ? { type, key: columnOfHead(head).key ?? head } : { type }
    const same = JSON.stringify(column)
    const first = heads.get(same)
    if (first !== undefined) throw new Error(`"${first}" and "${head}" are both the ${textOf(column)}: leave one out.`)
    heads.set(same, head)
    return column
  })
}

/** @param {Column} column */
function textOf({ type, key }) {
  const text = DEVICE_COLUMNS.find(([each]) => each === type)?.[1] ?? type
  return key === undefined ? text : `${text} "${key}"`
}
