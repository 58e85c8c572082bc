/** A script that says of each entity whether it counts. It sees the values that it names. */
import { z } from 'zod'
import { COLUMN_KINDS, type LatestColumn } from '../../model/latest-column.ts'
import { parseJson, stringifyJson, WholeDouble, type JsonValue } from '../../model/json.ts'
import { mergedMembers } from '../../model/members.ts'
import { Message } from '../../model/message.ts'
import type { AggregationTurn, MemberKey, MemberType } from '../../engine/rulechain/capabilities/aggregation.ts'
import type { NodeContext } from '../../engine/rulechain/node.ts'
import type { CompiledScript } from '../../engine/script/script.ts'
import { ofField } from '../define-node.ts'
import {
  scriptBody,
  scriptConfiguration,
  scriptDefaults,
  scriptField,
  type ScriptConfiguration,
} from '../script-configuration.ts'
import { memberKey } from './group.ts'

export const filterConfiguration = {
  useFilter: z.boolean().meta({ title: 'Filter', description: 'A script says which entities count.' }),
  filterKeys: z.array(z.strictObject(memberKey)).max(20).meta({
    title: 'Values of the filter',
    description:
      'In its msg: series by key, attributes with ss_, shared_ or cs_ before it. Its metadata has entityId, entityName, entityType, entityProfile.',
  }),
  ...scriptConfiguration.shape,
}

export const FILTER_DEFAULTS = {
  useFilter: false,
  filterKeys: [{ source: 'LATEST_TELEMETRY', key: 'temperature' }],
  ...scriptDefaults('return msg.temperature > 20;'),
}

/** Entities that are asked about at a time: between them others have the event loop. */
const ENTITIES_A_BATCH = 500
const PREFIXES = { LATEST_TELEMETRY: '', SERVER_SCOPE: 'ss_', SHARED_SCOPE: 'shared_', CLIENT_SCOPE: 'cs_' } as const

type FilterConfiguration = ScriptConfiguration & {
  readonly useFilter: boolean
  readonly filterKeys: readonly MemberKey[]
}

export interface MemberFilter {
  /** 1 for each that counts. Rejects with the script's error for the first of which it can not say it. */
  selected(
    turn: AggregationTurn,
    ids: readonly string[],
    columnOf: (key: MemberKey) => Promise<LatestColumn>,
  ): Promise<Uint8Array>
  close(): void
}

/** Undefined where all count. Throws as scripts do. */
export async function memberFilter(
  configuration: FilterConfiguration,
  entityType: MemberType,
  context: NodeContext<'scripts'>,
): Promise<MemberFilter | undefined> {
  const { useFilter, filterKeys, scriptLang } = configuration
  if (!useFilter) return undefined
  const { tenantId, ruleNodeId: ownerId, ruleNodeName: ownerName, ruleChainId, ruleChainName, clock } = context
  const script = await ofField(scriptField(configuration), () =>
    context.services.scripts.compile({
      ...{ language: scriptLang, kind: 'filter', body: scriptBody(configuration) },
      ...{ tenantId, ownerId, ownerName, ruleChainId, ruleChainName },
    }),
  )
  return {
    async selected(turn, ids, columnOf) {
      const columns: (readonly [name: string, column: LatestColumn])[] = []
      for (const key of filterKeys) columns.push([`${PREFIXES[key.source]}${key.key}`, await columnOf(key)])
      const selected = new Uint8Array(ids.length)
      for (let start = 0; start < ids.length; start += ENTITIES_A_BATCH) {
        const some = ids.slice(start, start + ENTITIES_A_BATCH)
        const named = new Map((await turn.names(entityType, some)).map((one) => [one.id, one]))
        const messages = some.map((id, offset) => {
          const values = columns.map(([name, column]) => [name, valueAt(column, start + offset)] as const)
          const there = values.filter((entry): entry is [string, JsonValue] => entry[1] !== undefined)
          const { name = '', type = '' } = named.get(id) ?? {}
          const metadata = { entityId: id, entityName: name, entityType, entityProfile: type }
          const fields = { id: '', ts: clock.now(), tenantId, originator: { entityType, id }, metadata }
          const data = stringifyJson(mergedMembers({}, there))
          return new Message({ ...fields, type: 'POST_TELEMETRY_REQUEST', data })
        })
        await ask(script, messages, (index, counts) => (selected[start + index] = counts ? 1 : 0))
        await new Promise<void>((resolve) => clock.soon(resolve))
      }
      return selected
    },
    close: () => script.close(),
  }
}

async function ask(
  script: CompiledScript<'filter'>,
  messages: readonly Message[],
  answer: (index: number, counts: boolean) => void,
): Promise<void> {
  let failure: Error | undefined
  await script.runBatch(messages, {
    value: answer,
    error: (_index, error) => (failure ??= error),
  })
  if (failure !== undefined) throw failure
}

/** As the body of a message has it; undefined where there is none. */
export function valueAt({ kinds, numbers, texts }: LatestColumn, place: number): JsonValue | undefined {
  const number = numbers[place] ?? 0
  switch (kinds[place]) {
    case COLUMN_KINDS.BOOLEAN:
      return number === 1
    case COLUMN_KINDS.LONG:
      return number
    case COLUMN_KINDS.DOUBLE:
      return Number.isInteger(number) ? new WholeDouble(number) : number
    case COLUMN_KINDS.STRING:
      return texts[number] ?? ''
    case COLUMN_KINDS.JSON:
      return parseJson(texts[number] ?? 'null')
    default:
      return undefined
  }
}
