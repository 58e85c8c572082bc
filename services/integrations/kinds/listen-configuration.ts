/** Where an integration is listened to, and who may send. */
import { isIP } from 'node:net'
import { z } from 'zod'

const MAX_SENDERS = 100
const network = z.string().refine((text) => isNetwork(text), 'an address or a network such as 10.0.0.0/8 is expected')

export const listenMembers = {
  /** Of this machine. */
  address: z
    .string()
    .refine((text) => isIP(text) !== 0, 'an IP address is expected')
    .default('127.0.0.1'),
  port: z.int().min(1).max(65_535),
  /** Addresses and networks that may send; none: all. */
  senders: z.array(network).max(MAX_SENDERS).default([]),
}

/** `127.0.0.1:5000`, `[::1]:5000`. */
export function listenText({ address, port }: { readonly address: string; readonly port: number }): string {
  return isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 6 ? 128 : 32))
}
