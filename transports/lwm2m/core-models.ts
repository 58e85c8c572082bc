/** Types of the resources of the objects that every client has, for where no model was uploaded. Source: OMA LwM2M Core 1.1, appendix E; OMA Lock and Wipe, Software Management, BinaryAppDataContainer 1.0; IPSO 3303. */
import type { ResourceType } from './values.ts'

export interface ResourceModel {
  readonly type: ResourceType
}

/** Undefined where nobody knows the resource. */
export type FindResource = (objectId: number, version: string, resourceId: number) => ResourceModel | undefined

/** `E`, which is executed and has no value, does not stand here. */
const LETTERS: Readonly<Record<string, ResourceType>> = {
  ...{ S: 'STRING', I: 'INTEGER', F: 'FLOAT', B: 'BOOLEAN', O: 'OPAQUE', T: 'TIME', L: 'OBJLNK' },
}

/** By object: each resource's number and letter. */
const CORE: Readonly<Record<number, string>> = {
  0: '0S 1B 2I 3O 4O 5O 6I 7O 8O 9S 10I 11I 12I',
  1: '0I 1I 2I 3I 5I 6B 7S',
  2: '0I 1I 2I 3I',
  3: '0S 1S 2S 3S 6I 7I 8I 9I 10I 11I 13T 14S 15S 16S 17S 18S 19S 20I 21I 22L',
  4: '0I 1I 2I 3I 4S 5S 6I 7S 8I 9I 10I',
  5: '0O 1S 3I 5I 6S 7S 8I 9I',
  6: '0F 1F 2F 3F 4O 5T 6F',
  7: '0I 1I 2I 3I 4I 5I 8I',
  8: '0I 1S 2S 4S 5I',
  9: '0S 1S 2O 3S 5L 7I 8B 9I 12B 13L 14S 15S',
  19: '0O 1I 2T 3S 4S 5I',
  3303: '5601F 5602F 5603F 5604F 5700F 5701S',
}

const types: ReadonlyMap<string, ResourceModel> = new Map(
  Object.entries(CORE).flatMap(([objectId, resources]) =>
    resources.split(' ').flatMap((each) => {
      const type = LETTERS[each.slice(-1)]
      return type === undefined ? [] : [[`${objectId}/${each.slice(0, -1)}`, { type }] as const]
    }),
  ),
)

/** Whatever the version: none of them changed a type. */
export const findCoreResource: FindResource = (objectId, _version, resourceId) => types.get(`${objectId}/${resourceId}`)

/** Whether an object's resources are known without a model that somebody uploaded. */
export function isCoreObject(objectId: number): boolean {
  return Object.hasOwn(CORE, objectId)
}
