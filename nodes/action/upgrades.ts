/** Steps of old configurations that several nodes share. */
import type { JsonObject } from '../../model/json.ts'

export function withoutMember(configuration: JsonObject, member: string): JsonObject {
  const { [member]: _gone, ...rest } = configuration
  return rest
}

/** Old files told the direction from the other end, and are known by a member that is gone since (`rule-nodes.md` section 2). */
export function turnedDirection(configuration: JsonObject): JsonObject {
  if (!Object.hasOwn(configuration, 'entityCacheExpiration')) return configuration
  const rest = withoutMember(configuration, 'entityCacheExpiration')
  const direction = rest['direction'] === 'FROM' ? 'TO' : rest['direction'] === 'TO' ? 'FROM' : rest['direction']
  return direction === undefined ? rest : { ...rest, direction }
}
