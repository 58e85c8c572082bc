/** What a converter is: the script, its language, and the form in which it gets the payload. */
import { z } from 'zod'
import type { JsonValue } from '../../model/json.ts'
import { parsed } from './define-integration.ts'

const LONGEST_SCRIPT = 100_000

export const converterSchema = z.object({
  language: z.enum(['TBEL', 'JS']).default('TBEL'),
  /** JSON: parsed; TEXT: a string; BINARY: a list of bytes, 0 to 255. */
  payloadFormat: z.enum(['JSON', 'TEXT', 'BINARY']).default('JSON'),
  /** Body of a function of `payload` and `metadata`. */
  script: z.string().min(1).max(LONGEST_SCRIPT),
})

export type ConverterConfiguration = z.output<typeof converterSchema>

/** Throws `INVALID`, which names the member. */
export function converterOf(json: JsonValue): ConverterConfiguration {
  return parsed(converterSchema, json, 'converter')
}
