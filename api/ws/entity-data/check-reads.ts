import type { EntityId } from '../../../model/entity-id.ts'
import { isAttributeType } from '../../../model/entity-query.ts'
import type { CommandContext } from '../define-command.ts'
import type { SubCommands } from './sub-commands.ts'

/** What a query may list is not always what may be read of it: rejects where the user may not. */
export async function checkReads(
  { principal, checkAccess }: Pick<CommandContext, 'principal' | 'checkAccess'>,
  entities: readonly EntityId[],
  { latest = [], ...others }: SubCommands,
): Promise<void> {
  const readsSeries = Object.values(others).some((each) => each !== undefined)
  const telemetry = readsSeries || latest.some(({ type }) => type === 'TIME_SERIES')
  const attributes = latest.some(({ type }) => isAttributeType(type))
  const ofTypes = new Map(entities.map((entity) => [entity.entityType, entity]))
  for (const entity of ofTypes.values()) {
    if (entity.id === principal.userId) continue
    if (telemetry) await checkAccess(entity, 'READ_TELEMETRY')
    if (attributes) await checkAccess(entity, 'READ_ATTRIBUTES')
  }
}
