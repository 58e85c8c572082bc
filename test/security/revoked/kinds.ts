/** What the walk over revoked devices needs of each way in which a device is connected. */
import type { Authority } from '../../support/certificates.ts'
import type { RestClient } from '../../support/clients.ts'
import type { RunningMillrace } from '../../support/start-millrace.ts'

export interface Entity {
  readonly id: { readonly id: string }
}

/** One server, and a tenant of it with the profiles that the devices need. */
export interface World {
  readonly millrace: RunningMillrace
  readonly rest: RestClient
  /** Of the server's certificate, and of those of devices. */
  readonly authority: Authority
  /** By name, ids. */
  readonly profiles: Readonly<Record<'sparkplug' | 'lwm2m', string>>
  /** Of the proxy for CoAP; undefined where it can not run. */
  readonly dtlsPort: number | undefined
}

export interface Connected {
  /** Resolves when the platform ended it; for what has no connection, when it says so. */
  readonly ended: Promise<void>
  /** Sends the value; whether it was acknowledged. */
  send(value: number): Promise<boolean>
  close(): Promise<void>
}

export interface Made {
  readonly deviceId: string
  /** Of the device that has what it sends. */
  readonly writesTo: string
  /** Rejects where it is refused. */
  connect(): Promise<Connected>
  /** Logging in with what is nobody's, or no longer good: each rejects. */
  readonly strangers: Readonly<Record<string, () => Promise<Connected>>>
  /** Credentials that take the place of its own. */
  readonly others: object
  /** Of a device that is made when it comes: nobody is made any more. */
  readonly makeNoMore?: () => Promise<unknown>
}

export interface Kind {
  readonly name: string
  /** Makes a device of the tenant; all that it has is named so. */
  make(world: World, name: string): Promise<Made>
}

const NOBODY_LISTENS = new Set(['ECONNREFUSED', 'ETIMEDOUT', 'ENOTFOUND'])

/** Undefined where it was refused. Rejects where nobody listens: that is no refusal. */
export async function unlessRefused(connecting: Promise<Connected>): Promise<Connected | undefined> {
  try {
    return await connecting
  } catch (error) {
    if (error instanceof Error && 'code' in error && NOBODY_LISTENS.has(String(error.code))) throw error
    return undefined
  }
}

/** Resolves once `ask` says that it has ended. */
export async function endedBy(ask: () => Promise<boolean>, isOver: () => boolean): Promise<void> {
  while (!isOver() && !(await ask())) await new Promise((resolve) => setTimeout(resolve, 50))
}
