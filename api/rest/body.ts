/** Request bodies, checked by a schema at the edge; members that a schema does not name are ignored, texts for numbers taken (`rest-api.md` 2.3, 3.3). */
import { z } from 'zod'
import { NULL_UUID, isUuid } from '../../model/entity-id.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts'
import { textInput } from '../../services/entities/column.ts'
import { wholeInput } from '../../services/entities/lenient-input.ts'
import { parseSent } from '../../services/entities/parse-sent.ts'
import { ParameterErrors } from '../errors.ts'
import type { PublicCall } from './route.ts'

/** Throws `parameter.BODY_…`. */
export function bodyOf<Body>(call: PublicCall, schema: z.ZodType<Body>): Body {
  return validated(call.json(), schema)
}

export function validated<Body>(value: unknown, schema: z.ZodType<Body>): Body {
  const result = parseSent(schema, value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const where = issue === undefined || issue.path.length === 0 ? 'body' : issue.path.join('.')
  throw ParameterErrors.BODY_INVALID({ reason: `${where}: ${issue?.message ?? 'not valid'}` })
}

/** Any JSON, kept as it came. */
export const anyJson = z.custom<JsonValue>((value) => value !== undefined)
export const jsonObject = z.custom<JsonObject>(isJsonObject, 'an object is expected')

const uuidText = z
  .string()
  .refine(isUuid, 'a UUID is expected')
  .transform((text) => text.toLowerCase())

/** An id object of a field whose entity type is fixed: the type may be left out. */
export const idObject = z.object({ id: uuidText })

/** An optional reference; null, absent and the "no entity" id all mean none. */
export const optionalId = idObject
  .nullish()
  .transform((reference) =>
    reference === null || reference === undefined || reference.id === NULL_UUID ? undefined : reference.id,
  )

export const optionalText = textInput
export const optionalVersion = wholeInput
