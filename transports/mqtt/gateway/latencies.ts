/** How long values were in the gateway and on their way from it, by connector: told once a minute as telemetry of the gateway. Source: `device-api.md` 4.4. */
import type { Latency } from './payloads.ts'

/** A gateway has a few; more than these would be a flood. */
const MAX_CONNECTORS = 100
const LONGEST_NAME = 255

class Spread {
  private count = 0
  private sum = 0
  private least = Infinity
  private most = -Infinity

  add(value: number): void {
    this.count++
    this.sum += value
    this.least = Math.min(this.least, value)
    this.most = Math.max(this.most, value)
  }

  json(of: string): Record<string, number> {
    return {
      [`avg${of}Latency`]: Math.round(this.sum / this.count),
      [`min${of}Latency`]: this.least,
      [`max${of}Latency`]: this.most,
    }
  }
}

export class GatewayLatencies {
  private readonly connectors = new Map<string, { readonly gateway: Spread; readonly transport: Spread }>()

  /** `at`: when the publish came, Unix ms. */
  add({ connector, receivedTs, publishedTs }: Latency, at: number): void {
    let spreads = this.connectors.get(connector)
    if (spreads === undefined) {
      if (this.connectors.size >= MAX_CONNECTORS || connector.length > LONGEST_NAME) return
      spreads = { gateway: new Spread(), transport: new Spread() }
      this.connectors.set(connector, spreads)
    }
    spreads.gateway.add(publishedTs - receivedTs)
    spreads.transport.add(at - publishedTs)
  }

  /** JSON text of what came since the last time; undefined where nothing did. */
  take(): string | undefined {
    if (this.connectors.size === 0) return undefined
    const report = Object.fromEntries(
      [...this.connectors].map(([name, { gateway, transport }]) => [
        name,
        { ...gateway.json('Gw'), ...transport.json('Transport') },
      ]),
    )
    this.connectors.clear()
    return JSON.stringify(report)
  }
}
