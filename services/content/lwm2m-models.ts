/** LwM2M object models, as the registry of the Open Mobile Alliance publishes them (`device-api.md` 13). */
import type { X2jOptions } from 'fast-xml-parser'
import { z } from 'zod'
import type { JsonObject } from '../../model/json.ts'
import { displayedSize } from './displayed-size.ts'
import { ResourceErrors } from './resource-errors.ts'
import { readXml } from './xml.ts'

export interface ObjectModel {
  readonly id: number
  readonly version: string
  readonly name: string
  readonly isMultiple: boolean
  readonly isMandatory: boolean
  readonly resources: readonly {
    readonly id: number
    readonly name: string
    readonly isReadable: boolean
    /** As the model writes it, `Integer`; empty for what is executed. */
    readonly type: string
  }[]
}

/** Reading one holds up everybody else; objects of the registry are far smaller. */
const MAX_MODEL_BYTES = 1 << 20
const MAX_ID = 65_535
const id = z
  .string()
  .regex(/^\d+$/)
  .transform(Number)
  .refine((value) => value <= MAX_ID)
const text = z.string().trim().min(1).max(255)

const item = z.object({
  '@ID': id,
  Name: text,
  Operations: z.string().regex(/^(R|W|RW|E|)$/),
  Type: z.string().trim().max(32).optional(),
})
const model = z.object({
  LWM2M: z.object({
    Object: z
      .array(
        z.object({
          Name: text,
          ObjectID: id,
          ObjectVersion: z
            .string()
            .regex(/^(\d+\.\d+)?$/)
            .optional(),
          MultipleInstances: z.enum(['Multiple', 'Single']),
          Mandatory: z.enum(['Mandatory', 'Optional']),
          Resources: z.union([z.object({ Item: z.array(item).optional() }), z.literal('')]),
        }),
      )
      .min(1),
  }),
})

const FORM: X2jOptions = {
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  // A document brings no entities of its own: few bytes could mean many.
  processEntities: { enabled: true, maxEntityCount: 0 },
  isArray: (name) => name === 'Object' || name === 'Item',
}

/** The first object of the document. Throws `MODEL`, `TOO_LARGE`. */
export async function parseModel(bytes: Buffer, fileName: string): Promise<ObjectModel> {
  if (bytes.length > MAX_MODEL_BYTES) throw ResourceErrors.TOO_LARGE({ limit: displayedSize(MAX_MODEL_BYTES) })
  const refused = (cause: unknown): Error => ResourceErrors.MODEL({ fileName }, cause)
  const read = await readXml(bytes.toString('utf8'), FORM)
  if ('refused' in read) throw refused(new Error(read.refused))
  const { data, error } = model.safeParse(read.document)
  const object = data?.LWM2M.Object[0]
  if (object === undefined) throw refused(error)
  const items = object.Resources === '' ? [] : (object.Resources.Item ?? [])
  return {
    id: object.ObjectID,
    version: object.ObjectVersion === undefined || object.ObjectVersion === '' ? '1.0' : object.ObjectVersion,
    name: object.Name,
    isMultiple: object.MultipleInstances === 'Multiple',
    isMandatory: object.Mandatory === 'Mandatory',
    resources: items
      .map((each) => ({
        id: each['@ID'],
        name: each.Name,
        isReadable: each.Operations.includes('R'),
        // What is executed has no value, though some models name a type.
        type: each.Operations === 'E' ? '' : (each.Type ?? ''),
      }))
      .toSorted((a, b) => a.id - b.id),
  }
}

/** `5_1.0`. */
export function keyOfModel({ id: objectId, version }: ObjectModel): string {
  return `${objectId}_${version}`
}

export function titleOfModel({ id: objectId, name, version }: ObjectModel): string {
  return `${name} id=${objectId} v${version}`
}

/** What editors of device profiles choose from; undefined for one of which nothing can be read. */
export function objectJson(object: ObjectModel): JsonObject | undefined {
  const readable = object.resources.filter(({ isReadable }) => isReadable)
  if (readable.length === 0) return undefined
  const resources = readable.map((resource) => ({
    id: resource.id,
    name: resource.name,
    observe: false,
    attribute: false,
    telemetry: false,
    keyName: keyName(resource.name),
  }))
  return {
    id: object.id,
    keyId: keyOfModel(object),
    name: object.name,
    multiple: object.isMultiple,
    mandatory: object.isMandatory,
    instances: [{ id: 0, resources }],
  }
}

/** `Battery Level` is `batteryLevel`. */
function keyName(name: string): string {
  return name
    .split(/[-_ ]/)
    .map((word, index) => {
      const first = word.slice(0, 1)
      return (index === 0 ? first.toLowerCase() : first.toUpperCase()) + word.slice(1).toLowerCase()
    })
    .join('')
}
