/** What the operator lets integrations of tenants do on this machine: by default nothing. */
import type { PortRange } from '../../model/port-range.ts'
import { networkTest } from '../outbound/address-guard.ts'
import { IntegrationErrors } from './errors.ts'

export interface OperatorRules {
  /** That integrations may listen at. */
  readonly ports: readonly PortRange[]
  /** Addresses of this machine, beside those of the loopback, that they may listen at. */
  readonly addresses: readonly string[]
  /** Whether the operator names a certificate for ports that are sealed. */
  readonly hasCertificate?: boolean
  /** Below which each tenant has a folder of its own; undefined: no files are read. */
  readonly folder?: string | undefined
}

export const NOTHING_ALLOWED: OperatorRules = { ports: [], addresses: [] }

const LOOPBACK = ['127.0.0.0/8', '::1']

/** Throws `NO_FOLDER`. */
export function checkFolder({ folder }: OperatorRules): void {
  if (folder === undefined) throw IntegrationErrors.NO_FOLDER()
}

/** Throws `NO_CERTIFICATE`. */
export function checkCertificate({ hasCertificate }: OperatorRules): void {
  if (hasCertificate !== true) throw IntegrationErrors.NO_CERTIFICATE()
}

/** Throws `PORT_NOT_ALLOWED`, `ADDRESS_NOT_ALLOWED`. */
export function checkListening(
  { address, port }: { readonly address: string; readonly port: number },
  { ports, addresses }: OperatorRules,
): void {
  if (!ports.some(({ from, to }) => port >= from && port <= to)) throw IntegrationErrors.PORT_NOT_ALLOWED({ port })
  if (!networkTest([...LOOPBACK, ...addresses])(address)) throw IntegrationErrors.ADDRESS_NOT_ALLOWED({ address })
}
