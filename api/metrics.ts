/**
 * What `/metrics` shows: the figures of the parts that were handed in, and Node's own. The one file that knows prom-client.
 * Figures are read when asked for; nothing is counted for Prometheus on a hot path.
 */
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client'

/**
 * A part of the house with figures to show. A figure keeps its meaning and unit for ever; one whose name ends in `Total`
 * (or `_total`) only grows while the process lives.
 */
export interface MetricsSource {
  readonly name: string
  figures(): Readonly<Record<string, number>>
}

export interface Metrics {
  readonly contentType: string
  render(): Promise<string>
}

/** Takes a figure's present value. */
type Show = (value: number) => void

export function createMetrics(sources: readonly MetricsSource[]): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const shown = new Map<string, Show>()
  const showOf = (source: string, figure: string): Show => {
    const name = `millrace_${snakeCase(source)}_${snakeCase(figure)}`
    const known = shown.get(name)
    if (known !== undefined) return known
    const show = register(registry, name, `${figure} of ${source}`)
    shown.set(name, show)
    return show
  }
  return {
    contentType: registry.contentType,
    render: async () => {
      for (const source of sources) {
        for (const [figure, value] of Object.entries(source.figures())) showOf(source.name, figure)(value)
      }
      return registry.metrics()
    },
  }
}

function register(registry: Registry, name: string, help: string): Show {
  if (!name.endsWith('_total')) {
    const gauge = new Gauge({ name, help, registers: [registry] })
    return (value) => gauge.set(value)
  }
  const counter = new Counter({ name, help, registers: [registry] })
  return (value) => {
    // The part counts itself: its count is shown, not added to.
    counter.reset()
    counter.inc(value)
  }
}

function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9_]/g, '_')
    .toLowerCase()
}
