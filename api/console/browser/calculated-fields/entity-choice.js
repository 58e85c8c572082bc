/** A field for one device or asset, by its name; what was chosen before stays until another name is typed. */
import { choice } from '../dom.js'
import { namedField } from '../named-field.js'
import { call } from '../session.js'
import { Misfit } from './misfit.js'

/** @typedef {import('./members.js').EntityId} EntityId */

const KINDS = /** @type {readonly (readonly [type: string, text: string, one: string, list: string])[]} */ ([
  ['ASSET', 'an asset', '/api/asset', '/api/tenant/assets'],
  ['DEVICE', 'a device', '/api/device', '/api/tenant/devices'],
])

let fields = 0

/** @param {EntityId | undefined} chosen */
export function entityChoice(chosen) {
  const offered = KINDS.map(([type, text]) => /** @type {const} */ ([type, text]))
  const kind = choice('Which is', 'zoneType', offered, chosen?.entityType ?? 'ASSET')
  const path = () => KINDS.find(([type]) => type === kind.input.value)?.[3] ?? ''
  const name = namedField({ label: 'Its name', name: `zone-entity-${++fields}`, one: 'entity', path })
  let before = ''
  const one = KINDS.find(([type]) => type === chosen?.entityType)?.[2]
  if (chosen !== undefined) void show(chosen)
  return {
    rows: [kind.row, name.row, name.options],
    /** Throws where none has the name. @returns {Promise<EntityId>} */
    async find() {
      if (chosen !== undefined && kind.input.value === chosen.entityType && name.input.value === before) return chosen
      const found = await name.find().catch((error) => {
        throw new Misfit(name.input, error.message)
      })
      return found['id']
    },
  }

  /** @param {EntityId} entity */
  async function show({ id }) {
    // Its name is a help alone: without it the id says which one it is.
    const text = one === undefined ? id : await call('GET', `${one}/${id}`).then(nameOf, () => id)
    if (name.input.value !== '') return
    before = text
    name.input.value = text
  }
}

/** @param {Record<string, any>} entity @returns {string} */
function nameOf(entity) {
  return entity['name']
}
