/**
 * Which texts stand in a block, and where. The same ones come in block after block (types, tenants, devices, names of metadata): they are kept
 * from one to the next, so that no table grows anew for each block.
 */

/** What is kept at most, texts and characters of them: beyond it the next block begins with nothing. */
const MAX_KEPT = 1024
const MAX_CHARACTERS = 64 * 1024
const FIRST_SLOTS = 64
const MAX_BLOCK = 2 ** 31 - 1

export class Dictionary {
  /** Texts of this block: their indexes count from 1. */
  size = 0
  private readonly slots = new Map<string, number>()
  private characters = 0
  /** By slot: the block in which the text was used last, its index there, and what its user noted of it. */
  private blocks = new Int32Array(FIRST_SLOTS)
  private indexes = new Int32Array(FIRST_SLOTS)
  private notes = new Int32Array(FIRST_SLOTS)
  /** Slots of this block's texts, in the order of their indexes. */
  private added = new Int32Array(FIRST_SLOTS)
  private block = 1

  /** The text's index in this block, 0 where it is not there. */
  find(text: string): number {
    const slot = this.slots.get(text)
    return slot !== undefined && this.blocks[slot] === this.block ? (this.indexes[slot] ?? 0) : 0
  }

  /** Takes a text that is not in this block; returns its index. */
  add(text: string): number {
    const slot = this.slots.get(text) ?? this.newSlot(text)
    this.added[this.size++] = slot
    this.blocks[slot] = this.block
    this.indexes[slot] = this.size
    return this.size
  }

  /** What was noted of the text with this index, in this or an earlier block; 0: nothing. */
  noteOf(index: number): number {
    return this.notes[this.added[index - 1] ?? 0] ?? 0
  }

  note(index: number, value: number): void {
    this.notes[this.added[index - 1] ?? 0] = value
  }

  /** Takes back the texts behind the first `size`. */
  truncate(size: number): void {
    while (this.size > size) this.blocks[this.added[--this.size] ?? 0] = 0
    // Whoever sends nothing but what is taken back ends no block.
    if (size === 0) this.clear()
  }

  /** Another block begins. */
  clear(): void {
    this.size = 0
    this.block = (this.block % MAX_BLOCK) + 1
    if (this.slots.size <= MAX_KEPT && this.characters <= MAX_CHARACTERS && this.block > 1) return
    this.slots.clear()
    this.characters = 0
    this.blocks = new Int32Array(FIRST_SLOTS)
    this.indexes = new Int32Array(FIRST_SLOTS)
    this.notes = new Int32Array(FIRST_SLOTS)
    this.added = new Int32Array(FIRST_SLOTS)
  }

  private newSlot(text: string): number {
    const slot = this.slots.size
    this.slots.set(text, slot)
    this.characters += text.length
    if (slot === this.blocks.length) {
      this.blocks = twice(this.blocks)
      this.indexes = twice(this.indexes)
      this.notes = twice(this.notes)
      this.added = twice(this.added)
    }
    return slot
  }
}

function twice(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(numbers.length * 2)
  grown.set(numbers)
  return grown
}
