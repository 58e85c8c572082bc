/** The answer to an attribute request, and what is pushed of shared attributes, as every protocol sends it (`device-api.md` 3.5, 6). */
import { entriesJson } from '../../model/entry-json.ts'
import type { AttributeAnswer, SharedAttributesUpdate } from '../../engine/device/gateway.ts'

/** A scope with no values is left out. */
export function attributeAnswerJson(answer: AttributeAnswer): string {
  const scopes: string[] = []
  if (answer.client.length > 0) scopes.push(`"client":${entriesJson(answer.client)}`)
  if (answer.shared.length > 0) scopes.push(`"shared":${entriesJson(answer.shared)}`)
  return `{${scopes.join(',')}}`
}

/** `{"key":value,…}`, or `{"deleted":["key",…]}`. */
export function sharedAttributesJson(update: SharedAttributesUpdate): string {
  return update.kind === 'updated' ? entriesJson(update.entries) : `{"deleted":${JSON.stringify(update.keys)}}`
}
