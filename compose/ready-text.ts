/** What the program says once it is ready. */

/** Real ports: `http`, and each protocol's by its name. */
export type Ports = { readonly http: number } & Readonly<Record<string, number>>

export interface ReadyFacts {
  readonly version: string
  readonly startMs: number
  /** Real ports; of a protocol that is off there is none. */
  readonly ports: Ports
  /** Address under which this machine reaches HTTP. */
  readonly httpHost: string
  readonly isHttps?: boolean
  /** Addresses of the protocols that have a port of their own. */
  readonly protocols: readonly { readonly label: string; readonly url: string }[]
  readonly dataDir: string
  readonly durability: string
  readonly demo: boolean
  /** Set on the very first start without demo data. */
  readonly oneTimePassword?: string | undefined
}

/** The one line of READY_JSON=true. */
export function readyJson(facts: ReadyFacts): string {
  return `${JSON.stringify({ ready: true, ports: facts.ports })}\n`
}

export function readyText(facts: ReadyFacts): string {
  const url = `${facts.isHttps === true ? 'https' : 'http'}://${facts.httpHost}:${facts.ports.http}`
  const lines = [
    '',
    `  Millrace ${facts.version} is ready (${(facts.startMs / 1000).toFixed(2)} s)`,
    '',
    `  Web page, REST, WebSocket   ${url}`,
  ]
  for (const { label, url } of facts.protocols) lines.push(`  ${label.padEnd(28)}${url}`)
  lines.push(
    `  Data folder                 ${facts.dataDir} (what is acknowledged survives a ${facts.durability.replace('-', ' ')})`,
    '',
  )
  if (facts.oneTimePassword !== undefined) {
    lines.push('  Login, shown this one time:', `    sysadmin@millrace.local / ${facts.oneTimePassword}`, '')
  }
  if (facts.demo) {
    lines.push(
      '  Demo logins',
      '    sysadmin@millrace.local / sysadmin',
      '    tenant@millrace.local   / tenant',
      '    customer@millrace.local / customer',
      '',
      '  Send a first point as the demo device:',
      `    curl -X POST ${url}/api/v1/DEMO_THERMOMETER/telemetry -H 'Content-Type: application/json' -d '{"temperature": 20}'`,
      '',
    )
  }
  return `${lines.join('\n')}\n`
}

/** The name under which a process on this machine reaches what listens on the address. */
export function reachableHost(address: string): string {
  if (address === '0.0.0.0' || address === '::') return '127.0.0.1'
  return address.includes(':') ? `[${address}]` : address
}
