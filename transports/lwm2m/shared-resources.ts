/** Shared attributes as resources of one client: each key of its profile is written where it differs from what was written last. Source: `device-api.md` 13.4, 13.8. */
import { entriesJson } from '../../model/entry-json.ts'
import type { Entry } from '../../model/value.ts'
import { pathText, type Path, type ValueRecord } from './codecs/records.ts'
import type { WrittenValue } from './formats.ts'
import { operationOf } from './operations.ts'
import { resourcePath, type Lwm2mProfile } from './profile.ts'
import type { ReachedClient } from './reached-client.ts'
import { typedValue } from './values.ts'

/** Their own way to the client: firmware and software. */
const PACKAGE = /^(?:fw|sw)_(?:title|version|tag|size|checksum|checksum_algorithm|url|state|ts)$/

export class SharedResources {
  private readonly client: ReachedClient
  /** What was written from here last, by key. */
  private readonly written = new Map<string, string>()
  /** What the client said last of each resource that has a key, by its path: values by the ids of instances. */
  private readonly said = new Map<string, Map<number, string | undefined>>()
  private keyed: { readonly of: Lwm2mProfile; readonly paths: ReadonlySet<string> } | undefined
  private running: Promise<boolean> | undefined
  private isAgain = false

  constructor(client: ReachedClient) {
    this.client = client
  }

  /** False where the client does not answer. */
  synchronise(): Promise<boolean> {
    return this.alone(() => this.readAndWrite())
  }

  /** False where the client does not answer. */
  changed(entries: readonly Entry[]): Promise<boolean> {
    const keys = new Set(this.keys())
    // The user says it anew: the client may have changed it since.
    for (const { key } of entries) this.written.delete(key)
    return this.alone(() => this.write(entries.filter(({ key }) => keys.has(key))))
  }

  /** What the client says of its resources, and what it was told to make of them. */
  heard(records: readonly ValueRecord[]): void {
    const keyed = this.keyedPaths()
    if (keyed.size === 0) return
    const heard = new Map<string, Map<number, string | undefined>>()
    for (const { path, value } of records) {
      const at = pathText(resourcePath(path))
      const type = keyed.has(at) ? this.client.modelAt(path)?.type : undefined
      if (type === undefined) continue
      const instances = heard.get(at) ?? new Map<number, string | undefined>()
      const [text] = shownValue({ path, type, value })
      heard.set(at, instances.set(instanceOf(path), text))
    }
    // In the place of what was said before: an instance may be gone.
    for (const [at, instances] of heard) this.said.set(at, instances)
  }

  private keyedPaths(): ReadonlySet<string> {
    const { profile } = this.client.context
    if (this.keyed?.of !== profile) {
      const paths = [...profile.keys.values()].map(({ path }) => pathText(resourcePath(path)))
      this.keyed = { of: profile, paths: new Set(paths) }
    }
    return this.keyed.paths
  }

  /** One at a time, or the older of two values could come last: what comes meanwhile is read anew. */
  private alone(first: () => Promise<boolean>): Promise<boolean> {
    if (this.running !== undefined) {
      this.isAgain = true
      return this.running
    }
    this.running = this.untilDone(first).finally(() => (this.running = undefined))
    return this.running
  }

  private async untilDone(first: () => Promise<boolean>): Promise<boolean> {
    let isDone = await first()
    while (isDone && this.isAgain) {
      this.isAgain = false
      isDone = await this.readAndWrite()
    }
    this.isAgain = false
    return isDone
  }

  private async readAndWrite(): Promise<boolean> {
    const keys = this.keys()
    if (keys.length === 0) return true
    try {
      const { session } = this.client.registration
      const { shared } = await session.requestAttributes({ clientKeys: undefined, sharedKeys: keys })
      return await this.write(shared)
    } catch (error) {
      this.client.failed(error)
      return false
    }
  }

  private keys(): readonly string[] {
    return [...this.client.context.profile.keys.keys()].filter((key) => !PACKAGE.test(key))
  }

  private async write(entries: readonly Entry[]): Promise<boolean> {
    for (const entry of entries) {
      const { key } = entry
      const value = entriesJson([entry])
      if (this.written.get(key) === value) continue
      const params = entriesJson([
        { key: 'key', type: 'STRING', value: key },
        { ...entry, key: 'value' },
      ])
      let operation
      try {
        operation = await operationOf('WriteReplace', params, this.client.context)
      } catch (error) {
        // The attribute fits no such resource, or the client has none: the others are written all the same.
        this.client.failed(error)
        continue
      }
      const { written = [] } = operation
      if (this.hasSaid(written)) {
        this.written.set(key, value)
        continue
      }
      // One that does not answer may have it or not.
      this.written.delete(key)
      for (const { path } of written) this.said.delete(pathText(resourcePath(path)))
      const answer = await this.client.attempt(operation)
      if (answer === 'silent') return false
      if (answer === 'refused' || !answer.code.startsWith('2.')) continue
      this.written.set(key, value)
      void this.client.store(written).catch((error: unknown) => this.client.failed(error))
    }
    return true
  }

  /** Whether the client has just these values, by its own word. */
  private hasSaid(values: readonly WrittenValue[]): boolean {
    const [first] = values
    const said = first === undefined ? undefined : this.said.get(pathText(resourcePath(first.path)))
    const isSaid = (each: WrittenValue): boolean => {
      const text = said?.get(instanceOf(each.path))
      return text !== undefined && shownValue(each).includes(text)
    }
    return said?.size === values.length && values.every(isSaid)
  }
}

/** -1 of a resource that has one value. */
function instanceOf([, , , instanceId = -1]: Path): number {
  return instanceId
}

/**
 * One text for one value, in whichever format it came; of a float the one of a client that has 4 bytes for it as well. None where it is not of
 * that type.
 */
function shownValue({ path, type, value }: WrittenValue): readonly string[] {
  try {
    const typed = typedValue(type, value, path)
    const text = String(typed.value)
    return typed.type === 'DOUBLE' ? [text, String(Math.fround(typed.value))] : [text]
  } catch {
    // Who stores it says so.
    return []
  }
}
