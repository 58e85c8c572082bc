/**
 * Keeps the nodes of tenants from calling into the network that the platform stands in: a name is resolved once, what it stands for is checked,
 * and the connection goes to the address that was checked. The operator's list says which internal ones may be called.
 */
import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { errorText } from '../../model/errors.ts'
import { OutboundErrors } from './errors.ts'

/** Answers every address of a name. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>

/** Not of the public internet: RFC 6890 and its registry. */
const INTERNAL_V4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
  // Public by its number, yet what a machine at Azure learns its secrets from.
  '168.63.129.16/32',
]
/** Of IPv6 only this is public, and not those parts of it that hold an IPv4 address or are for documentation. */
const PUBLIC_V6 = ['2000::/3']
const INTERNAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const INTERNAL = listOf([...INTERNAL_V4, ...INTERNAL_V6])
const PUBLIC = listOf(PUBLIC_V6)

export class AddressGuard {
  private readonly allowed: BlockList
  private readonly denied: BlockList
  /** In lower case; those that begin with a dot stand for all below. */
  private readonly deniedNames: readonly string[]
  private readonly resolve: Resolve

  /** `allowed`: addresses and networks that may be called though they are internal. `denied`: those, and names, that may not in any case. */
  constructor(allowed: readonly string[], resolve: Resolve = resolveBySystem, denied: readonly string[] = []) {
    const isName = (text: string): boolean => isIP(text.split('/')[0] ?? '') === 0
    this.allowed = listOf(allowed)
    this.denied = listOf(denied.filter((each) => !isName(each)))
    this.deniedNames = denied.filter(isName).map((name) => name.toLowerCase().replace(/^\*/, ''))
    this.resolve = resolve
  }

  /** The addresses that a host may be called by, at least one. Throws `ADDRESS_INTERNAL`, `ADDRESS_DENIED`, `HOST_UNKNOWN`. */
  async addressesOf(host: string): Promise<readonly LookupAddress[]> {
    this.checkDenied(host)
    const literal = withoutBrackets(host)
    const family = isIP(literal)
    const found = family === 0 ? await this.resolved(literal) : [{ address: literal, family }]
    const allowed = found.filter(({ address }) => this.allows(address))
    if (allowed.length > 0) return allowed
    const isDenied = found.some(({ address }) => this.denies(address))
    throw isDenied ? OutboundErrors.ADDRESS_DENIED({ host }) : OutboundErrors.ADDRESS_INTERNAL({ host })
  }

  /** For a target that others connect to, as a proxy does: names and addresses that are denied by themselves. Throws `ADDRESS_DENIED`. */
  checkDenied(host: string): void {
    const name = withoutBrackets(host).toLowerCase().replace(/\.$/, '')
    const isDenied =
      isIP(name) === 0
        ? this.deniedNames.some((each) => (each.startsWith('.') ? name.endsWith(each) : name === each))
        : this.denies(name)
    if (isDenied) throw OutboundErrors.ADDRESS_DENIED({ host })
  }

  /** An address is connected to without a look-up: it is checked here. Throws `ADDRESS_INTERNAL`, `ADDRESS_DENIED`. */
  checkLiteral(host: string): void {
    this.checkDenied(host)
    const literal = withoutBrackets(host)
    if (isIP(literal) !== 0 && !this.allows(literal)) throw OutboundErrors.ADDRESS_INTERNAL({ host })
  }

  /** In the place of the system's look-up: the socket connects to what it answers and asks nobody again. */
  readonly lookup: LookupFunction = (host, options, answer) => {
    this.addressesOf(host).then(
      (addresses) => {
        const wanted = addresses.filter(({ family }) => !options.family || family === familyOf(options.family))
        const [first] = wanted
        if (first === undefined) answer(OutboundErrors.HOST_UNKNOWN({ host, reason: 'not of that family' }), '')
        else if (options.all === true) answer(null, [...wanted])
        else answer(null, first.address, first.family)
      },
      (error: unknown) => answer(error instanceof Error ? error : new Error(errorText(error)), ''),
    )
  }

  private async resolved(host: string): Promise<readonly LookupAddress[]> {
    try {
      return await this.resolve(host)
    } catch (error) {
      throw OutboundErrors.HOST_UNKNOWN({ host, reason: errorText(error) }, error)
    }
  }

  private denies(text: string): boolean {
    return this.denied.check(...comparable(text))
  }

  private allows(text: string): boolean {
    if (this.denies(text)) return false
    const [address, family] = comparable(text)
    if (this.allowed.check(address, family)) return true
    if (INTERNAL.check(address, family)) return false
    return family === 'ipv4' || PUBLIC.check(address, family)
  }
}

function resolveBySystem(host: string): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    systemLookup(host, { all: true }, (error, addresses) => {
      if (error === null) resolve(addresses)
      else reject(error)
    })
  })
}

function familyOf(family: number | 'IPv4' | 'IPv6'): number {
  return typeof family === 'number' ? family : family === 'IPv4' ? 4 : 6
}

function withoutBrackets(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
}

function comparable(text: string): readonly [string, 'ipv4' | 'ipv6'] {
  const address = unmapped(text)
  return [address, isIP(address) === 6 ? 'ipv6' : 'ipv4']
}

/** An IPv4 address that is written as one of IPv6 is the same machine. */
export function unmapped(address: string): string {
  if (isIP(address) !== 6) return address
  const short = new URL(`http://[${address.replace(/%.*$/, '')}]/`).hostname.slice(1, -1)
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short) ?? []
  if (high === undefined || low === undefined) return short
  const bytes = [high, low].flatMap((part) => [parseInt(part, 16) >> 8, parseInt(part, 16) & 255])
  return bytes.join('.')
}

/** Whether an address is one of them, or in one of them. */
export function networkTest(networks: readonly string[]): (address: string) => boolean {
  const list = listOf(networks)
  return (address) => list.check(...comparable(address))
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return list
}
