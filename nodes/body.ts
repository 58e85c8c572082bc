/** Reading and changing the object in a message's body, and the metadata, without losing what a number was written like. */
import { isJsonObject, stringifyJson } from '../model/json.ts'
import type { JsonObject, JsonValue } from '../model/json.ts'
import { mergedMembers } from '../model/members.ts'
import type { Message, Metadata } from '../model/message.ts'
import { NodeErrors } from './errors.ts'

/** Throws `BODY_NOT_OBJECT`, and `JSON_INVALID` where the body is no JSON. */
export function bodyObject(message: Message): JsonObject {
  const body = message.json()
  if (!isJsonObject(body)) throw NodeErrors.BODY_NOT_OBJECT()
  return body
}

/** The message with another body, which nobody has to parse again. */
export function withBody(message: Message, body: JsonValue): Message {
  return message.with({ data: stringifyJson(body) }, { json: body })
}

export function withMetadata(message: Message, added: Iterable<readonly [string, string]>): Message {
  const metadata: Metadata = mergedMembers(message.metadata, added)
  return message.with({ metadata })
}

/** As metadata holds it: text as it is, anything else as JSON. */
export function metadataText(value: JsonValue): string {
  return typeof value === 'string' ? value : stringifyJson(value)
}
