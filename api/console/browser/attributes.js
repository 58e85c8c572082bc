/** Attributes of an entity; for administrators also set. */
import { choice, field, form, make, shortened, table, timeText } from './dom.js'
import { call } from './session.js'

/** @typedef {{ key: string, value: unknown, lastUpdateTs: number }} Attribute */

const SCOPES = ['CLIENT_SCOPE', 'SHARED_SCOPE', 'SERVER_SCOPE']
const SETTABLE = /** @type {readonly (readonly [string, string])[]} */ ([
  ['SERVER_SCOPE', 'server: the device does not see it'],
  ['SHARED_SCOPE', 'shared: the device gets it'],
])

/** @param {string} entityType @param {string} id @param {boolean} mayChange */
export async function attributesOf(entityType, id, mayChange) {
  const path = `/api/plugins/telemetry/${entityType}/${id}`
  // Only devices, and views of them, have scopes beside the server's.
  const scopes = ['DEVICE', 'ENTITY_VIEW'].includes(entityType) ? SCOPES : ['SERVER_SCOPE']
  const list = make('div')
  await show()
  return make('div', {}, list, ...(mayChange ? [setting()] : []))

  async function show() {
    /** @type {Attribute[][]} */
    const lists = await Promise.all(scopes.map((scope) => call('GET', `${path}/values/attributes/${scope}`)))
    const rows = lists.flatMap((each, index) =>
      each.map(({ key, value, lastUpdateTs }) => [
        key,
        (scopes[index] ?? '').replace('_SCOPE', '').toLowerCase(),
        shortened(typeof value === 'string' ? value : JSON.stringify(value)),
        timeText(lastUpdateTs),
      ]),
    )
    list.replaceChildren(rows.length === 0 ? 'None.' : table('Attributes', ['Key', 'Scope', 'Value', 'Changed'], rows))
  }

  function setting() {
    const scope = choice(
      'Scope',
      'scope',
      SETTABLE.filter(([each]) => scopes.includes(each)),
      'SERVER_SCOPE',
    )
    const key = field('Key', { name: 'attributeKey', required: true, autocomplete: 'off' })
    const value = field('Value', { name: 'attributeValue', required: true, autocomplete: 'off' })
    const sending = form('Set the attribute', [scope.row, key.row, value.row], async () => {
      const name = key.input.value.trim()
      await call('POST', `${path}/attributes/${scope.input.value}`, { [name]: valueOf(value.input.value) })
      await show()
      return `"${name}" is set.`
    })
    return make('details', {}, make('summary', {}, 'Set an attribute'), sending)
  }
}

/** A number, a flag or JSON where it reads as one, else the text. @param {string} text @returns {unknown} */
export function valueOf(text) {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
