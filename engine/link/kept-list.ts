/**
 * A list that is filled again and again, and keeps its room: an array that grows anew for each frame takes three times its length on the way.
 * One burst does not pin its memory for ever.
 */
const MAX_KEPT = 4096

export class KeptList<Item> {
  length = 0
  private items: (Item | undefined)[] = []

  add(item: Item): void {
    this.items[this.length++] = item
  }

  at(index: number): Item | undefined {
    return index < this.length ? this.items[index] : undefined
  }

  /** Keeps none of the items alive. */
  clear(): void {
    if (this.items.length > MAX_KEPT) this.items = []
    else this.items.fill(undefined, 0, this.length)
    this.length = 0
  }
}
