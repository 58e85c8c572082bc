/** The form of geofencing: where a thing is, in which groups of zones it may be, and what is told of that. */
import { choice, field, hide, make } from '../dom.js'
import { call } from '../session.js'
import { entityChoice } from './entity-choice.js'
import { outputOf, storedOutput } from './field-shapes.js'
import { MAX_SHOWN, foundNow } from './found-now.js'
import { relatedTo } from './members.js'
import { Misfit, member } from './misfit.js'
import { outputRows } from './output-rows.js'
import { readingAnew } from './reading-anew.js'
import { relationRow } from './relation-rows.js'
import { SOURCES, STRATEGIES, groupsOf, namedGroups, newGroup } from './zone-shapes.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {import('./zone-shapes.js').Group} Group */
/** @typedef {import('./editor.js').Surroundings} Surroundings */

const RELATED_BY = /** @type {readonly (readonly [string, string])[]} */ ([
  ['FROM', 'from it to the zone'],
  ['TO', 'from the zone to it'],
])

/** @param {Json} before @param {Surroundings} around @returns {import('./editor.js').Editor} */
export function zoneForm(before, around) {
  const { entityCoordinates: at = {} } = before
  const latitude = coordinate('Key of its latitude', 'latitudeKeyName', at.latitudeKeyName ?? '', around)
  const longitude = coordinate('Key of its longitude', 'longitudeKeyName', at.longitudeKeyName ?? '', around)
  const where = make('div', { class: 'choice', focusin: () => void around.keys.offer() }, latitude.row, longitude.row)
  const groups = groupRows(groupsOf(before['zoneGroups']), around)
  const anew = readingAnew(before, 'Look for other zones even without news')
  const output = outputRows(outputOf(before['output']), false)
  return {
    rows: [where, around.keys.element, groups.element, anew.tick, anew.every, output.row],
    configuration: async () => ({
      ...before,
      entityCoordinates: {
        ...at,
        latitudeKeyName: latitude.input.value.trim(),
        longitudeKeyName: longitude.input.value.trim(),
      },
      zoneGroups: namedGroups(await groups.read()),
      ...anew.read(),
      output: storedOutput(before['output'], output.read()),
    }),
  }
}

/** @param {string} label @param {string} name @param {string} value @param {Surroundings} around */
function coordinate(label, name, value, { keys }) {
  const made = field(label, { name, required: true, autocomplete: 'off', list: keys.element.id })
  made.input.value = value
  member(made.input, `entityCoordinates.${name}`)
  return made
}

/** @param {readonly Group[]} shown @param {Surroundings} around */
function groupRows(shown, around) {
  /** @type {ReturnType<typeof groupRow>[]} */
  let rows = []
  const list = make('div')
  const add = make('button', { type: 'button', click: () => append(newGroup('')).name.focus() }, 'Add a group of zones')
  for (const each of shown) append(each)
  return { element: make('div', {}, list, make('p', {}, add)), read }

  /** @param {Group} group */
  function append(group) {
    const row = groupRow(group, around, () => {
      rows = rows.filter((each) => each !== row)
      row.element.remove()
      add.focus()
    })
    rows.push(row)
    list.append(row.element)
    return row
  }

  /** Throws where two have one name, or there is none. @returns {Promise<Group[]>} */
  async function read() {
    if (rows.length === 0) throw new Error('Add a group of zones: without one there is nothing to be inside of.')
    const all = await Promise.all(rows.map((row) => row.read()))
    const second = all.findIndex(({ name }, index) => all.findIndex((each) => each.name === name) < index)
    const row = rows[second]
    if (row === undefined) return all
    throw new Misfit(row.name, `Two groups are called "${row.name.value}": give one another name.`)
  }
}

/** @param {Group} group @param {Surroundings} around @param {() => void} remove */
function groupRow(group, { owner }, remove) {
  const name = field('Called', { name: 'group', required: true, autocomplete: 'off', placeholder: 'zones' })
  name.input.value = group.name
  const told = make('span', {})
  const source = choice('Its zones are', 'source', SOURCES, group.source.kind)
  const steps = stepRows(group.source.levels, () => name.input.value.trim())
  const entity = entityChoice(group.source.entity)
  const entityRows = make('div', { class: 'choice' }, ...entity.rows)
  const perimeter = field('Attribute with the perimeter', { name: 'perimeter', required: true, autocomplete: 'off' })
  perimeter.input.value = group.perimeter
  const strategy = choice('It tells', 'strategy', STRATEGIES, group.strategy)
  const relates = make('input', { type: 'checkbox', name: 'relates', checked: group.relates })
  const direction = choice('The relation goes', 'zoneDirection', RELATED_BY, group.relation.direction)
  const type = field('Relation', { name: 'zoneRelation', required: true, autocomplete: 'off', placeholder: 'IsIn' })
  type.input.value = group.relation.relationType
  const relation = make('div', { class: 'choice' }, direction.row, type.row)
  const found = foundNow(owner, ['zone', 'zones'], async (from) =>
    noted(await relatedTo(from, steps.read()), perimeter.input.value.trim()),
  )
  const show = () => {
    hide(steps.element, source.input.value !== 'RELATED')
    hide(found, source.input.value !== 'RELATED')
    hide(entityRows, source.input.value !== 'ENTITY')
    hide(relation, !relates.checked)
  }
  for (const each of [source.input, relates]) each.addEventListener('change', show)
  show()
  const button = make('button', { type: 'button', click: remove }, 'Remove this group')
  const say = () => {
    const key = name.input.value.trim() || 'zones'
    told.textContent = `Results are ${key}Event (ENTERED, LEFT) and ${key}Status (INSIDE, OUTSIDE).`
    button.setAttribute('aria-label', `Remove ${name.input.value || 'this group'}`)
  }
  name.input.addEventListener('input', say)
  say()
  const element = make(
    'fieldset',
    {},
    make('legend', {}, 'Group of zones'),
    make('div', { class: 'choice' }, name.row, perimeter.row, strategy.row),
    told,
    source.row,
    ...[steps.element, entityRows, found],
    make('label', { class: 'tick' }, relates, 'Relate it to the zones that it is in'),
    relation,
    button,
  )
  return {
    element,
    name: name.input,
    /** @returns {Promise<Group>} */
    async read() {
      const path = `zoneGroups.${name.input.value.trim()}`
      member(name.input, path)
      member(perimeter.input, `${path}.perimeterKeyName`)
      member(source.input, `${path}.levels`)
      const kind = source.input.value
      return {
        name: name.input.value.trim(),
        source: { kind, entity: kind === 'ENTITY' ? await entity.find() : undefined, levels: steps.read() },
        ...{ perimeter: perimeter.input.value.trim(), strategy: strategy.input.value, relates: relates.checked },
        relation: { direction: direction.input.value, relationType: type.input.value.trim() },
        before: group.before,
      }
    },
  }
}

/** Steps along relations, one behind the other. @param {readonly import('./members.js').Level[]} shown @param {() => string} group */
function stepRows(shown, group) {
  let rows = shown.map(rowOf)
  const list = make('div', {}, ...rows.map(({ element }) => element))
  const more = make('button', { type: 'button', click: () => longer() }, 'Look a step further')
  const less = make('button', { type: 'button', click: () => shorter() }, 'Leave out the last step')
  const show = () => (less.hidden = rows.length === 1)
  show()
  return {
    element: make('div', { role: 'group', 'aria-label': 'Relations' }, list, make('p', { class: 'acts' }, more, less)),
    read: () => rows.map((row) => row.read()),
  }

  function longer() {
    const row = rowOf({ direction: 'FROM', relationType: 'Contains' })
    rows.push(row)
    list.append(row.element)
    show()
    row.focus()
  }

  function shorter() {
    rows.at(-1)?.element.remove()
    rows = rows.slice(0, -1)
    show()
    more.focus()
  }

  /** @param {import('./members.js').Level} level */
  function rowOf(level) {
    return relationRow(level, `zoneGroups.${group()}.refDynamicSourceConfiguration.levels.0`)
  }
}

/** Zones without the attribute hold nothing, and are said to: of those that are shown, as each is a call. @param {import('./found-now.js').Found[]} zones @param {string} key */
function noted(zones, key) {
  return Promise.all(
    zones.map(async (zone, index) => {
      if (index >= MAX_SHOWN) return zone
      const { entityType, id } = zone.entity
      const path = `/api/plugins/telemetry/${entityType}/${id}/values/attributes/SERVER_SCOPE`
      const values = await call('GET', `${path}?${new URLSearchParams({ keys: key })}`)
      return values.length > 0 ? zone : { ...zone, note: `it has no server attribute "${key}"` }
    }),
  )
}
