/**
 * What tenants use, counted in memory: a sum or a comparison of bits a batch, no promise. Whoever stores the counts takes them now and
 * then (`services/usage`), and says which features a tenant has used up. Source: `rule-engine.md` 9.4.
 */

/** Places of the counters. */
export const USAGE = {
  transportMessages: 0,
  transportDataPoints: 1,
  storageDataPointDays: 2,
  ruleEngineExecutions: 3,
  jsExecutions: 4,
  tbelExecutions: 5,
  emails: 6,
  sms: 7,
  createdAlarms: 8,
} as const
export type UsageCounter = (typeof USAGE)[keyof typeof USAGE]
export const USAGE_COUNTERS: readonly UsageCounter[] = Object.values(USAGE)

/** Bits of the features that may be used up. */
export const FEATURE = {
  TRANSPORT: 1,
  DB: 2,
  RE: 4,
  JS: 8,
  TBEL: 16,
  EMAIL: 32,
  SMS: 64,
  ALARM: 128,
} as const
export type Feature = keyof typeof FEATURE

/** Of one tenant; whoever counts for one tenant again and again may hold it. */
export class TenantUsage {
  private readonly counts = new Float64Array(USAGE_COUNTERS.length)
  private disabled = 0

  add(counter: UsageCounter, count: number): void {
    this.counts[counter] = (this.counts[counter] ?? 0) + count
  }

  /** Whether the tenant has used the feature up. */
  isDisabled(feature: Feature): boolean {
    return (this.disabled & FEATURE[feature]) !== 0
  }

  /** Bits of `FEATURE`. */
  disable(features: number): void {
    this.disabled = features
  }

  get hasCounts(): boolean {
    return this.counts.some((count) => count !== 0)
  }

  get isUnbounded(): boolean {
    return this.disabled === 0
  }

  /** By their places; counting begins anew. */
  take(): readonly number[] {
    const taken = [...this.counts]
    this.counts.fill(0)
    return taken
  }
}

/** Counts that somebody else keeps, by tenant, since the last time they were asked for. */
export type CountSource = () => Iterable<readonly [tenantId: string, counter: UsageCounter, count: number]>

export class UsageMeter {
  private readonly tenants = new Map<string, TenantUsage>()
  private readonly sources = new Set<CountSource>()
  /** So that who asks for each message need not look its tenant up. */
  private hasDisabled = false

  of(tenantId: string): TenantUsage {
    let usage = this.tenants.get(tenantId)
    if (usage === undefined) {
      usage = new TenantUsage()
      this.tenants.set(tenantId, usage)
    }
    return usage
  }

  isDisabled(tenantId: string, feature: Feature): boolean {
    return this.hasDisabled && this.tenants.get(tenantId)?.isDisabled(feature) === true
  }

  /** Tenants to bits of `FEATURE`; all others may use everything. */
  setDisabled(disabled: ReadonlyMap<string, number>): void {
    for (const [tenantId, usage] of this.tenants) if (!disabled.has(tenantId)) usage.disable(0)
    for (const [tenantId, features] of disabled) this.of(tenantId).disable(features)
    this.hasDisabled = disabled.size > 0
  }

  setDisabledOf(tenantId: string, features: number): void {
    if (features === 0) this.tenants.get(tenantId)?.disable(0)
    else {
      this.of(tenantId).disable(features)
      this.hasDisabled = true
    }
  }

  /** Asked at each `take`. */
  follow(source: CountSource): () => void {
    this.sources.add(source)
    return () => this.sources.delete(source)
  }

  /** What was counted since the last time, of those who counted anything. */
  take(): ReadonlyMap<string, readonly number[]> {
    for (const source of this.sources)
      for (const [tenantId, counter, count] of source()) this.of(tenantId).add(counter, count)
    const taken = new Map<string, readonly number[]>()
    for (const [tenantId, usage] of this.tenants) if (usage.hasCounts) taken.set(tenantId, usage.take())
    return taken
  }

  /** It could not be stored: it counts the next time. */
  giveBack(tenantId: string, counts: readonly number[]): void {
    const usage = this.of(tenantId)
    for (const counter of USAGE_COUNTERS) usage.add(counter, counts[counter] ?? 0)
  }

  /** The tenant is gone. */
  forget(tenantId: string): void {
    this.tenants.delete(tenantId)
  }
}
