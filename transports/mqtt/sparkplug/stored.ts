/** What is stored of a message of Sparkplug. Source: `device-api.md` 14. */
import type { Entry } from '../../../model/value.ts'
import { CONNECTION_STATE, type DeviceIdentity, type UploadGroup } from '../../../engine/device/gateway.ts'
import type { Births, Owner } from './births.ts'
import { SparkplugErrors } from './errors.ts'
import { MetricNames } from './metric-names.ts'
import { VALUE, type Metric, type SparkplugPayload } from './payload.ts'
import type { MessageType } from './topics.ts'
import { Datatype, storedValue } from './values.ts'

export const BD_SEQ = 'bdSeq'

export interface ForStore {
  /** One for each metric, as the reference makes a message of each. */
  readonly groups: readonly UploadGroup[]
  readonly shared: readonly Entry[]
}

/** By the clock of the platform: that of a node may be ahead, and its end would stand before its beginning. */
export function stateGroup(value: 'ONLINE' | 'OFFLINE'): UploadGroup {
  return { ts: undefined, entries: [{ key: CONNECTION_STATE, type: 'STRING', value }] }
}

/** Throws NO_NAME, UNKNOWN_ALIAS. `node`: the edge node as it is now. */
export function resolved(
  payload: SparkplugPayload,
  type: MessageType,
  owner: Owner,
  births: Births,
  node: DeviceIdentity,
): ForStore {
  const profile = node.mqtt?.sparkplug
  const names = profile === undefined ? undefined : MetricNames.of(profile)
  const groups: UploadGroup[] = []
  const shared: Entry[] = []
  if (type === 'NBIRTH' || type === 'DBIRTH') groups.push(stateGroup('ONLINE'))
  for (const metric of payload.metrics) {
    const { name, datatype } = known(metric, owner, births)
    const value = storedValue(datatype, metric.value)
    if (value === undefined) continue
    if (names?.has(name) === true) shared.push({ key: name, ...value })
    else groups.push({ ts: metric.ts, entries: [{ key: name === BD_SEQ ? `${type} ${BD_SEQ}` : name, ...value }] })
  }
  // Of 64 bits, whatever the specification says: a LONG may not hold it.
  const seq = payload.seq === undefined ? undefined : { field: VALUE.long, value: BigInt(payload.seq) }
  const stored = type === 'DBIRTH' ? storedValue(Datatype.UInt64, seq) : undefined
  if (stored !== undefined) groups.push({ ts: payload.ts, entries: [{ key: 'DBIRTH seq', ...stored }] })
  return { groups, shared }
}

/** Data may leave out what the birth said. */
function known(
  { name, alias, datatype }: Metric,
  owner: Owner,
  births: Births,
): { readonly name: string; readonly datatype: number } {
  if (name === undefined && alias === undefined) throw SparkplugErrors.NO_NAME()
  const born = name === undefined ? births.aliased(owner, alias ?? 0n) : births.metric(owner, name)
  const known = name ?? born?.name
  if (known === undefined) throw SparkplugErrors.UNKNOWN_ALIAS({ alias: String(alias) })
  return { name: known, datatype: datatype === 0 ? (born?.datatype ?? 0) : datatype }
}

export function bdSeqOf({ metrics }: SparkplugPayload): bigint | undefined {
  const value = metrics.find(({ name }) => name === BD_SEQ)?.value?.value
  return typeof value === 'bigint' ? value : undefined
}
