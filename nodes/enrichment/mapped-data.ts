/** Attributes or latest values of one entity under other names: what the nodes for customer, tenant and related entity have in common. */
import { z } from 'zod'
import type { EntityId } from '../../model/entity-id.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import { isJsonObject } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import type { TypedValue } from '../../model/value.ts'
import type { NodeCapabilities } from '../../engine/rulechain/capabilities.ts'
import { whenThere, type Soon } from '../../engine/rulechain/capabilities/soon.ts'
import type { Emission } from '../../engine/rulechain/node.ts'
import { requireField } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern } from '../pattern.ts'
import { oldBoolean } from '../upgrade.ts'
import { valueOf, withFetched } from './fetched.ts'
import type { Fetched, FetchTo } from './fetched.ts'

export const dataMapping = z
  .record(z.string(), z.string())
  .meta({ title: 'Mapping', description: 'From the key there to the key in the message; both may hold patterns.' })

export function requireMapping(mapping: Readonly<Record<string, string>>, node: string): void {
  requireField(Object.keys(mapping).length > 0, node, 'dataMapping', 'at least one key is needed')
}

export const dataToFetch = z
  .enum(['ATTRIBUTES', 'LATEST_TELEMETRY'])
  .meta({ title: 'What', description: 'ATTRIBUTES, those of the server scope, or LATEST_TELEMETRY.' })

interface Mapped {
  readonly fetchTo: FetchTo
  readonly dataMapping: Readonly<Record<string, string>>
}

type Services = Pick<NodeCapabilities, 'attributes' | 'history'>

/** A missing attribute is left out; a missing latest value too, but in the body it is null. */
export function mappedFetch(
  { fetchTo, dataMapping: mapping }: Mapped,
  what: 'ATTRIBUTES' | 'LATEST_TELEMETRY',
  { attributes, history }: Services,
): (message: Message, entity: EntityId) => Soon<Emission> {
  const pairs = Object.entries(mapping).map(([from, to]) => ({ from: pattern(from), to: pattern(to) }))
  const isNullKept = what === 'LATEST_TELEMETRY' && fetchTo === 'DATA'
  return (message, entity) => {
    const wanted = pairs.map(({ from, to }) => [from(message), to(message)] as const)
    const keys = [...new Set(wanted.map(([from]) => from))]
    const read: Soon<readonly (TypedValue & { readonly key: string })[]> =
      what === 'ATTRIBUTES' ? attributes.find(entity, 'SERVER_SCOPE', keys) : history.latest(entity, keys)
    return whenThere(read, (found) => {
      const values = new Map<string, JsonValue>(found.map((entry) => [entry.key, valueOf(entry)]))
      const fetched: Fetched = wanted.flatMap(([from, to]) => {
        const value = values.get(from)
        if (value === undefined) return isNullKept ? [[to, null] as const] : []
        return [[to, value] as const]
      })
      return { message: withFetched(message, fetchTo, fetched), relations: ['Success'] }
    })
  }
}

/** Version 0: `attrMapping`, and `telemetry` as a boolean. Throws where they are missing. */
export function mappedUpgrade(configuration: JsonObject, fromVersion: number): JsonObject {
  if (fromVersion > 0) return configuration
  const { attrMapping, telemetry: _said, ...rest } = configuration
  if (!isJsonObject(attrMapping)) throw NodeErrors.UPGRADE_IMPOSSIBLE({ member: 'attrMapping' })
  return {
    ...rest,
    dataMapping: attrMapping,
    dataToFetch: oldBoolean(configuration, 'telemetry') ? 'LATEST_TELEMETRY' : 'ATTRIBUTES',
    fetchTo: 'METADATA',
  }
}
