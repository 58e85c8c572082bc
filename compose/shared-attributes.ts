/** Opens the cache of attributes that all processes share, where the settings ask for one. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { systemClock, systemRandom } from '../model/system-clock.ts'
import type { Log } from '../model/log.ts'
import type { MetricsSource } from '../api/metrics.ts'
import type { Config } from '../config/settings.ts'
import type { EntityStore } from '../storage/entities/entity-store.ts'
import type { RedisAttributes, RedisFigures } from '../storage/redis/redis-attributes.ts'
import type { Closing } from './closing.ts'
import { named, type Names } from '../model/figure-names.ts'

const NAMESPACE_SETTING = 'cache.namespace'

const FIGURES: Names<RedisFigures> = {
  hits: 'hits_total',
  misses: 'misses_total',
  outdated: 'outdated_total',
  failures: 'failures_total',
  skipped: 'skipped_total',
}

/** Undefined with `CACHE_TYPE=caffeine`. A server that does not answer stops nothing: attributes come from the database until it does. */
export async function openSharedAttributes(
  config: Config,
  entities: EntityStore,
  log: Log,
  closing: Closing,
): Promise<{ part: RedisAttributes; metricsSources: readonly MetricsSource[] } | undefined> {
  if (config.cacheType !== 'redis' || !config.cacheAttributes) return undefined
  // Of the database, so that two installations may share a server.
  const namespace = z.string().parse(await entities.settings.putIfAbsent(NAMESPACE_SETTING, systemRandom.uuid()))
  // Loaded only here: nobody else needs a client of Redis.
  const { RedisAttributes: Client } = await import('../storage/redis/redis-attributes.ts')
  const settings = {
    ...{ host: config.redisHost, port: config.redisPort, database: config.redisDatabase },
    ...{ username: config.redisUsername, password: config.redisPassword },
    tls: config.redisTls ? authorityOf(config.redisCaFile) : undefined,
    ...{ connectTimeoutMs: config.redisConnectTimeoutMs, readTimeoutMs: config.redisReadTimeoutMs },
    ttlMs: config.cacheAttributesTtlMinutes * 60_000,
    namespace,
  }
  const part = new Client(settings, systemClock, log)
  closing.add('shared attributes', () => part.close())
  await part.ready()
  const figures = () => ({ ...named(part.figures(), FIGURES), connected: part.connected ? 1 : 0 })
  return { part, metricsSources: [{ name: 'attribute_cache', figures }] }
}

function authorityOf(file: string | undefined): { ca?: string } {
  return file === undefined ? {} : { ca: readFileSync(file, 'utf8') }
}
