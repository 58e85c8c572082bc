/**
 * Places of connections without credentials. Anybody may take one and hold it without asking anything, so that the oldest gives way to a new
 * one: a device asks within a round trip. An address has a tenth of them and pushes out only its own: who holds all needs ten.
 */

const SHARE_OF_ADDRESS = 0.1

export interface AddressedHolder {
  readonly address: string
}

export class ProvisioningPlaces<Holder extends AddressedHolder> {
  private readonly total: number
  private readonly perAddress: number
  /** Oldest first; with the address, which a closed socket no longer knows. */
  private readonly holders = new Map<Holder, string>()
  private readonly byAddress = new Map<string, Set<Holder>>()

  constructor(total: number) {
    this.total = total
    this.perAddress = Math.max(1, Math.floor(total * SHARE_OF_ADDRESS))
  }

  /** Gives the place to the holder. Answers who lost its own for it. */
  take(holder: Holder): Holder | undefined {
    const own = this.byAddress.get(holder.address)
    const loser = own !== undefined && own.size >= this.perAddress ? first(own) : this.oldestOfFull()
    if (loser !== undefined) this.give(loser)
    this.holders.set(holder, holder.address)
    const held = this.byAddress.get(holder.address)
    if (held === undefined) this.byAddress.set(holder.address, new Set([holder]))
    else held.add(holder)
    return loser
  }

  /** Gives a place back; nothing where the holder has none. */
  give(holder: Holder): void {
    const address = this.holders.get(holder)
    if (address === undefined) return
    this.holders.delete(holder)
    const held = this.byAddress.get(address)
    held?.delete(holder)
    if (held?.size === 0) this.byAddress.delete(address)
  }

  private oldestOfFull(): Holder | undefined {
    return this.holders.size >= this.total ? first(this.holders.keys()) : undefined
  }
}

function first<Item>(items: Iterable<Item>): Item | undefined {
  for (const item of items) return item
  return undefined
}
