/** What a search of events asks for, by their type. Source: `rest-api.md` 13.4. */
import { z } from 'zod'
import { eventColumn } from '../../storage/entities/events.ts'
import type { Condition } from '../../storage/entities/tables/row-store.ts'

const text = z.string().nullish()
const count = z.int().nullish()
const common = { server: text, errorStr: text, notEmpty: z.boolean().nullish() }
/** Of few words; a field of a form that was left empty asks for none of them. */
function word<const Word extends string>(words: readonly Word[]) {
  return z.enum(words).or(z.literal('')).nullish()
}
const isError = z
  .boolean()
  .or(word(['true', 'false']))
  .nullish()
const ofMessage = { entityId: text, entityType: text, msgId: text, msgType: text, isError }

export const eventFilter = z.discriminatedUnion('eventType', [
  z.object({
    ...{ ...common, ...ofMessage, eventType: z.literal('DEBUG_RULE_NODE') },
    ...{
      msgDirectionType: word(['IN', 'OUT']),
      relationType: text,
      dataSearch: text,
      metadataSearch: text,
    },
  }),
  z.object({ ...common, eventType: z.literal('DEBUG_RULE_CHAIN'), isError, message: text }),
  z.object({ ...common, ...ofMessage, eventType: z.literal('DEBUG_CALCULATED_FIELD'), arguments: text, result: text }),
  z.object({
    ...{ ...common, eventType: z.literal('LC_EVENT'), event: text },
    status: word(['Success', 'Failure', 'SUCCESS', 'FAILURE']),
  }),
  z.object({ ...common, eventType: z.literal('ERROR'), method: text }),
  z.object({
    ...{ ...common, eventType: z.literal('STATS') },
    ...{ minMessagesProcessed: count, maxMessagesProcessed: count, minErrorsOccurred: count, maxErrorsOccurred: count },
  }),
])
export type EventFilter = z.infer<typeof eventFilter>

/** Compared whole. */
const SAME: Readonly<Record<string, string>> = {
  msgDirectionType: 'type',
  entityId: 'entityId',
  entityType: 'entityType',
  msgId: 'msgId',
  msgType: 'msgType',
  relationType: 'relationType',
}
/** Looked for in whatever case. */
const PARTS: Readonly<Record<string, string>> = {
  errorStr: 'error',
  dataSearch: 'data',
  metadataSearch: 'metadata',
  message: 'message',
  arguments: 'arguments',
  result: 'result',
  event: 'event',
  method: 'method',
}
/** The lowest number, and the one above the highest. */
const RANGES: Readonly<Record<string, readonly [member: string, end: 'from' | 'below']>> = {
  minMessagesProcessed: ['messagesProcessed', 'from'],
  maxMessagesProcessed: ['messagesProcessed', 'below'],
  minErrorsOccurred: ['errorsOccurred', 'from'],
  maxErrorsOccurred: ['errorsOccurred', 'below'],
}

export function conditionsOf(filter: EventFilter): readonly Condition[] {
  return Object.entries(filter).flatMap(([name, value]): Condition[] => {
    if (value === null || value === undefined || value === '') return []
    if (name === 'server') return [{ column: 'server', is: String(value) }]
    if (name === 'isError') return String(value) === 'true' ? [{ column: eventColumn('error'), isSet: true }] : []
    if (name === 'status')
      return [{ column: eventColumn('success'), is: String(value).toUpperCase() === 'SUCCESS' ? 1 : 0 }]
    const same = SAME[name]
    if (same !== undefined) return [{ column: eventColumn(same), is: String(value) }]
    const part = PARTS[name]
    if (part !== undefined) return [{ column: eventColumn(part), contains: String(value) }]
    const range = RANGES[name]
    if (range === undefined || typeof value !== 'number') return []
    const [member, end] = range
    const column = eventColumn(member)
    if (end === 'from') return [{ column, from: value, to: Number.MAX_SAFE_INTEGER }]
    return [{ column, from: Number.MIN_SAFE_INTEGER, to: value - 1 }]
  })
}
