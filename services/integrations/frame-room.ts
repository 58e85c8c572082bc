/**
 * Bytes of frames that came and are not stored yet: bounded, and a tenant has a part of them. Who waits for room is told in turn, tenant by
 * tenant, and only those for whom there is some.
 */
type InTheWay = 'tenant' | 'all' | undefined

interface Waiter {
  readonly bytes: number
  readonly listener: () => void
}

export class FrameRoom {
  private readonly maxBytes: number
  private readonly maxTenantBytes: number
  private used = 0
  private readonly ofTenants = new Map<string, number>()
  /** Those of a tenant in the order in which they came; the tenant whose turn it is first. */
  private readonly lines = new Map<string, Waiter[]>()
  private waiting = 0
  /** Of whoever is being told: he may enter once before the others of his tenant. */
  private turn: string | undefined
  private isTelling = false
  private hasLeft = false

  constructor(maxBytes: number, tenantPart: number) {
    this.maxBytes = maxBytes
    this.maxTenantBytes = maxBytes * tenantPart
  }

  get bytes(): number {
    return this.used
  }

  /** What stands in the way; undefined: the bytes are taken. An empty room takes any frame. */
  enter(tenantId: string, bytes: number): InTheWay {
    const inTheWay = this.inTheWay(tenantId, bytes)
    if (inTheWay === undefined) this.change(tenantId, bytes)
    return inTheWay
  }

  /** The same for one who waits where there is no room: behind those of his tenant who do so already. */
  enterInTurn(tenantId: string, bytes: number): InTheWay {
    const mustWait = this.lines.has(tenantId) && this.ofTenants.has(tenantId) && this.turn !== tenantId
    const inTheWay = mustWait ? 'tenant' : this.enter(tenantId, bytes)
    if (inTheWay === undefined) this.turn = undefined
    return inTheWay
  }

  leave(tenantId: string, bytes: number): void {
    this.change(tenantId, -bytes)
    this.tellWaiting()
  }

  /** Takes `bytes` in the place of those it had, before anybody else could; where there is no room it has none. */
  exchange(tenantId: string, had: number, bytes: number): InTheWay {
    this.change(tenantId, -had)
    const inTheWay = bytes === 0 ? undefined : this.enter(tenantId, bytes)
    this.tellWaiting()
    return inTheWay
  }

  /** What `had` bytes were entered for turned out to be `bytes`, whether there is room for them or not. */
  replace(tenantId: string, had: number, bytes: number): void {
    this.change(tenantId, bytes - had)
    if (bytes < had) this.tellWaiting()
  }

  /** More is taken than there is room for: `replace` brought it. */
  isOver(tenantId: string): boolean {
    return this.inTheWay(tenantId, 0) !== undefined
  }

  isWaitedFor(tenantId: string): boolean {
    return this.lines.has(tenantId)
  }

  /** Of all tenants. */
  get waiters(): number {
    return this.waiting
  }

  /** Calls back once, when there is room for so many bytes: whoever enters then comes before the others. */
  onRoom(tenantId: string, bytes: number, listener: () => void): void {
    const line = this.lines.get(tenantId)
    if (line === undefined) this.lines.set(tenantId, [{ bytes, listener }])
    else line.push({ bytes, listener })
    this.waiting++
  }

  private inTheWay(tenantId: string, bytes: number): InTheWay {
    const own = this.ofTenants.get(tenantId) ?? 0
    if (own > 0 && own + bytes > this.maxTenantBytes) return 'tenant'
    return this.used > 0 && this.used + bytes > this.maxBytes ? 'all' : undefined
  }

  private change(tenantId: string, bytes: number): void {
    this.used += bytes
    const own = (this.ofTenants.get(tenantId) ?? 0) + bytes
    if (own > 0) this.ofTenants.set(tenantId, own)
    else this.ofTenants.delete(tenantId)
  }

  private tellWaiting(): void {
    this.hasLeft = true
    if (this.isTelling) return
    this.isTelling = true
    try {
      // One that is told may leave itself.
      for (; this.hasLeft && this.waiting > 0;) {
        this.hasLeft = false
        this.tellThoseWhoFit()
      }
    } finally {
      this.isTelling = false
      this.turn = undefined
    }
  }

  private tellThoseWhoFit(): void {
    // Who waits once more without having entered is not told again for the same room.
    let left = this.waiting
    for (const [tenantId, line] of this.lines) {
      const [first] = line
      const inTheWay = first === undefined ? 'tenant' : this.inTheWay(tenantId, first.bytes)
      if (inTheWay === 'all' || left-- === 0) return
      if (inTheWay === 'tenant') continue
      line.shift()
      this.waiting--
      // Behind the other tenants: the loop comes to it again there.
      this.lines.delete(tenantId)
      if (line.length > 0) this.lines.set(tenantId, line)
      this.turn = tenantId
      first?.listener()
      this.turn = undefined
    }
  }
}
