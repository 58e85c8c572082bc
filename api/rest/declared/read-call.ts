/** What every declared call is read and checked for, whoever makes it: words of the path, query, headers, body. */
import type { z } from 'zod'
import { ParameterErrors } from '../../errors.ts'
import { validated } from '../body.ts'
import { FLAG_WORDS, oneOf } from '../query.ts'
import { readQuery, type QuerySchema, type QueryValues } from './query.ts'
import type { BodyForm, RawOpenCall } from './route.ts'

export interface ReadDeclaration<Asked extends QuerySchema, Body> {
  readonly words?: object
  readonly query: Asked
  readonly headers?: readonly string[]
  readonly body: z.ZodType<Body> | undefined
  readonly bodyIs?: BodyForm
}

export interface ReadParts<Asked extends QuerySchema, Body> {
  readonly query: QueryValues<Asked>
  readonly body: Body | undefined
}

/** Throws `parameter.…`. */
export function readCall<Asked extends QuerySchema, Body>(
  declaration: ReadDeclaration<Asked, Body>,
  path: Readonly<Record<string, string>>,
  raw: RawOpenCall,
): ReadParts<Asked, Body> {
  for (const [name, words] of Object.entries(wordsOf(declaration.words))) {
    const word = path[name] ?? ''
    oneOf(name, words === FLAG_WORDS ? word.toLowerCase() : word, words)
  }
  const query = readQuery(declaration.query, raw.query)
  requireHeaders(declaration.headers ?? [], raw)
  const { body: schema, bodyIs } = declaration
  return { query, body: schema === undefined ? undefined : bodyOf(bodyIs, schema, raw) }
}

export function wordsOf(words: object = {}): Readonly<Record<string, readonly string[]>> {
  return words as Readonly<Record<string, readonly string[]>>
}

function requireHeaders(names: readonly string[], { header }: RawOpenCall): void {
  for (const name of names) if (header(name).trim() === '') throw ParameterErrors.HEADER_MISSING({ name })
}

function bodyOf<Body>(bodyIs: BodyForm | undefined, schema: z.ZodType<Body>, raw: RawOpenCall): Body {
  if (bodyIs === 'form') return validated(raw.form(), schema)
  if (bodyIs === 'optional') return validated(raw.text().trim() === '' ? {} : raw.body(), schema)
  return validated(bodyIs === undefined ? raw.body() : raw.text(), schema)
}
