/** Entities by which a form of a calculated field shows what it will find: its owner, or one of the profile that owns it. */
import { call } from '../session.js'

/** @typedef {{ entityType: string, id: string }} EntityId */
/** A step along relations. @typedef {{ direction: string, relationType: string }} Level */
/** @typedef {{ entity: EntityId, name: string }} Named */

/** Entities of a step whose own relations are looked at. */
const MAX_FOLLOWED = 20

const MEMBERS = /** @type {Readonly<Record<string, readonly [path: string, parameter: string]>>} */ ({
  DEVICE_PROFILE: ['/api/tenant/deviceInfos', 'deviceProfileId'],
  ASSET_PROFILE: ['/api/tenant/assetInfos', 'assetProfileId'],
})

/** Undefined where a profile has none. @param {EntityId} owner @returns {Promise<Named | undefined>} `name` is '' where it is the owner itself */
export async function memberOf(owner) {
  const [path, parameter] = MEMBERS[owner.entityType] ?? []
  if (path === undefined || parameter === undefined) return { entity: owner, name: '' }
  const { data } = await call(
    'GET',
    `${path}?${new URLSearchParams({ pageSize: '1', page: '0', [parameter]: owner.id })}`,
  )
  return data[0] === undefined ? undefined : { entity: data[0].id, name: data[0].name }
}

/** What is found along the relations. @param {EntityId} from @param {readonly Level[]} levels @returns {Promise<Named[]>} */
export async function relatedTo(from, levels) {
  /** @type {Named[]} */
  let found = [{ entity: from, name: '' }]
  for (const level of levels) {
    const lists = await Promise.all(found.slice(0, MAX_FOLLOWED).map(({ entity }) => step(entity, level)))
    found = [...new Map(lists.flat().map((each) => [each.entity.id, each])).values()]
  }
  return found
}

/** @param {EntityId} entity @param {Level} level @returns {Promise<Named[]>} */
async function step({ entityType, id }, { direction, relationType }) {
  const isFrom = direction === 'FROM'
  const ends = isFrom ? { fromId: id, fromType: entityType } : { toId: id, toType: entityType }
  /** @type {Record<string, any>[]} */
  const relations = await call('GET', `/api/relations/info?${new URLSearchParams({ ...ends, relationType })}`)
  const end = isFrom ? 'to' : 'from'
  return relations.map((relation) => ({ entity: relation[end], name: relation[`${end}Name`] ?? relation[end].id }))
}
