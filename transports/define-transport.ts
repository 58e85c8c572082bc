/**
 * How a protocol is declared: its settings, the names of its figures, where it listens and how it is opened. A protocol is one folder
 * and one line in `catalogue.ts`; the composition, the configuration, `/metrics` and the ready text learn of it from there.
 */
import type { Clock, Random } from '../model/clock.ts'
import type { Log } from '../model/log.ts'
import { named } from '../model/figure-names.ts'
import type { Setting, ValuesOf } from '../config/define.ts'
import type { DeviceGateway } from '../engine/device/gateway.ts'
import type { CertificateSettings } from '../server/certificate.ts'
import type { HttpServer } from '../server/http-server.ts'
import type { PayloadLimits } from './payload/limits.ts'

export type TransportSettings = Readonly<Record<string, Setting<unknown>>>

/** What a protocol is opened with. */
export interface TransportParts<Settings extends TransportSettings> {
  readonly gateway: DeviceGateway
  /** The values in force; those of other protocols may stand beside its own. */
  readonly settings: ValuesOf<Settings>
  /** The process's HTTP server, before it listens: for protocols whose requests are HTTP. */
  readonly server: HttpServer
  readonly payload: PayloadLimits
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

export interface OpenedTransport<Figures> {
  /** The real ones, by the names of its listeners; absent where it has none. */
  readonly ports?: Readonly<Record<string, number>>
  figures(): Figures
  /** Ends what waits and what listens. Idempotent. */
  close(): void | Promise<void>
}

/** A port that a protocol opens. */
export interface Listener {
  /** Of its real port among those of the process: the protocol's, and for a further one a word of its own. */
  readonly name: string
  /** As the ready text calls it. */
  readonly label: string
  /** Of its address as clients write it: `mqtt`. */
  readonly scheme: string
  readonly over: 'tcp' | 'udp'
  readonly address: string
  /** The setting that names the address, and the one that names the port: for refusals. */
  readonly addressName: string
  readonly port: number
  readonly portName: string
  /** What it shows its clients, where it speaks TLS. */
  readonly certificate?: CertificateSettings
}

/** Where a protocol is reached: at a port of its own, or at the process's HTTP server. */
export type Reached = Listener | 'http'

interface Declaration<Settings extends TransportSettings, Figure extends string> {
  /** One word of lower-case letters, digits and `_`: names its figures (`millrace_<name>_…`). */
  readonly name: string
  /** As the log calls it. */
  readonly label: string
  readonly settings: Settings
  /** Every figure's name in Prometheus; what only grows ends in `_total`. */
  readonly figures: Readonly<Record<Figure, string>>
  /** None where the settings turn the protocol off. */
  readonly listeners: (settings: ValuesOf<Settings>) => readonly Reached[]
  /** Resolves once it listens. */
  readonly open: (
    parts: TransportParts<Settings>,
  ) => OpenedTransport<Readonly<Record<Figure, number>>> | Promise<OpenedTransport<Readonly<Record<Figure, number>>>>
}

export interface TransportDefinition<Settings extends TransportSettings> {
  readonly name: string
  readonly label: string
  readonly settings: Settings
  readonly figureNames: readonly string[]
  readonly listeners: (settings: ValuesOf<Settings>) => readonly Reached[]
  /** Its figures come under their names in Prometheus. */
  open(parts: TransportParts<Settings>): Promise<OpenedTransport<Readonly<Record<string, number>>>>
}

export function defineTransport<Settings extends TransportSettings, Figure extends string>(
  declaration: Declaration<Settings, Figure>,
): TransportDefinition<Settings> {
  const { name, label, settings, figures, listeners } = declaration
  return {
    name,
    label,
    settings,
    figureNames: Object.values(figures),
    listeners,
    open: async (parts) => {
      const opened = await declaration.open(parts)
      return {
        ports: opened.ports ?? {},
        figures: () => named(opened.figures(), figures),
        close: () => opened.close(),
      }
    },
  }
}
