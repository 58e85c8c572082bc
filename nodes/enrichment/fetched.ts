/** Where enrichment nodes put what they fetched: as text into the metadata, or as typed members into the body (`rule-nodes.md` section 2). */
import { z } from 'zod'
import { WholeDouble, parseJson } from '../../model/json.ts'
import type { JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import type { TypedValue } from '../../model/value.ts'
import { mergedMembers } from '../../model/members.ts'
import { bodyObject, metadataText, withBody, withMetadata } from '../body.ts'

export const fetchTo = z
  .enum(['DATA', 'METADATA'])
  .meta({ title: 'Add to', description: 'DATA, the body, or METADATA, where everything is text.' })

export type FetchTo = z.output<typeof fetchTo>

export type Fetched = readonly (readonly [key: string, value: JsonValue])[]

/** To be called before anything is fetched: throws `BODY_NOT_OBJECT` where the body can take nothing. */
export function checkTarget(message: Message, target: FetchTo): void {
  if (target === 'DATA') bodyObject(message)
}

export function withFetched(message: Message, target: FetchTo, fetched: Fetched): Message {
  if (fetched.length === 0) return message
  if (target === 'DATA') return withBody(message, mergedMembers(bodyObject(message), fetched))
  return withMetadata(
    message,
    fetched.map(([key, value]) => [key, metadataText(value)] as const),
  )
}

/** Doubles stay doubles, and JSON is no text. */
export function valueOf(entry: TypedValue): JsonValue {
  if (entry.type === 'JSON') return parseJson(entry.value)
  if (entry.type === 'DOUBLE' && Number.isInteger(entry.value)) return new WholeDouble(entry.value)
  return entry.value
}
