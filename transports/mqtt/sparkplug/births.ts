/**
 * What the births of one edge node said of its metrics and of those of its devices: aliases, datatypes. Bounded in bytes: each node has
 * a bound of its own, and tenants share one for all.
 */
import type { TenantShares } from '../../tenant-shares.ts'
import { SparkplugErrors } from './errors.ts'
import type { Metric, WireValue } from './payload.ts'

export interface BornMetric {
  readonly name: string
  readonly alias: bigint | undefined
  readonly datatype: number
  /** Where its value stood, if it had one. */
  readonly field: WireValue['field'] | undefined
}

/** Whose metrics: a device, or undefined for the edge node itself. */
export type Owner = string | undefined

interface Birth {
  readonly metrics: ReadonlyMap<string, BornMetric>
  readonly bytes: number
}

interface Aliased {
  readonly owner: Owner
  readonly metric: BornMetric
}

/** Of a metric without its name, about; of a birth; of an alias. */
const METRIC_BYTES = 200
const BIRTH_BYTES = 300
const ALIAS_BYTES = 100

export class Births {
  private readonly room: TenantShares
  private readonly tenantId: string
  private readonly maxBytes: number
  private readonly births = new Map<Owner, Birth>()
  private readonly aliases = new Map<bigint, Aliased>()
  private bytes = 0

  constructor(room: TenantShares, tenantId: string, maxBytes: number) {
    this.room = room
    this.tenantId = tenantId
    this.maxBytes = maxBytes
  }

  has(owner: Owner): boolean {
    return this.births.has(owner)
  }

  metric(owner: Owner, name: string): BornMetric | undefined {
    return this.births.get(owner)?.metrics.get(name)
  }

  /** Undefined where no birth of this owner has it. */
  aliased(owner: Owner, alias: bigint): BornMetric | undefined {
    const found = this.aliases.get(alias)
    return found !== undefined && found.owner === owner ? found.metric : undefined
  }

  /**
   * In the place of what was born before; a birth of the node begins anew, without devices [tck-id-message-flow-edge-node-birth-publish-nbirth].
   * Throws NO_NAME, ALIAS_REUSED, TOO_MUCH_BORN: then nothing has changed.
   */
  born(owner: Owner, metrics: readonly Metric[]): void {
    const birth = this.birthOf(owner, metrics)
    const before = owner === undefined ? this.bytes : (this.births.get(owner)?.bytes ?? 0)
    const more = birth.bytes - before
    if (this.bytes + more > this.maxBytes || (more > 0 && !this.room.take(this.tenantId, more)))
      throw SparkplugErrors.TOO_MUCH_BORN()
    if (more < 0) this.room.give(this.tenantId, -more)
    this.bytes += more
    if (owner === undefined) {
      this.births.clear()
      this.aliases.clear()
    } else this.forgetAliases(owner)
    this.births.set(owner, birth)
    for (const metric of birth.metrics.values()) {
      if (metric.alias !== undefined) this.aliases.set(metric.alias, { owner, metric })
    }
  }

  /** It died. */
  forget(device: string): void {
    const birth = this.births.get(device)
    if (birth === undefined) return
    this.forgetAliases(device)
    this.births.delete(device)
    this.bytes -= birth.bytes
    this.room.give(this.tenantId, birth.bytes)
  }

  forgetAll(): void {
    if (this.bytes > 0) this.room.give(this.tenantId, this.bytes)
    this.bytes = 0
    this.births.clear()
    this.aliases.clear()
  }

  private birthOf(owner: Owner, metrics: readonly Metric[]): Birth {
    const born = new Map<string, BornMetric>()
    const aliases = new Map<bigint, string>()
    let bytes = BIRTH_BYTES + 2 * (owner?.length ?? 0)
    for (const { name, alias, datatype, value } of metrics) {
      if (name === undefined) throw SparkplugErrors.NO_NAME()
      if (alias !== undefined) {
        this.checkAlias(owner, alias, name, aliases)
        aliases.set(alias, name)
        bytes += ALIAS_BYTES
      }
      bytes += METRIC_BYTES + 2 * name.length
      born.set(name, { name, alias, datatype, field: value?.field })
    }
    return { metrics: born, bytes }
  }

  /** Throws ALIAS_REUSED: an alias is one metric of the whole node [tck-id-payloads-alias-uniqueness]. */
  private checkAlias(owner: Owner, alias: bigint, name: string, own: ReadonlyMap<bigint, string>): void {
    const here = own.get(alias)
    // A birth of the node takes all that is known away.
    const there = owner === undefined ? undefined : this.aliases.get(alias)
    if ((here !== undefined && here !== name) || (there !== undefined && there.owner !== owner))
      throw SparkplugErrors.ALIAS_REUSED({ alias: String(alias) })
  }

  private forgetAliases(device: string): void {
    for (const metric of this.births.get(device)?.metrics.values() ?? []) {
      if (metric.alias !== undefined) this.aliases.delete(metric.alias)
    }
  }
}
