/**
 * {@link SharedAttributes} in a Redis or Valkey. An answer that is late counts as none: the database is asked, and the server is left
 * alone for a moment, so that an outage costs one time-out a second and not one a read.
 */
import { Redis } from 'ioredis'
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { errorText } from '../../model/errors.ts'
import type { Log } from '../../model/log.ts'
import type { ScopedAttribute } from '../entities/attributes.ts'
import type { Read } from '../entities/database.ts'
import type { LeastAge, SharedAnswer, SharedAttributes } from '../entities/shared-attributes.ts'
import { ageOf, heldRead, rowsText } from './encoding.ts'
import { evictionAdvice, memoryRuleOf } from './eviction.ts'

export interface RedisSettings {
  readonly host: string
  readonly port: number
  readonly database: number
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** With TLS; the certificate of an authority that the system does not know. */
  readonly tls: { readonly ca?: string } | undefined
  readonly connectTimeoutMs: number
  /** For one answer. */
  readonly readTimeoutMs: number
  /** What is not read again goes after so long. */
  readonly ttlMs: number
  /** Tells the entities of this installation from those of others on the same server. */
  readonly namespace: string
}

export interface RedisFigures {
  readonly hits: number
  readonly misses: number
  /** Held, and older than what is known of the entity. */
  readonly outdated: number
  /** Late or failed. */
  readonly failures: number
  /** Not asked or told: away, resting after a failure, or too much under way. */
  readonly skipped: number
}

/** After a failure the server is not asked for so long. */
const REST_MS = 1_000
/** What waits for answers holds memory here; beyond it the database is asked. */
const MAX_PENDING = 4_096
/** A larger entity is read from the database, so that one answer does not hold up the others. */
const MAX_ENTRY_BYTES = 2 ** 20
const MAX_RECONNECT_MS = 2_000

/** Keeps the read that began last; one that began after the clock's present time was kept by a clock that was set back since. */
const OFFER = `
local began = string.match(redis.call('GETRANGE', KEYS[1], 0, 40), '^%d+ (%d+)\\n')
if began and tonumber(began) > tonumber(ARGV[2]) then
  local now = redis.call('TIME')
  if tonumber(began) <= now[1] * 1000000 + now[2] then return 0 end
end
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ARGV[2] .. '\\n' .. ARGV[3], 'PX', ARGV[4])
return 1`

export class RedisAttributes implements SharedAttributes {
  private readonly redis: Redis
  private readonly settings: RedisSettings
  private readonly clock: Clock
  private readonly log: Log
  private readonly counts = { hits: 0, misses: 0, outdated: 0, failures: 0, skipped: 0 }
  private pending = 0
  private restsUntil = -Infinity
  private isAway = false
  private isClosed = false
  private advised: string | undefined
  private adviceTimer: TimerHandle | undefined

  /** Connects on its own; {@link ready} says when. */
  constructor(settings: RedisSettings, clock: Clock, log: Log) {
    this.settings = settings
    this.clock = clock
    this.log = log
    this.redis = new Redis(optionsOf(settings))
    this.redis.on('ready', () => void this.arrived())
    this.redis.on('error', (error: unknown) => this.tellAway(errorText(error)))
    this.redis.on('close', () => this.tellAway('the connection is closed'))
  }

  get connected(): boolean {
    return this.redis.status === 'ready'
  }

  figures(): RedisFigures {
    return { ...this.counts }
  }

  /** Resolves when the server answered or the time for it is over: nothing depends on it. */
  async ready(): Promise<void> {
    if (this.connected) return
    await new Promise<void>((resolve) => {
      const timer = this.clock.after(this.settings.connectTimeoutMs, resolve)
      const done = (): void => {
        timer.cancel()
        resolve()
      }
      this.redis.once('ready', done)
      this.redis.once('close', done)
    })
  }

  async find(entityId: string, least: LeastAge | undefined): Promise<SharedAnswer | undefined> {
    const answer = await this.ask(async () => {
      // In this order: the time lies before whatever the entry says.
      const time = this.redis.time()
      const entry = least === undefined ? undefined : this.redis.get(this.keyOf(entityId))
      const [[seconds, microseconds], text] = await Promise.all([time, entry])
      return { now: Number(seconds) * 1e6 + Number(microseconds), text: text ?? undefined }
    })
    if (answer === undefined) return undefined
    const { now, text } = answer
    if (text === undefined || least === undefined) {
      this.counts.misses++
      return { now }
    }
    const age = ageOf(text)
    const isNewEnough = age !== undefined && age.commit >= least.commit && age.began >= least.began
    const read = isNewEnough ? heldRead(text) : undefined
    this.counts[read === undefined ? 'outdated' : 'hits']++
    return read === undefined ? { now } : { now, read }
  }

  offer(entityId: string, { rows, sequence }: Read<ScopedAttribute>, began: number): void {
    const text = rowsText(rows)
    if (text.length > MAX_ENTRY_BYTES) return
    const { ttlMs } = this.settings
    void this.ask(() => this.redis.eval(OFFER, 1, this.keyOf(entityId), sequence, began, text, ttlMs))
  }

  drop(entityId: string): void {
    void this.ask(() => this.redis.unlink(this.keyOf(entityId)))
  }

  close(): void {
    this.isClosed = true
    this.adviceTimer?.cancel()
    this.redis.disconnect()
  }

  private keyOf(entityId: string): string {
    return `millrace:${this.settings.namespace}:attributes:${entityId}`
  }

  /** Undefined where there was no answer in time. */
  private async ask<Answer>(command: () => Promise<Answer>): Promise<Answer | undefined> {
    if (!this.connected || this.pending >= MAX_PENDING || this.clock.monotonic() < this.restsUntil) {
      this.counts.skipped++
      return undefined
    }
    this.pending++
    try {
      return await command()
    } catch (error) {
      this.counts.failures++
      this.restsUntil = this.clock.monotonic() + REST_MS
      this.tellAway(errorText(error))
      return undefined
    } finally {
      this.pending--
    }
  }

  private async arrived(): Promise<void> {
    if (this.isAway) this.log.info('Redis is back: attributes are shared again', { address: this.address })
    this.isAway = false
    await this.advise()
  }

  /** Asks until there is an answer: a server that is busy at the start is not taken for one that names no rule. */
  private async advise(): Promise<void> {
    this.adviceTimer?.cancel()
    const info = await this.ask(() => this.redis.info('memory'))
    if (info === undefined) {
      // Who comes again asks by itself.
      if (this.connected) this.adviceTimer = this.clock.after(2 * REST_MS, () => void this.advise())
      return
    }
    const rule = memoryRuleOf(info)
    const advice = rule === undefined ? 'its INFO memory names no maxmemory-policy' : evictionAdvice(rule)
    if (advice === undefined || advice === this.advised) return
    this.advised = advice
    this.log.warn('Redis is not set up as a cache', { address: this.address, advice })
  }

  /** Once an outage. */
  private tellAway(reason: string): void {
    if (this.isAway || this.isClosed) return
    this.isAway = true
    this.log.warn('Redis does not answer: attributes come from the database', { address: this.address, reason })
  }

  private get address(): string {
    return `${this.settings.host}:${this.settings.port}`
  }
}

function optionsOf(settings: RedisSettings) {
  const { host, port, database, username, password, connectTimeoutMs, readTimeoutMs } = settings
  return {
    ...{ host, port, db: database, connectTimeout: connectTimeoutMs, commandTimeout: readTimeoutMs },
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(settings.tls === undefined ? {} : { tls: settings.tls }),
    connectionName: 'millrace',
    // What the server does not take now is not wanted later.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // A server that hangs keeps its commands here: the connection ends, and they with it.
    socketTimeout: Math.max(5_000, 10 * readTimeoutMs),
    retryStrategy: (times: number) => Math.min(times * 100, MAX_RECONNECT_MS),
  }
}
