/**
 * Reads topics of Kafka as a member of a group. An offset is committed when everything before it is stored; what could not be stored ends the membership, and the
 * group sends it again from the offset that is committed.
 */
import type { TimerHandle } from '../../../model/clock.ts'
import { errorText } from '../../../model/errors.ts'
import { kafkaReason, type KafkaPlace } from '../../outbound/clients/kafka-connection.ts'
import { openKafkaRecords, type KafkaMessage, type KafkaRecords } from '../../outbound/clients/kafka-consumer.ts'
import type { FetchRoom } from '../../outbound/clients/kafka-fetches.ts'
import type { Source, SourceParts } from '../define-integration.ts'
import { IntegrationErrors } from '../errors.ts'
import { brokersOf, type KafkaConfiguration } from './kafka-configuration.ts'
import { KafkaProgress } from './kafka-progress.ts'

type Parts = SourceParts<KafkaConfiguration>

const RETRY_MS = 1000
const LONGEST_RETRY_MS = 30_000
/** What is stored in it is committed together. */
const COMMIT_MS = 100
const DRAIN_MS = 3000
/** Brokers that do not answer hold up no stop: the group finds out by itself that a member is gone. */
const LEAVE_MS = 3000

export function openKafkaSource(parts: Parts): Promise<Source> {
  const source = new KafkaSource(parts)
  source.connect()
  return Promise.resolve(source)
}

class KafkaSource implements Source {
  private readonly parts: Parts
  private session: KafkaSession | undefined
  private retry: TimerHandle | undefined
  private retryMs = RETRY_MS
  private isClosed = false

  constructor(parts: Parts) {
    this.parts = parts
  }

  connect(): void {
    const { configuration, clock, connected } = this.parts
    this.session = new KafkaSession(this.parts, {
      joined: () => connected(true),
      committed: () => (this.retryMs = RETRY_MS),
      ended: (reason) => {
        if (this.isClosed) return
        const source = configuration.brokers.join()
        connected(false, IntegrationErrors.SOURCE({ source, reason: errorText(kafkaReason(reason)) }))
        this.retry = clock.after(this.retryMs, () => this.connect())
        this.retryMs = Math.min(this.retryMs * 2, LONGEST_RETRY_MS)
      },
    })
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.retry?.cancel()
    await this.session?.close()
  }
}

interface SessionListener {
  joined(): void
  committed(): void
  /** Once, when nothing of it is left. */
  ended(reason: unknown): void
}

class KafkaSession {
  private readonly parts: Parts
  private readonly listener: SessionListener
  private readonly progress = new KafkaProgress()
  private readonly opening: Promise<KafkaRecords>
  private records: KafkaRecords | undefined
  private refused: KafkaMessage | undefined
  private commitTimer: TimerHandle | undefined
  private committing: Promise<void> = Promise.resolve()
  private waitsForRoom = false
  private isDraining = false
  private hasEnded = false
  private drained: () => void = () => undefined

  constructor(parts: Parts, listener: SessionListener) {
    this.parts = parts
    this.listener = listener
    const { id, configuration, guard, inlet } = parts
    const { groupId, topics, autoOffsetReset } = configuration
    const group = {
      ...{ groupId: groupId ?? `millrace-${id}`, topics, maxRecordBytes: inlet.maxFrameBytes },
      offsetReset: autoOffsetReset === 'EARLIEST' ? ('earliest' as const) : ('latest' as const),
      room: roomOf(parts),
    }
    this.opening = openKafkaRecords(placeOf(id, configuration), group, guard, {
      clock: parts.clock,
      readable: () => this.takeSome(),
      failed: (reason) => this.end(reason),
    })
    this.opening.then(
      (records) => {
        if (this.hasEnded) return
        this.records = records
        listener.joined()
        this.takeSome()
      },
      (error: unknown) => this.end(error),
    )
  }

  /** Resolves when what was taken is committed and the group left, each after three seconds at most. */
  async close(): Promise<void> {
    this.isDraining = true
    if (this.progress.open > 0 && !this.hasEnded) {
      await new Promise<void>((resolve) => {
        const timer = this.parts.clock.after(DRAIN_MS, resolve)
        this.drained = () => {
          timer.cancel()
          resolve()
        }
      })
    }
    await this.within(this.commit())
    await this.leave(new Error('stopped'))
  }

  /** Hands on what came, as far as there is room. */
  private takeSome(): void {
    while (!this.hasEnded && !this.isDraining && !this.waitsForRoom) {
      const message = this.refused ?? this.records?.read()
      this.refused = undefined
      if (message === undefined) return
      if (this.isTaken(message)) continue
      this.refused = message
      this.waitsForRoom = true
      this.parts.inlet.onRoom(() => {
        this.waitsForRoom = false
        this.takeSome()
      })
    }
  }

  private isTaken(message: KafkaMessage): boolean {
    if (this.progress.isKnown(message)) return true
    const payload: Buffer | undefined = message.value
    // A record without a value says that those of its key may be forgotten: nothing is to be stored.
    if (payload === undefined) {
      this.progress.taken(message)()
      this.commitSoon()
      return true
    }
    // A receipt may be told at once, before it is known that the record was taken.
    const known = { isDone: false, settle: (): void => undefined }
    const isTaken = this.parts.inlet.take(
      // A copy: what is shown is a part of all that was fetched with it.
      { payload: Buffer.from(payload), metadata: metadataOf(message) },
      {
        done: () => {
          known.isDone = true
          known.settle()
          this.commitSoon()
        },
        again: (reason) => this.end(reason),
      },
    )
    if (!isTaken) return false
    const settle = this.progress.taken(message)
    if (known.isDone) settle()
    else known.settle = settle
    return true
  }

  private commitSoon(): void {
    if (this.progress.open === 0) this.drained()
    if (this.hasEnded) return
    this.commitTimer ??= this.parts.clock.after(COMMIT_MS, () => {
      this.commitTimer = undefined
      void this.commit()
    })
  }

  /** One after the other: an older offset never comes behind a newer one. */
  private commit(): Promise<void> {
    this.committing = this.committing.then(async () => {
      const { records } = this
      const offsets = this.progress.advanced()
      if (records === undefined || this.hasEnded || offsets.length === 0) return
      try {
        await records.commit(offsets)
        this.listener.committed()
      } catch (error) {
        this.end(error)
      }
    })
    return this.committing
  }

  private end(reason: unknown): void {
    void this.leave(reason)
  }

  private async leave(reason: unknown): Promise<void> {
    if (this.hasEnded) return
    this.hasEnded = true
    this.refused = undefined
    this.commitTimer?.cancel()
    this.drained()
    // What was not opened yet is left as soon as it is.
    await this.within(this.opening.then((records) => records.close()))
    this.listener.ended(reason)
  }

  /** Resolves when the work is done, failed or late; it goes on then, and nobody hears of it. */
  private within(work: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.parts.clock.after(LEAVE_MS, resolve)
      const done = (): void => {
        timer.cancel()
        resolve()
      }
      work.then(done, done)
    })
  }
}

/** The tenant's part of what all its integrations may have fetched. */
function roomOf({ tenantId, shares: { fetched } }: Parts): FetchRoom {
  return {
    enter: (bytes) => fetched.enterInTurn(tenantId, bytes) === undefined,
    onRoom: (bytes, listener) => fetched.onRoom(tenantId, bytes, listener),
    replace: (had, bytes) => fetched.replace(tenantId, had, bytes),
    leave: (bytes) => fetched.leave(tenantId, bytes),
    get isOver() {
      return fetched.isOver(tenantId)
    },
    get isWaitedFor() {
      return fetched.isWaitedFor(tenantId)
    },
  }
}

function placeOf(id: string, configuration: KafkaConfiguration): KafkaPlace {
  const { tls, caCertificate, certificate, privateKey, sasl } = configuration
  return {
    ...{ brokers: brokersOf(configuration), clientId: `millrace-${id}`, tls },
    certificates: {
      ...((caCertificate ?? null) === null ? {} : { ca: caCertificate ?? '' }),
      ...((certificate ?? null) === null ? {} : { certificate: certificate ?? '', privateKey: privateKey ?? '' }),
    },
    ...(sasl === null || sasl === undefined ? {} : { sasl }),
  }
}

/** Headers stand under `header.` and their name; of several with one name the last. */
function metadataOf({ topic, partition, offset, timestamp, key, headers }: KafkaMessage): Record<string, string> {
  const metadata: Record<string, string> = {}
  for (const [name, value] of headers) metadata[`header.${String(name)}`] = String(value)
  const optionalKey: Buffer | undefined = key
  if (optionalKey !== undefined) metadata['key'] = optionalKey.toString()
  return {
    ...metadata,
    ...{ topic, partition: String(partition), offset: String(offset), timestamp: String(timestamp) },
  }
}
