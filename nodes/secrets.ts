/**
 * How a node's declaration marks the members of its configuration that are secrets: `z.string().meta(SECRET)`. The platform keeps them sealed, shows
 * a mask in their place, and opens them when the node is made: the node itself sees nothing of it.
 */
import { z } from 'zod'
import { SECRET, type SecretKind, type SecretShape } from '../model/secret-members.ts'

export { SECRET }
/** An URL: the password in front of its host, or a user name without one, and parameters with a secret's name. */
export const SECRET_LOGIN = { secret: 'login' } as const
/** A record, or a list of `key` and `value`: the entries whose key is that of a secret. */
export const SECRET_BY_NAME = { secret: 'named' } as const

/** What is marked in a schema, at any depth. */
export function secretShapeOf(schema: z.core.$ZodType): SecretShape {
  const found = secretsIn(schema)
  return typeof found === 'object' ? found : {}
}

function secretsIn(schema: z.core.$ZodType): SecretKind | SecretShape | undefined {
  const marked = kindOf(z.globalRegistry.get(schema)?.['secret'])
  if (marked !== undefined) return marked
  if (schema instanceof z.ZodObject) {
    const members = Object.entries(schema.shape).flatMap(([name, member]: [string, z.core.$ZodType]) => {
      const found = secretsIn(member)
      return found === undefined ? [] : [[name, found] as const]
    })
    return members.length === 0 ? undefined : Object.fromEntries(members)
  }
  const inner = innerOf(schema).map(secretsIn)
  const kind = inner.find((each) => typeof each === 'string')
  const shapes = inner.filter((each) => typeof each === 'object')
  return (
    kind ?? (shapes.length === 0 ? undefined : Object.fromEntries(shapes.flatMap((shape) => Object.entries(shape))))
  )
}

function kindOf(value: unknown): SecretKind | undefined {
  return value === 'text' || value === 'login' || value === 'named' ? value : undefined
}

function innerOf(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return [schema.unwrap()]
  if (schema instanceof z.ZodPipe) return [schema.in]
  if (schema instanceof z.ZodArray) return [schema.element]
  if (schema instanceof z.ZodUnion) return schema.options
  if (schema instanceof z.ZodIntersection) return [schema.def.left, schema.def.right]
  return []
}
