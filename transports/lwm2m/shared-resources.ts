/** Shared attributes as resources of one client: each key of its profile is written where it differs from what was written last. Source: `device-api.md` 13.4, 13.8. */
import { entriesJson } from '../../model/entry-json.ts'
import type { Entry } from '../../model/value.ts'
import type { ReachedClient } from './reached-client.ts'
import { operationOf } from './operations.ts'

/** Their own way to the client: firmware and software. */
const PACKAGE = /^(?:fw|sw)_(?:title|version|tag|size|checksum|checksum_algorithm|url|state|ts)$/

export class SharedResources {
  private readonly client: ReachedClient
  /** What the client has, as far as it was written from here. */
  private readonly written = new Map<string, string>()
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
    return this.alone(() => this.write(entries.filter(({ key }) => keys.has(key))))
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
      const answer = await this.client.attempt(operation)
      if (answer === 'silent') return false
      if (answer !== 'refused' && answer.code.startsWith('2.')) this.written.set(key, value)
    }
    return true
  }
}
