/**
 * What `/metrics` shows: the figures of the parts that were handed in, and Node's own. The one file that knows prom-client.
 * Figures are read when asked for; nothing is counted for Prometheus on a hot path.
 */
import { Gauge, Registry, collectDefaultMetrics } from 'prom-client'

/** A part of the house with figures to show. Names are snake case; values of one figure keep their unit for ever. */
export interface MetricsSource {
  readonly name: string
  figures(): Readonly<Record<string, number>>
}

export interface Metrics {
  readonly contentType: string
  render(): Promise<string>
}

export function createMetrics(sources: readonly MetricsSource[]): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const gauges = new Map<string, Gauge>()
  return {
    contentType: registry.contentType,
    render: async () => {
      for (const source of sources) {
        for (const [figure, value] of Object.entries(source.figures())) {
          gaugeOf(registry, gauges, source.name, figure).set(value)
        }
      }
      return registry.metrics()
    },
  }
}

function gaugeOf(registry: Registry, gauges: Map<string, Gauge>, source: string, figure: string): Gauge {
  const name = `millrace_${snakeCase(source)}_${snakeCase(figure)}`
  const known = gauges.get(name)
  if (known !== undefined) return known
  const gauge = new Gauge({ name, help: `${figure} of ${source}`, registers: [registry] })
  gauges.set(name, gauge)
  return gauge
}

function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9_]/g, '_')
    .toLowerCase()
}
