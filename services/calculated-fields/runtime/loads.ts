/** What a turn of calculated fields must read first; as a rule nothing. */
import type { ArgumentNeed, Needs } from '../../../model/calculated-fields/kind.ts'
import type { EntityId } from '../../../model/entity-id.ts'
import type { TenantLimits } from '../../entities/tenant-limits.ts'
import type { EntityFacts } from './facts.ts'
import type { FieldIndex } from './field-index.ts'
import { isDynamic, isSource, type Held } from './held.ts'
import type { GoneSeries } from './payload.ts'
import type { EntityState, FieldState } from './states.ts'

export interface LoadSurroundings {
  readonly entity: EntityId
  readonly facts: EntityFacts
  readonly state: EntityState | undefined
  readonly now: number
  readonly limits: TenantLimits
  readonly isAlarmNews: boolean
  readonly isRelationNews: boolean
  readonly gone: GoneSeries | undefined
}

/** The state was calculated with a later version than the one that is known here. */
export function isOlder(index: Pick<FieldIndex, 'find'>, id: string, { fields }: EntityState): boolean {
  return (index.find(id)?.record.version ?? -1) < (fields[id]?.version ?? -1)
}

export interface ToLoad {
  readonly arguments: readonly (readonly [name: string, need: ArgumentNeed])[]
  readonly isAlarmAsked: boolean
}

/** What must be read for a field before its turn; undefined where nothing is. */
export function toLoad(
  version: number,
  needs: Needs,
  before: FieldState | undefined,
  { entity, facts, state, now, isAlarmNews, isRelationNews, gone }: LoadSurroundings,
): ToLoad | undefined {
  const isNew = before === undefined || before.version !== version
  if (!isNew && before.isTooLarge === true) return undefined
  const isReload = before?.reloadAt !== undefined && before.reloadAt <= now
  const hasMoved = state !== undefined && state.owner !== facts.owner.id
  let asked: [string, ArgumentNeed][] | undefined
  for (const name of Object.keys(needs.arguments)) {
    const need = needs.arguments[name]
    if (need === undefined) continue
    const { from } = need.origin
    const isStale = isReload || (from === 'owner' && hasMoved) || (from === 'related' && isRelationNews)
    const held = before?.args[name]
    const isToRead = isNew || held === undefined || (isDynamic(need) && isStale)
    if (!isToRead && !isGone(held, need, entity, gone)) continue
    ;(asked ??= []).push([name, need])
  }
  const isAlarmAsked = needs.alarm === true && (isNew || isAlarmNews)
  return asked === undefined && !isNew && !isAlarmAsked ? undefined : { arguments: asked ?? [], isAlarmAsked }
}

/** Points of its series went. */
function isGone(held: Held, need: ArgumentNeed, entity: EntityId, gone: GoneSeries | undefined): boolean {
  if (gone === undefined || need.type === 'ATTRIBUTE' || !gone.keys.includes(need.key)) return false
  return isSource(held, need, entity, gone.from ?? entity)
}
