/**
 * Makes uploads of devices from what came from outside, by the user's script: a function of `payload` and `metadata` that returns
 * `{deviceName, deviceType?, telemetry?, attributes?}`, a list of those, or null for nothing (docs/guides/integrations.md).
 */
import { isUtf8 } from 'node:buffer'
import { entriesOf } from '../../model/entry-json.ts'
import { entityId } from '../../model/entity-id.ts'
import { errorText, isMillraceError, type MillraceError } from '../../model/errors.ts'
import { isJsonObject, parseJson, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import { Message } from '../../model/message.ts'
import type { Entry } from '../../model/value.ts'
import type { UploadGroup } from '../../engine/device/gateway.ts'
import { withArgumentNames } from '../../engine/script/argument-names.ts'
import { ScriptErrors } from '../../engine/script/errors.ts'
import { LONGEST_ARGUMENTS, type CompiledScript, type ScriptHost } from '../../engine/script/script.ts'
import { withTimes } from './point-times.ts'
import type { ConverterConfiguration } from './converter-configuration.ts'
import type { Frame } from './define-integration.ts'
import { IntegrationErrors } from './errors.ts'

const ARGUMENTS = ['payload', 'metadata']
const MAX_VALUES = 100_000
const LONGEST_KEY = 1024
const LONGEST_NAME = 255
/** Of frames whose script runs in another thread. What runs here runs alone, so that what one frame becomes is on its way before the next. */
const BATCH_OF_WORKERS = 32

/** Of a script that others broke: this frame has its turn when the pause is over. */
const PAUSES: ReadonlySet<string> = new Set(['script.SCRIPT_BLOCKED', 'script.SCRIPT_DIED'])

/** What one device said. */
export interface DeviceUpload {
  readonly deviceName: string
  /** The profile of a device that is made for it; undefined: the tenant's default. */
  readonly deviceType: string | undefined
  readonly telemetry: readonly UploadGroup[]
  readonly attributes: readonly Entry[]
}

export type Converted = readonly DeviceUpload[] | MillraceError

export interface ConverterParts {
  readonly scripts: ScriptHost
  readonly castStrings: boolean
  readonly newId: () => string
  readonly now: () => number
}

export interface ConverterOwner {
  readonly tenantId: string
  /** Of the integration, or what else the script is tried for. */
  readonly ownerId: string
  readonly ownerName?: string
}

export class Converter {
  private readonly script: CompiledScript<'json'>
  private readonly configuration: ConverterConfiguration
  private readonly owner: ConverterOwner
  private readonly parts: ConverterParts

  private constructor(
    script: CompiledScript<'json'>,
    configuration: ConverterConfiguration,
    owner: ConverterOwner,
    parts: ConverterParts,
  ) {
    this.script = script
    this.configuration = configuration
    this.owner = owner
    this.parts = parts
  }

  /** Throws what is wrong with the script, with line and column. */
  static async compile(
    configuration: ConverterConfiguration,
    owner: ConverterOwner,
    parts: ConverterParts,
  ): Promise<Converter> {
    const { language, script: source } = configuration
    const body = withArgumentNames(source, ARGUMENTS)
    const script = await parts.scripts.compile({ language, kind: 'json', body, ...owner })
    return new Converter(script, configuration, owner, parts)
  }

  /** How many frames may be given to `convert` at once. */
  get batchSize(): number {
    return this.script.run === undefined ? BATCH_OF_WORKERS : 1
  }

  /** What became of each, in their order. Never rejects. */
  async convert(frames: readonly Frame[]): Promise<readonly Converted[]> {
    const outcomes: Converted[] = []
    const messages: Message[] = []
    const places: number[] = []
    for (const [index, frame] of frames.entries()) {
      try {
        messages.push(this.messageOf(frame))
        places.push(index)
      } catch (error) {
        outcomes[index] = failureOf(error)
      }
    }
    const place = (index: number): number => places[index] ?? -1
    try {
      await this.script.runBatch(messages, {
        value: (index, text) => (outcomes[place(index)] = this.uploadsOf(text)),
        error: (index, error) => (outcomes[place(index)] = failureOf(error)),
      })
    } catch (error) {
      for (const index of places) outcomes[index] ??= failureOf(error)
    }
    return outcomes
  }

  close(): void {
    this.script.close()
  }

  private messageOf({ payload, metadata }: Frame): Message {
    const { now, newId } = this.parts
    const data = dataOf(payload, this.configuration.payloadFormat)
    const size = data.length + Object.entries(metadata).reduce((sum, [key, text]) => sum + key.length + text.length, 0)
    // Asked before the script is: what is too long is no fault of it, and does not count towards its pause.
    if (size > LONGEST_ARGUMENTS) throw ScriptErrors.SCRIPT_ARGUMENTS_TOO_LARGE({ size, limit: LONGEST_ARGUMENTS })
    return new Message({
      ...{ id: newId(), ts: now(), type: 'INTEGRATION', tenantId: this.owner.tenantId },
      originator: entityId('INTEGRATION', this.owner.ownerId),
      ...{ metadata, data },
    })
  }

  private uploadsOf(text: string): Converted {
    try {
      return uploadsOf(parseJson(text), this.parts.castStrings)
    } catch (error) {
      return failureOf(error)
    }
  }
}

/** JSON text, whatever the form. Throws `PAYLOAD`. */
function dataOf(payload: Buffer, format: ConverterConfiguration['payloadFormat']): string {
  if (format === 'BINARY') return JSON.stringify([...payload])
  if (!isUtf8(payload)) throw IntegrationErrors.PAYLOAD({ format, reason: 'it is not UTF-8' })
  const text = payload.toString('utf8')
  if (format === 'TEXT') return JSON.stringify(text)
  try {
    parseJson(text)
  } catch (error) {
    throw IntegrationErrors.PAYLOAD({ format, reason: errorText(error) }, error)
  }
  return text
}

/** Throws `RESULT`, and what a value is refused for. */
function uploadsOf(result: JsonValue, castStrings: boolean): readonly DeviceUpload[] {
  if (result === null) return []
  const list = Array.isArray(result) ? result : [result]
  const uploads = list.map((item, index) => {
    const place = Array.isArray(result) ? `[${index}]` : 'result'
    if (!isJsonObject(item)) throw wrong(place, 'an object is expected')
    return uploadOf(item, place, castStrings)
  })
  const values = uploads.reduce(
    (sum, { telemetry, attributes }) =>
      sum + attributes.length + telemetry.reduce((count, { entries }) => count + Math.max(1, entries.length), 0),
    0,
  )
  if (values > MAX_VALUES) throw wrong('result', `more than ${MAX_VALUES} values`)
  return uploads
}

function uploadOf(item: JsonObject, place: string, castStrings: boolean): DeviceUpload {
  const { deviceName, deviceType: type = null, telemetry = null, attributes = null } = item
  if (typeof deviceName !== 'string' || deviceName.trim() === '' || deviceName.length > LONGEST_NAME)
    throw wrong(`${place}.deviceName`, `a text of 1 to ${LONGEST_NAME} characters is expected`)
  if (type !== null && typeof type !== 'string') throw wrong(`${place}.deviceType`, 'a text is expected')
  const entries = (value: JsonValue, at: string): readonly Entry[] => {
    if (!isJsonObject(value)) throw wrong(at, 'an object is expected')
    const found = entriesOf(value, { castStrings, nulls: 'skip' })
    const long = found.find(({ key }) => key.length > LONGEST_KEY || key === '')
    if (long !== undefined) throw wrong(at, `a key of 1 to ${LONGEST_KEY} characters is expected`)
    return found
  }
  return {
    deviceName,
    deviceType: type === null || type === '' ? undefined : type,
    telemetry: telemetry === null ? [] : withTimes(telemetry, `${place}.telemetry`, entries, wrong),
    attributes: attributes === null ? [] : entries(attributes, `${place}.attributes`),
  }
}

function wrong(place: string, reason: string): MillraceError {
  return IntegrationErrors.RESULT({ place, reason })
}

function failureOf(error: unknown): MillraceError {
  if (!isMillraceError(error)) return IntegrationErrors.RESULT({ place: 'result', reason: errorText(error) }, error)
  return PAUSES.has(error.code) ? IntegrationErrors.SCRIPT_PAUSED({ reason: error.message }, error) : error
}

/** As `POST /api/integration/check` shows it. */
export function uploadJson({ deviceName, deviceType, telemetry, attributes }: DeviceUpload): JsonObject {
  const values = (entries: readonly Entry[]): JsonObject =>
    Object.fromEntries(
      entries.map((entry) => [
        entry.key,
        entry.type === 'JSON' ? parseJson(entry.value) : parseJson(stringifyJson(entry.value)),
      ]),
    )
  return {
    deviceName,
    deviceType: deviceType ?? null,
    telemetry: telemetry.map(({ ts, entries }) => ({ ts: ts ?? null, values: values(entries) })),
    attributes: values(attributes),
  }
}
