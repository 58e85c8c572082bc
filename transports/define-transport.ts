/**
 * How a protocol is declared: its settings, the names of its figures, where it listens and how it is opened. A protocol is one folder
 * and one line in `catalogue.ts`; the composition, the configuration, `/metrics` and the ready text learn of it from there.
 */
import type { Clock, Random } from '../model/clock.ts'
import type { Log } from '../model/log.ts'
import { named } from '../model/figure-names.ts'
import type { Setting, ValuesOf } from '../config/define.ts'
import type { DeviceGateway } from '../engine/device/gateway.ts'
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
  /** The real one; undefined where it has no port of its own. */
  readonly port?: number
  figures(): Figures
  /** Ends what waits and what listens. Idempotent. */
  close(): void | Promise<void>
}

/** A port that a protocol opens. */
export interface Listener {
  /** Of its address as clients write it: `mqtt`. */
  readonly scheme: string
  readonly over: 'tcp' | 'udp'
  readonly address: string
  /** The setting that names the address, and the one that names the port: for refusals. */
  readonly addressName: string
  readonly port: number
  readonly portName: string
}

interface Declaration<Settings extends TransportSettings, Figure extends string> {
  /** One word of lower-case letters, digits and `_`: names its figures (`millrace_<name>_…`) and its port. */
  readonly name: string
  /** As the ready text and the log call it. */
  readonly label: string
  readonly settings: Settings
  /** Every figure's name in Prometheus; what only grows ends in `_total`. */
  readonly figures: Readonly<Record<Figure, string>>
  /** Undefined where the settings turn the protocol off. `'http'`: it is served by the process's HTTP server. */
  readonly listener: (settings: ValuesOf<Settings>) => Listener | 'http' | undefined
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
  readonly listener: (settings: ValuesOf<Settings>) => Listener | 'http' | undefined
  /** Its figures come under their names in Prometheus. */
  open(parts: TransportParts<Settings>): Promise<OpenedTransport<Readonly<Record<string, number>>>>
}

export function defineTransport<Settings extends TransportSettings, Figure extends string>(
  declaration: Declaration<Settings, Figure>,
): TransportDefinition<Settings> {
  const { name, label, settings, figures, listener } = declaration
  return {
    name,
    label,
    settings,
    figureNames: Object.values(figures),
    listener,
    open: async (parts) => {
      const opened = await declaration.open(parts)
      return {
        ...(opened.port === undefined ? {} : { port: opened.port }),
        figures: () => named(opened.figures(), figures),
        close: () => opened.close(),
      }
    },
  }
}
