/** One entity view: what it shows now, and for administrators which values over which time, and who sees them. */
import { attributesOf } from './attributes.js'
import { customerChoice } from './customer-choice.js'
import { dangerous } from './dialog.js'
import { field, form, make } from './dom.js'
import { entityLink } from './entity-link.js'
import { keyNames, localTime, timeOf, viewKeys } from './entity-view-shapes.js'
import { latestOf } from './latest.js'
import { call } from './session.js'
import { unfolding } from './unfolding.js'

/** @typedef {Record<string, any>} Json */

const SOURCES = /** @type {Readonly<Record<string, string>>} */ ({ DEVICE: '/api/device', ASSET: '/api/asset' })

/** @param {import('./pages.js').Place} place */
export async function entityViewPage({ main, id, user }) {
  const mayChange = user.authority === 'TENANT_ADMIN'
  const path = `/api/entityView/${encodeURIComponent(id)}`
  /** @type {Json} */
  let present = await call('GET', `/api/entityView/info/${encodeURIComponent(id)}`)
  const heading = make('h1', {}, present['name'])
  const latest = make('div')
  const shown = async () =>
    latest.replaceChildren(
      await latestOf('ENTITY_VIEW', id, 'It shows no values: choose keys below, or none came in its time.'),
    )
  main.replaceChildren(
    make('p', {}, make('a', { href: '/entityViews' }, 'Entity views')),
    heading,
    make('p', {}, present['type']),
    make('h2', {}, 'What it shows now'),
    latest,
    unfolding('Attributes', async () => attributesOf('ENTITY_VIEW', id, false)),
    ...(mayChange ? [make('h2', {}, 'Settings'), ...(await settings())] : []),
  )
  await shown()

  async function settings() {
    const source = present['entityId']
    const named = await call('GET', `${SOURCES[source.entityType]}/${source.id}`)
    const name = field('Name', { name: 'name', required: true, autocomplete: 'off' })
    name.input.value = present['name']
    const type = field('Type', { name: 'type', required: true, autocomplete: 'off' })
    type.input.value = present['type']
    const keys = await keyFields(source, present['keys'])
    const start = time('From (nothing: from the first)', 'start', present['startTimeMs'])
    const end = time('Until (nothing: without end)', 'end', present['endTimeMs'])
    const customer = await customerChoice(present['customerId'], {
      assign: (to) => call('POST', `/api/customer/${to}/entityView/${id}`),
      unassign: () => call('DELETE', `/api/customer/entityView/${id}`),
    })
    const rows = [name.row, type.row, ...keys.rows, make('div', { class: 'choice' }, start.row, end.row), customer.row]
    const saving = form('Save', [...rows, ...customer.more], async () => {
      const [startTimeMs, endTimeMs] = [timeOf(start.input.value), timeOf(end.input.value)]
      if (endTimeMs !== 0 && endTimeMs <= startTimeMs)
        throw new Error('It would end before it begins: choose a later end.')
      const change = {
        name: name.input.value.trim(),
        type: type.input.value.trim(),
        keys: keys.read(),
        startTimeMs,
        endTimeMs,
      }
      const { customerTitle: _title, customerIsPublic: _public, ...record } = present
      present = await call('POST', '/api/entityView', { ...record, ...change })
      present = (await customer.save()) ?? present
      heading.textContent = present['name']
      await shown()
      return 'Saved.'
    })
    const remove = dangerous(
      'Delete the entity view',
      () => `Delete "${present['name']}" for ever`,
      async () => {
        await call('DELETE', path)
        location.assign('/entityViews')
      },
      { text: 'The device or asset and its values stay.' },
    )
    return [make('p', {}, 'Of ', entityLink(source, named.name)), saving, make('h2', {}, 'Delete'), remove]
  }
}

/** Keys that the source has are offered. @param {{ entityType: string, id: string }} source @param {Json | null} keys */
async function keyFields({ entityType, id }, keys) {
  const at = `/api/plugins/telemetry/${entityType}/${id}/keys`
  const one = async (
    /** @type {string} */ label,
    /** @type {string} */ name,
    /** @type {string} */ path,
    /** @type {string[]} */ chosen,
  ) => {
    const there = await call('GET', `${at}/${path}`)
    const made = field(label, { name, autocomplete: 'off', placeholder: 'none' })
    made.input.value = chosen.join(', ')
    const offered = there.length === 0 ? 'none yet' : there.slice(0, 50).join(', ')
    return { input: made.input, rows: [made.row, make('p', {}, `It has: ${offered}`)] }
  }
  const { timeseries = [], attributes = {} } = keys ?? {}
  const series = await one('Keys of time series, parted by commas', 'timeseries', 'timeseries', timeseries)
  const server = await one('Server attributes', 'ss', 'attributes/SERVER_SCOPE', attributes.ss ?? [])
  // Assets have no others.
  const ofDevice =
    entityType === 'DEVICE'
      ? [
          await one('Shared attributes', 'sh', 'attributes/SHARED_SCOPE', attributes.sh ?? []),
          await one('Attributes of the device', 'cs', 'attributes/CLIENT_SCOPE', attributes.cs ?? []),
        ]
      : []
  const [shared, client] = ofDevice
  return {
    rows: [series, server, ...ofDevice].flatMap(({ rows }) => rows),
    read: () =>
      viewKeys({
        timeseries: keyNames(series.input.value),
        ss: keyNames(server.input.value),
        sh: keyNames(shared?.input.value ?? ''),
        cs: keyNames(client?.input.value ?? ''),
      }),
  }
}

/** @param {string} label @param {string} name @param {number} ts */
function time(label, name, ts) {
  const made = field(label, { name, type: 'datetime-local', step: '1' })
  made.input.value = localTime(ts)
  return made
}
