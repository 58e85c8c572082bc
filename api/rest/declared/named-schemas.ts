/** Schemas with a title stand once in the API description, and are referred to from everywhere else. */
import type { JsonObject, JsonValue } from '../../../model/json.ts'

export class NamedSchemas {
  private readonly named = new Map<string, JsonObject>()

  get all(): JsonObject {
    return Object.fromEntries([...this.named].sort(([one], [other]) => (one < other ? -1 : 1)))
  }

  /** The schema, with references in the place of what has a title. */
  take(schema: JsonObject): JsonObject {
    const { title } = schema
    if (typeof title !== 'string') return this.withReferences(schema)
    if (!this.named.has(title)) {
      // Before its members: one of them may refer to it.
      this.named.set(title, schema)
      this.named.set(title, this.withReferences(schema))
    }
    return { $ref: `#/components/schemas/${title}` }
  }

  private withReferences(schema: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, this.taken(value)]))
  }

  private taken(value: JsonValue): JsonValue {
    if (Array.isArray(value)) return value.map((element) => this.taken(element))
    return isSchema(value) ? this.take(value) : value
  }
}

function isSchema(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
