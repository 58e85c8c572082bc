/**
 * Message ids as UUID text, cheaply: all but the last 16 bits are drawn anew every 65,536 ids, those
 * are a counter. Two blocks collide no sooner than two random UUIDs of 106 bits. Joined once an id, since each join makes an object.
 */
import type { Random } from '../../model/clock.ts'

const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const COUNTED_DIGITS = 4
const IDS_A_BLOCK = 16 ** COUNTED_DIGITS

export class MessageIds {
  private readonly random: Random
  private block = ''
  /** The block with the upper byte of the counter. */
  private prefix = ''
  private counter = IDS_A_BLOCK

  constructor(random: Random) {
    this.random = random
  }

  next(): string {
    if (this.counter === IDS_A_BLOCK) {
      this.block = this.random.uuid().slice(0, -COUNTED_DIGITS)
      this.counter = 0
    }
    const count = this.counter++
    if ((count & 0xff) === 0) this.prefix = this.block + (BYTES[count >> 8] ?? '')
    return this.prefix + (BYTES[count & 0xff] ?? '')
  }
}
