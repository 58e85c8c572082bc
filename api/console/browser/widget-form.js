/** The form of a widget: its kind, its title, of which entities it tells and which of their values. */
import { filterOf, withAlias } from './aliases.js'
import { COLOURS } from './chart.js'
import { objectOf, textOf } from './board.js'
import { dialog } from './dialog.js'
import { field, form, make, messageOf } from './dom.js'
import { namedField } from './named-field.js'
import { Refused, call } from './session.js'
import { uuid } from './uuid.js'
import { NEW_KINDS, kindOf } from './widget-kinds.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {{ configuration: Json, widget: Json }} Made */

const TYPING_MS = 300
const WHOSE = /** @type {const} */ ({ device: 'One device', profile: 'Devices of a profile', name: 'Devices by name' })

/** The columns of ThingsBoard's table of alarms. */
const ALARM_KEYS = ['createdTime', 'originator', 'type', 'severity', 'status'].map((name) => ({
  name,
  type: 'alarm',
  label: name,
  settings: {},
}))

/** Undefined where it was left. @param {{ configuration: Json, widget?: Json }} parts @returns {Promise<Made | undefined>} */
export async function openWidgetForm({ configuration, widget }) {
  const present = widget === undefined ? undefined : kindOf(widget)
  const config = objectOf(widget?.['config'])
  const isAlarms = present?.type === 'alarm'
  const datasource = objectOf(isAlarms ? config['alarmSource'] : config['datasources']?.[0])
  const kept = /** @type {Json[]} */ (Array.isArray(datasource['dataKeys']) ? datasource['dataKeys'] : [])
  let turn = 0
  let isFirst = true

  const kind = make(
    'select',
    { name: 'kind' },
    ...(present === undefined ? [] : [make('option', { value: '' }, `As it is (${present.name})`)]),
    ...NEW_KINDS.map(({ fqn, text }) => make('option', { value: fqn }, text)),
  )
  const title = field('Title', { name: 'title', required: true, autocomplete: 'off' })
  title.input.value = textOf(config['title']) || textOf(widget?.['title'])
  const entities = await whose(configuration, textOf(datasource['entityAliasId']), () => void offerKeys())
  const keys = make('div')
  const others = field('Others, with commas between', { name: 'keys', autocomplete: 'off' })
  const values = make('fieldset', {}, make('legend', {}, 'Values'), keys, others.row)
  const low = field('From', { name: 'low', type: 'number', step: 'any' })
  const high = field('To', { name: 'high', type: 'number', step: 'any' })
  low.input.value = String(objectOf(config['settings']).minValue ?? 0)
  high.input.value = String(objectOf(config['settings']).maxValue ?? 100)
  const range = make('fieldset', {}, make('legend', {}, 'Range of the gauge'), low.row, high.row)

  const chosenKind = () => NEW_KINDS.find(({ fqn }) => fqn === kind.value)
  const drawing = () => chosenKind()?.drawing ?? present?.drawing ?? 'other'
  const type = () => chosenKind()?.type ?? present?.type ?? 'latest'
  const adapt = () => {
    values.hidden = ['alarms', 'text'].includes(drawing())
    range.hidden = drawing() !== 'gauge'
    void offerKeys()
  }
  kind.addEventListener('change', adapt)

  /** @type {Promise<Made | undefined>} */
  const done = new Promise((resolve) => {
    const cancel = make('button', { type: 'button', click: () => close() }, 'Cancel')
    const fields = form(
      widget === undefined ? 'Add' : 'Change',
      [make('label', {}, 'Kind', kind), title.row, entities.element, values, range],
      async () => {
        resolve(await made())
        close()
      },
    )
    fields.append(cancel)
    const { element, close } = dialog(widget === undefined ? 'Add a widget' : 'Change the widget', [fields])
    element.addEventListener('close', () => resolve(undefined))
  })
  adapt()
  return done

  async function offerKeys() {
    const own = ++turn
    const found = await entities
      .filter()
      .catch(nobody)
      .then(findKeys)
      .catch((error) => {
        keys.replaceChildren(make('p', { role: 'alert', class: 'wrong' }, messageOf(error)))
      })
    if (own !== turn || !found) return
    const chosen = new Set([...ticked(), ...(isFirst ? kept.map(nameOf) : [])])
    isFirst = false
    const isSeries = type() === 'timeseries'
    const offered = [
      ...(drawing() === 'attributes' ? [] : found.timeseries.map((name) => ({ name, type: 'timeseries' }))),
      ...(isSeries ? [] : found.attribute.map((name) => ({ name, type: 'attribute' }))),
    ]
    const known = new Set(offered.map(nameOf))
    const earlier = kept.filter((key) => !known.has(nameOf(key))).map(({ name, type: of }) => ({ name, type: of }))
    const all = [...earlier, ...offered]
    keys.replaceChildren(
      ...all.map((key) => {
        const box = make('input', { type: 'checkbox', value: nameOf(key), checked: chosen.has(nameOf(key)) })
        return make('label', { class: 'tick' }, box, key.type === 'timeseries' ? key.name : `${key.name} (${key.type})`)
      }),
      ...(all.length === 0 ? [make('p', {}, 'No values are known yet: name them below.')] : []),
    )
  }

  function ticked() {
    return [...keys.querySelectorAll('input')].filter(({ checked }) => checked).map(({ value }) => value)
  }

  /** @returns {Promise<Made>} */
  async function made() {
    const filter = await entities.filter()
    if (filter === undefined) throw new Error('Say of which entities it tells.')
    const written = others.input.value
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '')
    const plainType = drawing() === 'attributes' ? 'attribute' : 'timeseries'
    const names = [...new Set([...ticked(), ...written.map((name) => `${plainType}:${name}`)])]
    if (names.length === 0 && !values.hidden) throw new Error('Choose at least one value.')
    const chosenKeys = names.map((each, index) => kept.find((key) => nameOf(key) === each) ?? newKey(each, index))
    const dataKeys = type() === 'alarm' ? (kept.length > 0 ? kept : ALARM_KEYS) : chosenKeys
    const { configuration: next, aliasId } =
      entities.aliasId() === undefined
        ? withAlias(configuration, entities.name(), filter, uuid)
        : { configuration, aliasId: entities.aliasId() }
    const told = { ...datasource, type: 'entity', entityAliasId: aliasId, dataKeys }
    const sort = chosenKind()
    const isAlarm = type() === 'alarm'
    const settings =
      drawing() === 'gauge'
        ? { ...objectOf(config['settings']), minValue: Number(low.input.value), maxValue: Number(high.input.value) }
        : objectOf(config['settings'])
    const nextConfig = {
      useDashboardTimewindow: true,
      showTitle: true,
      ...config,
      settings,
      title: title.input.value.trim(),
      ...(isAlarm
        ? { alarmSource: told }
        : { datasources: [told, ...(Array.isArray(config['datasources']) ? config['datasources'].slice(1) : [])] }),
    }
    const { bundleAlias: _bundle, typeAlias: _alias, isSystemType: _system, ...rest } = widget ?? {}
    const kindNow = sort === undefined ? (widget ?? {}) : { ...rest, typeFullFqn: sort.fqn, type: sort.type }
    const size = sort !== undefined && widget === undefined ? { sizeX: sort.sizeX, sizeY: sort.sizeY } : {}
    return { configuration: next, widget: { ...kindNow, ...size, title: nextConfig.title, config: nextConfig } }
  }
}

/** @param {string} named @param {number} index */
function newKey(named, index) {
  const at = named.indexOf(':')
  const name = named.slice(at + 1)
  // ThingsBoard tells keys of one widget apart by it.
  const _hash = Math.random()
  return { name, type: named.slice(0, at), label: name, color: COLOURS[index % COLOURS.length], settings: {}, _hash }
}

/** @param {Json} key */
function nameOf({ name, type }) {
  return `${type}:${name}`
}

/** A name that is being typed is nobody's yet. @param {unknown} error @returns {undefined} */
function nobody(error) {
  if (error instanceof Refused && error.status === 404) return undefined
  throw error
}

/** @param {Json | undefined} filter @returns {Promise<{ timeseries: string[], attribute: string[] }>} */
async function findKeys(filter) {
  if (filter === undefined) return { timeseries: [], attribute: [] }
  const query = { entityFilter: filter, pageLink: { page: 0, pageSize: 100 }, entityFields: [], latestValues: [] }
  return call('POST', '/api/entitiesQuery/find/keys?timeseries=true&attributes=true', query)
}

/**
 * Which entities: an alias that is there, or one that is made.
 * @param {Json} configuration @param {string} presentId @param {() => void} onChange
 */
async function whose(configuration, presentId, onChange) {
  const aliases = objectOf(configuration['entityAliases'])
  const known = Object.keys(aliases).map((id) =>
    make('option', { value: `alias:${id}` }, `Alias: ${textOf(aliases[id]?.alias) || id}`),
  )
  const made = Object.entries(WHOSE).map(([value, text]) => make('option', { value }, text))
  const choice = make('select', { name: 'whose' }, ...made, ...known)
  if (Object.hasOwn(aliases, presentId)) choice.value = `alias:${presentId}`
  const device = namedField({
    ...{ label: 'Device', name: 'device', one: 'device', path: () => '/api/tenant/deviceInfos' },
    ...{ required: false, onTyped: onChange },
  })
  const profiles = await call('GET', `/api/deviceProfileInfos?pageSize=1000&page=0&sortProperty=name&sortOrder=ASC`)
  const profile = make(
    'select',
    { name: 'profile' },
    ...profiles.data.map((/** @type {Json} */ { name }) => make('option', {}, name)),
  )
  const profileRow = make('label', {}, 'Profile', profile)
  const begin = field('Name begins with', { name: 'begin', autocomplete: 'off' })
  const show = () => {
    device.row.hidden = choice.value !== 'device'
    profileRow.hidden = choice.value !== 'profile'
    begin.row.hidden = choice.value !== 'name'
  }
  show()
  choice.addEventListener('change', () => (show(), onChange()))
  profile.addEventListener('change', onChange)
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing
  begin.input.addEventListener('input', () => {
    clearTimeout(typing)
    typing = setTimeout(onChange, TYPING_MS)
  })

  return {
    element: make(
      'fieldset',
      {},
      make('legend', {}, 'Of'),
      make('label', {}, 'Entities', choice),
      device.row,
      device.options,
      profileRow,
      begin.row,
    ),
    /** Of an alias that is there. */
    aliasId: () => (choice.value.startsWith('alias:') ? choice.value.slice(6) : undefined),
    name: () =>
      choice.value === 'device'
        ? device.input.value
        : choice.value === 'profile'
          ? profile.value
          : `${begin.input.value}…`,
    /** @returns {Promise<Json | undefined>} */
    async filter() {
      if (choice.value.startsWith('alias:')) {
        const found = filterOf({ entityAliasId: choice.value.slice(6) }, configuration)
        return 'filter' in found ? found.filter : {}
      }
      if (choice.value === 'profile') return { type: 'deviceType', deviceTypes: [profile.value], deviceNameFilter: '' }
      if (choice.value === 'name')
        return { type: 'entityName', entityType: 'DEVICE', entityNameFilter: begin.input.value }
      const name = device.input.value.trim()
      if (name === '') return undefined
      const found = await call('GET', `/api/tenant/devices?${new URLSearchParams({ deviceName: name })}`)
      return { type: 'singleEntity', singleEntity: { entityType: 'DEVICE', id: found.id.id } }
    },
  }
}
