/**
 * Who a request comes from. Behind a proxy that is trusted it is the last address in `X-Forwarded-For` that no trusted proxy has: what stands
 * before it, the client may have written itself.
 */
import { BlockList, isIP, isIPv6 } from 'node:net'

/** Addresses and networks (`10.0.0.0/8`). Throws where one is neither. */
export function proxyList(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return list
}

export interface Client {
  readonly address: string
  /** It is on this machine, and nobody says that the request was forwarded: a proxy that is not trusted is not its client. */
  readonly isLocal: boolean
}

/** `remote` is the other end of the connection; `forwarded` the header, '' where there is none. */
export function clientOf(remote: string, forwarded: string, trusted: BlockList): Client {
  let address = plain(remote)
  const named = forwarded.split(',').map((part) => plain(part.trim()))
  const isBelieved = forwarded === '' || isTrusted(address, trusted)
  while (isTrusted(address, trusted)) {
    const next = named.pop()
    if (next === undefined || isIP(next) === 0) break
    address = next
  }
  return { address, isLocal: isBelieved && isLoopback(address) }
}

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

function isLoopback(address: string): boolean {
  return isIP(address) !== 0 && LOOPBACK.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

function isTrusted(address: string, trusted: BlockList): boolean {
  return isIP(address) !== 0 && trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

/** An IPv4 address that came by IPv6 is the IPv4 address; a bracketed one loses its brackets, and a port goes. */
function plain(address: string): string {
  const bare = /^\[(.+)\](?::\d+)?$/.exec(address)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address)?.[1] ?? address
  const mapped = /^(?:::|(?:0+:){5})ffff:(.+)$/i.exec(bare)?.[1]
  if (mapped === undefined) return bare.toLowerCase()
  if (isIP(mapped) === 4) return mapped
  const hex = /^([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(mapped)
  if (hex === null) return bare.toLowerCase()
  const [high, low] = [Number.parseInt(hex[1] ?? '0', 16), Number.parseInt(hex[2] ?? '0', 16)]
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
}
