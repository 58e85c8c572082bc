/** What several nodes do to configurations of older versions. Each throws `UPGRADE_IMPOSSIBLE` where the old member is missing, as the reference does. */
import type { JsonObject } from '../model/json.ts'
import { NodeErrors } from './errors.ts'

type Upgrade = (configuration: JsonObject, fromVersion: number) => JsonObject

/** A boolean of an old configuration, which may be text. */
export function oldBoolean(configuration: JsonObject, member: string): boolean {
  const value = configuration[member]
  if (value === true || value === 'true') return true
  if (value === false || value === 'false') return false
  throw NodeErrors.UPGRADE_IMPOSSIBLE({ member })
}

/**
 * Until version 1 a node said by a boolean whether it meant the metadata, then by a text under the same or another name: `older` are those
 * names by version.
 */
export function sourceUpgrade(current: string, older: readonly string[]): Upgrade {
  return (configuration, fromVersion) => {
    const name = older[fromVersion]
    if (name === undefined) return configuration
    const { [name]: said, ...rest } = configuration
    if (said === 'METADATA' || said === 'DATA') return { ...rest, [current]: said }
    return { ...rest, [current]: oldBoolean(configuration, name) ? 'METADATA' : 'DATA' }
  }
}

/**
 * Version 0 said by a boolean, under a name of each node, where to put what was fetched. `whenAbsent` is for files from before it could be
 * said; without it they can not be raised.
 */
export function fetchToUpgrade(older: string, whenTrue: 'DATA' | 'METADATA', whenAbsent?: 'METADATA'): Upgrade {
  return (configuration, fromVersion) => {
    if (fromVersion > 0) return configuration
    const { [older]: said, ...rest } = configuration
    if (whenAbsent !== undefined && (said ?? null) === null) return { ...rest, fetchTo: whenAbsent }
    const isTrue = oldBoolean(configuration, older)
    return { ...rest, fetchTo: isTrue === (whenTrue === 'DATA') ? 'DATA' : 'METADATA' }
  }
}

/** Version 0 stored the direction of a relation from its other side. */
export function swappedDirection(configuration: JsonObject): JsonObject {
  const { direction } = configuration
  if (direction !== 'FROM' && direction !== 'TO') throw NodeErrors.UPGRADE_IMPOSSIBLE({ member: 'direction' })
  return { ...configuration, direction: direction === 'FROM' ? 'TO' : 'FROM' }
}
