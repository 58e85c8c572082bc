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
  /** Figures of several things of a kind, told apart by labels; one that is left out is shown no more. */
  samples?(): Iterable<Sample>
}

/** One value of a figure with labels: all samples of a figure have the same names of labels. */
export interface Sample {
  readonly figure: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Ids of tenants, rule chains and their like are for the operator alone. */
export type MetricsAudience = 'public' | 'operator'

export interface Metrics {
  readonly contentType: string
  render(audience: MetricsAudience): Promise<string>
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i

/** Takes a figure's present value. */
type Show = (value: number) => void

export function createMetrics(sources: readonly MetricsSource[]): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const shown = new Map<string, Show>()
  const showOf = (source: string, figure: string): Show => {
    const name = nameOf(source, figure)
    const known = shown.get(name)
    if (known !== undefined) return known
    const show = register(registry, name, `${figure} of ${source}`)
    shown.set(name, show)
    return show
  }
  const labelled = new LabelledFigures(registry)
  // A registry of its own: what is not rendered can not be shown by mistake, by two who ask at once either.
  const idRegistry = new Registry()
  const withIds = new LabelledFigures(idRegistry)
  return {
    contentType: registry.contentType,
    render: async (audience) => {
      for (const source of sources) {
        for (const [figure, value] of Object.entries(source.figures())) showOf(source.name, figure)(value)
      }
      labelled.clear()
      withIds.clear()
      for (const source of sources) {
        for (const sample of source.samples?.() ?? []) {
          const figures = Object.values(sample.labels).some((label) => ID.test(label)) ? withIds : labelled
          figures.show(source.name, sample)
        }
      }
      if (audience === 'public') return registry.metrics()
      return (await Promise.all([registry.metrics(), idRegistry.metrics()])).join('')
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

class LabelledFigures {
  private readonly registry: Registry
  private readonly shown = new Map<string, Counter | Gauge>()

  constructor(registry: Registry) {
    this.registry = registry
  }

  clear(): void {
    for (const metric of this.shown.values()) metric.reset()
  }

  show(source: string, { figure, labels, value }: Sample): void {
    const name = nameOf(source, figure)
    let metric = this.shown.get(name)
    if (metric === undefined) {
      const options = {
        name,
        help: `${figure} of ${source}`,
        labelNames: Object.keys(labels),
        registers: [this.registry],
      }
      metric = name.endsWith('_total') ? new Counter(options) : new Gauge(options)
      this.shown.set(name, metric)
    }
    metric.inc(labels, value)
  }
}

function nameOf(source: string, figure: string): string {
  return `millrace_${snakeCase(source)}_${snakeCase(figure)}`
}

function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9_]/g, '_')
    .toLowerCase()
}
