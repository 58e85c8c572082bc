/** The text of a Protobuf schema in a device profile → tables (`device-api.md` 5.2). The parser is loaded with the first such profile. */
import {
  SCALAR_KINDS,
  type PayloadSchema,
  type SchemaField,
  type SchemaFieldType,
  type SchemaType,
} from '../../engine/device/payload-schemas.ts'
import type Protobuf from 'protobufjs'
import type { Enum, Field, ReflectionObject, Type } from 'protobufjs'

type Library = typeof Protobuf

/** Of one schema. The parser takes a time that grows with the square of the fields of a message: 0.3 s for as many as fit in it. */
const MAX_TEXT_BYTES = 32_768
/** So large that nobody writes it, and so small that a profile stays one: fields and values of all types together. */
const MAX_MEMBERS = 10_000
const MAX_TYPES = 1000

/** The message type is the last one of the outermost. Throws an Error that says what is wrong with the text. */
export async function compilePayloadSchema(text: string): Promise<PayloadSchema> {
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_TEXT_BYTES) throw new Error(`it is ${bytes} bytes long, at most ${MAX_TEXT_BYTES} are allowed`)
  // Loaded with the first such profile: it takes memory that most servers need for nothing.
  const { default: protobuf } = await import('protobufjs')
  return new SchemaCompiler(protobuf).compile(text)
}

class SchemaCompiler {
  private readonly library: Library
  private readonly places = new Map<Type, number>()
  private readonly types: SchemaType[] = []
  private members = 0

  constructor(library: Library) {
    this.library = library
  }

  compile(text: string): PayloadSchema {
    const parsed = this.library.parse(text, { keepCase: true })
    if ((parsed.imports?.length ?? 0) > 0) throw new Error('imports are not supported')
    parsed.root.resolveAll()
    const outer = parsed.package === undefined ? parsed.root : parsed.root.lookup(parsed.package)
    const messages =
      outer instanceof this.library.Namespace ? outer.nestedArray.filter((each) => this.isType(each)) : []
    const last = messages.at(-1)
    if (last === undefined) throw new Error('there is no message in it')
    if (!/^\s*syntax\s*=\s*(["'])proto3\1\s*;/m.test(text)) throw new Error('the syntax is to be proto3')
    return { root: this.placeOf(last), types: this.types }
  }

  private isType(object: ReflectionObject): object is Type {
    return object instanceof this.library.Type
  }

  private isEnum(object: ReflectionObject | null): object is Enum {
    return object instanceof this.library.Enum
  }

  /** As deep as the text is nested. */
  private placeOf(type: Type): number {
    const known = this.places.get(type)
    if (known !== undefined) return known
    if (this.types.length >= MAX_TYPES) throw new Error(`more than ${MAX_TYPES} messages`)
    const place = this.types.length
    this.places.set(type, place)
    const fields = new Map<number, SchemaField>()
    this.types.push(fields)
    const keys = new Set<string>()
    for (const field of type.fieldsArray.toSorted((one, other) => one.id - other.id)) {
      const compiled = this.fieldOf(field)
      if (fields.has(field.id) || keys.has(compiled.key)) throw new Error(`${field.fullName} is there twice`)
      if (++this.members > MAX_MEMBERS) throw new Error(`more than ${MAX_MEMBERS} fields`)
      keys.add(compiled.key)
      fields.set(field.id, compiled)
    }
    return place
  }

  private fieldOf(field: Field): SchemaField {
    if (field.map) throw new Error(`${field.fullName}: maps are not supported`)
    if (field.required || field.extend !== undefined) throw new Error(`${field.fullName} is not of proto3`)
    const type = this.typeOf(field)
    return {
      number: field.id,
      name: field.name,
      key: jsonKey(field.name),
      type,
      isRepeated: field.repeated,
      hasPresence: !field.repeated && (type.kind === 'message' || field.partOf !== null),
      rivals: field.partOf?.fieldsArray.map(({ id }) => id).filter((id) => id !== field.id) ?? [],
    }
  }

  private typeOf(field: Field): SchemaFieldType {
    const { resolvedType } = field
    if (resolvedType === null) {
      const scalar = SCALAR_KINDS.find((kind) => kind === field.type)
      if (scalar === undefined) throw new Error(`${field.fullName} has the type ${field.type}`)
      return { kind: 'scalar', scalar }
    }
    if (!this.isEnum(resolvedType)) return { kind: 'message', type: this.placeOf(resolvedType) }
    const values = Object.entries(resolvedType.values)
    this.members += values.length
    if (values[0]?.[1] !== 0) throw new Error(`the first value of ${resolvedType.fullName} is to be 0`)
    return { kind: 'enum', values }
  }
}

/** As `protoc` makes it: no underscores, and the letter behind one is a capital. */
function jsonKey(name: string): string {
  return name.replace(/_+(.?)/g, (_all, next: string) => next.toUpperCase())
}
