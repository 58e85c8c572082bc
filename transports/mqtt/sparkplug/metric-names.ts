/** The metrics that are attributes by the device profile: names, or beginnings with `*` behind them. Compiled once a profile. */
import type { SparkplugProfile } from '../../../engine/device/gateway.ts'

export class MetricNames {
  private static readonly compiled = new WeakMap<SparkplugProfile, MetricNames>()

  private readonly names = new Set<string>()
  private readonly beginnings: string[] = []

  private constructor({ attributesMetricNames }: SparkplugProfile) {
    for (const name of attributesMetricNames) {
      if (name.endsWith('*')) this.beginnings.push(name.slice(0, -1))
      else this.names.add(name)
    }
  }

  static of(profile: SparkplugProfile): MetricNames {
    let names = MetricNames.compiled.get(profile)
    if (names === undefined) {
      names = new MetricNames(profile)
      MetricNames.compiled.set(profile, names)
    }
    return names
  }

  has(name: string): boolean {
    return this.names.has(name) || this.beginnings.some((beginning) => name.startsWith(beginning))
  }
}
