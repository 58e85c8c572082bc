/** What an entity view shows of its source: attributes are copied when it is saved, series are read within its keys and time. */
import type { EntityId } from '../../model/entity-id.ts'
import type { AttributeScope, DataPoint } from '../../model/value.ts'
import type { AttributeWrite, ScopedAttribute } from '../../storage/entities/attributes.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'

export interface ViewKeys {
  readonly timeseries: readonly string[]
  readonly attributes: {
    readonly cs: readonly string[]
    readonly ss: readonly string[]
    readonly sh: readonly string[]
  }
}

/** Of one kind in one view. */
export const MAX_KEYS = 1_000

/** From and to in Unix ms; 0 is open. */
export interface ViewRange {
  readonly startTimeMs: number
  readonly endTimeMs: number
}

export interface Exposure extends ViewRange {
  readonly source: EntityId
  readonly keys: readonly string[]
}

/** The range that both allow; undefined where they have nothing in common. */
export function clipped(
  { startTimeMs, endTimeMs }: ViewRange,
  range: { readonly startTs: number; readonly endTs: number },
): { readonly startTs: number; readonly endTs: number } | undefined {
  const startTs = startTimeMs === 0 ? range.startTs : Math.max(range.startTs, startTimeMs)
  const endTs = endTimeMs === 0 ? range.endTs : Math.min(range.endTs, endTimeMs)
  return startTs < endTs ? { startTs, endTs } : undefined
}

export function isShown({ startTimeMs, endTimeMs }: ViewRange, { ts }: Pick<DataPoint, 'ts'>): boolean {
  return (startTimeMs === 0 || ts >= startTimeMs) && (endTimeMs === 0 || ts < endTimeMs)
}

/** Steps of the save: what the view showed before goes, what it shows now is copied of those written within its time. */
export async function copiedAttributes(
  { attributes }: Pick<EntityStore, 'attributes'>,
  viewId: string,
  source: EntityId,
  view: ViewRange & { readonly keys: ViewKeys | null },
  keysBefore: ViewKeys | null,
): Promise<readonly Statement[]> {
  const dropped = scopesOf(keysBefore).map(([scope, keys]) => attributes.delete(viewId, scope, keys))
  const wanted = scopesOf(view.keys)
  if (wanted.length === 0) return dropped
  const { rows } = await attributes.all(source.id)
  const writes = wanted.flatMap(([scope, keys]) =>
    rows.filter((row) => row.scope === scope && keys.includes(row.key) && isCopied(view, row)).map(writeOf(viewId)),
  )
  return writes.length === 0 ? dropped : [...dropped, attributes.save(writes)]
}

function scopesOf(keys: ViewKeys | null): readonly (readonly [AttributeScope, readonly string[]])[] {
  if (keys === null) return []
  const { cs, ss, sh } = keys.attributes
  const all = [
    ['CLIENT_SCOPE', cs],
    ['SERVER_SCOPE', ss],
    ['SHARED_SCOPE', sh],
  ] as const
  return all.filter(([, names]) => names.length > 0)
}

/** Neither border belongs to it, as in the reference. */
function isCopied({ startTimeMs, endTimeMs }: ViewRange, { lastUpdateTs }: ScopedAttribute): boolean {
  return (startTimeMs === 0 || startTimeMs < lastUpdateTs) && (endTimeMs === 0 || lastUpdateTs < endTimeMs)
}

function writeOf(entityId: string): (attribute: ScopedAttribute) => AttributeWrite {
  return (attribute) => ({ entityId, scope: attribute.scope, attribute, sequence: 0 })
}
