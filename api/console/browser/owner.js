/** Whose a calculated field or an alarm rule is: what it is called, and a form that chooses one. */
import { choice, make, messageOf } from './dom.js'
import { entityLink } from './entity-link.js'
import { namedField } from './named-field.js'
import { call } from './session.js'

/** @typedef {{ entityType: string, id: string }} EntityId */

const KINDS = /** @type {readonly (readonly [type: string, text: string, one: string, list: string])[]} */ ([
  ['DEVICE_PROFILE', 'all devices of a profile', '/api/deviceProfile', '/api/deviceProfiles'],
  ['DEVICE', 'one device', '/api/device', '/api/tenant/devices'],
  ['ASSET_PROFILE', 'all assets of a profile', '/api/assetProfile', '/api/assetProfiles'],
  ['ASSET', 'one asset', '/api/asset', '/api/tenant/assets'],
])

/** @param {string} entityType */
export function ownerText(entityType) {
  return KINDS.find(([type]) => type === entityType)?.[1] ?? entityType.toLowerCase().replaceAll('_', ' ')
}

/** @param {EntityId} owner */
export async function ownerLink(owner) {
  const path = KINDS.find(([type]) => type === owner.entityType)?.[2]
  const text = `Of ${ownerText(owner.entityType)}: `
  if (path === undefined) return make('span', {}, text, entityLink(owner, owner.id))
  // What it is called is a help alone: the page goes on without.
  return call('GET', `${path}/${owner.id}`).then(
    ({ name }) => make('span', {}, text, entityLink(owner, name)),
    (error) => make('span', {}, text, entityLink(owner, owner.id), ` (its name: ${messageOf(error)})`),
  )
}

/** A kind and a name. @param {readonly string[]} [types] all of them where it is absent */
export function ownerChoice(types = KINDS.map(([type]) => type)) {
  const offered = KINDS.filter(([type]) => types.includes(type))
  const kind = choice(
    'Of',
    'ownerType',
    offered.map(([type, text]) => [type, text]),
    offered[0]?.[0] ?? '',
  )
  const list = () => KINDS.find(([type]) => type === kind.input.value)?.[3] ?? ''
  const name = namedField({ label: 'Its name', name: 'owner', one: 'entity', path: list })
  return {
    rows: [kind.row, name.row, name.options],
    find: async () => /** @type {EntityId} */ ((await name.find())['id']),
  }
}
