/**
 * Names to slots, settled when the script is compiled. A variable born in a block is not visible behind it; a function
 * sees the script's variables, and writes those declared with `var` before it (`rule-engine.md` 6.4 "scope").
 */
import type { StaticType } from './frame.ts'

export interface Slot {
  readonly index: number
  /** A script's variable, used from inside a function. */
  readonly global: boolean
  /** Where a function's own variable is still unset, the script's one of that name. */
  readonly fallback: Slot | undefined
  type: StaticType
  /** Declared with `var` or a type. */
  declared: boolean
}

interface BlockScope {
  readonly names: Map<string, Slot>
  readonly slots: number[]
}

export class Scope {
  private readonly blocks: BlockScope[] = [{ names: new Map(), slots: [] }]
  private readonly root: ReadonlyMap<string, Slot> | undefined
  /** The root variables a function may write. */
  private readonly writable: ReadonlySet<string>
  private count = 0

  constructor(
    parameters: readonly string[],
    root?: ReadonlyMap<string, Slot>,
    writable: ReadonlySet<string> = new Set(),
  ) {
    this.root = root
    this.writable = writable
    for (const parameter of parameters) this.create(parameter, 'unknown', true)
  }

  /** How many slots a frame needs. */
  get size(): number {
    return this.count
  }

  /** Whether this is a function's body: variables there carry no type. */
  get inFunction(): boolean {
    return this.root !== undefined
  }

  /** The variables of the outermost block. */
  get names(): ReadonlyMap<string, Slot> {
    return this.block(0).names
  }

  enter(): void {
    this.blocks.push({ names: new Map(), slots: [] })
  }

  /** Leaves a block; its slots, to be cleared whenever the block begins. */
  leave(): readonly number[] {
    return this.blocks.pop()?.slots ?? []
  }

  find(name: string): Slot | undefined {
    for (let depth = this.blocks.length - 1; depth >= 0; depth--) {
      const slot = this.block(depth).names.get(name)
      if (slot !== undefined) return slot
    }
    return this.outer(name)
  }

  /** The slot an assignment writes; a new variable is born in the present block. */
  assign(name: string, type: StaticType): Slot {
    const known = this.find(name)
    if (known !== undefined && (!known.global || this.writable.has(name))) return known
    return this.create(name, type, false)
  }

  /** A new variable in the present block, hiding outer ones. */
  create(name: string, type: StaticType, declared: boolean): Slot {
    const block = this.block(this.blocks.length - 1)
    const slot: Slot = {
      index: this.count++,
      global: false,
      fallback: declared ? undefined : this.outer(name),
      type: this.inFunction ? 'unknown' : type,
      declared,
    }
    block.names.set(name, slot)
    block.slots.push(slot.index)
    return slot
  }

  private outer(name: string): Slot | undefined {
    const slot = this.root?.get(name)
    return slot === undefined ? undefined : { ...slot, type: 'unknown', global: true }
  }

  private block(depth: number): BlockScope {
    const block = this.blocks[depth]
    if (block === undefined) throw new Error('scope left more often than entered')
    return block
  }
}
