/** Attributes and latest values of an entity by their names: what two nodes fetch, of the originator or of a related device. */
import { z } from 'zod'
import type { EntityId } from '../../model/entity-id.ts'
import type { Message } from '../../model/message.ts'
import type { AttributeScope } from '../../model/value.ts'
import type { NodeCapabilities } from '../../engine/rulechain/capabilities.ts'
import { allThere, whenThere, type Soon } from '../../engine/rulechain/capabilities/soon.ts'
import type { Emission } from '../../engine/rulechain/node.ts'
import { orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { patterns } from '../pattern.ts'
import { fetchTo, valueOf, withFetched } from './fetched.ts'
import type { Fetched } from './fetched.ts'

const names = (title: string, description: string) =>
  orZero(z.array(z.string()), []).meta({ title, description: `${description} Names may hold patterns.` })

export const attributeNames = {
  fetchTo,
  clientAttributeNames: names('Client attributes', 'Added as cs_ and the name.'),
  sharedAttributeNames: names('Shared attributes', 'Added as shared_ and the name.'),
  serverAttributeNames: names('Server attributes', 'Added as ss_ and the name.'),
  latestTsKeyNames: names('Latest values', 'Added under their own names.'),
  tellFailureIfAbsent: orZero(z.boolean(), false).meta({
    title: 'Fail if absent',
    description: 'Failure where one is missing; what was found is added all the same.',
  }),
  getLatestValueWithTs: orZero(z.boolean(), false).meta({
    title: 'With time',
    description: 'Latest values become {"ts":…,"value":…}.',
  }),
}

export const ATTRIBUTE_NAMES_DEFAULTS = {
  fetchTo: 'METADATA',
  clientAttributeNames: [],
  sharedAttributeNames: [],
  serverAttributeNames: [],
  latestTsKeyNames: [],
  tellFailureIfAbsent: true,
  getLatestValueWithTs: false,
}

type AttributeNames = { readonly [Name in keyof typeof attributeNames]: z.output<(typeof attributeNames)[Name]> }

type Services = Pick<NodeCapabilities, 'attributes' | 'history'>

/** Makes of a message the one with the attributes of `entity`: on `Failure`, with what was found, where one is missing that must not be. */
export function attributesFetch(
  configuration: AttributeNames,
  { attributes, history }: Services,
): (message: Message, entity: EntityId) => Soon<Emission> {
  const scopes = [
    { scope: 'CLIENT_SCOPE', prefix: 'cs_', keysOf: patterns(configuration.clientAttributeNames) },
    { scope: 'SHARED_SCOPE', prefix: 'shared_', keysOf: patterns(configuration.sharedAttributeNames) },
    { scope: 'SERVER_SCOPE', prefix: 'ss_', keysOf: patterns(configuration.serverAttributeNames) },
  ] as const
  const latestKeysOf = patterns(configuration.latestTsKeyNames)
  const { fetchTo: target, getLatestValueWithTs, tellFailureIfAbsent } = configuration
  return (message, entity) => {
    const ofScope = (scope: AttributeScope, prefix: string, keys: readonly string[]): Soon<FetchedKeys> =>
      keys.length === 0
        ? NOTHING
        : whenThere(attributes.find(entity, scope, keys), (found) => ({
            fetched: found.map((entry) => [`${prefix}${entry.key}`, valueOf(entry)] as const),
            missing: absent(keys, found, prefix),
          }))
    const latest = (keys: readonly string[]): Soon<FetchedKeys> =>
      keys.length === 0
        ? NOTHING
        : whenThere(history.latest(entity, keys), (found) => ({
            fetched: found.map((point) => {
              const value = valueOf(point)
              return [point.key, getLatestValueWithTs ? { ts: point.ts, value } : value] as const
            }),
            missing: absent(keys, found, ''),
          }))
    const reads = scopes.map(
      ({ scope, prefix, keysOf }) =>
        () =>
          ofScope(scope, prefix, keysOf(message)),
    )
    return whenThere(allThere([...reads, () => latest(latestKeysOf(message))]), (parts) => {
      const missing = parts.flatMap((part) => part.missing)
      const changed = withFetched(
        message,
        target,
        parts.flatMap(({ fetched }) => fetched),
      )
      if (missing.length === 0 || !tellFailureIfAbsent) return { message: changed, relations: ['Success'] }
      return { message: changed, relations: ['Failure'], error: NodeErrors.KEYS_ABSENT({ keys: missing.join(', ') }) }
    })
  }
}

/** What was found of the keys that were asked for, and what was not. */
interface FetchedKeys {
  readonly fetched: Fetched
  readonly missing: readonly string[]
}

const NOTHING: FetchedKeys = { fetched: [], missing: [] }

function absent(keys: readonly string[], found: readonly { readonly key: string }[], prefix: string): string[] {
  const there = new Set(found.map(({ key }) => key))
  return keys.filter((key) => !there.has(key)).map((key) => `${prefix}${key}`)
}
